"""How fast is LambdaMART trained, binning included, beside the fastest settings of the peers, at equal trees?

100 trees of 31 leaves and 40 of 255, with one thread and with two. LightGBM has 255 and 63 bins, row-wise and
column-wise, and 63 bins with quantised gradients; ours has 255 and 63. Each of them sees all rows and features in every
tree. `--shape` chooses the data: `web` (360,000 × 136), `yahoo` (a million rows of 700 features) or `letor`
(300,000 × 46); the last two are columns of web-like data, repeated under noise or left out. `--parts` makes less of it.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from benchmarks.helpers.timing import report, time_side_by_side
from benchmarks.speed.train_lambdamart import (
    METRIC,
    Predict,
    Train,
    by_catboost,
    by_lightgbm,
    by_rankwright,
    by_xgboost,
)

import rankwright as rw
from rankwright import synthetic
from rankwright.data.dataset import RankingDataset

SHAPES = {"web": (3_000, 136), "yahoo": (8_300, 700), "letor": (2_500, 46)}  # queries and features
FORESTS = ((100, 31), (40, 255))
OURS = "rankwright"


ROWS, COLUMNS = {"force_row_wise": True}, {"force_col_wise": True}
MAKERS: dict[str, tuple[Callable[[int, int, int, int], Train], int]] = {
    OURS: (by_rankwright, 255),
    "rankwright, 63 bins": (by_rankwright, 63),
    "LightGBM by row": (partial(by_lightgbm, **ROWS), 255),
    "LightGBM by row, 63 bins": (partial(by_lightgbm, **ROWS), 63),
    "LightGBM by column": (partial(by_lightgbm, **COLUMNS), 255),
    "LightGBM by column, 63 bins": (partial(by_lightgbm, **COLUMNS), 63),
    "LightGBM, quantised, 63 bins": (partial(by_lightgbm, use_quantized_grad=True, **ROWS), 63),
    "XGBoost": (by_xgboost, 255),
    "CatBoost": (by_catboost, 255),
}


def data_of(shape: str, parts: float, n_test: int) -> tuple[RankingDataset, RankingDataset]:
    """Data for training and for measuring. More columns than there are come again, each under noise of its own."""
    n_queries, n_features = SHAPES[shape]
    n_train = max(int(n_queries * parts), 1)
    data = synthetic.web_search(n_train + n_test)
    rng, web = np.random.default_rng(0), data.features
    chosen = np.arange(n_features) % web.shape[1]
    features = np.ascontiguousarray(web[:, chosen])
    for column in range(web.shape[1], n_features):  # zeros stay zeros: what a page lacks, it lacks in every column
        features[:, column] *= 1 + 0.1 * rng.standard_normal(len(web), np.float32)
    made = RankingDataset(features=features, labels=data.labels, groups=data.groups)
    return made.take_queries(np.arange(n_train)), made.take_queries(np.arange(n_train, n_train + n_test))


def compare(train: RankingDataset, test: RankingDataset, forest: tuple[int, int], options: argparse.Namespace) -> None:
    """Train every model in turn, and print times, ratios and quality."""
    n_trees, max_leaves = forest
    threads, models = options.threads, dict[str, Predict]()
    n_trees = max(int(n_trees * options.scale), 1)
    chosen = [name for name in MAKERS if name not in options.without]

    def task(name: str) -> Callable[[], object]:
        maker, bins = MAKERS[name]
        return lambda: models.__setitem__(name, maker(n_trees, max_leaves, bins, threads)(train))

    clock = time.process_time if options.processor else time.perf_counter
    timings = time_side_by_side({name: task(name) for name in chosen}, options.repeats, clock)
    notes: dict[str, object] = {
        f"held-out {METRIC}, {name}": round(rw.evaluate(predict(test.features), test, [METRIC])[METRIC].mean, 4)
        for name, predict in models.items()
    }
    size = f"{train.n_docs:,} × {train.n_features}, {threads} threads"
    report(f"Equal trees: {n_trees} trees × {max_leaves} leaves on {size}", timings, OURS, notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", choices=SHAPES, default="web")
    parser.add_argument("--parts", type=float, default=1.0, help="a part of the queries, for a quick look")
    parser.add_argument("--scale", type=float, default=1.0, help="a part of the trees, for a quick look")
    parser.add_argument("--test-queries", type=int, default=500)
    parser.add_argument("--threads", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", type=int, choices=[31, 255], help="one of the two sizes of trees")
    parser.add_argument("--processor", action="store_true", help="processor time, for a machine that others use")
    parser.add_argument(
        "--without", nargs="*", default=[], choices=list(MAKERS), metavar="NAME", help="peers to leave out"
    )
    options = parser.parse_args()
    train, test = data_of(options.shape, options.parts, options.test_queries)
    for threads in options.threads:
        for forest in FORESTS:
            if options.only in (None, forest[1]):
                compare(train, test, forest, argparse.Namespace(**{**vars(options), "threads": threads}))


if __name__ == "__main__":
    main()
