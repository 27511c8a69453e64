"""The gain of a label, the discount of a rank, and the most discounted gain that a query's documents could have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from rankwright import kernels
from rankwright.arrays import SUM_DTYPE, Float32Array, Float64Array, as_vector
from rankwright.data.groups import Groups
from rankwright.errors import InputError, SettingError
from rankwright.kernels.records import RankedLists


def number_text(number: float) -> str:
    """The shortest text that reads back as `number`."""
    return short if float(short := f"{number:g}") == number else repr(float(number))


@dataclass(frozen=True, slots=True)
class Gain:
    """The worth of each label, for NDCG and DCG. Two gains are equal where their names are.

    The built-in ones have the names `exp2` (2^l - 1) and `linear`; `of_table` and `of_function` make others.

    Parameters
    ----------
    name : str
        The name by which a convention prints it.
    function : callable
        Takes an array of labels and a number of threads, and gives an array of gains, finite and not negative.

    Examples
    --------
    >>> import numpy as np
    >>> Gain.of_table((0, 1, 5))(np.array([2, 0], np.float32))
    array([5., 0.])
    """

    name: str
    function: Callable[[Float32Array, int], Float64Array] = field(compare=False)

    def __call__(self, labels: Float32Array, threads: int = 1) -> Float64Array:
        """Return the gain of each label."""
        return self.function(labels, threads)

    @staticmethod
    def of_table(gains: tuple[float, ...]) -> Gain:
        """Return the gain that looks labels up in a table.

        Parameters
        ----------
        gains : tuple of float
            The gains of the labels 0, 1, 2, …, finite and not negative. Other labels are refused.

        Returns
        -------
        Gain
            It has the name `0/1/5` for the gains 0, 1 and 5, which parses back.
        """
        if not gains or not all(0.0 <= gain < math.inf for gain in gains):
            raise SettingError(f"a table of gains needs finite numbers, 0 or more, got {gains}")
        table = np.array(gains, dtype=SUM_DTYPE)
        return Gain("/".join(map(number_text, gains)), partial(_looked_up, table))

    @staticmethod
    def of_function(name: str, function: Callable[[Float32Array], Float64Array]) -> Gain:
        """Return the gain that a function of your own computes.

        Parameters
        ----------
        name : str
            The name by which a convention prints it. It parses back where the gain is given to `parse_convention`.
        function : callable
            Takes an array of labels and gives an array of gains, finite and not negative, which is checked.

        Returns
        -------
        Gain
            The gain, for `Convention(gain=…)`.
        """
        return Gain(name, partial(_called, function))


def _called(function: Callable[[Float32Array], Float64Array], labels: Float32Array, _threads: int) -> Float64Array:
    gains = as_vector(function(labels), name="gains", dtype=SUM_DTYPE, length=len(labels))
    wrong = np.flatnonzero(~((gains >= 0.0) & (gains < math.inf)))
    if len(wrong):
        label, gain = labels[wrong[0]], gains[wrong[0]]
        raise InputError(f"a gain must be finite, 0 or more, but label {label:g} was given {gain:g}")
    return gains


def _linear(labels: Float32Array, _threads: int) -> Float64Array:
    return labels.astype(SUM_DTYPE)


def _exponential(labels: Float32Array, threads: int) -> Float64Array:
    largest_finite = 1023  # 2^1024 has no float64
    if labels.max(initial=0.0) > largest_finite:
        other = "wanted another gain, as in ndcg@10:standard(gain=linear)"
        raise InputError(f"label {labels.max():g} has no finite gain 2^l - 1; {other}")
    gains = np.empty(len(labels), SUM_DTYPE)
    kernels.exponential_gains(labels, gains, threads)
    return gains


def _looked_up(table: Float64Array, labels: Float32Array, _threads: int) -> Float64Array:
    known = (labels == np.trunc(labels)) & (labels >= 0) & (labels < len(table))
    if not known.all():
        told = f"label {labels[~known][0]:g} is not in the table of gains, which has labels 0 to {len(table) - 1}"
        raise InputError(told)
    return table[labels.astype(np.int64)]


EXPONENTIAL = Gain("exp2", _exponential)
LINEAR = Gain("linear", _linear)

GAINS: Mapping[str, Gain] = {gain.name: gain for gain in (EXPONENTIAL, LINEAR)}


@dataclass(frozen=True, slots=True)
class Discount:
    """The share of a gain that is left at each rank: `table(n)` gives those of the first n ranks.

    Two discounts are equal where their names are.
    """

    name: str
    table: Callable[[int], Float64Array] = field(compare=False)


def _log2(n_ranks: int) -> Float64Array:
    # math.log2 rather than NumPy's, whose last digit depends on the processor.
    return 1.0 / np.fromiter(map(math.log2, range(2, n_ranks + 2)), SUM_DTYPE, n_ranks)


def _letor(n_ranks: int) -> Float64Array:
    return np.concatenate([[1.0, 1.0], _log2(max(n_ranks - 1, 0))[1:]])[:n_ranks]


def _reciprocal(n_ranks: int) -> Float64Array:
    return 1.0 / np.arange(1, n_ranks + 1)


LOG2 = Discount("log2", _log2)  # 1 / log2(p + 1) at the p-th rank, counted from 1
LETOR = Discount("letor", _letor)  # 1 at the first two, then 1 / log2(p), as in the scripts of LETOR and MSLR
RECIPROCAL = Discount("reciprocal", _reciprocal)  # 1 / p

DISCOUNTS: Mapping[str, Discount] = {discount.name: discount for discount in (LOG2, LETOR, RECIPROCAL)}


def ideal_gains(gains: Float64Array, groups: Groups, discounts: Float64Array, threads: int = 1) -> Float64Array:
    """The most discounted gain that any order of each query's documents has; ranks without a discount count 0."""
    found, ideal = np.empty(groups.n_queries), np.empty(groups.n_queries)
    nothing_ranked = np.zeros(groups.n_queries, np.int64)
    rows, no_ties = np.arange(groups.n_docs), np.empty(0, np.bool_)
    lists = RankedLists(groups.offsets, nothing_ranked, rows, no_ties)
    kernels.discounted_gains(gains, lists, discounts, found, ideal, threads)
    return ideal
