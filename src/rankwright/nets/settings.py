"""The settings of nets. Nothing here needs torch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, ClassVar, Literal

from rankwright.linear.settings import kernel_names
from rankwright.nets.encoding import ENCODINGS, MOST_PIECES
from rankwright.nets.params import ACTIVATIONS, MOST_MEMBERS, OPTIMIZERS
from rankwright.objectives.objective import Objective
from rankwright.settings.setting import about, changed, setting, settings_class
from rankwright.settings.shared import (
    AimedSettings,
    DebiasedSettings,
    PairWeightSettings,
    PatientSettings,
    RankerSettings,
    ScaledSettings,
)
from rankwright.settings.spaces import Choice, Real, Whole


def layer_list(hidden: Sequence[int] | None) -> list[int] | None:
    """The widths of layers as files hold them."""
    return None if hidden is None else list(hidden)


def objective_name(objective: str | Objective | Callable[..., Any]) -> str:
    """The full name of an objective, as files hold it; that of one of the user's own stays as it is."""
    from rankwright.objectives.families import OBJECTIVES, objective_of

    unknown = isinstance(objective, str) and objective.partition(":")[0] not in OBJECTIVES
    return str(objective) if unknown else objective_of(objective).name


@settings_class
class DescentSettings(PatientSettings, AimedSettings, ScaledSettings, RankerSettings):
    """What all nets share: their shape, and how their weights follow the forces.

    Parameters
    ----------
    hidden
        The width of each hidden layer; `()` is the linear net. None leaves it to the mode.
    activation
        The activation function of hidden units. None leaves it to the data, or to the mode.
    epochs
        The most passes over all queries; validation data decides which one is kept. None leaves it to the data, or to
        the mode.
    learning_rate
        The length of a step: raise it for fewer epochs, lower it if training diverges. None leaves it to the mode.
    weight_decay
        How much weights shrink in a step, as a factor of `learning_rate`: AdamW's rule, or that of SGD. None leaves it
        to the data, or to the mode.
    dropout
        The share of hidden units left out at each step. None leaves it to the data, or to the mode.
    batch_queries
        How many queries make one step. None leaves it to the data, or to the mode.
    encoding
        What the net sees of a feature: `none` gives it the scaled value, `piecewise` a number for each of its pieces,
        which are cut at quantiles of the training data, so that the net need not bend features itself; missing values
        and categories have numbers of their own. None leaves it to the mode.
    pieces
        The most pieces of a feature where `encoding` is `piecewise`. None leaves it to the mode.
    members
        How many nets are trained at once that share the weights of hidden layers, but for a scale and a threshold of
        each unit, and have a last layer each; scores are the mean of theirs. Training and scoring cost less than so
        many nets. A linear net has one. None leaves it to the mode.
    metric
        The metric that decides the epoch and early stopping, unless `select` names another.
    scaling
        The name of a scaling of features, fitted on the training data and kept in the model; `none` takes features as
        they are. Missing values count as the mean, or 0 without scaling. None leaves it to the mode.
    """

    budget: ClassVar[str | None] = "epochs"
    chance: ClassVar[Mapping[str, Any] | None] = {"dropout": 0.3}
    output_bias: ClassVar[bool] = False  # an objective of score differences cannot teach one

    hidden: Sequence[int] | None = setting(None, least=1, stored=layer_list, small=(8,))
    activation: str | None = setting(None, choices=lambda: ACTIVATIONS, small="relu")
    epochs: int | None = setting(None, least=1, small=8)
    learning_rate: float | None = setting(None, above=0, small=0.02)
    weight_decay: float | None = setting(None, least=0)
    dropout: float | None = setting(None, least=0, below=1)
    batch_queries: int | None = setting(None, least=1)
    encoding: str | None = setting(None, choices=lambda: ENCODINGS, unsaid=None)
    pieces: int | None = setting(None, least=1, most=MOST_PIECES, unsaid=None)
    members: int | None = setting(None, least=1, most=MOST_MEMBERS, unsaid=None)


