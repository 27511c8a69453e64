"""How does our LambdaMART do where somebody published a figure of RankLib's?

RankLib needs Java, which is not asked for here; its figures are taken from where they were published, which is named.
The one that can be checked was told by a user of RankLib 2.1 and its fork RankyMcRankFace 0.2.0, with MQ2008's first
fold: MAP on `test.txt` after training on `train.txt`. Neither the ranker nor its settings were told; ours is LambdaMART
with RankLib's defaults (1,000 trees of 10 leaves, rate .1, a document in a leaf is enough), and with our own.

    python -m benchmarks.ranklib_figures [--data DATA/MQ2008] [--seeds 5]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.quality_sets import DATA
from benchmarks.records import show

import rankwright as rw

WHERE = "o19s/RankyMcRankFace, issue 9 (2017)"
PUBLISHED = {"RankLib 2.1, ranker not told": 0.4279, "RankyMcRankFace 0.2.0, the same": 0.4240}
RANKLIBS: dict[str, Any] = {
    "n_trees": 1000,
    "max_leaves": 10,
    "learning_rate": 0.1,
    "min_docs_in_leaf": 1,
    "query_fraction": 1.0,
    "feature_fraction": 1.0,
    "objective": "lambdarank:ndcg@10",
}
METRIC = "map:ranklib"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA / "MQ2008")
    parser.add_argument("--seeds", type=int, default=5)
    options = parser.parse_args()
    train, test = (rw.read(next((options.data / "Fold1").glob(f"{part}.txt*"))) for part in ("train", "test"))
    rows: list[dict[str, Any]] = [
        {"system": name, "test MAP": value, "source": WHERE} for name, value in PUBLISHED.items()
    ]
    for name, settings in (("LambdaMART, RankLib's settings", RANKLIBS), ("LambdaMART, our defaults", {})):
        rankers = (rw.LambdaMART(seed=seed, threads=1, **settings).fit(train) for seed in range(options.seeds))
        means = [rw.evaluate(ranker, test, METRIC)[METRIC].mean for ranker in rankers]
        rows.append({"system": name, "test MAP": float(np.mean(means)), "source": f"mean of {options.seeds} seeds"})
    show("ranklib-figures", "RankLib's published figures beside ours: MAP on MQ2008, fold 1", rows)


if __name__ == "__main__":
    main()
