"""The mean label of documents, exactly, so that it does not matter who has them nor in which order they are added."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.trees.bins.binned import BinnedDataset

UNIT = 1200  # sums are whole numbers of 2⁻¹²⁰⁰: finer than any product of two floats
HALF = 26  # bits: sums of half the digits of many numbers fit 64 bits


@dataclass(frozen=True, slots=True)
class LabelSums:
    """Sums over judged documents: of weight times label, and of the weights."""

    total: int = 0
    weight: int = 0

    def __add__(self, other: LabelSums) -> LabelSums:
        return LabelSums(self.total + other.total, self.weight + other.weight)

    @property
    def mean(self) -> float | None:
        """The weighted mean, to the last digit; None where nothing has a weight."""
        return float(Fraction(self.total, self.weight)) if self.weight else None


def label_sums(data: BinnedDataset, *, relevant: bool) -> LabelSums:
    """The sums of labels, or of 1 for each relevant document."""
    if data.labels is None:
        return LabelSums()
    weights = np.ones(data.n_docs) if data.document_weights is None else data.document_weights.astype(np.float64)
    if data.query_weights is not None:
        weights = weights * np.repeat(data.query_weights, data.groups.sizes)
    counts = ~np.isnan(data.labels) & (weights > 0)
    judged, weights = data.labels[counts].astype(np.float64), weights[counts]
    return LabelSums(exact_sum((judged > 0 if relevant else judged) * weights), exact_sum(weights))


def exact_sum(values: Float64Array) -> int:
    """The sum, as a whole number of 2⁻¹²⁰⁰."""
    mantissas, exponents = np.frexp(values)
    whole = (mantissas * 2.0**53).astype(np.int64)
    total = 0
    for exponent in np.unique(exponents).tolist():
        own = whole[exponents == exponent]
        digits = (int((own >> HALF).sum()) << HALF) + int((own & ((1 << HALF) - 1)).sum())
        total += digits << (exponent - 53 + UNIT)
    return total
