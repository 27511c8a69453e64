"""Objectives without pairs: each score should match its label, or the scores of a list the distribution of its labels.

The cost of a list is a cross entropy between that distribution and the softmax of the scores; a document's weight
multiplies its share of the target. Unjudged documents take no part, and have no forces.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankwright import kernels
from rankwright.objectives.objective import GRADIENT_DTYPE, BoundKernel, Judged, LambdaFn, judged_labels, weighed_groups
from rankwright.ranking.gains import EXPONENTIAL, Gain


@dataclass(frozen=True, slots=True)
class SquaredError:
    """Half the squared difference between the score and the label: regression."""

    name: ClassVar[str] = "squared-error"
    learns_alone: ClassVar[bool] = True

    def bind(self, dataset: Judged, *, threads: int = 1, dtype: type[np.floating[Any]] = GRADIENT_DTYPE) -> LambdaFn:
        """Return the λ-function that pulls scores to labels; see `Objective.bind`."""
        arguments = {"groups": weighed_groups(dataset), "targets": judged_labels(dataset, self.name), "loss": "squared"}
        return BoundKernel(kernels.point_lambdas, arguments, dataset.groups, threads, dtype)


@dataclass(frozen=True, slots=True)
class LogisticError:
    """Cross entropy of a document being relevant, log(1 + e^(-yF)) with y = ±1 (Ganjisaffar's slides): classification.

    Parameters
    ----------
    relevant_above : float, default 0.0
        Labels above this number are relevant.
    """

    name: ClassVar[str] = "logistic-error"
    learns_alone: ClassVar[bool] = True
    relevant_above: float = 0.0

    def bind(self, dataset: Judged, *, threads: int = 1, dtype: type[np.floating[Any]] = GRADIENT_DTYPE) -> LambdaFn:
        """Return the λ-function that pulls scores to the log-odds of relevance; see `Objective.bind`."""
        labels = judged_labels(dataset, self.name)
        relevant = np.where(np.isnan(labels), labels, labels > self.relevant_above).astype(np.float32)
        arguments = {"groups": weighed_groups(dataset), "targets": relevant, "loss": "logistic"}
        return BoundKernel(kernels.point_lambdas, arguments, dataset.groups, threads, dtype)


@dataclass(frozen=True, slots=True)
class Softmax:
    """ListNet's top-one loss (Cao et al. 2007): cross entropy between the softmaxes of the labels and of the scores."""

    name: ClassVar[str] = "softmax"

    def bind(self, dataset: Judged, *, threads: int = 1, dtype: type[np.floating[Any]] = GRADIENT_DTYPE) -> LambdaFn:
        """Return the λ-function of a dataset's distributions; see `Objective.bind`."""
        labels = judged_labels(dataset, self.name).astype(np.float64)
        arguments = {"groups": weighed_groups(dataset), "shares": labels, "exponential": True, "noise": False}
        return BoundKernel(kernels.softmax_lambdas, arguments, dataset.groups, threads, dtype)


@dataclass(frozen=True, slots=True)
class GainSoftmax:
    """Cross entropy between shares of the gains and the softmax of the scores.

    Queries in which no document has a gain have no forces.

    Parameters
    ----------
    gain : Gain, default 2^l - 1
        The worth of a label.
    noise : bool, default False
        Whether each gain is raised by a random number between 0 and 1, anew for every key. With the default gain that
        is XE-NDCG (Bruch 2021), whose gains are 2^l less a random number.
    """

    gain: Gain = EXPONENTIAL
    noise: bool = False

    @property
    def name(self) -> str:
        """`xendcg` with noise, else `gain-softmax`."""
        return "xendcg" if self.noise else "gain-softmax"

    def bind(self, dataset: Judged, *, threads: int = 1, dtype: type[np.floating[Any]] = GRADIENT_DTYPE) -> LambdaFn:
        """Return the λ-function of a dataset's distributions; see `Objective.bind`."""
        labels = judged_labels(dataset, self.name)
        shares = np.where(np.isnan(labels), np.nan, self.gain(np.nan_to_num(labels, nan=0.0), threads))
        arguments = {"groups": weighed_groups(dataset), "shares": shares, "exponential": False, "noise": self.noise}
        return BoundKernel(kernels.softmax_lambdas, arguments, dataset.groups, threads, dtype)
