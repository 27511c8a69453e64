"""The features that a ranker was trained on, and documents brought into line with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwright.arrays import require_features
from rankwright.data.categories import Categories, decoded, numbers_of_categories, translated_codes
from rankwright.data.columns import quoted_list
from rankwright.data.dataset import RankingDataset
from rankwright.data.feature_names import numbered_names
from rankwright.errors import InputError, require_input
from rankwright.formats.reading import DataFile
from rankwright.text.origin import FeatureOrigin


@dataclass(frozen=True, slots=True, eq=False)
class KnownFeatures:
    """How many features there are, their names if they have any, and the categories of those that hold codes.

    `origin` tells how they are made of texts, where they are.
    """

    n_features: int
    names: tuple[str, ...] = ()
    categories: Categories | None = None
    origin: FeatureOrigin | None = None

    def __post_init__(self) -> None:
        require_features(self.n_features)
        if self.origin is not None:
            made = self.origin.specification.names
            lacking = [name for name in self.names if name not in made] if self.names else ["without names"]
            require_input(not lacking, f"there is no telling how {quoted_list(lacking[:1])} is made of texts")

    @classmethod
    def of(cls, data: RankingDataset) -> KnownFeatures:
        """The features of a dataset."""
        return cls.of_binned(data.n_features, data.feature_names, data)

    @classmethod
    def of_binned(cls, n_features: int, names: Sequence[str], documents: RankingDataset) -> KnownFeatures:
        """The features of documents whose values are kept elsewhere."""
        return cls(n_features, tuple(names), documents.categories, _origin(documents.feature_origin, names))

    @classmethod
    def of_shards(cls, n_features: int, names: Sequence[str], feature_origin: str | None) -> KnownFeatures:
        """The features of shards, which hold no categories; `feature_origin` is what all of them tell."""
        return cls(n_features, tuple(names), None, _origin(feature_origin, names))

    def aligned(self, data: RankingDataset) -> RankingDataset:
        """The data with these features, in their order and with their categories; others are left out.

        Where both have names, features are found by name; otherwise there must be as many as in training.
        """
        names = data.feature_names
        wanted = self.names or (numbered_names(self.n_features) if names else ())
        if names and wanted and names != wanted and (self.names or set(wanted) <= set(names)):
            place_of = {name: place for place, name in enumerate(names)}
            missing = [name for name in wanted if name not in place_of]
            if missing:
                raise InputError(missing_features(missing, names))
            places = [place_of[name] for name in wanted]
            kept = {name: own for name, own in (data.categories or {}).items() if name in set(wanted)} or None
            data = data.with_features(np.ascontiguousarray(data.features[:, places]), wanted, kept)
        if data.n_features != self.n_features:
            raise InputError(f"the ranker was trained on {self.n_features} features, got {data.n_features}")
        return self._with_categories(data)

    def _with_categories(self, data: RankingDataset) -> RankingDataset:
        """The data with the codes of categories that a model was trained with."""
        wanted = self.categories or {}
        data = _with_numbers(data, [name for name in data.categories or {} if name not in wanted])
        given = data.categories or {}
        as_numbers = [name for name in wanted if name not in given]
        if self.categories is None or not data.feature_names:  # rows without names are taken as coded already
            return data
        if as_numbers:
            raise InputError(f"column {as_numbers[0]!r} holds numbers, and held texts when the ranker was trained")
        changed = [name for name in wanted if tuple(given[name]) != tuple(wanted[name])]
        if not changed:
            return data
        features = data.features.copy()
        for name in changed:
            place = data.feature_names.index(name)
            features[:, place] = translated_codes(features[:, place], given[name], wanted[name])
        return data.with_features(features, data.feature_names, wanted)

    def file(self, file: DataFile) -> DataFile:
        """The file, read with these features."""
        named: dict[str, Any] = {"features": list(self.names)} if self.names else {}
        return file.with_defaults(n_trained=self.n_features, **named).with_categories(self.categories)

    def check(self, n_features: int, names: Sequence[str]) -> None:
        """Raise unless there are as many features and, where both have names, these are among them."""
        if n_features != self.n_features:
            raise InputError(f"the ranker was trained on {self.n_features} features, got {n_features}")
        missing = [name for name in self.names if name not in names] if names else []
        if missing:
            raise InputError(missing_features(missing, names))


def _origin(told: str | None, names: Sequence[str]) -> FeatureOrigin | None:
    """How features of these names are made; None where some of them are made in another way."""
    if told is None or not names:
        return None
    origin = FeatureOrigin.from_json(told)
    return origin if set(names) <= set(origin.specification.names) else None


def _with_numbers(data: RankingDataset, names: Sequence[str]) -> RankingDataset:
    """The data with numbers instead of categories in these columns: categories of a frame may be numbers."""
    if not names:
        return data
    features, categories = data.features.copy(), dict(data.categories or {})
    for name in names:
        numbers = numbers_of_categories(categories.pop(name))
        if numbers is None:
            raise InputError(f"column {name!r} holds texts, and held numbers when the ranker was trained")
        place = data.feature_names.index(name)
        features[:, place] = decoded(features[:, place], numbers)
    return data.with_features(features, data.feature_names, categories or None)


def missing_features(missing: Sequence[str], names: Sequence[str]) -> str:
    """What to say where data lacks features that a ranker was trained on."""
    return f"the data lacks {quoted_list(missing)}, which the ranker was trained on; it has {quoted_list(names)}"


def with_width(data: RankingDataset, n_features: int) -> RankingDataset:
    """The documents with the first `n_features` features; missing columns become 0, as text leaves out zeros."""
    if data.n_features == n_features:
        return data
    kept = data.features[:, :n_features]
    lacking = np.zeros((data.n_docs, n_features - kept.shape[1]), np.float32)
    return replace(data, features=np.ascontiguousarray(np.hstack([kept, lacking])), feature_names=())
