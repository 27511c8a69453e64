"""The settings of the rankers that add up weak ones, and of those that climb a metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from rankwright.settings.setting import changed, setting, settings_class
from rankwright.settings.shared import AimedSettings, PatientSettings, RankerSettings, ScaledSettings
from rankwright.settings.spaces import Choice
from rankwright.trees.bins.binning import MAX_BINS


@settings_class
class ClimbingSettings(AimedSettings, ScaledSettings, RankerSettings):
    """What rankers share that look at a metric while they learn a weighted sum of features.

    Parameters
    ----------
    scaling
        The name of a scaling of features, fitted on the training data and kept in the model. It decides how features
        add up, and how long a step is for each; None takes features as they are.
    metric
        The metric to maximise: any metric between 0 and 1.
    """

    scaling: str | None = changed(ScaledSettings, "scaling", "zscore")


@settings_class
class AdaRankSettings(PatientSettings, ClimbingSettings):
    """Single features added up, round after round, for queries that the metric says are ranked badly (Xu and
    Li 2007).

    Parameters
    ----------
    n_rounds
        How many rounds at most, each of which takes a feature.
    sharpness
        How much more a query weighs the worse it is ranked: its weight is e to the power of minus this times the
        metric. 1 is the paper's rule, with which one strong feature tends to be taken again and again.
    max_uses
        How often a feature may be chosen; None is the paper's rule, as often as it is best.
    downwards
        Whether a feature may rank the other way round if it does better that way.
    """

    name: ClassVar[str] = "adarank"
    budget: ClassVar[str | None] = "n_rounds"
    chance: ClassVar[Mapping[str, Any] | None] = None

    metric: str = changed(ClimbingSettings, "metric", "map", search=Choice(("map", "ndcg@10")))
    n_rounds: int = setting(200, least=1, small=8)
    sharpness: float = setting(1.0, above=0, unsaid=1.0, search=Choice((1.0, 3.0, 4.0, 5.0)))
    max_uses: int | None = setting(1, least=1, search=Choice((1, 4)))
    downwards: bool = setting(True)


@settings_class
class SlackSettings(RankerSettings):
    """What holds coordinate ascent back; in a class of its own, so that a search looks at it first.

    Parameters
    ----------
    slack
        The penalty, in units of the metric, on the distance of the weights from where they started, as a share of all
        weights: larger values keep them closer.
    """

    slack: float = setting(0.0, least=0, search=Choice((0.0, 0.01, 0.05)))


@settings_class
class CoordinateAscentSettings(ClimbingSettings, SlackSettings):
    """Weights that climb any metric, one at a time (Metzler and Croft 2007).

    Parameters
    ----------
    restarts
        How many climbs to make: the first starts from equal weights, the others from random weights.
    n_sweeps
        The most sweeps over all weights, in all climbs together.
    first_step
        The shortest step of a weight; the absolute values of all weights add up to 1.
    n_doublings
        How many steps a weight tries up and down, each twice as far as the one before.
    tolerance
        A climb ends with a sweep that gains less than this.
    """

    name: ClassVar[str] = "coordinate-ascent"
    budget: ClassVar[str | None] = "n_sweeps"

    metric: str = changed(ClimbingSettings, "metric", "map", search=Choice(("map", "ndcg@10")))
    restarts: int = setting(3, least=1)
    n_sweeps: int = setting(100, least=1, small=4)
    first_step: float = setting(0.001, above=0)
    n_doublings: int = setting(10, least=1, most=60)
    tolerance: float = setting(0.001, least=0, small=0.0)


@settings_class
class BoltzRankSettings(PatientSettings, ClimbingSettings):
    """Potentials of documents, and of pairs of them, that make good rankings probable (Volkovs and Zemel
    2009).

    Parameters
    ----------
    mix
        The share of the expected metric in the loss; the rest is the divergence of the model's distribution over
        rankings from that of the labels.
    pair_units
        How many units compare a document with each other document of its query. With 1 or more, a score depends on the
        whole list, and `predict` needs `qid`.
    epochs
        How many epochs at most, each one step of Adam.
    n_samples
        How many rankings of every query are drawn in an epoch.
    learning_rate
        The length of Adam's steps.
    l2
        How much the squared size of the weights costs.
    """

    name: ClassVar[str] = "boltzrank"
    budget: ClassVar[str | None] = "epochs"

    mix: float = setting(0.5, least=0, most=1, search=Choice((0.2, 0.8)))
    pair_units: int = setting(0, least=0, search=Choice((0, 4)))
    epochs: int = setting(100, least=1, small=8)
    n_samples: int = setting(20, least=2)
    learning_rate: float = setting(0.05, above=0, small=0.1)
    l2: float = setting(0.0, least=0)


@settings_class
class StumpSettings(PatientSettings, AimedSettings, ScaledSettings, RankerSettings):
    """What rankers made of threshold weak rankers share.

    Parameters
    ----------
    metric
        The metric that decides the number of rounds and early stopping, unless `select` names another.
    n_rounds
        How many rounds at most, each of which adds a stump.
    max_bins
        How many thresholds of a feature are tried, at most.
    equal_queries
        Whether all pairs of a query have a total weight of 1, however many they are; otherwise every pair has the
        weight 1.
    """

    budget: ClassVar[str | None] = "n_rounds"
    chance: ClassVar[Mapping[str, Any] | None] = None

    n_rounds: int = setting(500, least=1, small=8)
    max_bins: int = setting(64, least=2, most=MAX_BINS, search=Choice((16, 64)))
    equal_queries: bool = setting(False)


@settings_class
class RankBoostSettings(StumpSettings):
    """Threshold weak rankers, weighted by how they order pairs (Freund, Iyer, Schapire and Singer 2003)."""

    name: ClassVar[str] = "rankboost"

    equal_queries: bool = changed(StumpSettings, "equal_queries", search=Choice((False, True)))


@settings_class
class StumpStepSettings(RankerSettings):
    """How far FRank's steps go; in a class of its own, so that a search looks at it first.

    Parameters
    ----------
    learning_rate
        What the paper's closed-form weight of a stump is multiplied by.
    """

    learning_rate: float = setting(1.0, above=0, search=Choice((0.3, 1.0)))


@settings_class
class FRankSettings(StumpSettings, StumpStepSettings):
    """Threshold weak rankers, added to lower the fidelity loss of pairs (Tsai, Liu, Qin, Chen and Ma 2007)."""

    name: ClassVar[str] = "frank"

    n_rounds: int = changed(StumpSettings, "n_rounds", 200)
    equal_queries: bool = changed(StumpSettings, "equal_queries", True)
