"""A model that is served: its features as bodies name them, its scores, and what its features add to them."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.catalog.rankers import load_trained
from rankwright.data.dataset import RankingDataset
from rankwright.data.feature_names import numbered_names
from rankwright.data.groups import Groups
from rankwright.errors import InputError, SettingError, UnknownNameError, require
from rankwright.explanations.contributions import Question
from rankwright.rankers.trained import TrainedRanker

VERSION_DIGITS = 12
WARM_DOCUMENTS, WARM_UPS = 100, 5
SMALLEST_POWER, LARGEST_POWER = -3, 5  # of ten, of what documents hold that warm a model up


@dataclass(frozen=True, slots=True, eq=False)
class NameTable:
    """Names of features as the kernel that reads them takes them."""

    text: NDArray[np.uint8]
    offsets: IntArray
    order: IntArray  # in that of their bytes

    @classmethod
    def of(cls, names: Sequence[str]) -> NameTable:
        """The table of these names."""
        joined = [name.encode() for name in names]
        order = sorted(range(len(joined)), key=joined.__getitem__)
        offsets = np.cumsum([0, *map(len, joined)], dtype=np.int64)
        return cls(np.frombuffer(b"".join(joined), np.uint8), offsets, np.array(order, np.int64))


@dataclass(frozen=True, slots=True, eq=False)
class ServedModel:
    """A trained ranker under a name, made from one state of its file."""

    name: str
    path: str
    version: str  # the beginning of the file's checksum
    trained: TrainedRanker
    features: tuple[str, ...]  # names, or numbers from 1
    table: NameTable
    threads: int = 1

    @classmethod
    def read(cls, name: str, path: str | os.PathLike[str], *, threads: int = 1) -> ServedModel:
        """The model in a file, checked as all files are, and run so that its first request is no slower."""
        digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()
        trained = load_trained(path)
        if hashlib.sha256(Path(path).read_bytes()).hexdigest() != digest:
            raise InputError(f"{os.fspath(path)} changed while it was read")
        features = trained.feature_names or numbered_names(trained.n_features)
        model = cls(name, os.fspath(path), digest[:VERSION_DIGITS], trained, features, NameTable.of(features), threads)
        model.warm_up()
        return model

    @property
    def n_features(self) -> int:
        """How many features a document has."""
        return len(self.features)

    def warm_up(self) -> None:
        """Score some documents, as often as makes what is computed once be computed, and memory be there."""
        for _ in range(WARM_UPS):
            self.scores(self.warm_documents())

    def warm_documents(self) -> Float32Array:
        """Documents of all sizes of values, so that they lead everywhere in a model."""
        rng = np.random.default_rng(0)
        shape = (WARM_DOCUMENTS, self.n_features)
        sizes = 10 ** rng.uniform(SMALLEST_POWER, LARGEST_POWER, shape)
        return (rng.standard_normal(shape) * sizes).astype(np.float32)

    def scores(self, features: Float32Array) -> Float64Array:
        """A score for each document of one query."""
        return self.trained.scores(self._one_query(features), threads=self.threads)

    def contributions(self, features: Float32Array) -> tuple[Float64Array, float]:
        """What each feature adds to each document's score, and the score that they add to."""
        if not self.trained.model.explains_lists:
            raise InputError(f"{self.trained.ranker} compares documents, which have no scores of their own to explain")
        found = self.trained.contributions(self._one_query(features), Question(threads=self.threads))
        return found.values, found.base

    def _one_query(self, features: Float32Array) -> RankingDataset:
        return RankingDataset(features=features, labels=None, groups=_one_group(len(features)))

    def facts(self) -> dict[str, Any]:
        """What clients are told of it."""
        return {
            "name": self.name,
            "version": self.version,
            "ranker": self.trained.ranker,
            "features": list(self.features),
            "categories": {name: list(own) for name, own in (self.trained.features.categories or {}).items()},
        }


def named_file(text: str) -> tuple[str, str]:
    """The name of a model and its file: what stands before an equals sign, or the file's name without its ending."""
    name, equals, path = text.partition("=")
    if not equals or Path(text).exists():
        name, path = Path(text).name.removesuffix(".rw"), text
    require(bool(name and path), f"a model is given as MODEL or NAME=MODEL, got {text!r}")
    if not Path(path).is_file():
        raise SettingError(f"{path}: there is no such file")
    return name, path


@lru_cache(maxsize=1024)
def _one_group(n_docs: int) -> Groups:
    return Groups(np.array([0, n_docs]))


class ModelShelf:
    """The models in use by name; replacing one is a single step, so that a request sees the old one or the new one."""

    def __init__(self, models: Sequence[ServedModel]) -> None:
        self._models = {model.name: model for model in models}
        self.default = models[0].name

    def __iter__(self) -> Any:
        return iter(list(self._models.values()))

    def named(self, name: str | None) -> ServedModel:
        """The model of that name, the first of all where none is given."""
        try:
            return self._models[self.default if name is None else name]
        except KeyError:
            raise UnknownNameError("model", str(name), known=self._models) from None

    def replace(self, model: ServedModel) -> None:
        """Take a model in place of the one of its name."""
        self._models[model.name] = model
