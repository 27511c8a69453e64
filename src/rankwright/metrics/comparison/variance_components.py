"""Where the spread of a difference comes from: the queries, the seeds of training, the folds.

On fold f, query q and seed s the difference of two rankers is taken for a sum of independent parts,

    d(f, q, s) = mean + fold(f) + query(f, q) + seed(f, s) + rest(f, q, s),

each with a variance of its own. Queries and seeds are crossed within a fold; a seed of one fold has nothing to do with
the same seed of another, because other documents are trained on. Variances are estimated by setting mean squares equal
to what they are expected to be (the analysis of variance of random effects); estimates below 0 become 0. With a single
seed, what seeds do cannot be told from what queries and folds do, and with a single fold nothing is known of folds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.errors import InputError
from rankwright.metrics.confidence_intervals import HALF_WIDTH, none_unless_finite


@dataclass(frozen=True, slots=True)
class VarianceComponents:
    """The variances of a difference over queries, seeds and folds, and what each does to the mean.

    Attributes
    ----------
    mean : float
        The mean over folds, seeds and queries; each fold counts the same.
    queries, seeds, folds, rest : float
        The variance from query to query, from seed to seed, from fold to fold, and what is left: queries that go
        another way with another seed. NaN where it cannot be told: `seeds` and `rest` need two seeds, `folds` two
        folds.
    n_queries, n_seeds, n_folds : int
        How many queries there are in all, how many seeds on each fold, and how many folds.
    of_mean : mapping of str to float
        How much of the variance of the mean each part is responsible for.
    standard_error : float
        The standard error of the mean, with all parts.
    interval : tuple of float
        The 95 % interval of the mean that goes with it, by the normal distribution.
    """

    mean: float
    queries: float
    seeds: float
    folds: float
    rest: float
    n_queries: int
    n_seeds: int
    n_folds: int
    query_share: float  # the mean over folds of 1 / (queries of the fold), divided by the folds

    @property
    def of_mean(self) -> dict[str, float]:
        """How much of the variance of the mean each part is responsible for; NaN where it cannot be told."""
        return {
            "queries": self.queries * self.query_share,
            "seeds": self.seeds / (self.n_folds * self.n_seeds),
            "folds": self.folds / self.n_folds,
            "rest": self.rest * self.query_share / self.n_seeds,
        }

    @property
    def standard_error(self) -> float:
        """The standard error of the mean, with all parts that can be told."""
        return math.sqrt(float(np.nansum(list(self.of_mean.values()))))

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of the mean, by the normal distribution."""
        half = HALF_WIDTH * self.standard_error
        return self.mean - half, self.mean + half

    def to_dict(self) -> dict[str, Any]:
        """Return the components as a dictionary for JSON.

        Returns
        -------
        dict
            The attributes; what cannot be told is None.
        """
        return {
            "mean": self.mean,
            "variance": {name: none_unless_finite(getattr(self, name)) for name in self.of_mean},
            "of_mean": {name: none_unless_finite(value) for name, value in self.of_mean.items()},
            "standard_error": self.standard_error,
            "low": self.interval[0],
            "high": self.interval[1],
            "queries": self.n_queries,
            "seeds": self.n_seeds,
            "folds": self.n_folds,
        }


def variance_components(differences: Sequence[Float64Array]) -> VarianceComponents:
    """The components of differences: for each fold an array with a row for each query and a column for each seed.

    Queries that do not count (NaN with any seed) are left out.
    """
    tables = [table[~np.isnan(table).any(axis=1)] for table in differences]
    # Sums have the same rounding for any order of the queries.
    tables = [table[np.lexsort(table.T)] for table in tables if len(table)]
    if not tables or sum(len(table) - 1 for table in tables) == 0:
        raise InputError("variance components need a fold with two queries or more that count")
    sizes = np.array([len(table) for table in tables])
    n_seeds, n_folds = tables[0].shape[1], len(tables)
    rest, seeds, queries = _within(tables, sizes)
    means = np.array([float(table.mean()) for table in tables])
    parts = _or_zero(queries) / sizes + _or_zero(seeds) / n_seeds + _or_zero(rest) / (sizes * n_seeds)
    folds = max(0.0, float(means.var(ddof=1) - parts.mean())) if n_folds > 1 else math.nan
    share = float((1 / sizes).sum()) / n_folds**2
    return VarianceComponents(
        float(np.sort(means).mean()), queries, seeds, folds, rest, int(sizes.sum()), n_seeds, n_folds, share
    )


def _within(tables: Sequence[Float64Array], sizes: Any) -> tuple[float, float, float]:
    """The variances of the rest, of seeds and of queries, from squares within folds, all folds together."""
    n_seeds = tables[0].shape[1]
    squares = np.array([_squares(table) for table in tables]).sum(axis=0)
    n_free = int((sizes - 1).sum())
    by_query = squares[0] / n_free
    if n_seeds == 1:
        return math.nan, math.nan, float(by_query)
    rest = squares[2] / (n_free * (n_seeds - 1))
    seeds = (squares[1] - len(tables) * (n_seeds - 1) * rest) / ((n_seeds - 1) * sizes.sum())
    queries = (by_query - rest) / n_seeds
    return float(rest), max(0.0, float(seeds)), max(0.0, float(queries))


def _squares(table: Float64Array) -> tuple[float, float, float]:
    """The sums of squares of a fold: between queries, between seeds, and what is left."""
    by_query, by_seed, mean = table.mean(axis=1), table.mean(axis=0), table.mean()
    left = table - by_query[:, None] - by_seed[None, :] + mean
    return (
        float(table.shape[1] * ((by_query - mean) ** 2).sum()),
        float(len(table) * ((by_seed - mean) ** 2).sum()),
        float((left**2).sum()),
    )


def _or_zero(variance: float) -> float:
    return 0.0 if math.isnan(variance) else variance
