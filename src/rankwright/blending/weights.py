"""Weights of rankers, learned from their scores of queries that they were not trained on.

Weights are tried on a grid of the simplex. The best of the grid is found on many samples of the queries, drawn with
replacement, and the mean of what these prefer is taken: where queries agree, that is the best; where chance decides,
samples disagree, and their mean lies near equal weights. It is drawn further towards equal ones, as if so many more
queries preferred those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.blending.combining import Combining
from rankwright.data.dataset import RankingDataset
from rankwright.metrics.evaluation import ScoredLists, evaluate_lists
from rankwright.metrics.metric_table import as_measure
from rankwright.progress.stages import announce

MOST_TRIED = 150  # points of the grid
FINEST = 8  # steps from weight 0 to weight 1
SAMPLES = 200
STREAM = 0x626C  # added to the seed: these draws must not depend on others


def learned_weights(
    matrix: Float64Array,
    data: RankingDataset,
    combining: Combining,
    metric: str | Callable[..., Any],
    *,
    factors: Float64Array,
    shrinkage: float,
    seed: int,
    threads: int,
) -> Float64Array:
    """The weights of the rankers whose scores of `data` are the columns of the matrix; they add up to 1."""
    grid = np.array(list(_grid(matrix.shape[1])))
    values = []
    for number, point in enumerate(grid):
        scores = combining.combined(matrix, data.groups, point * factors)
        values.append(worths(scores, data, metric, threads=threads))
        announce("learning the weights of rankers", number + 1, len(grid), unit="weights")
    by_query = np.column_stack(values)
    counted = by_query[~np.isnan(by_query).any(axis=1)]
    equal = np.full(matrix.shape[1], 1 / matrix.shape[1])
    if len(counted) == 0:
        return equal
    drawn = np.random.default_rng([seed, STREAM]).multinomial(len(counted), np.full(len(counted), 1 / len(counted)),
                                                              size=SAMPLES)  # fmt: skip
    # The nearest to equal weights comes first in the grid, so that ties go to it.
    found = grid[np.argmax(drawn @ counted, axis=1)].mean(axis=0)
    share = shrinkage / (shrinkage + len(counted))
    return np.asarray((1 - share) * found + share * equal)


def worths(
    scores: Float64Array, data: RankingDataset, metric: str | Callable[..., Any], *, threads: int
) -> Float64Array:
    """The metric of each query, higher is better; NaN where a query does not count."""
    assert data.labels is not None
    measure = as_measure(metric)
    lists = ScoredLists(scores=scores, labels=data.labels, groups=data.groups, side=data.side)
    evaluation = evaluate_lists(lists, [measure], measure.convention, threads=threads)
    values: Float64Array = next(iter(evaluation.results.values())).values
    return values if measure.higher_is_better else -values


def _grid(n_rankers: int) -> Iterator[tuple[float, ...]]:
    """Weights in steps of one over a whole number, those nearest to equal ones first."""
    steps = next((n for n in range(FINEST, 1, -1) if comb(n + n_rankers - 1, n) <= MOST_TRIED), 1)
    points = {
        tuple(np.diff([-1, *bars, steps + n_rankers - 1]) - 1)
        for bars in combinations(range(steps + n_rankers - 1), n_rankers - 1)
    }
    found = {tuple(float(part) / steps for part in point) for point in points} | {(1 / n_rankers,) * n_rankers}
    yield from sorted(found, key=lambda point: (sum((part - 1 / n_rankers) ** 2 for part in point), point))
