"""The data sets on which rankers are judged, each with its folds: what is trained on and what is tested on.

Real sets come from the folder `shared/data` beside the checkout, or the one that RANKWRIGHT_DATA names; where one is
absent it is left out, and said so. The others are made by recipes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from benchmarks.helpers.places import DATA

import rankwright as rw
from rankwright import synthetic
from rankwright.data.dataset import RankingDataset

N_FOLDS = 5
SEED = 20  # of the folds, and of the data made by recipes


def _letor(folder: str) -> RankingDataset:
    """All queries of a LETOR folder: the three parts of any one fold."""
    parts = [rw.read(DATA / folder / "Fold1" / f"{part}.txt.gz") for part in ("train", "vali", "test")]
    return _joined(parts)


def _lightgbm_example() -> RankingDataset:
    return _joined([rw.read(DATA / "lightgbm-example" / f"rank.{part}.gz") for part in ("train", "test")])


def _joined(parts: list[RankingDataset]) -> RankingDataset:
    """The queries of all parts; a part may lack the last features of others, which are then 0."""
    n_features = max(part.n_features for part in parts)
    features = [np.pad(part.features, ((0, 0), (0, n_features - part.n_features))) for part in parts]
    labels = [part.labels for part in parts if part.labels is not None]
    sizes = np.concatenate([part.groups.sizes for part in parts])
    return RankingDataset.from_arrays(np.concatenate(features), np.concatenate(labels), group=sizes)


SETS: dict[str, Callable[[], RankingDataset]] = {
    "mq2007": lambda: rw.read(DATA / "MQ2007-part" / "all.txt.gz"),
    "mq2008": lambda: _letor("MQ2008"),
    "ohsumed": lambda: _letor("OHSUMED"),
    "mslr": lambda: rw.read(DATA / "MSLR-sample" / "all.txt.gz"),
    "lightgbm-example": _lightgbm_example,
    "web-300": lambda: synthetic.web_search(300, seed=SEED),
    "web-3000": lambda: synthetic.web_search(3000, docs_per_query=40, seed=SEED),
    "network": lambda: synthetic.random_network(200, seed=SEED),
    "polynomial": lambda: synthetic.random_polynomial(200, seed=SEED),
    "topics": lambda: synthetic.topic_distillation(75, seed=SEED),
    "web-30000": lambda: synthetic.web_search(30000, docs_per_query=20, seed=SEED),
}
ONE_SPLIT = frozenset({"web-30000"})  # large enough for one


def available() -> Iterator[str]:
    """The names of the sets that are here."""
    folders = {"mq2007": "MQ2007-part", "mq2008": "MQ2008", "ohsumed": "OHSUMED", "mslr": "MSLR-sample"}
    for name in SETS:
        folder = folders.get(name, name if name == "lightgbm-example" else None)
        if folder is None or (DATA / folder).is_dir():
            yield name
        else:
            print(f"{name} is left out: there is no folder {folder} in the data")


def n_folds(name: str) -> int:
    """How many folds of a set are tested on."""
    return 1 if name in ONE_SPLIT else N_FOLDS


@cache
def _data(name: str) -> RankingDataset:
    return SETS[name]()


def fold_of(name: str, number: int) -> tuple[RankingDataset, RankingDataset]:
    """The training and test part of a fold."""
    for found, parts in enumerate(_data(name).k_fold(N_FOLDS, seed=SEED)):
        if found == number:
            return parts
    raise IndexError(number)
