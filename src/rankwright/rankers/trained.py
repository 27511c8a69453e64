"""A trained ranker as a value: what a model file holds, and all that scoring needs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float64Array, IntArray, arrays_with_prefix, thread_count
from rankwright.clicks.bias import Debiasing
from rankwright.clicks.weights import PropensityWeights
from rankwright.container.checks import MOST_FEATURES, read_field, read_integer, read_list, read_optional_field
from rankwright.data.categories import MOST_CATEGORIES, Categories
from rankwright.data.columns import Columns
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, require_input
from rankwright.explanations.contributions import Contributions, PairContributions, Question
from rankwright.features.scaling import FittedScaling
from rankwright.profile.spread import PREFIX as PROFILE_ARRAYS
from rankwright.profile.spread import TrainingProfile
from rankwright.rankers.known_features import KnownFeatures, with_width
from rankwright.rankers.model import Model, State, StoredModel
from rankwright.rankers.seen import SeenQueries
from rankwright.settings.text import check_values
from rankwright.tables.text import counted
from rankwright.text.origin import FeatureOrigin, OwnFunction
from rankwright.text.statistics import TextStatistics
from rankwright.training.loop import History

MODEL_KIND = "model"
MOST_UNPROVEN = 2**16  # features that a file may state without a number for each: readers make room for all of them
LONGEST_CHOICE = 1000  # characters of a setting's value that training chose
SCALING_ARRAYS = "scaling."  # what the names of a scaling's arrays begin with in a model file
TEXT_ARRAYS = "text."  # the same for statistics of texts
MAY_HAVE = ("compressed_from", "seen_queries", "categories", "debiasing", "feature_origin", "text_statistics")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TrainingFindings:
    """What was found while data was prepared and a ranker was trained, besides the model."""

    seen_queries: SeenQueries | None = None  # a few keys of the training queries; files of other tools have none
    debiasing: Debiasing | None = None  # about position bias, where clicks had positions or propensities
    profile: TrainingProfile | None = None  # how features and scores were spread, where that was asked for
    chosen: Mapping[str, Any] = field(default_factory=dict)  # values that training chose for settings that are None
    # Files do not hold what follows.
    propensity_weights: PropensityWeights | None = None
    weighs_positions: bool = False  # whether documents are weighed by position along with training
    columns: Columns | None = None  # the frame's columns that `fit` was told by name
    watched: Mapping[str, list[float]] = field(default_factory=dict)  # further validation data, step by step
    oob_scores: Float64Array | None = None  # of a bag, in the caller's row order

    @property
    def has_clicks(self) -> bool:
        """Whether labels are clicks that were corrected or weighed."""
        return self.debiasing is not None or self.propensity_weights is not None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class TrainedRanker:
    """A model with its scaling, the features it knows, and how it was trained."""

    takes_datasets: ClassVar[bool] = True  # as a ranker's `predict` does

    ranker: str
    settings: Mapping[str, Any]  # as files hold them
    model: Model
    scaling: FittedScaling | None
    features: KnownFeatures
    history: History
    training_data: str  # a fingerprint
    findings: TrainingFindings = field(default_factory=TrainingFindings)
    compressed_from: Mapping[str, Any] | None = None
    text_statistics: TextStatistics | None = None  # with which texts that are in no index can be scored
    functions: Mapping[str, OwnFunction] = field(default_factory=dict)  # of the user's own; files record fingerprints

    def __repr__(self) -> str:
        steps, features = counted(self.model.n_steps, "step"), counted(self.n_features, "feature")
        return f"TrainedRanker({self.ranker!r}, {steps}, {features})"

    @property
    def n_features(self) -> int:
        """How many features the model knows."""
        return self.features.n_features

    @property
    def feature_names(self) -> tuple[str, ...]:
        """Their names, if they have any."""
        return self.features.names

    @property
    def looks_at_queries(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return self.model.needs_queries or self.scales_within_queries

    @property
    def scales_within_queries(self) -> bool:
        """Whether features are scaled by the documents of each query."""
        return self.scaling is not None and self.scaling.scaling.needs_groups

    @property
    def takes_any_width(self) -> bool:
        """Whether documents may have more or fewer features, since the model does not tell how many there are."""
        return bool(self.settings.get("any_width", False))

    def with_texts_of(self, other: TrainedRanker) -> TrainedRanker:
        """The same with what another ranker of these features knows of texts: how features are made, and statistics."""
        features = replace(self.features, origin=other.features.origin)
        return replace(self, features=features, text_statistics=other.text_statistics, functions=other.functions)

    def without_texts(self) -> TrainedRanker:
        """The same without that: a member of a bag, which knows it for all of them."""
        return replace(self, features=replace(self.features, origin=None), text_statistics=None, functions={})

    def with_functions(self, functions: Mapping[str, OwnFunction]) -> TrainedRanker:
        """The same with the functions that make some of its features; an error where they are others or lacking."""
        origin = self.features.origin
        require_input(origin is not None and bool(origin.fingerprints), "the model's features need no function")
        assert origin is not None
        return replace(self, functions=dict(origin.checked_functions(functions)))

    def predict(self, data: RankingDataset, *, threads: int | None = None) -> Float64Array:
        """A score for each document, in the caller's row order."""
        data = self.aligned(data)
        return data.in_source_order(self.scores(data, threads=thread_count(threads)))

    def aligned(self, data: RankingDataset) -> RankingDataset:
        """The documents with the features of training, in their order."""
        return self.features.aligned(with_width(data, self.n_features) if self.takes_any_width else data)

    def scores(self, data: RankingDataset, *, threads: int) -> Float64Array:
        """A score for each row of the dataset, in its own order."""
        scores = self.model.scores(self.seen_by_model(data, threads), threads=threads)
        _refuse_infinite_scores(scores, data)
        return scores

    def contributions(self, data: RankingDataset, question: Question) -> Contributions:
        """What each feature adds to the score of each row of the dataset."""
        data = data.dense("an explanation")
        return self.model.contributions(self.seen_by_model(data, question.threads), self._scaled_question(question))

    def pair_contributions(self, data: RankingDataset, pairs: IntArray, question: Question) -> PairContributions:
        """By how much each feature puts one row of a query above another, for each pair of rows."""
        scaled = self.seen_by_model(data.dense("an explanation"), question.threads)
        return self.model.pair_contributions(scaled, pairs, self._scaled_question(question))

    def interactions(self, data: RankingDataset, question: Question) -> Float64Array:
        """What pairs of features add to the score of each row by acting together."""
        data = data.dense("an explanation")
        return self.model.interactions(self.seen_by_model(data, question.threads), self._scaled_question(question))

    def seen_by_model(self, data: RankingDataset, threads: int | None) -> RankingDataset:
        """Documents as the model sees them: scaled, unless it scales them itself."""
        if self.scaling is not None or not self.model.takes_sparse:
            data = data.dense(f"{self.ranker} scores all values of sparse features")
        if self.scaling is None or self.model.scales_itself:
            return data
        return self.scaling.apply(data, threads=threads)

    def _scaled_question(self, question: Question) -> Question:
        if question.background is None:
            return question
        background = question.background.dense("an explanation")
        return replace(question, background=self.seen_by_model(background, question.threads))

    def with_profile(self, profile: TrainingProfile | None) -> TrainedRanker:
        """The same, with that profile of its training data."""
        return replace(self, findings=replace(self.findings, profile=profile))

    def to_state(self) -> State:
        """The header and the arrays of the model file."""
        own_header, arrays = self.model.state()
        if self.scaling is not None:
            arrays = arrays | {SCALING_ARRAYS + name: values for name, values in self.scaling.learned.items()}
        if self.findings.profile is not None:
            arrays = arrays | self.findings.profile.arrays()
        header: dict[str, Any] = {
            "ranker": self.ranker,
            "settings": dict(self.settings),
            "n_features": self.n_features,
            "feature_names": list(self.feature_names),
            "scaling": None if self.scaling is None else self.scaling.header,
            "history": self.history.to_dict(),
            "training_data": self.training_data,
        }
        found = self.findings
        if found.chosen:
            header["chosen"] = dict(found.chosen)
        if self.compressed_from is not None:
            header["compressed_from"] = dict(self.compressed_from)
        if found.seen_queries is not None:
            header["seen_queries"] = found.seen_queries.to_dict()
        if self.features.categories:
            header["categories"] = {name: list(own) for name, own in self.features.categories.items()}
        if found.debiasing is not None:
            header["debiasing"] = found.debiasing.to_dict()
        if self.features.origin is not None:
            header["feature_origin"] = self.features.origin.to_dict()
        if self.text_statistics is not None:
            header["text_statistics"], counts = self.text_statistics.to_parts()
            arrays = arrays | {TEXT_ARRAYS + name: values for name, values in counts.items()}
        return header | own_header, arrays


