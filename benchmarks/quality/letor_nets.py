"""What do RankNet and LambdaRank reach on LETOR's data with their defaults: five folds, the letor convention?

The epoch is chosen on the validation part by MAP. Data is looked for in `--data`, or the folder RANKWRIGHT_DATA names.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from benchmarks.helpers.places import DATA
from benchmarks.helpers.records import leave

from rankwright.formats.reading import read
from rankwright.metrics.evaluation import evaluate
from rankwright.nets.net_rankers import LambdaRank, RankNet

AIMS = {"MQ2008": 0.470, "OHSUMED": 0.443}  # MAP
METRICS = ("map", "ndcg@10", "mean-ndcg")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seeds", type=int, default=1)
    settings = parser.parse_args()
    rows = []
    for name, aim in AIMS.items():
        if not (settings.data / name).exists():
            print(f"{name}: not found in {settings.data}")
            continue
        folds = [
            [read(settings.data / name / f"Fold{fold}" / f"{part}.txt.gz") for part in ("train", "vali", "test")]
            for fold in range(1, 6)
        ]
        for kind in (RankNet, LambdaRank):
            means = []
            for seed in range(settings.seeds):
                for train, valid, test in folds:
                    ranker = kind(select="map:letor", seed=seed).fit(train, valid=valid)
                    result = evaluate(ranker.predict(test), test, METRICS, convention="letor")
                    means.append([result[metric].mean for metric in METRICS])
            figures = dict(zip(METRICS, np.mean(means, axis=0).tolist(), strict=True))
            told = "  ".join(f"{metric} {value:.4f}" for metric, value in figures.items())
            print(f"{name:8} {kind.name:10} {told}  (aim map {aim})")
            rows.append({"set": name, "net": kind.name, **figures})
    leave("letor-nets", "RankNet and LambdaRank on LETOR's data, five folds, the letor convention", rows=rows, notes={})


if __name__ == "__main__":
    main()
