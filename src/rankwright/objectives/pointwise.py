"""Objectives of each document alone, whose score should match its label. Unjudged documents have no forces."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array
from rankwright.objectives.objective import GRADIENT_DTYPE, BoundKernel, Judged, LambdaFn, judged_labels, weighed_groups


@dataclass(frozen=True, slots=True)
class SquaredError:
    """Half the squared difference between the score and the label: regression."""

    name: ClassVar[str] = "squared-error"
    learns_alone: ClassVar[bool] = True

    def bind(self, dataset: Judged, *, threads: int = 1, dtype: type[np.floating[Any]] = GRADIENT_DTYPE) -> LambdaFn:
        """Return the λ-function that pulls scores to labels; see `Objective.bind`."""
        return _pull(dataset, judged_labels(dataset, self.name), "squared", threads, dtype)


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
        return _pull(dataset, relevant, "logistic", threads, dtype)


def _pull(
    dataset: Judged, targets: Float32Array, loss: str, threads: int, dtype: type[np.floating[Any]]
) -> BoundKernel:
    arguments = {"groups": weighed_groups(dataset), "targets": targets, "loss": loss}
    return BoundKernel(kernels.point_lambdas, arguments, dataset.groups, threads, dtype)