def _refuse_infinite_scores(scores: Float64Array, data: RankingDataset) -> None:
    """Raise where a score is not finite: the document's features are beyond what the model can compute with."""
    if np.isfinite(scores).all():
        return
    row = int(np.flatnonzero(~np.isfinite(scores))[0])
    sizes = np.nan_to_num(np.abs(data.features[row]), nan=0.0)
    found = f"row {row} gets the score {scores[row]}"
    require_input(data.n_features != 0, found)
    feature = int(sizes.argmax())
    raise InputError(
        f"{found}: its features are too large for the model, the largest is {data.features[row, feature]:g} in feature "
        f"{data.names[feature]}; correct the value, or leave it missing"
    )


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
    require_input(ranker == settings.name, f"the file holds a {ranker}; a {settings.name} was wanted")
    n_features = read_integer(header, "n_features", least=1, most=MOST_FEATURES)
    scaled = read_optional_field(header, "scaling", dict)
    scaling = None if scaled is None else FittedScaling.of_parts(scaled, arrays_with_prefix(arrays, SCALING_ARRAYS))
    beside = (SCALING_ARRAYS, TEXT_ARRAYS, PROFILE_ARRAYS)
    own = {name: array for name, array in arrays.items() if not name.startswith(beside)}
    model = kind.restored(StoredModel(settings, header, own, n_features, scaling, read_member))
    names = read_list(header, "feature_names", str)
    may_have: dict[str, Any] = dict.fromkeys(MAY_HAVE) | dict(header)
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
        features=KnownFeatures(
            n_features,
            tuple(names),
            _categories(read_optional_field(may_have, "categories", dict), names),
            _origin(read_optional_field(may_have, "feature_origin", dict)),
        ),
        history=History.from_dict(read_field(header, "history", dict)),
        training_data=read_field(header, "training_data", str),
        compressed_from=read_optional_field(may_have, "compressed_from", dict),
        findings=TrainingFindings(
            chosen=_chosen(header, settings),
            seen_queries=None if seen is None else SeenQueries.from_dict(seen),
            debiasing=None if debiasing is None else Debiasing.from_dict(debiasing),
            profile=TrainingProfile.of_arrays(arrays, n_features),
        ),
        text_statistics=_text_statistics(may_have, arrays),
    )


