"""The trained models of linear rankers: named arrays, and the functions of them that score documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Arrays, Float32Array, Float64Array, IntArray, arrays_with_prefix
from rankwright.container.checks import Form, read_array, read_integer
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.explanations.contributions import (
    Contributions,
    PairContributions,
    Question,
    along_paths,
    between_documents,
    settled,
    weighted_values,
)
from rankwright.features.missing import filled
from rankwright.features.nystrom import FittedNystrom, kernel_slopes
from rankwright.features.scaling import FittedScaling
from rankwright.rankers.model import Model, State, StoredModel

MAPPED_AT_A_TIME = 2048  # rows: their kernel values in double precision take little memory


class Scorer(Protocol):
    """Something that scores documents."""

    def scores(self, features: Float32Array, *, threads: int) -> Float64Array:
        """A score for each row; nothing may be missing."""

    def contributions(self, features: Float64Array, scores: Float64Array) -> Contributions:
        """What each feature adds to these scores, counted from features of 0."""

    def slopes(self, rows: Float64Array) -> Float64Array:
        """The derivatives of the score by each feature, at each row."""


@dataclass(frozen=True, slots=True, eq=False)
class LinearScorer:
    """Weighted sums of features, or of Nyström features, plus a constant."""

    weights: Float64Array
    constant: float = 0.0
    nystrom: FittedNystrom | None = None

    def scores(self, features: Float32Array, *, threads: int) -> Float64Array:
        """The weighted sum of each row."""
        inputs = features if self.nystrom is None else mapped(features, self.nystrom)
        return linear_scores(inputs, self.weights, threads=threads) + self.constant

    def contributions(self, features: Float64Array, scores: Float64Array) -> Contributions:
        """Gradients of the sum of Nyström features, integrated from features of 0."""
        return _from_zero(self, features, scores)

    def slopes(self, rows: Float64Array) -> Float64Array:
        """The derivatives of the sum of Nyström features."""
        assert self.nystrom is not None  # plain weights need no gradients
        return self.nystrom.slopes(rows, weights=self.nystrom.whitening @ self.weights)


@dataclass(frozen=True, slots=True, eq=False)
class QuadraticScorer:
    """A function in the space of the kernel (1 + γ x·z)²: constant + 2γ weights·x + γ² xᵀ matrix x."""

    gamma: float
    constant: float
    weights: Float64Array
    matrix: Float64Array

    def scores(self, features: Float32Array, *, threads: int) -> Float64Array:
        """The value of the quadratic form at each row."""
        out = np.empty(len(features))
        kernels.quadratic_scores(features, self.gamma, self.constant, self.weights, self.matrix, out, threads)
        return out

    def contributions(self, features: Float64Array, scores: Float64Array) -> Contributions:
        """Each feature's own terms, and half of every product of two."""
        values = 2 * self.gamma * self.weights * features + self.gamma**2 * features * self._products(features)
        return Contributions(settled(values, scores - self.constant), self.constant, "terms of the quadratic form")

    def slopes(self, rows: Float64Array) -> Float64Array:
        """The derivatives of the quadratic form."""
        return np.asarray(2 * self.gamma * self.weights + 2 * self.gamma**2 * self._products(rows))

    def _products(self, rows: Float64Array) -> Float64Array:
        return np.asarray(np.einsum("nf,fg->ng", rows, (self.matrix + self.matrix.T) / 2))


@dataclass(frozen=True, slots=True, eq=False)
class KernelScorer:
    """Sums of kernel values with supporting documents."""

    kernel: str
    gamma: float
    support: Float32Array  # (supporting documents, features)
    coefficients: Float64Array

    def __post_init__(self) -> None:
        if len(self.support) != len(self.coefficients):
            raise InputError(f"{len(self.support)} supporting documents have {len(self.coefficients)} coefficients")

    def scores(self, features: Float32Array, *, threads: int) -> Float64Array:
        """The sum over supporting documents at each row."""
        out = np.empty(len(features))
        kernels.kernel_scores(features, self.support, self.coefficients, self.kernel, self.gamma, out, threads)
        return out

    def contributions(self, features: Float64Array, scores: Float64Array) -> Contributions:
        """Gradients integrated from features of 0."""
        return _from_zero(self, features, scores)

    def slopes(self, rows: Float64Array) -> Float64Array:
        """The derivatives of the sum over supporting documents."""
        support = self.support.astype(np.float64)
        return kernel_slopes(self.kernel, rows, support, self.gamma, self.coefficients)


def _from_zero(scorer: Scorer, features: Float64Array, scores: Float64Array) -> Contributions:
    """Gradients integrated along straight lines from features of 0."""
    base = float(scorer.scores(np.zeros((1, features.shape[1]), np.float32), threads=1)[0])
    values = along_paths(scorer.slopes, np.zeros_like(features), features, scores - base)
    return Contributions(values, base, "integrated gradients from features of 0")