@settings_class
class RecipeSettings:
    """What nets share whose recipe can be chosen.

    Parameters
    ----------
    optimizer
        The rule of descent. None leaves it to the mode.
    mode
        `paper` is the recipe of RankNet's section 5.1: ten tanh units that start from 0 and [-0.1, 0.1], one query at a
        time, learning rate 0.001, halved when the mean error of an epoch rises, no scaling, until every pair is in the
        right order. Other settings that you give still apply.
    """

    optimizer: str | None = setting(None, choices=lambda: OPTIMIZERS)
    mode: Literal["default", "paper"] = setting("default")


@settings_class
class NetSettings(RecipeSettings, DescentSettings):
    """What nets share that may be a module of the user's own, on any device.

    Parameters
    ----------
    module
        Your own `torch.nn.Module` that maps documents to scores, in place of `hidden`; fitting trains a copy.
    device
        The torch device to train and score on, such as `cuda`.
    """

    hidden: Sequence[int] | None = changed(DescentSettings, "hidden", search=Choice(((), (16,), (64,), (64, 32))))
    learning_rate: float | None = changed(DescentSettings, "learning_rate", search=Real(0.0001, 0.03, log=True))
    weight_decay: float | None = changed(DescentSettings, "weight_decay", search=Real(0.01, 20.0, log=True))
    dropout: float | None = changed(DescentSettings, "dropout", search=Real(0.0, 0.5))
    batch_queries: int | None = changed(DescentSettings, "batch_queries", search=Whole(8, 128, log=True))
    encoding: str | None = changed(DescentSettings, "encoding", search=Choice(ENCODINGS))
    module: Any = setting(None, stored=False)
    device: str = setting("cpu", stored=False)


@settings_class
class RankNetSettings(DebiasedSettings, NetSettings):
    """A net trained on pairs of documents by cross entropy (Burges et al. 2005, Eq. 3).

    Parameters
    ----------
    sigma
        How steep the cost of a pair is in the gap of its scores.
    ties
        The target probability of pairs of equal labels, that the document that comes first in the data ranks higher: ½
        in section 5.2. None leaves such pairs out.
    certainty
        The target of other pairs is the logistic function of `certainty` times their label difference; None makes it 1.
    kernel
        A kernel (rbf, quadratic, cubic) makes it a kernel machine (Eq. 17-18): a linear net, `hidden=()`, on Nyström
        features.
    landmarks
        How many training documents the Nyström features are made from.
    gamma
        The kernel's γ; None takes 1 over the number of features.
    rkhs_penalty
        How much the kernel machine's |f|² costs, added to the cost of all queries together.
    """

    name: ClassVar[str] = "ranknet"

    sigma: float = setting(1.0, above=0)
    ties: float | None = setting(None, least=0, most=1)
    certainty: float | None = setting(None, above=0)
    kernel: str | None = setting(None, choices=kernel_names)
    landmarks: int = setting(300, least=1)
    gamma: float | None = setting(None, above=0)
    rkhs_penalty: float = setting(1.0, least=0)


@settings_class
class LambdaRankSettings(DebiasedSettings, NetSettings, PairWeightSettings):
    """A net whose forces on pairs are weighted by what swapping them would do to `metric` (Burges 2005).

    Parameters
    ----------
    sigma
        How steep the logistic force of a pair is.
    spring
        The margin δ of Burges's own force (2005, Eq. 4-6), which then takes the place of the logistic one.
    truncation
        Only pairs with a document among this many top ranks have a force; None takes 30, or all in the paper's mode.
    ties
        Leave it None: swapping documents of equal labels never changes a metric. RankNet uses it.
    """

    name: ClassVar[str] = "lambdarank"

    encoding: str | None = changed(NetSettings, "encoding", small="piecewise")
    members: int | None = changed(NetSettings, "members", small=2)
    sigma: float = setting(1.0, above=0)
    spring: float | None = setting(None)
    truncation: int | None = setting(None, least=1)
    ties: None = setting(None)


