"""Folders in the form of LETOR: a subfolder for each fold, with files to train on, to validate on and to test on."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.formats.reading import read, read_wide

PARTS = {"train": ("train", "trainingset"), "vali": ("vali", "valid", "validationset"), "test": ("test", "testset")}
ENDINGS = (".txt", ".txt.gz", ".txt.zst")


@dataclass(frozen=True, slots=True, eq=False)
class LetorFold:
    """One fold: its name, and its documents to train on, to validate on and to test on."""

    name: str
    train: RankingDataset
    vali: RankingDataset
    test: RankingDataset


def has_folds(folder: str | os.PathLike[str]) -> bool:
    """Whether this is a LETOR folder."""
    return any(path.is_dir() for path in Path(folder).glob("Fold*"))


def fold_folders(folder: str | os.PathLike[str]) -> list[Path]:
    """The folders Fold1, Fold2, … of a LETOR folder, in order."""
    found = sorted(path for path in Path(folder).glob("Fold*") if path.is_dir())
    if not found:
        raise InputError(f"{os.fspath(folder)} has no folders Fold1, Fold2, … with train, vali and test files in each")
    return found


def read_fold(folder: Path, **reading: Any) -> LetorFold:
    """The documents of one fold; `reading` are options of `read`."""
    train = read(_file_of(folder, PARTS["train"]), **reading)
    wide: dict[str, Any] = {"n_features": train.n_features} | reading
    vali, test = (read_wide(_file_of(folder, PARTS[part]), **wide) for part in ("vali", "test"))
    return LetorFold(folder.name, train, vali, test)


def _file_of(folder: Path, names: Sequence[str]) -> Path:
    for path in (folder / f"{name}{ending}" for name in names for ending in ENDINGS):
        if path.exists():
            return path
    raise InputError(f"{folder} has no {names[0]}.txt, nor one that ends in .gz or .zst")
