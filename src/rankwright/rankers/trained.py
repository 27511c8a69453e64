"""A trained ranker as a value: what a model file holds, and all that scoring needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float64Array, named, thread_count
from rankwright.container.checks import MOST_FEATURES, items, optional, part, whole
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.features.scaling import FittedScaling
from rankwright.rankers.model import Model, State, StoredModel
from rankwright.training.loop import History

MODEL_KIND = "model"
MOST_UNPROVEN = 2**16  # features that a file may state without a number for each: readers make room for all of them
SCALING_ARRAYS = "scaling."  # what the names of a scaling's arrays begin with in a model file


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrainedRanker:
    """A model with its scaling, the features it knows, and how it was trained."""

    takes_datasets: ClassVar[bool] = True  # as a ranker's `predict` does

    ranker: str
    settings: Mapping[str, Any]  # as files hold them
    model: Model
    scaling: FittedScaling | None
    n_features: int
    feature_names: tuple[str, ...]
    history: History
    training_data: str  # a fingerprint
    compressed_from: Mapping[str, Any] | None = None

    @property
    def looks_at_queries(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return self.model.needs_queries or (self.scaling is not None and self.scaling.scaling.needs_groups)

    @property
    def takes_any_width(self) -> bool:
        """Whether documents may have more or fewer features: so where a model does not tell how many there are."""
        return bool(self.settings.get("any_width", False))

    def predict(self, data: RankingDataset, *, threads: int | None = None) -> Float64Array:
        """A score for each document, in the caller's row order."""
        if self.takes_any_width:
            data = with_width(data, self.n_features)
        check_features(self.n_features, self.feature_names, data.n_features, data.feature_names)
        return data.in_source_order(self.scores(data, threads=thread_count(threads)))

    def scores(self, data: RankingDataset, *, threads: int) -> Float64Array:
        """A score for each row of the dataset, in its own order."""
        if self.scaling is not None and not self.model.scales_itself:
            data = self.scaling.apply(data, threads=threads)
        return self.model.scores(data, threads=threads)

    def to_state(self) -> State:
        """The header and the arrays of the model file."""
        own_header, arrays = self.model.state()
        if self.scaling is not None:
            arrays = arrays | {SCALING_ARRAYS + name: values for name, values in self.scaling.learned.items()}
        header: dict[str, Any] = {
            "ranker": self.ranker,
            "settings": dict(self.settings),
            "n_features": self.n_features,
            "feature_names": list(self.feature_names),
            "scaling": None if self.scaling is None else self.scaling.header,
            "history": self.history.to_dict(),
            "training_data": self.training_data,
        }
        if self.compressed_from is not None:
            header["compressed_from"] = dict(self.compressed_from)
        return header | own_header, arrays


def read_trained(
    header: Mapping[str, Any],
    arrays: Mapping[str, NDArray[Any]],
    kind: type[Model],
    settings: Any,
    read_member: Callable[[Mapping[str, Any], Mapping[str, NDArray[Any]]], TrainedRanker] | None = None,
) -> TrainedRanker:
    """The trained ranker that a file's header and arrays describe; its model is of `kind`, its settings are given.

    `read_member` reads a member of a bag.
    """
    ranker = part(header, "ranker", str)
    if ranker != settings.name:
        raise InputError(f"the file holds a {ranker}; a {settings.name} was wanted")
    n_features = whole(header, "n_features", most=MOST_FEATURES)
    scaled = optional(header, "scaling", dict)
    scaling = None if scaled is None else FittedScaling.of_parts(scaled, named(arrays, SCALING_ARRAYS))
    own = {name: array for name, array in arrays.items() if not name.startswith(SCALING_ARRAYS)}
    model = kind.restored(StoredModel(settings, header, own, n_features, scaling, read_member))
    names = items(header, "feature_names", str)
    _check_widths(n_features, scaling, names)
    if n_features > max(MOST_UNPROVEN, sum(values.size for values in arrays.values())):
        raise InputError(f"the model is of {n_features} features, and its arrays have fewer numbers")
    return TrainedRanker(
        ranker=ranker,
        settings=settings.stored_settings(),
        model=model,
        scaling=scaling,
        n_features=n_features,
        feature_names=tuple(names),
        history=History.from_dict(part(header, "history", dict)),
        training_data=part(header, "training_data", str),
        compressed_from=optional({"compressed_from": None} | dict(header), "compressed_from", dict),
    )


def _check_widths(n_features: int, scaling: FittedScaling | None, names: Sequence[str]) -> None:
    if scaling is not None and scaling.n_features != n_features:
        raise InputError(f"the scaling is of {scaling.n_features} features, the model of {n_features}")
    if len(names) not in (0, n_features):
        raise InputError(f"there are {len(names)} names for {n_features} features")


def with_width(data: RankingDataset, n_features: int) -> RankingDataset:
    """The documents with the first `n_features` features; those that lack are 0, as text leaves out zeros."""
    if data.n_features == n_features:
        return data
    kept = data.features[:, :n_features]
    lacking = np.zeros((data.n_docs, n_features - kept.shape[1]), np.float32)
    return replace(data, features=np.ascontiguousarray(np.hstack([kept, lacking])), feature_names=())


def check_features(n_trained: int, trained: Sequence[str], n_features: int, names: Sequence[str]) -> None:
    """Raise if the number of features is not that of training or, where both have names, the names differ."""
    if n_features != n_trained:
        raise InputError(f"the ranker was trained on {n_trained} features, got {n_features}")
    if len(trained) and len(names) and not np.array_equal(trained, names):
        place = next(place for place, name in enumerate(names) if name != trained[place])
        raise InputError(
            f"the ranker was trained on other features: number {place + 1} was {trained[place]!r} and is "
            f"{names[place]!r}; wanted the same ones in the same order"
        )
