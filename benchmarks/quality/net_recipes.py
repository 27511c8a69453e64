"""Which recipe should a net have by default: five-fold cross-validation by query, against the recipe before.

Every recipe is trained on four fifths of the queries of each set, without validation data, and measured on the rest:
NDCG@10, or the share of pairs right on the tasks of RankNet's paper. The table has the mean paired difference per query
to `before`, ± one standard error. Results are kept in `--out`, a file for each set, ranker and recipe, and are not
computed again. Real data is looked for in `--data`, or the folder RANKWRIGHT_DATA names; what is not there is left out.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.helpers.places import DATA
from benchmarks.helpers.records import show

from rankwright import synthetic
from rankwright.data.dataset import RankingDataset
from rankwright.formats.reading import read
from rankwright.metrics.evaluation import evaluate
from rankwright.nets.listnet import ListNet
from rankwright.nets.net_rankers import LambdaRank, RankNet

FOLDS = 5
RANKERS = {"ranknet": RankNet, "lambdarank": LambdaRank, "listnet": ListNet}
HELD: dict[str, Any] = {
    "hidden": (32,), "activation": "relu", "dropout": 0.3, "learning_rate": 0.003, "batch_queries": 64,
    "encoding": "none", "members": 1,
}  # fmt: skip
SLOW: dict[str, Any] = {"encoding": "piecewise", "learning_rate": 0.001}
WIDE: dict[str, Any] = {"hidden": (64,), "dropout": 0.5}
RECIPES: Mapping[str, Callable[[int], dict[str, Any]]] = {  # from the number of queries to settings
    "before": lambda _: HELD,
    "default": lambda _: {},
    "paper": lambda _: {"mode": "paper"},
    "12 steps": lambda n: HELD | {"batch_queries": by_size(n)},
    "relu, no dropout": lambda n: HELD | {"dropout": 0.0, "batch_queries": by_size(n)},
    "tanh, no dropout": lambda n: HELD | {"activation": "tanh", "dropout": 0.0, "batch_queries": by_size(n)},
    "tanh, dropout": lambda n: HELD | {"activation": "tanh", "batch_queries": by_size(n)},
    "wide": lambda _: HELD | WIDE,
    "pieces": lambda _: HELD | SLOW,
    "pieces, wide": lambda _: HELD | SLOW | WIDE,
    "pieces, wide, 30 epochs": lambda _: HELD | SLOW | WIDE | {"epochs": 30},
    "30 epochs": lambda _: HELD | {"epochs": 30},
    "pieces, 30 epochs": lambda _: HELD | SLOW | {"epochs": 30},
    "pieces, 12 steps, 20 epochs": lambda n: HELD | SLOW | {"batch_queries": by_size(n), "epochs": 20},
    "12 steps, 20 epochs": lambda n: HELD | {"batch_queries": by_size(n), "epochs": 20, "learning_rate": 0.001},
    "slower": lambda _: HELD | {"learning_rate": 0.0003},
    "pieces, slower": lambda _: HELD | SLOW | {"learning_rate": 0.0003},
    "pieces, wide, slower": lambda _: HELD | SLOW | WIDE | {"learning_rate": 0.0003},
    "members": lambda _: HELD | {"members": 8, "dropout": 0.0},
    "pieces, members": lambda _: HELD | SLOW | {"members": 8, "dropout": 0.0},
}


def by_size(n_queries: int) -> int:
    """Queries per step that make twelve steps an epoch or more."""
    return min(64, max(1, n_queries // 12))


def letor(folder: Path) -> RankingDataset:
    """All queries of a folder of folds."""
    return joined([read(folder / "Fold1" / f"{part}.txt.gz") for part in ("train", "vali", "test")])


def lightgbm_example(folder: Path) -> RankingDataset:
    return joined([read(folder / f"rank.{part}.gz", format="svmlight", n_features=300) for part in ("train", "test")])


def joined(parts: list[RankingDataset]) -> RankingDataset:
    """The queries of all parts."""
    return RankingDataset.from_arrays(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.labels for part in parts]),
        group=np.concatenate([part.groups.sizes for part in parts]),
    )


def sets(data: Path) -> dict[str, Callable[[], RankingDataset]]:
    """How to get each set."""
    real = {
        "mq2007": (data / "MQ2007-part", lambda folder: read(folder / "all.txt.gz")),
        "mq2008": (data / "MQ2008", letor),
        "ohsumed": (data / "OHSUMED", letor),
        "mslr": (data / "MSLR-sample", lambda folder: read(folder / "all.txt.gz")),
        "lightgbm": (data / "lightgbm-example", lightgbm_example),
    }
    found = {
        name: (lambda folder=folder, get=get: get(folder)) for name, (folder, get) in real.items() if folder.exists()
    }
    return found | {
        "web": lambda: synthetic.web_search(300, seed=5),
        "topics": lambda: synthetic.topic_distillation(75, docs_per_query=300, seed=1),
        "network": lambda: synthetic.random_network(62, seed=1),
        "polynomial": lambda: synthetic.random_polynomial(62, seed=1),
    }


def metric_of(name: str) -> str:
    """What the set is measured by."""
    return "pair-accuracy" if name in ("network", "polynomial") else "ndcg@10"


def cross_validated(data: RankingDataset, metric: str, ranker: type, recipe: str, threads: int | None) -> np.ndarray:
    """The metric of each query, from the fold that it was held out in."""
    values = []
    for train, test in data.k_fold(FOLDS, seed=0):
        fitted = ranker(**RECIPES[recipe](train.n_queries), threads=threads).fit(train)
        values.append(evaluate(fitted.predict(test), test, [metric])[metric].values)
    return np.concatenate(values)


def run(settings: argparse.Namespace) -> None:
    settings.out.mkdir(parents=True, exist_ok=True)
    for name, get in sets(settings.data).items():
        missing = [
            (ranker, recipe) for recipe in settings.recipes for ranker in settings.rankers
            if name in settings.sets and not file_of(settings.out, name, ranker, recipe).exists()
        ]  # fmt: skip
        if not missing:
            continue
        data = get()
        for ranker, recipe in missing:
            start = time.process_time()
            values = cross_validated(data, metric_of(name), RANKERS[ranker], recipe, settings.threads)
            seconds = time.process_time() - start
            np.savez(file_of(settings.out, name, ranker, recipe), values=values, seconds=seconds)
            print(f"{name} {ranker} {recipe}: {np.nanmean(values):.4f}, {seconds:.1f} s of processor", flush=True)


def file_of(out: Path, name: str, ranker: str, recipe: str) -> Path:
    return out / f"{name}.{ranker}.{recipe.replace(', ', '-').replace(' ', '-')}.npz"


def tell(settings: argparse.Namespace) -> None:
    """Print a row for each ranker and recipe, and leave them."""
    names = [name for name in sets(settings.data) if name in settings.sets]
    rows = [
        {
            "ranker": ranker,
            "recipe": recipe,
            **{name: cell(settings.out, [name], ranker, recipe) for name in names},
            "all queries": cell(settings.out, names, ranker, recipe),
        }
        for ranker in settings.rankers
        for recipe in settings.recipes
    ]
    show(
        "net-recipes",
        "Nets by recipe: NDCG@10 (of made tasks, right pairs) of the one before, and the lead of others",
        rows,
    )


def cell(out: Path, names: list[str], ranker: str, recipe: str) -> str:
    """The mean of `before`; of others, the mean difference to it and its standard error, of all sets that have both."""
    files = [[file_of(out, name, ranker, which) for which in (recipe, "before")] for name in names]
    files = [pair for pair in files if all(file.exists() for file in pair)]
    if not files:
        return ""
    own, before = (np.concatenate([np.load(file)["values"] for file in side]) for side in zip(*files, strict=True))
    if recipe == "before":
        return f"{np.nanmean(own):.4f}"
    lead = (own - before)[~np.isnan(own - before)]
    return f"{lead.mean():+.4f} ± {lead.std(ddof=1) / np.sqrt(len(lead)):.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--out", type=Path, default=Path("out/net_recipes"))
    parser.add_argument("--recipes", nargs="+", default=list(RECIPES), choices=RECIPES)
    parser.add_argument("--rankers", nargs="+", default=list(RANKERS), choices=RANKERS)
    parser.add_argument("--sets", nargs="+", default=None)
    parser.add_argument("--threads", type=int, default=None)
    settings = parser.parse_args()
    settings.sets = settings.sets or list(sets(settings.data))
    run(settings)
    tell(settings)


if __name__ == "__main__":
    main()
