"""What is exported: a ranker as a forest, as a weighted sum, as a net, or as a blend of these."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, arrays_with_prefix
from rankwright.bagging.bag_models import BagModel
from rankwright.blending.model import BlendModel
from rankwright.boosters.model import WeightedSumModel
from rankwright.data.feature_names import made_up_names
from rankwright.errors import InputError
from rankwright.features.scaling import FittedScaling, mean_and_factor
from rankwright.kernels.records import Pieces
from rankwright.linear.model import ArraysModel, LinearListNet, LinearScorer
from rankwright.nets.model import NetModel
from rankwright.nets.plain_net import block_diagonal
from rankwright.rankers.trained import TrainedRanker
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.merging import merge_forests
from rankwright.trees.model import ForestModel


class NotExportableError(InputError):
    """A model, or a part of one, that a target cannot represent; the message names the nearest that can."""


@dataclass(frozen=True, slots=True, eq=False)
class ForestSubject:
    """Trees and what they are added to."""

    forest: Forest
    base_score: float
    names: tuple[str, ...]
    named: bool  # whether the names are the user's
    kind: str = "forest"

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return self.forest.n_features

    @property
    def least_score(self) -> float:
        """A score that no document is below: every tree's least leaf, added up."""
        return self.base_score + float(self.least_leaves().sum())

    def least_leaves(self) -> Float64Array:
        """The least value of each tree."""
        leaves = np.where(self.forest.feature < 0, self.forest.value, np.float32(np.inf)).astype(np.float64)
        return np.minimum.reduceat(leaves, self.forest.offsets[:-1]) if self.forest.n_trees else np.empty(0)

    def lifted(self) -> ForestSubject:
        """The same with a base score that makes the least score 0, where it is below."""
        least = self.least_score
        if least >= 0:
            return self
        # A little more than that: targets add up in float32, and their sums must not fall below 0 either.
        sizes = float(np.abs(self.least_leaves()).sum()) + abs(least)
        slack = (self.forest.n_trees + 2) * 2.0**-23 * sizes
        return replace(self, base_score=self.base_score - least + slack)

    def scores(self, features: Float32Array) -> Float64Array:
        """Our scores."""
        return self.base_score + self.forest.predict(features, threads=1)


@dataclass(frozen=True, slots=True, eq=False)
class ExportedLayer:
    """A layer of a net: outputs are activation(weights · inputs + bias)."""

    weights: Float64Array  # (outputs, inputs)
    bias: Float64Array
    activation: str


@dataclass(frozen=True, slots=True, eq=False)
class NetSubject:
    """A net of fully connected layers with one output, or one layer alone: a weighted sum; and scalings before it.

    A missing value is 0 once it is scaled. Where there are pieces, their inputs follow the scaled features.
    """

    layers: tuple[ExportedLayer, ...]
    steps: tuple[FittedScaling, ...]
    names: tuple[str, ...]
    named: bool
    trained: TrainedRanker
    pieces: Pieces | None = None

    @property
    def kind(self) -> str:
        """`linear` or `net`."""
        return "linear" if len(self.layers) == 1 and self.pieces is None else "net"

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.names)

    def scores(self, features: Float32Array) -> Float64Array:
        """Our scores, by the ranker itself."""
        return scores_of_list(self.trained, features)


@dataclass(frozen=True, slots=True, eq=False)
class BlendSubject:
    """The rankers of a blend and their weights: a sum of their scores, or of their z-scores within a list."""

    parts: tuple[ForestSubject | NetSubject, ...]
    weights: Float64Array
    is_of_lists: bool
    names: tuple[str, ...]
    named: bool
    trained: TrainedRanker
    kind: str = "blend"

    @property
    def n_features(self) -> int:
        """How many features there are."""
        return len(self.names)

    def scores(self, features: Float32Array) -> Float64Array:
        """Our scores of documents that make one list."""
        return scores_of_list(self.trained, features)


Subject = ForestSubject | NetSubject | BlendSubject
KIND_WORDS = {
    "forest": "a forest",
    "linear": "a weighted sum of features",
    "net": "a net",
    "blend": "a blend",
}  # in messages


def scores_of_list(trained: TrainedRanker, features: Float32Array) -> Float64Array:
    """A ranker's scores of documents that make one list."""
    from rankwright.data.dataset import RankingDataset

    return trained.predict(RankingDataset.from_arrays(features, group=[len(features)]), threads=1)


def subject_of(trained: TrainedRanker) -> Subject:
    """What there is to export of a trained ranker."""
    if trained.scaling is not None and trained.scaling.scaling.needs_groups:
        raise NotExportableError(
            f"scaling {trained.scaling.scaling.name!r} looks at all documents of a query, and engines score one "
            f"document at a time: train with scaling=None or zscore, or serve the model with rankwright itself"
        )
    names = trained.feature_names or made_up_names(trained.n_features)
    forest = _forest(trained)
    if forest is None and isinstance(trained.model, BlendModel):
        return _blend(trained, trained.model, names)
    if forest is not None:
        if trained.scaling is not None and not trained.model.scales_itself:
            raise NotExportableError(
                f"these trees see features after scaling {trained.scaling.scaling.name!r}, which no tree format has: "
                f"train with scaling=None"
            )
        return ForestSubject(forest.forest, forest.base_score, names, bool(trained.feature_names))
    layers = _layers(trained)
    steps = () if trained.scaling is None else tuple(trained.scaling.steps())
    pieces = trained.model.inputs.pieces if isinstance(trained.model, NetModel) else None
    return NetSubject(layers, steps, names, bool(trained.feature_names), trained, pieces)


