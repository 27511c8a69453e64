"""RankProp: regression on targets that follow the net's own ranking."""

from __future__ import annotations

from functools import partial

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.nets.gradient_net import DescentRecipe, GradientNet
from rankwright.nets.settings import RankPropSettings
from rankwright.objectives.function import from_function
from rankwright.objectives.objective import Objective


def rankprop_forces(settings: RankPropSettings) -> Objective:
    """The pull of each document's score towards its target."""
    return from_function(partial(_forces, pull=settings.pull), scope="all", name=settings.name)


class RankProp(GradientNet, RankPropSettings):
    """Two phases alternate, step by step of `batch_queries` queries. First the targets of a query's documents become
    the net's own scores, handed out in the order that the labels want; documents of equal labels keep the order the net
    has them in. Then the weights take a step of squared error towards these targets. So the net need not learn values
    it finds hard, only an order. `hidden=()` is a single-layer net, as Burges et al. (2005) compare with.

    Attributes
    ----------
    net_ : PlainNet
        The trained net, with the weights of its `layers`.
    n_epochs_ : int
        How many epochs it was trained for.
    """

    recipe = DescentRecipe(rankprop_forces, alone=False)  # targets are the places of a query's documents


def adjusted_targets(scores: Float64Array, labels: Float32Array, query: IntArray, pull: float) -> Float64Array:
    """What the scores of each query's documents should be: the same values in the labels' order, drawn to their ranks.

    Documents of equal labels share their mean rank; a query's ranks are scaled to lie between 0 and 1.
    """
    wanted = np.lexsort((scores, labels, query))  # lowest label first, equal ones as the scores have them
    targets, ranks = np.empty(len(scores)), np.empty(len(scores))
    targets[wanted] = scores[np.lexsort((scores, query))]
    by_label, by_query = labels[wanted], query[wanted]
    starts = np.flatnonzero(np.append(True, by_query[1:] != by_query[:-1]))
    blocks = np.flatnonzero(np.append(True, (by_query[1:] != by_query[:-1]) | (by_label[1:] != by_label[:-1])))
    sizes, block_sizes = (np.diff(np.append(first, len(scores))) for first in (starts, blocks))
    mean_place = np.repeat(blocks + (block_sizes - 1) / 2.0, block_sizes)
    ranks[wanted] = (mean_place - np.repeat(starts, sizes)) / np.repeat(np.maximum(1, sizes - 1), sizes)
    return (1.0 - pull) * targets + pull * ranks


def _forces(
    scores: Float64Array, labels: Float32Array, offsets: IntArray, *, pull: float
) -> tuple[Float64Array, Float64Array, Float64Array]:
    judged = ~np.isnan(labels)
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    error = np.zeros(len(scores))
    if judged.any():
        error[judged] = scores[judged] - adjusted_targets(scores[judged], labels[judged], query[judged], pull)
    squares = np.bincount(query, weights=error * error, minlength=len(offsets) - 1)
    return error, judged.astype(np.float64), np.asarray(0.5 * squares, np.float64)
