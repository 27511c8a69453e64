"""A trained ranker as a value: what a model file holds, and all that scoring needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float64Array, arrays_with_prefix, thread_count
from rankwright.clicks.bias import Debiasing
from rankwright.container.checks import MOST_FEATURES, read_field, read_integer, read_list, read_optional_field
from rankwright.data.categories import MOST_CATEGORIES, Categories, translated_codes
from rankwright.data.columns import quoted_list
from rankwright.data.dataset import RankingDataset
from rankwright.data.dataset_parts import numbered_names
from rankwright.errors import InputError
from rankwright.explanations.contributions import Contributions, PairContributions, Question
from rankwright.features.scaling import FittedScaling
from rankwright.rankers.model import Model, State, StoredModel
from rankwright.rankers.seen import SeenQueries
from rankwright.settings.text import check_values
from rankwright.training.loop import History

MODEL_KIND = "model"
MOST_UNPROVEN = 2**16  # features that a file may state without a number for each: readers make room for all of them
LONGEST_CHOICE = 1000  # characters of a setting's value that training chose
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
    chosen: Mapping[str, Any] = field(default_factory=dict)  # what training chose for settings that are None
    compressed_from: Mapping[str, Any] | None = None
    seen_queries: SeenQueries | None = None  # None in files of early releases
    categories: Categories | None = None  # of the features that hold codes
    debiasing: Debiasing | None = None  # what was found about position bias, where clicks had positions

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
        data = aligned(data, self.n_features, self.feature_names, self.categories)
        return data.in_source_order(self.scores(data, threads=thread_count(threads)))

    def scores(self, data: RankingDataset, *, threads: int) -> Float64Array:
        """A score for each row of the dataset, in its own order."""
        return self.model.scores(self._scaled(data, threads), threads=threads)

    def contributions(self, data: RankingDataset, question: Question) -> Contributions:
        """What each feature adds to the score of each row of the dataset."""
        return self.model.contributions(self._scaled(data, question.threads), self._scaled_question(question))

    def pair_contributions(self, data: RankingDataset, pair: tuple[int, int], question: Question) -> PairContributions:
        """By how much each feature puts one row of a query above another."""
        scaled = self._scaled(data, question.threads)
        return self.model.pair_contributions(scaled, pair, self._scaled_question(question))

    def interactions(self, data: RankingDataset, question: Question) -> Float64Array:
        """What pairs of features add to the score of each row by acting together."""
        return self.model.interactions(self._scaled(data, question.threads), self._scaled_question(question))

    def _scaled(self, data: RankingDataset, threads: int) -> RankingDataset:
        if self.scaling is None or self.model.scales_itself:
            return data
        return self.scaling.apply(data, threads=threads)

    def _scaled_question(self, question: Question) -> Question:
        if question.background is None:
            return question
        return replace(question, background=self._scaled(question.background, question.threads))

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
        if self.chosen:
            header["chosen"] = dict(self.chosen)
        if self.compressed_from is not None:
            header["compressed_from"] = dict(self.compressed_from)
        if self.seen_queries is not None:
            header["seen_queries"] = self.seen_queries.to_dict()
        if self.categories:
            header["categories"] = {name: list(own) for name, own in self.categories.items()}
        if self.debiasing is not None:
            header["debiasing"] = self.debiasing.to_dict()
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
    ranker = read_field(header, "ranker", str)
    if ranker != settings.name:
        raise InputError(f"the file holds a {ranker}; a {settings.name} was wanted")
    n_features = read_integer(header, "n_features", most=MOST_FEATURES)
    scaled = read_optional_field(header, "scaling", dict)
    scaling = None if scaled is None else FittedScaling.of_parts(scaled, arrays_with_prefix(arrays, SCALING_ARRAYS))
    own = {name: array for name, array in arrays.items() if not name.startswith(SCALING_ARRAYS)}
    model = kind.restored(StoredModel(settings, header, own, n_features, scaling, read_member))
    names = read_list(header, "feature_names", str)
    may_have: dict[str, Any] = dict.fromkeys(("compressed_from", "seen_queries", "categories", "debiasing"))
    may_have |= dict(header)
    debiasing = read_optional_field(may_have, "debiasing", dict)
    seen = read_optional_field(may_have, "seen_queries", dict)
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
        history=History.from_dict(read_field(header, "history", dict)),
        training_data=read_field(header, "training_data", str),
        compressed_from=read_optional_field(may_have, "compressed_from", dict),
        chosen=_chosen(header, settings),
        seen_queries=None if seen is None else SeenQueries.from_dict(seen),
        categories=_categories(read_optional_field(may_have, "categories", dict), names),
        debiasing=None if debiasing is None else Debiasing.from_dict(debiasing),
    )


def _chosen(header: Mapping[str, Any], settings: Any) -> dict[str, Any]:
    """What training chose, in early files nothing: numbers and texts for settings that are None."""
    found = read_field({"chosen": {}} | dict(header), "chosen", dict)
    for name, value in found.items():
        if not isinstance(value, str | int | float | list) or len(str(value)) > LONGEST_CHOICE:
            raise InputError(f"what training chose for {name} must be a number, a text or a few of them")
    check_values(type(settings), found, settings.name)
    return found


def _categories(stored: dict[str, Any] | None, names: Sequence[str]) -> Categories | None:
    if stored is None:
        return None
    for name in stored:
        if name not in names:
            raise InputError(f"there are categories of {name!r}, which is no feature")
        if len(set(read_list(stored, name, str))) < len(stored[name]) or len(stored[name]) > MOST_CATEGORIES:
            raise InputError(f"the categories of {name!r} must be different, and {MOST_CATEGORIES} at most")
    return {name: tuple(own) for name, own in stored.items()}


def _check_widths(n_features: int, scaling: FittedScaling | None, names: Sequence[str]) -> None:
    if scaling is not None and scaling.n_features != n_features:
        raise InputError(f"the scaling is of {scaling.n_features} features, the model of {n_features}")
    if len(names) not in (0, n_features):
        raise InputError(f"there are {len(names)} names for {n_features} features")


def aligned(
    data: RankingDataset, n_trained: int, trained: Sequence[str], categories: Categories | None = None
) -> RankingDataset:
    """The data with the features of training, in their order and with their categories; others are left out.

    Where both have names, features are found by name; otherwise there must be as many as in training.
    """
    names = data.feature_names
    wanted = tuple(trained) or (numbered_names(n_trained) if names else ())
    if names and wanted and names != wanted and (trained or set(wanted) <= set(names)):
        place_of = {name: place for place, name in enumerate(names)}
        missing = [name for name in wanted if name not in place_of]
        if missing:
            raise InputError(missing_features(missing, names))
        places = [place_of[name] for name in wanted]
        kept = {name: own for name, own in (data.categories or {}).items() if name in set(wanted)} or None
        data = data.with_features(np.ascontiguousarray(data.features[:, places]), wanted, kept)
    if data.n_features != n_trained:
        raise InputError(f"the ranker was trained on {n_trained} features, got {data.n_features}")
    return with_categories(data, categories)


def with_categories(data: RankingDataset, wanted: Categories | None) -> RankingDataset:
    """The data with the codes of categories that a model was trained with."""
    own = data.categories or {}
    as_texts = [name for name in own if name not in (wanted or {})]
    as_numbers = [name for name in wanted or {} if name not in own]
    if as_texts:
        raise InputError(f"column {as_texts[0]!r} holds texts, and held numbers when the ranker was trained")
    if wanted is None or not data.feature_names:  # rows without names are taken as coded already
        return data
    if as_numbers:
        raise InputError(f"column {as_numbers[0]!r} holds numbers, and held texts when the ranker was trained")
    changed = [name for name in wanted if tuple(own[name]) != tuple(wanted[name])]
    if not changed:
        return data
    features = data.features.copy()
    for name in changed:
        place = data.feature_names.index(name)
        features[:, place] = translated_codes(features[:, place], own[name], wanted[name])
    return data.with_features(features, data.feature_names, wanted)


def missing_features(missing: Sequence[str], names: Sequence[str]) -> str:
    """What to say where data lacks features that a ranker was trained on."""
    return f"the data lacks {quoted_list(missing)}, which the ranker was trained on; it has {quoted_list(names)}"


def with_width(data: RankingDataset, n_features: int) -> RankingDataset:
    """The documents with the first `n_features` features; those that lack are 0, as text leaves out zeros."""
    if data.n_features == n_features:
        return data
    kept = data.features[:, :n_features]
    lacking = np.zeros((data.n_docs, n_features - kept.shape[1]), np.float32)
    return replace(data, features=np.ascontiguousarray(np.hstack([kept, lacking])), feature_names=())
