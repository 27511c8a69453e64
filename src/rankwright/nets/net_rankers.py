"""RankNet, LambdaRank and RankProp, and nets that follow the forces of any objective."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any, ClassVar

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import pairs_from_labels
from rankwright.debiasing.stage import debiasing_view, plot_bias, position_ratios_view
from rankwright.errors import InputError, require
from rankwright.features.nystrom import FittedNystrom, fit_nystrom
from rankwright.nets.gradient_net import DescentRecipe, GradientNet
from rankwright.nets.settings import LambdaRankSettings, NetRankerSettings, RankNetSettings, RankPropSettings
from rankwright.objectives.families import lambdarank, objective_of, paper_lambdarank, ranknet
from rankwright.objectives.function import from_function
from rankwright.objectives.objective import Objective
from rankwright.objectives.pairwise import Logistic, PairLoss, Spring


def ranknet_forces(settings: RankNetSettings) -> Objective:
    """The cross entropy of pairs with the target probabilities that the settings ask for."""
    in_kernel = settings.ties == 0.5
    certainty = inf if settings.certainty is None or _writes_pairs(settings) else settings.certainty
    return ranknet(sigma=settings.sigma, pair_equal_labels=in_kernel, certainty=certainty)


def _writes_pairs(settings: RankNetSettings) -> bool:
    """Whether pairs must be written out, because the objective itself knows no target but ½ for ties."""
    return settings.ties is not None and settings.ties != 0.5


def with_pairs(settings: RankNetSettings, data: RankingDataset) -> RankingDataset:
    """The data with its pairs written out, where that is needed."""
    if not _writes_pairs(settings):
        return data
    if data.labels is None or data.preferences is not None:
        raise InputError("ties shapes pairs made from labels, but this dataset has preferences, which are its pairs")
    certainty = inf if settings.certainty is None else settings.certainty
    pairs = pairs_from_labels(data.labels, data.groups, ties=settings.ties, certainty=certainty)
    return replace(data, preferences=pairs)


def nystrom_map(settings: RankNetSettings, scaled_features: Callable[[], Float32Array]) -> FittedNystrom | None:
    """The map of the kernel, if there is one."""
    if settings.kernel is None:
        return None
    told = "kernel makes a linear net: set hidden=() and no module"
    require(settings.module is None and settings.hidden is not None and not tuple(settings.hidden), told)
    return fit_nystrom(
        scaled_features(), settings.kernel, n_landmarks=settings.landmarks, gamma=settings.gamma, seed=settings.seed
    )


def rkhs_penalty(settings: RankNetSettings) -> float:
    """The penalty of the kernel's space, if there is a kernel."""
    return 0.0 if settings.kernel is None else float(settings.rkhs_penalty)


class RankNet(GradientNet, RankNetSettings):
    """Pairs come from labels, or are given as `Preferences` with target probabilities and weights. The mode chooses the
    settings that are None (`rankwright.nets.params.RECIPES`).

    Attributes
    ----------
    net_ : PlainNet or torch.nn.Module
        The trained net, with the weights of its `layers`; the trained copy of your module if there was one.
    n_epochs_ : int
        How many epochs it was trained for.
    history_ : History
        What was watched after each epoch.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=30, seed=0)
    >>> ranker = rw.RankNet(hidden=(8,), epochs=5).fit(data)
    >>> ranker.predict(data).shape == (data.n_docs,)
    True
    """

    recipe = DescentRecipe(ranknet_forces, with_pairs, nystrom_map, rkhs_penalty, debiases=True)
    takes_positions: ClassVar[bool] = True
    debiasing_, position_ratios_, plot_bias = debiasing_view, position_ratios_view, plot_bias


def lambda_forces(settings: LambdaRankSettings) -> Objective:
    """LambdaRank's forces, as the settings shape them."""
    objective = paper_lambdarank(settings.metric) if settings.mode == "paper" else lambdarank(settings.metric)
    loss: PairLoss = Logistic(settings.sigma) if settings.spring is None else Spring(settings.spring)
    changes: dict[str, Any] = {"pair_loss": loss} | settings.pair_weights()
    if settings.truncation is not None:
        changes["truncation"] = settings.truncation
    return replace(objective, **changes)


class LambdaRank(GradientNet, LambdaRankSettings):
    """`metric` is any that training can aim at (`rankwright.objectives.DELTAS`). The force is logistic, or a spring's.
    The paper's mode uses the plain formula on every pair, and trains as RankNet's paper does.

    Attributes
    ----------
    net_ : PlainNet or torch.nn.Module
        The trained net, with the weights of its `layers`; the trained copy of your module if there was one.
    n_epochs_ : int
        How many epochs it was trained for.
    """

    recipe = DescentRecipe(lambda_forces, debiases=True)
    takes_positions: ClassVar[bool] = True
    debiasing_, position_ratios_, plot_bias = debiasing_view, position_ratios_view, plot_bias


def chosen_forces(settings: NetRankerSettings) -> Objective:
    """The forces of the objective that the settings name."""
    return objective_of(settings.objective)


class NetRanker(GradientNet, NetRankerSettings):
    """The settings beside `objective` and `module` are those of RankNet.

    Attributes
    ----------
    net_ : PlainNet or torch.nn.Module
        The trained net, with the weights of its `layers`; the trained copy of your module if there was one.
    n_epochs_ : int
        How many epochs it was trained for.
    """

    recipe = DescentRecipe(chosen_forces)


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