def _forest(trained: TrainedRanker) -> ForestModel | None:
    """The ranker as one forest, where it is made of trees."""
    model = trained.model
    if isinstance(model, ForestModel):
        return model
    if isinstance(model, BagModel) and not model.by_rank:
        plain = [one.model for one in model.members if one.scaling is None and isinstance(one.model, ForestModel)]
        if len(plain) == len(model.members):
            base = float(np.mean([forest.base_score for forest in plain]))
            return ForestModel(merge_forests([forest.forest for forest in plain]), base)
    if isinstance(model, BlendModel) and model.combining.is_sum:
        forests = [None if one.scaling is not None else _forest(one) for one in model.members]
        found = [forest for forest in forests if forest is not None and forest.forest.n_features == trained.n_features]
        if len(found) == len(model.members):
            weights = model.weights * model.factors
            base = float((weights * [forest.base_score for forest in found]).sum())
            return ForestModel(merge_forests([forest.forest for forest in found], weights), base)
    return None


def _blend(trained: TrainedRanker, model: BlendModel, names: tuple[str, ...]) -> BlendSubject:
    """The blend's rankers as they are exported one by one."""
    if not model.combining.adds_up:
        how = model.combining.scores or model.combining.combine
        raise NotExportableError(
            f"a blend by {how} looks at the order of whole lists, which no format holds: blend means of z-scores or "
            f"calibrated scores, or compress the blend (rankwright compress)"
        )
    parts = tuple(subject_of(replace(one, features=replace(trained.features, origin=None))) for one in model.members)
    plain = tuple(part for part in parts if not isinstance(part, BlendSubject))
    is_of_lists = not model.combining.is_sum
    return BlendSubject(plain, model.weights * model.factors, is_of_lists, names, bool(trained.feature_names), trained)


def _layers(trained: TrainedRanker) -> tuple[ExportedLayer, ...]:
    """The ranker's layers, where it is a weighted sum or a plain net."""
    model = trained.model
    if isinstance(model, ArraysModel) and isinstance(model.scorer, LinearScorer) and model.scorer.nystrom is None:
        weights = model.arrays["weights"].astype(np.float64)
        constant = model.arrays["constant"].astype(np.float64) if "constant" in model.arrays else np.zeros(1)
        return (ExportedLayer(weights[None, :], constant, "identity"),)
    if isinstance(model, LinearListNet | WeightedSumModel):
        return (ExportedLayer(model.weights.astype(np.float64)[None, :], np.zeros(1), "identity"),)
    arrays = arrays_with_prefix(model.state()[1], "net.")
    if not arrays:
        raise NotExportableError(
            f"a {trained.ranker} is neither trees, nor a weighted sum of features, nor a plain net, and no engine has "
            f"a format for it: compress it into trees (rankwright compress), or serve it with rankwright itself"
        )
    return _plain_layers(trained, arrays)


def _plain_layers(trained: TrainedRanker, arrays: dict[str, Any]) -> tuple[ExportedLayer, ...]:
    header = trained.model.state()[0]
    if header.get("own_module") or (header.get("inputs") or {}).get("kernel") is not None:
        raise NotExportableError("a net with its user's own module, or with a kernel, is not a plain net of layers")
    activation = str(header["recipe"]["activation"])
    numbers = sorted({int(name.partition(".")[0]) for name in arrays})
    layers = []
    for place, number in enumerate(numbers):
        weights = np.asarray(arrays[f"{number}.weight"], np.float64)
        bias = np.asarray(arrays.get(f"{number}.bias", np.zeros(len(weights))), np.float64)
        if f"{number}.scale" in arrays:
            layers += _member_layers(
                weights, np.asarray(arrays[f"{number}.scale"], np.float64), bias, activation, place
            )
        elif place == len(numbers) - 1:  # the mean of what members say, or the only one's score
            layers.append(ExportedLayer(weights.reshape(1, -1) / len(weights), bias.mean(keepdims=True), "identity"))
        else:
            layers.append(ExportedLayer(weights, bias, activation))
    return tuple(layers)


def _member_layers(
    weights: Float64Array, scales: Float64Array, bias: Float64Array, activation: str, place: int
) -> list[ExportedLayer]:
    """A hidden layer of members: the first multiplies once for all of them, in a layer of its own, and then scales."""
    if place == 0:
        scaled = np.concatenate([np.diag(own) for own in scales])
        shared = ExportedLayer(weights, np.zeros(len(weights)), "identity")
        return [shared, ExportedLayer(scaled, bias.ravel(), activation)]
    return [ExportedLayer(block_diagonal(scales[:, :, None] * weights), bias.ravel(), activation)]


def standardisation(steps: Sequence[FittedScaling], otherwise: str) -> tuple[Float64Array, Float64Array] | None:
    """The means and factors that features are scaled by, None where they are not; an error, which says `otherwise`,
    where they are also scaled in other ways."""
    if steps and (len(steps) > 1 or steps[0].scaling.name != "zscore"):
        raise NotExportableError(otherwise)
    return mean_and_factor(steps[0].learned) if steps else None
