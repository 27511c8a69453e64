"""How do our rankers do where somebody published a figure of RankLib's?

RankLib needs Java, which is not asked for here; its figures are taken from where they were published, which is named.
Two sources can be checked, both on MQ2008:

- MAP on the test part of fold 1, by a user of RankLib 2.1 and its fork RankyMcRankFace 0.2.0, after training without
  validation data. The source names neither the ranker nor its settings.
- NDCG@10 of four rankers of RankLib 2.1, trained and validated on parts that the source does not name. It gives the
  NDCG@10 of the documents in the order of the test file, though: .3503, which of the five folds only fold 5 has.

Ours are LambdaMART with RankLib's defaults (1,000 trees of 10 leaves, rate .1, a document in a leaf is enough), and the
same rankers as RankLib's with our defaults.

    python -m benchmarks.quality.ranklib_figures [--data DATA/MQ2008] [--seeds 5]
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.helpers.places import DATA
from benchmarks.helpers.records import show

import rankwright as rw

MAP, NDCG = "map:ranklib", "ndcg@10:ranklib"
RANKY = "o19s/RankyMcRankFace, issue 9 (2017)"
COURSE = "harshimurthy/rank-indexing-mapreduce, part1.md"
INPUT_ORDER = "documents in the order of the file"
BY_MAP = {"RankLib 2.1, ranker not named": 0.4279, "RankyMcRankFace 0.2.0, the same": 0.4240}
BY_NDCG = {
    INPUT_ORDER: 0.3503,
    "RankLib 2.1 LambdaMART": 0.5473,
    "RankLib 2.1 MART": 0.5375,
    "RankLib 2.1 AdaRank": 0.5412,
    "RankLib 2.1 RankBoost": 0.5351,
}
RANKLIBS: dict[str, Any] = {
    "n_trees": 1000,
    "max_leaves": 10,
    "learning_rate": 0.1,
    "min_docs_in_leaf": 1,
    "query_fraction": 1.0,
    "feature_fraction": 1.0,
    "objective": "lambdarank:ndcg@10",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA / "MQ2008")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    show(
        "ranklib-figures",
        "RankLib's published figures beside ours: MAP on MQ2008, fold 1",
        published(BY_MAP, "test MAP", RANKY) + list(by_map(options.data, options.seeds)),
    )
    show(
        "ranklib-figures-ndcg",
        "RankLib's published figures beside ours: NDCG@10 on MQ2008, fold 5",
        published(BY_NDCG, "test NDCG@10", COURSE) + list(by_ndcg(options.data, options.seeds)),
    )


def published(figures: Mapping[str, float], column: str, source: str) -> list[dict[str, Any]]:
    return [{"system": name, column: value, "source": source} for name, value in figures.items()]


def by_map(data: Path, seeds: int) -> list[dict[str, Any]]:
    train, test = (read(data, 1, part) for part in ("train", "test"))
    rows = []
    for name, settings in (("LambdaMART, RankLib's settings", RANKLIBS), ("LambdaMART, our defaults", {})):
        rankers = (rw.LambdaMART(seed=seed, threads=1, **settings).fit(train) for seed in range(seeds))
        rows.append(ours(name, "test MAP", [mean(ranker, test, MAP) for ranker in rankers]))
    return rows


def by_ndcg(data: Path, seeds: int) -> list[dict[str, Any]]:
    train, valid, test = (read(data, 5, part) for part in ("train", "vali", "test"))
    in_order = rw.evaluate(-np.arange(float(test.n_docs)), test, NDCG)[NDCG].mean
    rows = [{"system": INPUT_ORDER, "test NDCG@10": in_order, "source": "here"}]
    kinds: dict[str, tuple[Any, dict[str, Any]]] = {
        "LambdaMART, RankLib's settings": (rw.LambdaMART, RANKLIBS | {"early_stopping": 100}),
        "LambdaMART, our defaults": (rw.LambdaMART, {}),
        "MART, our defaults": (rw.MART, {}),
        "AdaRank, our defaults": (rw.AdaRank, {}),
        "RankBoost, our defaults": (rw.RankBoost, {}),
    }
    for name, (kind, settings) in kinds.items():
        rankers = [kind(seed=seed, threads=1, select=NDCG, **settings) for seed in range(seeds)]
        means = [mean(ranker.fit(train, valid=valid), test, NDCG) for ranker in rankers]
        rows.append(ours(name, "test NDCG@10", means))
    return rows


def read(data: Path, fold: int, part: str) -> rw.RankingDataset:
    return rw.read(next((data / f"Fold{fold}").glob(f"{part}.txt*")))


def mean(ranker: Any, test: rw.RankingDataset, metric: str) -> float:
    return rw.evaluate(ranker, test, metric)[metric].mean


def ours(name: str, column: str, means: list[float]) -> dict[str, Any]:
    return {"system": name, column: float(np.mean(means)), "source": f"mean of {len(means)} seeds"}


if __name__ == "__main__":
    main()
