"""Which of several recipes the data wants: each is tried on some queries and measured on others.

The first recipe is kept unless another is better by more than chance: on noisy labels, a net that leaves units out can
hardly be beaten, and a choice among equals by a few held-out queries would only add noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.metrics.evaluation import evaluate
from rankwright.metrics.metric_table import as_measure
from rankwright.nets.params import NetRecipe

HELD_OUT = 0.25  # the share of queries to measure on
FEWEST_HELD_OUT = 8  # fewer cannot tell recipes apart
MOST_QUERIES = 400  # in all, so that large data costs no more
STANDARD_ERRORS = 3.0  # that another recipe must be better by

Scores = Callable[[NetRecipe, RankingDataset, RankingDataset], Float64Array]


def chosen_recipe(
    recipes: Sequence[NetRecipe], data: RankingDataset, scores: Scores, metric: Any, *, seed: int, threads: int | None
) -> NetRecipe:
    """The first recipe, or one that is clearly better on held-out queries.

    `scores(recipe, train, test)` trains on the one part and scores the other. Queries are drawn by the keys of their
    content, so that their order does not matter. Without labels, or with too few queries, the first recipe is taken.
    """
    if len(recipes) == 1 or data.labels is None or data.n_queries * HELD_OUT < FEWEST_HELD_OUT:
        return recipes[0]
    some = data.take_queries(np.arange(min(data.n_queries, MOST_QUERIES)))
    train, test = some.split(valid=HELD_OUT, seed=seed)
    measure = as_measure(metric)
    sign = 1.0 if measure.higher_is_better else -1.0
    values = []
    for recipe in recipes:
        found = evaluate(scores(recipe, train, test), test, [measure], measure.convention, threads=threads)
        values.append(sign * found[measure.metric.name].values)
    return recipes[_clearly_best(values)]


def _clearly_best(values: Sequence[Float64Array]) -> int:
    """The place of the best mean, or 0 where its lead over the first is within chance."""
    leads = [own - values[0] for own in values]
    counted = [lead[~np.isnan(lead)] for lead in leads]
    if len(counted[0]) < FEWEST_HELD_OUT // 2:
        return 0
    best = int(np.argmax([lead.mean() for lead in counted]))
    lead = counted[best]
    return best if lead.mean() > STANDARD_ERRORS * lead.std(ddof=1) / sqrt(len(lead)) else 0
