"""What do RankNet and LambdaRank reach on LETOR's data with their defaults: five folds, the letor convention?

The epoch is chosen on the validation part by MAP. Data is looked for in `--data`, or the folder RANKWRIGHT_DATA names.
`--before` compares the default instead with that of before nets saw features in pieces, on the five folds of MQ2007,
where NDCG@10 of the validation part chooses the epoch.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.helpers.places import DATA
from benchmarks.helpers.records import leave
from benchmarks.quality.net_recipes import recipes_before

from rankwright.data.dataset import RankingDataset
from rankwright.formats.reading import read
from rankwright.metrics.evaluation import evaluate
from rankwright.nets.listnet import ListNet
from rankwright.nets.net_rankers import LambdaRank, RankNet

AIMS = {"MQ2008": 0.470, "OHSUMED": 0.443}  # MAP
METRICS = ("map", "ndcg@10", "mean-ndcg")
NETS: Sequence[tuple[Any, dict[str, Any]]] = (
    (RankNet, {}),
    (ListNet, {"hidden": (32,), "epochs": None}),
    (LambdaRank, {}),
)


def folds_of(folder: Path) -> list[list[RankingDataset]]:
    return [
        [read(folder / f"Fold{fold}" / f"{part}.txt.gz") for part in ("train", "vali", "test")] for fold in range(1, 6)
    ]


def compare_defaults(data: Path) -> None:
    """The default beside that of before, on MQ2007, whose validation part chooses the epoch by NDCG@10."""
    rows = []
    for kind, settings in NETS:
        found: dict[str, list[np.ndarray]] = {"ndcg@10": [], "map": []}
        for of_then in (recipes_before(), nullcontext()):
            values: dict[str, list[np.ndarray]] = {metric: [] for metric in found}
            with of_then:
                for train, valid, test in folds_of(data / "MQ2007"):
                    ranker = kind(**settings, threads=1).fit(train, valid=valid)
                    result = evaluate(ranker.predict(test), test, list(found), convention="letor")
                    for metric, own in values.items():
                        own.append(result[metric].values)
            for metric, own in values.items():
                found[metric].append(np.concatenate(own))
        for metric, (before, now) in found.items():
            lead = now - before
            error = lead.std(ddof=1) / np.sqrt(len(lead))
            told = {"net": kind.name, "metric": metric, "before": before.mean(), "now": now.mean(), "error": error}
            print("{net:10} {metric:8} before {before:.4f}  now {now:.4f}  ± {error:.4f}".format(**told), flush=True)
            rows.append(told)
    leave(
        "letor-nets-before",
        "Nets by default, before and now, on MQ2007, five folds, letor convention",
        rows=rows,
        notes={},
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--before", action="store_true")
    settings = parser.parse_args()
    if settings.before:
        return compare_defaults(settings.data)
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