def linear_scores(features: Float32Array, weights: Float64Array, *, threads: int) -> Float64Array:
    """The scalar product of each row and the weights; its bits do not depend on the other rows."""
    out = np.empty(len(features))
    kernels.linear_scores(features, weights, out, threads)
    return out


def sum_rows(features: Float32Array, factors: Float64Array, *, threads: int) -> Float64Array:
    """The sum of all rows, each times its factor."""
    out = np.empty(features.shape[1])
    kernels.sum_rows(features, factors, out, threads)
    return out


def mapped(features: Float32Array, nystrom: FittedNystrom) -> Float32Array:
    """The Nyström features of each row."""
    out = np.empty((len(features), nystrom.n_landmarks), np.float32)
    for start in range(0, len(features), MAPPED_AT_A_TIME):
        rows = slice(start, start + MAPPED_AT_A_TIME)
        out[rows] = nystrom.transform(features[rows])
    return out


MODEL_ARRAYS = "model."  # what the names of a model's arrays begin with in a model file
BESIDE: Mapping[str, Form] = {  # what a model may have beside the arrays that score documents
    "thresholds": (np.float64, (None,)),
    "level_labels": (np.float32, (None,)),
}


@dataclass(frozen=True, slots=True, eq=False)
class ArraysModel(Model):
    """A weighted sum of features, or of what a kernel makes of them; `n_epochs` is its number of training steps."""

    importance_kinds: ClassVar[tuple[str, ...]] = ("weight",)

    scorer: Scorer
    arrays: Arrays
    n_epochs: int
    n_features: int

    @staticmethod
    def forms(settings: Any, n_features: int, arrays: Mapping[str, NDArray[Any]]) -> Mapping[str, Form]:  # noqa: ARG004
        """The arrays that score documents, for a ranker with these settings; regression has a constant among them."""
        weights: dict[str, Form] = {"weights": (np.float64, (n_features,))}
        return weights | {"constant": (np.float64, (1,))} if "constant" in arrays else weights

    @staticmethod
    def scorer_of(settings: Any, arrays: Mapping[str, NDArray[Any]]) -> Scorer:  # noqa: ARG004
        """How these arrays score documents, for a ranker with these settings."""
        return LinearScorer(arrays["weights"], float(arrays["constant"][0]) if "constant" in arrays else 0.0)

    def scores(self, data: RankingDataset, *, threads: int) -> Float64Array:
        """A score for each document; a missing feature adds nothing."""
        return self.scorer.scores(filled(data.features), threads=threads)

    def contributions(self, data: RankingDataset, question: Question) -> Contributions:
        """Weights times values; for kernels, gradients integrated from features of 0."""
        question.refuse_cover("a linear ranker")
        features = filled(data.features).astype(np.float64)
        if not isinstance(self.scorer, LinearScorer) or self.scorer.nystrom is not None:
            question.refuse_background("a kernel")
            return self.scorer.contributions(features, self.scores(data, threads=question.threads))
        others = None if question.background is None else filled(question.background.features).astype(np.float64)
        return weighted_values(features, self.scorer.weights, self.scorer.constant, others)

    def pair_contributions(self, data: RankingDataset, pairs: IntArray, question: Question) -> PairContributions:
        """Weights times differences; for kernels, gradients integrated from one document to the other."""
        if isinstance(self.scorer, LinearScorer) and self.scorer.nystrom is None:
            return Model.pair_contributions(self, data, pairs, question)  # slots and super() do not go together
        features = filled(data.features).astype(np.float64)
        return between_documents(self.scorer.slopes, features, self.scores(data, threads=question.threads), pairs)

    @property
    def n_steps(self) -> int:
        """How many steps the model was trained for."""
        return self.n_epochs

    @property
    def coefficients(self) -> Float64Array | None:
        """The weight of each feature; None where the model is no weighted sum of them."""
        weights = self.arrays.get("weights")
        return None if weights is None or len(weights) != self.n_features else weights

    def facts(self) -> dict[str, Any]:
        """How many steps the model was trained for, and how many numbers it is made of."""
        return {"steps": self.n_epochs, "weights": sum(int(values.size) for values in self.arrays.values())}

    def importances(self, kind: str) -> Float64Array:  # noqa: ARG002
        """The size of each feature's weight; 0 for all where the model is no weighted sum of them."""
        return np.zeros(self.n_features) if self.coefficients is None else np.abs(self.coefficients)

    def state(self) -> State:
        """The number of steps, and the arrays."""
        return {"n_epochs": self.n_epochs}, {MODEL_ARRAYS + name: values for name, values in self.arrays.items()}

    @classmethod
    def restored(cls, stored: StoredModel) -> Self:
        """The model that `state` described."""
        found = arrays_with_prefix(stored.arrays, MODEL_ARRAYS)
        forms = cls.forms(stored.settings, stored.n_features, found)
        forms = {**forms, **{name: form for name, form in BESIDE.items() if name in found}}
        arrays = {name: read_array(found, name, *form) for name, form in sorted(forms.items())}
        scorer = cls.scorer_of(stored.settings, arrays)
        return cls(scorer, arrays, read_integer(stored.header, "n_epochs"), stored.n_features)


