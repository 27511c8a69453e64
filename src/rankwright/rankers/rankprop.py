"""RankProp: regression on targets that follow the net's own ranking."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar, Literal

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.errors import require
from rankwright.objectives.function import from_function
from rankwright.objectives.objective import Objective
from rankwright.rankers.gradient_net import GradientNet
from rankwright.training.spaces import Choice, Real, Space


class RankProp(GradientNet):
    """A net that regresses targets which are adjusted as it learns (Caruana, Baluja, Mitchell 1996).

    Two phases alternate, step by step of `batch_queries` queries: the targets of a query's documents become the net's
    own scores, handed out in the order that the labels want, documents of equal labels in the order the net has them;
    then the weights take a step of squared error towards them. So the net need not learn values it finds hard, only
    an order. Scores alone would shrink together over time: `pull` is the share that the labels' ranks, scaled to lie
    between 0 and 1, have in the targets. `hidden=()` is a single-layer net, as Burges et al. (2005) compare with. The
    other settings are those of RankNet.
    """

    name: ClassVar[str] = "rankprop"
    output_bias: ClassVar[bool] = True  # scores are regressed: their mean counts
    space: ClassVar[Space] = {"hidden": Choice(((), (10,))), "pull": Real(0.02, 0.5, log=True)}
    module = None
    device = "cpu"

    def __init__(
        self,
        *,
        pull: float = 0.1,
        hidden: Sequence[int] | None = None,
        activation: str | None = None,
        epochs: int = 100,
        learning_rate: float | None = None,
        optimizer: str | None = None,
        weight_decay: float = 0.0,
        dropout: float | None = None,
        batch_queries: int | None = None,
        scaling: str | None = None,
        metric: str = "ndcg@10",
        select: str | None = None,
        mode: Literal["default", "paper"] = "default",
        early_stopping: int | None = None,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.pull = pull
        self.hidden = hidden
        self.activation = activation
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.batch_queries = batch_queries
        self.scaling = scaling
        self.metric = metric
        self.select = select
        self.mode = mode
        self.early_stopping = early_stopping
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    def _objective(self) -> Objective:
        require(0 < self.pull <= 1, f"pull must be a share above 0, got {self.pull}")
        return from_function(partial(_forces, pull=self.pull), scope="all", name=self.name)


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
