"""RankNet: a net that learns target probabilities of pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import inf
from typing import ClassVar

from rankwright.arrays import Float32Array
from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import pairs_from_labels
from rankwright.debiasing.stage import debiasing_view, plot_bias, position_ratios_view
from rankwright.errors import InputError, require
from rankwright.features.nystrom import FittedNystrom, fit_nystrom
from rankwright.nets.gradient_net import DescentRecipe, GradientNet
from rankwright.nets.settings import RankNetSettings
from rankwright.objectives.families import ranknet
from rankwright.objectives.objective import Objective


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
    require(
        settings.module is None and settings.hidden is not None and not tuple(settings.hidden),
        "kernel makes a linear net: set hidden=() and no module",
    )
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