class RankSVMModel(ArraysModel):
    """A linear model, of Nyström features where there is a kernel."""

    __slots__ = ()

    @staticmethod
    def forms(settings: Any, n_features: int, arrays: Mapping[str, NDArray[Any]]) -> Mapping[str, Form]:
        """The arrays that score documents, for a RankSVM with these settings."""
        if settings.kernel is None:
            return {"weights": (np.float64, (n_features,))}
        n_landmarks = len(read_array(arrays, "landmarks", np.float64, (None, n_features)))
        return {
            "gamma": (np.float64, (1,)),
            "landmarks": (np.float64, (n_landmarks, n_features)),
            "weights": (np.float64, (n_landmarks,)),
            "whitening": (np.float64, (n_landmarks, n_landmarks)),
        }

    @staticmethod
    def scorer_of(settings: Any, arrays: Mapping[str, NDArray[Any]]) -> Scorer:
        """How these arrays score documents, for a RankSVM with these settings."""
        if settings.kernel is None:
            return LinearScorer(arrays["weights"])
        header = {"kernel": settings.kernel, "gamma": float(arrays["gamma"][0])}
        return LinearScorer(arrays["weights"], nystrom=FittedNystrom.of_parts(header, arrays))


class KernelPRankModel(ArraysModel):
    """A sum of kernel values, or a quadratic form."""

    __slots__ = ()
    importance_kinds: ClassVar[tuple[str, ...]] = ()  # a kernel has no weights of features

    @staticmethod
    def forms(settings: Any, n_features: int, arrays: Mapping[str, NDArray[Any]]) -> Mapping[str, Form]:
        """The arrays that score documents, for a kernel PRank with these settings."""
        if settings.features == "quadratic":
            return {
                "gamma": (np.float64, (1,)),
                "constant": (np.float64, (1,)),
                "weights": (np.float64, (n_features,)),
                "matrix": (np.float64, (n_features, n_features)),
            }
        n_support = len(read_array(arrays, "support", np.float32, (None, n_features)))
        return {
            "gamma": (np.float64, (1,)),
            "support": (np.float32, (n_support, n_features)),
            "coefficients": (np.float64, (n_support,)),
        }

    @staticmethod
    def scorer_of(settings: Any, arrays: Mapping[str, NDArray[Any]]) -> Scorer:
        """How these arrays score documents, for a kernel PRank with these settings."""
        gamma = float(arrays["gamma"][0])
        if settings.features == "quadratic":
            return QuadraticScorer(gamma, float(arrays["constant"][0]), arrays["weights"], arrays["matrix"])
        return KernelScorer(settings.kernel, gamma, arrays["support"], arrays["coefficients"])


@dataclass(frozen=True, slots=True, eq=False)
class LinearListNet(Model):
    """ListNet's linear model: a weight for each scaled feature."""

    importance_kinds: ClassVar[tuple[str, ...]] = ("weight",)
    scales_itself: ClassVar[bool] = True  # as nets do

    weights: Float64Array
    n_epochs: int
    scaling: FittedScaling | None

    def scores(self, data: RankingDataset, *, threads: int) -> Float64Array:
        """The weighted sum of each document's features; what is missing adds nothing."""
        return linear_scores(self._seen(data, threads), self.weights, threads=threads)

    def contributions(self, data: RankingDataset, question: Question) -> Contributions:
        """Weights times scaled values."""
        question.refuse_cover("a linear ranker")
        background, threads = question.background, question.threads
        others = None if background is None else self._seen(background, threads).astype(np.float64)
        return weighted_values(self._seen(data, threads).astype(np.float64), self.weights, 0.0, others)

    def _seen(self, data: RankingDataset, threads: int) -> Float32Array:
        return filled(scaled(data, self.scaling, threads).features)

    @property
    def n_steps(self) -> int:
        """How many Newton steps the model was trained for."""
        return self.n_epochs

    def facts(self) -> dict[str, Any]:
        """How many steps the model was trained for, and how many weights it has."""
        return {"epochs": self.n_epochs, "weights": len(self.weights)}

    def importances(self, kind: str) -> Float64Array:  # noqa: ARG002
        """The size of each feature's weight."""
        return np.abs(self.weights)

    def state(self) -> State:
        """The number of steps, and the weights."""
        return {"n_epochs": self.n_epochs}, {"weights": self.weights}

    @classmethod
    def restored(cls, stored: StoredModel) -> Self:
        """The model that `state` described."""
        weights = read_array(stored.arrays, "weights", np.float64, (stored.n_features,))
        return cls(weights, read_integer(stored.header, "n_epochs"), stored.scaling)


def scaled(data: RankingDataset, scaling: FittedScaling | None, threads: int) -> RankingDataset:
    """The data after the scaling, if there is one."""
    return data if scaling is None else scaling.apply(data, threads=threads)
