"""Objectives of a whole list: the softmax of a query's scores should be the distribution that its labels give.

The cost is a cross entropy. A document's weight multiplies its share of the target; unjudged documents take no part.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float64Array
from rankwright.objectives.objective import GRADIENT_DTYPE, BoundKernel, Judged, LambdaFn, judged_labels, weighed_groups
from rankwright.ranking.gains import EXPONENTIAL, Gain


@dataclass(frozen=True, slots=True)
class Softmax:
    """ListNet's top-one loss (Cao et al. 2007): cross entropy between the softmaxes of the labels and of the scores."""

    name: ClassVar[str] = "softmax"

    def bind(self, dataset: Judged, *, threads: int = 1, dtype: type[np.floating[Any]] = GRADIENT_DTYPE) -> LambdaFn:
        """Return the λ-function of a dataset's distributions; see `Objective.bind`."""
        labels = judged_labels(dataset, self.name).astype(np.float64)
        return _cross_entropy(dataset, labels, threads, dtype, exponential=True, noise=False)


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
        gains = self.gain(np.nan_to_num(labels, nan=0.0), threads)
        shares = np.where(np.isnan(labels), np.nan, gains)
        return _cross_entropy(dataset, shares, threads, dtype, exponential=False, noise=self.noise)


def _cross_entropy(
    dataset: Judged,
    shares: Float64Array,
    threads: int,
    dtype: type[np.floating[Any]],
    *,
    exponential: bool,
    noise: bool,
) -> BoundKernel:
    arguments = {"groups": weighed_groups(dataset), "shares": shares, "exponential": exponential, "noise": noise}
    return BoundKernel(kernels.softmax_lambdas, arguments, dataset.groups, threads, dtype)
