"""What do RankNet and LambdaRank reach on LETOR's data with their defaults: five folds, the letor convention?

The epoch is chosen on the validation part by MAP. Data is looked for in `--data`, or the folder RANKWRIGHT_DATA names.
`--pieces` asks instead what features in pieces bring on the five folds of MQ2007: the first recipe with and without
them, 60 epochs at most, of which NDCG@10 of the validation part chooses one.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.helpers.places import DATA
from benchmarks.helpers.records import leave

from rankwright.data.dataset import RankingDataset
from rankwright.formats.reading import read
from rankwright.metrics.evaluation import evaluate
from rankwright.nets.listnet import ListNet
from rankwright.nets.net_rankers import LambdaRank, RankNet

AIMS = {"MQ2008": 0.470, "OHSUMED": 0.443}  # MAP
METRICS = ("map", "ndcg@10", "mean-ndcg")


FIRST: dict[str, Any] = {
    "hidden": (32,), "activation": "relu", "dropout": 0.3, "learning_rate": 0.003, "batch_queries": 64
}  # fmt: skip
IN_PIECES: dict[str, Any] = FIRST | {"encoding": "piecewise", "learning_rate": 0.001}


def folds_of(folder: Path) -> list[list[RankingDataset]]:
    return [
        [read(folder / f"Fold{fold}" / f"{part}.txt.gz") for part in ("train", "vali", "test")] for fold in range(1, 6)
    ]


def compare_pieces(data: Path) -> None:
    rows = []
    for kind in (RankNet, ListNet, LambdaRank):
        found: dict[str, list[np.ndarray]] = {"ndcg@10": [], "map": []}
        for settings in (FIRST, IN_PIECES):
            values: dict[str, list[np.ndarray]] = {metric: [] for metric in found}
            for train, valid, test in folds_of(data / "MQ2007"):
                ranker = kind(**settings, epochs=60, early_stopping=15, threads=1).fit(train, valid=valid)
                result = evaluate(ranker.predict(test), test, list(found), convention="letor")
                for metric, own in values.items():
                    own.append(result[metric].values)
            for metric, own in values.items():
                found[metric].append(np.concatenate(own))
        for metric, (plain, pieces) in found.items():
            lead = pieces - plain
            error = lead.std() / np.sqrt(len(lead))
            told = {"net": kind.name, "metric": metric, "plain": plain.mean(), "pieces": pieces.mean(), "error": error}
            print("{net:10} {metric:8} plain {plain:.4f}  pieces {pieces:.4f}  ± {error:.4f}".format(**told))
            rows.append(told)
    leave(
        "letor-pieces", "Nets with and without pieces on MQ2007, five folds, the letor convention", rows=rows, notes={}
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--pieces", action="store_true")
    settings = parser.parse_args()
    if settings.pieces:
        return compare_pieces(settings.data)
    rows = []
    for name, aim in AIMS.items():
        if not (settings.data / name).exists():
            print(f"{name}: not found in {settings.data}")
            continue
        folds = folds_of(settings.data / name)
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
    return leave(
        "letor-nets", "RankNet and LambdaRank on LETOR's data, five folds, the letor convention", rows=rows, notes={}
    )


if __name__ == "__main__":
    main()