def _origin(stored: dict[str, Any] | None) -> FeatureOrigin | None:
    return None if stored is None else FeatureOrigin.from_dict(stored)


def _text_statistics(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> TextStatistics | None:
    """What the model keeps of an index; its fields are those that the features were made of."""
    stored, origin = read_optional_field(header, "text_statistics", dict), header["feature_origin"]
    if stored is None:
        return None
    require_input(origin is not None, "there are statistics of texts, and features are not made of texts")
    statistics = TextStatistics.of_parts(stored, arrays_with_prefix(arrays, TEXT_ARRAYS))
    fields = FeatureOrigin.from_dict(origin).text_fields
    require_input(statistics.text_fields == fields, "the statistics are of other fields than the features")
    return statistics


def _chosen(header: Mapping[str, Any], settings: Any) -> dict[str, Any]:
    """The values that training chose for settings that are None: numbers and texts. Early files have none."""
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
        require_input(name in names, f"there are categories of {name!r}, which is no feature")
        if len(set(read_list(stored, name, str))) < len(stored[name]) or len(stored[name]) > MOST_CATEGORIES:
            raise InputError(f"the categories of {name!r} must be different, and {MOST_CATEGORIES} at most")
    return {name: tuple(own) for name, own in stored.items()}


def _check_widths(n_features: int, scaling: FittedScaling | None, names: Sequence[str]) -> None:
    if scaling is not None and scaling.n_features != n_features:
        raise InputError(f"the scaling is of {scaling.n_features} features, the model of {n_features}")
    require_input(len(names) in (0, n_features), f"there are {len(names)} names for {n_features} features")
