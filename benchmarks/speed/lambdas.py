"""How long do the forces of 720,000 web-like documents take, beside LightGBM's lambdarank at truncation 30?

LightGBM's objective cannot be called alone: its time is that of iterations with two leaves and one feature, less that
of the same iterations with squared error, whose gradient costs next to nothing.

    python -m benchmarks.speed.lambdas [--threads 2] [--repeats 7]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import lightgbm
import numpy as np
from benchmarks.helpers.timing import Timing, report, time_side_by_side

from rankwright import RankingDataset, objectives
from rankwright.objectives import Objective, PairwiseObjective, delta_named, lambdarank, ranknet

N_DOCS, TRUNCATION = 720_000, 30
ITERATIONS = 10

OURS: dict[str, Objective] = {
    "lambdarank": lambdarank(truncation=TRUNCATION),
    "lambdarank, no norms": PairwiseObjective(delta=delta_named("ndcg"), truncation=TRUNCATION),
    "lambdarank, all pairs": lambdarank(truncation=None),
    "lambdarank for map": lambdarank("map", truncation=TRUNCATION),
    "lambdarank for err": lambdarank("err", truncation=TRUNCATION),
    "ranknet, all pairs": ranknet(),
    "ranknet, 8 sampled": ranknet(sampled_pairs=8),
    "softmax": objectives.Softmax(),
    "squared error": objectives.SquaredError(),
}


def web_like(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Group sizes of 100 to 130 documents, labels with the shares of web search judgments, and scores."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(100, 131, size=N_DOCS // 115)
    n_docs = int(sizes.sum())
    labels = rng.choice(5, size=n_docs, p=[0.52, 0.32, 0.13, 0.02, 0.01])
    return sizes, labels, rng.normal(size=n_docs)


def n_pairs(objective: Objective, data: RankingDataset) -> float:
    """How many pairs of ranks the kernel goes through."""
    sizes = data.groups.sizes.astype(float)
    if not isinstance(objective, PairwiseObjective):
        return float("nan")
    if objective.sampled_pairs is not None:
        return objective.sampled_pairs * float(sizes.sum())
    if objective == ranknet():  # only documents of different labels
        counts = [np.unique(np.asarray(data.labels)[docs], return_counts=True)[1] for docs in data.groups.slices()]
        return float(sum((count.sum() ** 2 - (count**2).sum()) / 2 for count in counts))
    top = sizes if objective.truncation is None else np.minimum(sizes, objective.truncation)
    return float((top * sizes - top * (top + 1) / 2).sum())


def lightgbm_objective_time(sizes, labels, scores, threads: int, repeats: int) -> Timing:
    """Seconds a call of lambdarank: two-leaf iterations with it, less those with squared error."""

    def train(objective: str) -> Callable[[], float]:
        params = {
            "objective": objective,
            "num_leaves": 2,
            "num_threads": threads,
            "verbose": -1,
            "metric": "none",
            "lambdarank_truncation_level": TRUNCATION,
        }
        feature = np.arange(len(labels), dtype=float).reshape(-1, 1) % 7
        data = lightgbm.Dataset(feature, labels, group=sizes, init_score=scores, params=params).construct()
        booster = lightgbm.Booster(params, data)

        def iterations() -> float:
            start = time.perf_counter()
            for _ in range(ITERATIONS):
                booster.update()
            return (time.perf_counter() - start) / ITERATIONS

        return iterations

    ranking, plain = train("lambdarank"), train("regression")
    return Timing("LightGBM", [ranking() - plain() for _ in range(repeats)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    settings = parser.parse_args()

    sizes, labels, scores = web_like()
    data = RankingDataset.from_arrays(np.zeros((len(labels), 0)), labels, group=sizes)
    bound = {name: objective.bind(data, threads=settings.threads) for name, objective in OURS.items()}
    tasks: dict[str, Callable[[], object]] = {name: partial(fn, scores) for name, fn in bound.items()}
    tasks["lambdarank, all tied"] = partial(bound["lambdarank"], np.zeros(len(labels)))
    timings = time_side_by_side(tasks, settings.repeats)
    timings["LightGBM's lambdarank"] = lightgbm_objective_time(sizes, labels, scores, settings.threads, 3)
    per_pair = {
        f"ns a pair, {name}": round(1e9 * timings[name].best / n_pairs(objective, data), 2)
        for name, objective in OURS.items()
        if isinstance(objective, PairwiseObjective)
    }
    notes = {"documents": len(labels), "queries": len(sizes), "threads": settings.threads} | per_pair
    report("Forces of 720,000 documents, truncation 30", timings, "lambdarank", notes)


if __name__ == "__main__":
    main()
