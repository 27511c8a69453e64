"""How fast is web-search-like data made, and how hard is it?"""

from __future__ import annotations

import resource
from collections.abc import Callable

import lightgbm
import numpy as np
from benchmarks.helpers.timing import report, time_side_by_side

from rankwright import synthetic
from rankwright.experiments.quickstart import feature_rankers, random_scores
from rankwright.metrics.evaluation import evaluate

N_TRAIN, N_TEST = 5000, 1000
METRIC = "ndcg@10"


def main() -> None:
    tasks: dict[str, Callable[[], object]] = {
        "720,000 × 136": lambda: synthetic.web_search(6000),
        "72,000 × 136": lambda: synthetic.web_search(600),
    }
    timings = time_side_by_side(tasks)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

    data = synthetic.web_search(N_TRAIN + N_TEST, seed=1)
    train, test = data.take_queries(np.arange(N_TRAIN)), data.take_queries(np.arange(N_TRAIN, N_TRAIN + N_TEST))
    settings = {"objective": "lambdarank", "num_leaves": 31, "learning_rate": 0.1, "min_data_in_leaf": 50}
    training = lightgbm.Dataset(train.features, train.labels, group=train.groups.sizes)
    model = lightgbm.train(settings | {"verbose": -1, "num_threads": 2}, training, num_boost_round=100)
    best = next(iter(feature_rankers(train.take_queries(np.arange(500)), METRIC)))
    scores = {
        "LightGBM, 100 trees": model.predict(test.features),
        f"best feature ({best.name})": best.scores(test),
        "random order": random_scores(test),
    }
    notes: dict[str, object] = {
        f"{METRIC} of {name}": round(evaluate(values, test, [METRIC])[METRIC].mean, 4)
        for name, values in scores.items()
    }
    assert data.labels is not None
    notes["label shares"] = (np.bincount(data.labels.astype(np.int64)) / data.n_docs).round(3).tolist()
    notes["peak MB after making 720,000 × 136 (392 MB)"] = round(peak)
    report("Making web-search-like data", timings, "720,000 × 136", notes)


if __name__ == "__main__":
    main()
