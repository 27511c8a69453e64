"""Which forces should LambdaMART follow where lists are long, and how does it do beside LightGBM's defaults?

Synthetic data that nothing else is measured on: topic distillation (60 queries of a thousand documents to learn from)
and web-like data with lists of 400 documents (100 and 400 queries). Everything but the forces is the default. For each
set, differences to LambdaRank's forces are paired by test query.

    python -m benchmarks.quality.long_lists [--seeds 3] [--sets topics web-100 web-400]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import lightgbm
import numpy as np
from benchmarks.helpers.boosting import labels_of
from benchmarks.helpers.records import show

import rankwright as rw
from rankwright import synthetic
from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset

FIRST_SEED = 1000  # of the data: other benchmarks begin at 0
METRICS = ("ndcg@10", "map")
# By name: all queries for a seed, and how many of them are learned from.
SETS: dict[str, tuple[Callable[[int], RankingDataset], int]] = {
    "topics": (lambda seed: synthetic.topic_distillation(300, seed=seed), 60),
    "web-100": (lambda seed: synthetic.web_search(300, docs_per_query=400, seed=seed), 100),
    "web-400": (lambda seed: synthetic.web_search(700, docs_per_query=400, seed=seed), 400),
}
PEER = "LightGBM's defaults"
FORCES = ("lambdarank", "ranknet", "yetirank")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--sets", nargs="+", default=list(SETS), choices=SETS)
    parser.add_argument("--forces", nargs="+", default=list(FORCES), help="other than LambdaRank's")
    options = parser.parse_args()
    systems = list(dict.fromkeys([FORCES[0], *options.forces, PEER]))
    rows = [row for name in options.sets for row in rows_of(name, systems, options.seeds)]
    show("long-lists", f"Forces for long lists, {options.seeds} data sets of each kind", rows)


def rows_of(name: str, systems: list[str], seeds: int) -> list[dict[str, Any]]:
    """A row for each system: its metrics, and what it is ahead of LambdaRank's forces by."""
    found: dict[str, list[Float64Array]] = {system: [] for system in systems}
    make, n_train = SETS[name]
    for seed in range(seeds):
        data = make(FIRST_SEED + seed)
        train, test = data.take_queries(np.arange(n_train)), data.take_queries(np.arange(n_train, data.n_queries))
        for system in systems:
            evaluation = rw.evaluate(scores_of(system, train, test, seed), test, METRICS, threads=1)
            found[system].append(np.array([evaluation[metric].values for metric in METRICS]))
    values = {system: np.concatenate(parts, axis=1) for system, parts in found.items()}
    first = values[systems[0]]
    return [
        {"set": name, "test queries": own.shape[1], "forces": system}
        | {metric: float(own[place].mean()) for place, metric in enumerate(METRICS)}
        | {f"{metric}, lead": lead(own[place] - first[place]) for place, metric in enumerate(METRICS)}
        for system, own in values.items()
    ]


def scores_of(system: str, train: RankingDataset, test: RankingDataset, seed: int) -> Float64Array:
    if system == PEER:
        peer = lightgbm.LGBMRanker(n_jobs=1, verbose=-1)
        peer.fit(train.features, labels_of(train), group=train.groups.sizes)
        return np.asarray(peer.booster_.predict(test.features))
    return np.asarray(rw.LambdaMART(objective=system, seed=seed, threads=1).fit(train).predict(test))


def lead(gaps: Float64Array) -> str:
    return f"{gaps.mean():+.4f} ± {gaps.std() / np.sqrt(len(gaps)):.4f}"


if __name__ == "__main__":
    main()
