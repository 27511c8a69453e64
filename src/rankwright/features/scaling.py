"""Feature scaling: fitted on one dataset, frozen, applied to others, and saved.

A scaling is a value whose name says all of it; names joined by `+` are applied one after another. Fitting gives a
`FittedScaling`, which holds what was learned from the data. A missing value (NaN) stays missing and takes no part
in any statistic.

    sortnet       (x - mean) / max|x| over the query's documents (SortNet, Eq. 4); 0 where all values are 0. Features
                  of one sign end up in [-1, 1], as the paper says of all; features of both signs in [-2, 2]
    query-minmax  (x - min) / (max - min) over the query's documents (LETOR's QueryLevelNorm); 0 where all are equal
    query-ranks   the place of x among the query's values, from -1 for the smallest to 1 for the largest; equal values
                  share the mean of their places, which is 0 where all are equal
    zscore        (x - mean) / deviation over all documents fitted on; 0 where the feature was constant there, or as
                  good as constant: its deviation is below 1.2e-38
    log           sign(x) · log(1 + |x|) of every feature
    log-counts    the same, only of features that hold counts in the data fitted on (RankNet, section 6.1)
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright import kernels
from rankwright.arrays import SUM_DTYPE, Float32Array, Float64Array, arrays_with_prefix, as_features, thread_count
from rankwright.container.checks import MOST_FEATURES, check_between, file_faults, read_array, read_field, read_integer
from rankwright.container.file import read_container, write_container
from rankwright.data.dataset import RankingDataset
from rankwright.data.feature_names import numbered_names
from rankwright.data.groups import Groups
from rankwright.errors import InputError, UnknownNameError

KIND = "scaling"
CHAIN_SIGN = "+"
MOST_STEPS = 16  # of a chain in a file: each costs a pass over the features
LARGEST_FEATURE = float(np.finfo(np.float32).max)
SMALLEST_DEVIATION = float(np.finfo(np.float32).tiny)
ROWS_AT_A_TIME = 512  # so few that a float64 copy of them stays in the processor's cache
Learned: TypeAlias = Mapping[str, NDArray[Any]]
Learn: TypeAlias = Callable[[Float32Array, Groups, int], Learned]  # of features, groups, threads
# Of features, groups, what was learned, the output to fill, which may be the features themselves, and threads.
Fill: TypeAlias = Callable[[Float32Array, Groups, Learned, Float32Array, int], None]


@dataclass(frozen=True, slots=True)
class Scaling:
    """A way to scale features; `parse_scaling` makes one from its name.

    Attributes
    ----------
    name : str
        Its name; `parse_scaling(name)` gives the same scaling.
    fill : callable
        What fills in the scaled features.
    learn : callable
        What learns from the data fitted on.
    needs_groups : bool
        Whether the scaled features of a document depend on the other documents of its query.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.scaling.parse_scaling("log+zscore").needs_groups
    False
    """

    name: str
    fill: Fill = field(compare=False, repr=False)
    learn: Learn = field(compare=False, repr=False)
    needs_groups: bool = field(compare=False)  # whether a document's features depend on the rest of its query

    def __reduce__(self) -> tuple[Callable[[str], Scaling], tuple[str]]:
        return parse_scaling, (self.name,)

    def fit(self, data: RankingDataset, *, threads: int | None = None) -> FittedScaling:
        """Learn from a dataset what the scaling needs to know.

        Parameters
        ----------
        data : RankingDataset
            The data to learn from, without infinite values.
        threads : int, optional
            The number of threads; the default is `OMP_NUM_THREADS`, or else every core.

        Returns
        -------
        FittedScaling
            The scaling with what it learned.
        """
        _refuse_infinity(data.features, data.names)
        learned = self.learn(data.features, data.groups, thread_count(threads))
        return FittedScaling(self, data.n_features, learned)


def _learn_nothing(_features: Float32Array, _groups: Groups, _threads: int) -> Learned:
    return {}


def _learn_moments(features: Float32Array, _groups: Groups, threads: int) -> Learned:
    count, total, squares = (np.empty(features.shape[1], SUM_DTYPE) for _ in range(3))
    kernels.sum_moments(features, np.zeros(features.shape[1]), count, total, squares, threads)
    # Sums of equal float32 numbers are exact here, so a constant feature has deviation 0.
    mean = total / np.maximum(count, 1)
    kernels.sum_moments(features, mean, count, total, squares, threads)
    return {"mean": mean, "deviation": np.sqrt(squares / np.maximum(count, 1))}


def _learn_counts(features: Float32Array, _groups: Groups, _threads: int) -> Learned:
    """Which features hold whole numbers of 0 or more, and some above 1: flags are no counts."""
    counts, large = np.ones(features.shape[1], np.bool_), np.zeros(features.shape[1], np.bool_)
    for rows in _chunks(features):
        values = features[rows]
        counts &= (np.isnan(values) | ((values >= 0) & (np.floor(values) == values))).all(axis=0)
        large |= (values > 1).any(axis=0)
        if not counts.any():
            break
    return {"taken": counts & large}


def _fill_by_mean(features: Float32Array, groups: Groups, _learned: Learned, out: Float32Array, threads: int) -> None:
    kernels.scale_by_mean(features, groups.offsets, out, threads)


def _fill_by_range(features: Float32Array, groups: Groups, _learned: Learned, out: Float32Array, threads: int) -> None:
    kernels.scale_by_range(features, groups.offsets, out, threads)


def _fill_by_rank(features: Float32Array, groups: Groups, _learned: Learned, out: Float32Array, threads: int) -> None:
    kernels.scale_by_rank(features, groups.offsets, out, threads)


def _fill_zscores(features: Float32Array, _groups: Groups, learned: Learned, out: Float32Array, _threads: int) -> None:
    mean, factor = mean_and_factor(learned)
    with np.errstate(over="ignore"):  # what is beyond single precision is refused later, by name
        for rows in _chunks(features):
            out[rows] = (features[rows] - mean) * factor


def mean_and_factor(learned: Learned) -> tuple[Float64Array, Float64Array]:
    """What standardisation takes from each feature, and what it multiplies the rest by: 0 for a constant feature.

    A feature that differs by less than the smallest normal number is as good as constant: 1 / deviation is no float32.

    Parameters
    ----------
    learned : dict of arrays
        What standardisation learned: `mean` and `deviation`.

    Returns
    -------
    mean, factor : array
        A number for each feature.
    """
    mean, deviation = learned["mean"], learned["deviation"]
    return mean, np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation >= SMALLEST_DEVIATION)


def _fill_logs(features: Float32Array, _groups: Groups, learned: Learned, out: Float32Array, _threads: int) -> None:
    for rows in _chunks(features):
        values = features[rows]
        logs = np.copysign(np.log1p(np.abs(values)), values)
        out[rows] = np.where(learned["taken"], logs, values) if "taken" in learned else logs


SORTNET = Scaling("sortnet", _fill_by_mean, _learn_nothing, needs_groups=True)
QUERY_MINMAX = Scaling("query-minmax", _fill_by_range, _learn_nothing, needs_groups=True)
QUERY_RANKS = Scaling("query-ranks", _fill_by_rank, _learn_nothing, needs_groups=True)
ZSCORE = Scaling("zscore", _fill_zscores, _learn_moments, needs_groups=False)
LOG = Scaling("log", _fill_logs, _learn_nothing, needs_groups=False)
LOG_COUNTS = Scaling("log-counts", _fill_logs, _learn_counts, needs_groups=False)
SCALINGS: Mapping[str, Scaling] = {
    one.name: one for one in (SORTNET, QUERY_MINMAX, QUERY_RANKS, ZSCORE, LOG, LOG_COUNTS)
}


def parse_scaling(name: str) -> Scaling:
    """The scaling of a name.

    Parameters
    ----------
    name : str
        "sortnet", "query-minmax", "query-ranks", "zscore", "log" or "log-counts", or several joined by `+`.

    Returns
    -------
    Scaling
        The scaling; a chain of them where there are several names.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.scaling.parse_scaling("log-counts+zscore")
    Scaling(name='log-counts+zscore', needs_groups=False)
    """
    steps = name.split(CHAIN_SIGN)
    for step in steps:
        if step not in SCALINGS:
            raise UnknownNameError("scaling", step, known=SCALINGS)
    return SCALINGS[name] if len(steps) == 1 else _chain([SCALINGS[step] for step in steps])


def chain(*steps: Scaling) -> Scaling:
    """Several scalings, applied one after another.

    Parameters
    ----------
    *steps : Scaling
        The scalings. Each learns from what the one before it gives.

    Returns
    -------
    Scaling
        The chain, named by the names of its steps joined by `+`.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.scaling.chain(rw.scaling.LOG, rw.scaling.ZSCORE).name
    'log+zscore'
    """
    return parse_scaling(CHAIN_SIGN.join(step.name for step in steps))


def _chain(steps: Sequence[Scaling]) -> Scaling:
    def learn(features: Float32Array, groups: Groups, threads: int) -> Learned:
        learned: dict[str, NDArray[Any]] = {}
        scaled = features
        for place, step in enumerate(steps):
            of_step = step.learn(scaled, groups, threads)
            learned |= {f"{place}.{name}": values for name, values in of_step.items()}
            if place + 1 < len(steps) and not _changes_nothing(step, of_step):
                out = np.empty_like(features) if scaled is features else scaled
                step.fill(scaled, groups, of_step, out, threads)
                scaled = out
        return learned

    def fill(features: Float32Array, groups: Groups, learned: Learned, out: Float32Array, threads: int) -> None:
        for place, step in enumerate(steps):
            step.fill(features if place == 0 else out, groups, arrays_with_prefix(learned, f"{place}."), out, threads)

    return Scaling(CHAIN_SIGN.join(step.name for step in steps), fill, learn, any(step.needs_groups for step in steps))


def _changes_nothing(step: Scaling, learned: Learned) -> bool:
    return step == LOG_COUNTS and not learned["taken"].any()


@dataclass(frozen=True, slots=True, eq=False)
class FittedScaling:
    """A scaling with what it learned; it never changes.

    Parameters
    ----------
    scaling : Scaling
        The scaling.
    n_features : int
        The number of features it was fitted on.
    learned : mapping from str to array, shape (n_features,)
        What it learned, by name.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.RankingDataset.from_arrays([[1.0], [3.0]], group=[2])
    >>> fitted = rw.scaling.fit("zscore", data)
    >>> fitted.transform([[1.0], [2.0], [3.0]]).ravel().tolist()
    [-1.0, 0.0, 1.0]
    """

    scaling: Scaling
    n_features: int
    learned: Learned

    def __post_init__(self) -> None:
        frozen = {name: np.array(values) for name, values in self.learned.items()}
        for name, values in frozen.items():
            if values.shape != (self.n_features,):
                raise InputError(f"{name} must have a value for each of {self.n_features} features, got {values.shape}")
            values.setflags(write=False)
        object.__setattr__(self, "learned", frozen)

    def steps(self) -> list[FittedScaling]:
        """The scalings that this one applies one after another.

        Returns
        -------
        list of FittedScaling
            The steps, without those that would change nothing.
        """
        names = self.scaling.name.split(CHAIN_SIGN)
        prefixes = [""] if len(names) == 1 else [f"{place}." for place in range(len(names))]
        learned = [arrays_with_prefix(self.learned, prefix) for prefix in prefixes]
        parts = [FittedScaling(SCALINGS[name], self.n_features, own) for name, own in zip(names, learned, strict=True)]
        return [part for part in parts if not _changes_nothing(part.scaling, part.learned)]

    def transform(
        self, features: ArrayLike, groups: Groups | None = None, *, threads: int | None = None
    ) -> Float32Array:
        """Scale a matrix of features.

        Parameters
        ----------
        features : array-like, shape (n_docs, n_features)
            The features, without infinite values; NaN stays NaN.
        groups : Groups, optional
            The queries of the rows; needed by scalings that look at the documents of a query together.
        threads : int, optional
            The number of threads; the default is `OMP_NUM_THREADS`, or else every core.

        Returns
        -------
        array of float32, shape (n_docs, n_features)
            The scaled features.
        """
        matrix = as_features(features)
        if matrix.shape[1] != self.n_features:
            raise InputError(f"{self.scaling.name} was fitted on {self.n_features} features, got {matrix.shape[1]}")
        if groups is None:
            if self.scaling.needs_groups:
                raise InputError(f"{self.scaling.name} scales the documents of a query together: groups are needed")
            groups = Groups.of_sizes([len(matrix)])
        if groups.n_docs != len(matrix):
            raise InputError(f"features must have {groups.n_docs} rows, one a document, got {len(matrix)}")
        _refuse_infinity(matrix, numbered_names(self.n_features))
        out = np.empty_like(matrix)
        self.scaling.fill(matrix, groups, self.learned, out, thread_count(threads))
        _refuse_overflow(matrix, out, numbered_names(self.n_features), self.scaling.name)
        return out

    def apply(self, data: RankingDataset, *, threads: int | None = None) -> RankingDataset:
        """Scale the features of a dataset.

        Parameters
        ----------
        data : RankingDataset
            The dataset.
        threads : int, optional
            The number of threads; the default is `OMP_NUM_THREADS`, or else every core.

        Returns
        -------
        RankingDataset
            The same dataset with scaled features.
        """
        return replace(data, features=self.transform(data.features, data.groups, threads=threads))

    @property
    def header(self) -> dict[str, Any]:
        """What `of_parts` needs besides `learned`, in types that JSON can hold: for files that hold more."""
        return {"scaling": self.scaling.name, "n_features": self.n_features}

    @classmethod
    def of_parts(cls, header: Mapping[str, Any], learned: Learned) -> FittedScaling:
        """The scaling that has this header and these arrays.

        Parameters
        ----------
        header : mapping
            What `header` gave.
        learned : mapping from str to array
            What `learned` was.

        Returns
        -------
        FittedScaling
            The scaling.
        """
        name = read_field(header, "scaling", str)
        if name.count(CHAIN_SIGN) >= MOST_STEPS:
            raise InputError(f"a scaling has {MOST_STEPS} steps at most, got {name.count(CHAIN_SIGN) + 1}")
        scaling = parse_scaling(name)
        n_features = read_integer(header, "n_features", most=MOST_FEATURES)
        # What a scaling learns has the same names and types whatever the data: also of one feature of no documents.
        wanted = scaling.learn(np.empty((0, 1), np.float32), Groups.of_sizes([]), 1)
        if learned.keys() != wanted.keys():
            raise InputError(f"{scaling.name} learns {sorted(wanted)}, and the file has {sorted(learned)}")
        for name, like in wanted.items():
            found = read_array(learned, name, like.dtype, (n_features,))
            if like.dtype == np.float64:  # means and deviations of float32 numbers
                check_between(name, found, -LARGEST_FEATURE, LARGEST_FEATURE)
        return cls(scaling, n_features, learned)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the scaling to a file; `load` reads it back.

        Parameters
        ----------
        path : str or path-like
            Where to write.
        """
        write_container(path, KIND, self.header, dict(self.learned))