@settings_class
class ObjectiveSettings(RankerSettings):
    """The objective of a net that can have any; in a class of its own, because it comes first in the constructor.

    Parameters
    ----------
    objective
        What is learned: a name (`rankwright.objectives.OBJECTIVES`), an objective, or a function of your own that gives
        the λs of one query (`objectives.from_function` says how).
    """

    objective: str | Objective | Callable[..., Any] = field(
        default="lambdarank", kw_only=False, metadata=about(stored=objective_name)
    )


@settings_class
class NetRankerSettings(NetSettings, ObjectiveSettings):
    """A net, ours or a `torch.nn.Module` of your own, that follows the forces of any objective."""

    name: ClassVar[str] = "net"
    output_bias: ClassVar[bool] = True  # objectives of single documents need one

    encoding: str | None = changed(NetSettings, "encoding", small="piecewise")
    module: Any = field(default=None, kw_only=False, metadata=about(stored=False))


@settings_class
class RankPropSettings(RecipeSettings, DescentSettings):
    """A net that regresses targets which are adjusted as it learns (Caruana, Baluja, Mitchell 1996).

    Parameters
    ----------
    pull
        The share of the labels' ranks, scaled to lie between 0 and 1, in the targets; at 0, scores would shrink
        together over time.
    """

    name: ClassVar[str] = "rankprop"
    output_bias: ClassVar[bool] = True  # scores are regressed: their mean counts

    hidden: Sequence[int] | None = changed(DescentSettings, "hidden", search=Choice(((), (10,))), small=())
    learning_rate: float | None = changed(DescentSettings, "learning_rate", small=0.1)
    pull: float = setting(0.1, above=0, most=1, search=Real(0.02, 0.5, log=True))


@settings_class
class ListNetSettings(DebiasedSettings, DescentSettings):
    """A ranker trained by the cross entropy of top-one probabilities (Cao, Qin, Liu, Tsai, Li 2007).

    Parameters
    ----------
    hidden
        The width of each hidden layer; `()` is the linear model of the paper, trained by Newton's method.
    epochs
        The most epochs of a net, or the most Newton steps of the linear model.
    weight_decay
        AdamW's weight decay of a net; for the linear model, ½ · `weight_decay` · |w|² is added to the mean cost of a
        query. None leaves it to the data, and is 0.01 for the linear model.
    label_scale
        What labels are multiplied by before their softmax is taken: larger values make the best documents count more.
    flat_lists
        Whether lists whose documents all have the same label take part, as in the paper; they ask for equal scores, not
        for an order.
    debias
        What is done about position bias where the data has positions, and labels are clicks or click rates: `auto`
        learns examination and relevance together and corrects labels if held-out clicks support it, `always`
        corrects them in any case, `none` takes clicks as they are. Where the data has propensities instead, `auto` and
        `always` correct labels by those, and `none` weighs clicks by them, unchecked. There are no pairs here to weigh
        by position.
    """

    name: ClassVar[str] = "listnet"
    chance: ClassVar[Mapping[str, Any] | None] = {"hidden": (8,)}

    hidden: Sequence[int] = changed(DescentSettings, "hidden", (), small=())
    epochs: int | None = changed(DescentSettings, "epochs", 50)
    learning_rate: float | None = changed(DescentSettings, "learning_rate", small=None)
    weight_decay: float | None = changed(DescentSettings, "weight_decay", search=Real(0.001, 10.0, log=True))
    label_scale: float = setting(1.0, above=0, search=Choice((1.0, 2.0, 4.0)))
    flat_lists: bool = setting(False)
    debias: str = changed(DebiasedSettings, "debias", choices=lambda: ("auto", "always", "none"))