def load(path: str | os.PathLike[str]) -> FittedScaling:
    """Read a fitted scaling from a file.

    Parameters
    ----------
    path : str or path-like
        A file that `FittedScaling.save` wrote.

    Returns
    -------
    FittedScaling
        The scaling, with what it learned.

    Examples
    --------
    >>> import rankwright as rw
    >>> from tempfile import TemporaryDirectory
    >>> data = rw.synthetic.random_polynomial(10)
    >>> with TemporaryDirectory() as folder:
    ...     rw.scaling.fit("zscore", data).save(f"{folder}/scaling.rw")
    ...     rw.scaling.load(f"{folder}/scaling.rw").scaling.name
    'zscore'
    """
    container = read_container(path, KIND)
    with file_faults(path, "scaling"):
        return FittedScaling.of_parts(container.header, container.arrays)


def fit(name: str, data: RankingDataset, *, threads: int | None = None) -> FittedScaling:
    """Fit the scaling of a name to a dataset.

    Parameters
    ----------
    name : str
        "sortnet", "query-minmax", "query-ranks", "zscore", "log" or "log-counts", or several joined by `+`.
    data : RankingDataset
        The data to learn from, usually the training data.
    threads : int, optional
        The number of threads; the default is `OMP_NUM_THREADS`, or else every core.

    Returns
    -------
    FittedScaling
        The scaling with what it learned.

    Examples
    --------
    >>> import rankwright as rw
    >>> train, valid = rw.synthetic.random_polynomial(10).split()
    >>> fitted = rw.scaling.fit("zscore", train)
    >>> scaled = fitted.apply(valid)
    """
    return parse_scaling(name).fit(data, threads=threads)


def _chunks(features: Float32Array) -> Iterator[slice]:
    for start in range(0, len(features), ROWS_AT_A_TIME):
        yield slice(start, start + ROWS_AT_A_TIME)


def _refuse_overflow(features: Float32Array, scaled: Float32Array, names: Sequence[str], scaling: str) -> None:
    for rows in _chunks(scaled):
        infinite = np.isinf(scaled[rows])
        if infinite.any():
            row, feature = np.argwhere(infinite)[0]
            value = features[rows][row, feature]
            raise InputError(
                f"row {rows.start + row} has {value:g} in feature {names[feature]}, which is so far from the values of "
                f"training that {scaling} leads beyond single precision: correct the value, or leave it missing"
            )


def _refuse_infinity(features: Float32Array, names: Sequence[str]) -> None:
    for rows in _chunks(features):
        infinite = np.isinf(features[rows])
        if infinite.any():
            row, feature = np.argwhere(infinite)[0]
            found = f"row {rows.start + row} has {features[rows][row, feature]} in feature {names[feature]}"
            raise InputError(f"{found}; scaling needs finite values, or NaN for missing ones")
