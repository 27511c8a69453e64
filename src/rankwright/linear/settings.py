"""The settings of the linear rankers and their kernel relatives."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, ClassVar, Literal

from rankwright.settings.setting import changed, setting, settings_class
from rankwright.settings.shared import AimedSettings, PatientSettings, RankerSettings, ScaledSettings, text_or
from rankwright.settings.spaces import Choice, Real

DEFAULT_SCALING = "log-counts+zscore"  # weights are comparable, and a missing value counts as the mean


def kernel_names() -> Collection[str]:
    """The names of kernels, looked up when they are needed."""
    from rankwright.features.nystrom import KERNELS

    return KERNELS.keys()


@settings_class
class LinearSettings(ScaledSettings, RankerSettings):
    """What all linear rankers share.

    Parameters
    ----------
    select
        The metric that is watched on validation data, and that `score` computes.
    """

    select: str | Callable[..., Any] = setting("ndcg@10", stored=text_or("ndcg@10"))
    scaling: str | None = changed(ScaledSettings, "scaling", DEFAULT_SCALING)


@settings_class
class LinearRegressionSettings(LinearSettings):
    """Ridge regression of the labels (Hoerl and Kennard 1970), in closed form: the pointwise reference.

    Parameters
    ----------
    l2
        How much the squared size of the weights costs, beside the mean squared error.
    """

    name: ClassVar[str] = "linear-regression"
    chance: ClassVar[Mapping[str, Any] | None] = None

    l2: float = setting(0.01, least=0, search=Real(0.0001, 10.0, log=True))


@settings_class
class PerceptronSettings(PatientSettings, LinearSettings):
    """What rank perceptrons share.

    Parameters
    ----------
    epochs
        The most passes over all documents; validation data decides which one is kept.
    """

    budget: ClassVar[str | None] = "epochs"

    epochs: int = setting(30, least=1, small=8)


@settings_class
class PRankSettings(PerceptronSettings):
    """A linear perceptron with rank thresholds (Crammer and Singer 2002)."""

    name: ClassVar[str] = "prank"

    scaling: str | None = changed(LinearSettings, "scaling", search=Choice((DEFAULT_SCALING, "query-minmax")))


@settings_class
class KernelPRankSettings(PerceptronSettings):
    """PRank with a kernel (Crammer and Singer 2002).

    Parameters
    ----------
    kernel
        The kernel: rbf is exp(-γ |x - z|²), quadratic is (1 + γ x·z)², cubic its third power.
    features
        `kernel` keeps the documents that were learned from; `quadratic` is Quad PRank, which keeps a matrix of the
        products of two features and needs neither `kernel` nor `max_support`.
    gamma
        The kernel's γ; None takes 1 over the number of features.
    max_support
        The most documents that the score may be made from. When that number is reached, a new one replaces the one with
        the smallest coefficient. None keeps all: training then takes time in proportion to documents times support.
    """

    name: ClassVar[str] = "kernel-prank"

    kernel: str = setting("rbf", choices=kernel_names)
    features: Literal["kernel", "quadratic"] = setting("kernel", search=Choice(("quadratic", "kernel")))
    gamma: float | None = setting(None, above=0, search=Real(0.0001, 0.1, log=True))
    max_support: int | None = setting(None, least=1, small=50)
    epochs: int = changed(PerceptronSettings, "epochs", 10)


@settings_class
class OAPBPMSettings(PerceptronSettings):
    """The Online Aggregate PRank - Bayes Point Machine (Harrington 2003): a large-margin PRank.

    Parameters
    ----------
    tau
        The probability with which a perceptron is shown a document.
    n_perceptrons
        How many perceptrons the model is the mean of.
    """

    name: ClassVar[str] = "oap-bpm"

    tau: float = setting(0.3, above=0, most=1, search=Choice((0.3, 0.5, 0.7)))
    n_perceptrons: int = setting(100, least=1, search=Choice((20, 100)), small=5)


@settings_class
class RankSVMSettings(LinearSettings):
    """A linear SVM on pairs (Herbrich, Graepel, Obermayer 2000; Joachims 2002), trained in the primal.

    Parameters
    ----------
    C
        The cost of violated margins against the size of the weights: larger values fit the training data more closely.
    per_query
        Whether every query has the same total weight, however many pairs it has.
    position_weights
        Whether a pair is weighted by what NDCG loses, on average, if two documents of its labels change places in a
        perfect ranking (Cao et al. 2006).
    kernel
        A kernel (rbf, quadratic, cubic), which acts through Nyström features; None is the linear SVM.
    landmarks
        How many training documents the Nyström features are made from.
    gamma
        The kernel's γ; None takes 1 over the number of features.
    max_iter
        The most Newton steps; they end when the gradient has fallen to 1e-4 of the first one.
    """

    name: ClassVar[str] = "ranksvm"
    budget: ClassVar[str | None] = "max_iter"
    chance: ClassVar[Mapping[str, Any] | None] = {"kernel": "rbf", "landmarks": 10}

    C: float = setting(0.01, above=0, search=Real(1e-05, 1.0, log=True))
    per_query: bool = setting(True, search=Choice((True, False)))
    position_weights: bool = setting(False)
    kernel: str | None = setting(None, choices=kernel_names)
    landmarks: int = setting(300, least=1)
    gamma: float | None = setting(None, above=0)
    max_iter: int = setting(50, least=1, small=8)


@settings_class
class StructuralSVMSettings(LinearSettings):
    """What the two structural SVMs share.

    Parameters
    ----------
    C
        The cost of violated margins against the size of the weights: larger values fit the training data more closely.
    tolerance
        Training ends when no constraint is violated by more than this.
    max_iter
        The most steps, each of which adds one constraint.
    """

    budget: ClassVar[str | None] = "max_iter"
    chance: ClassVar[Mapping[str, Any] | None] = None

    C: float = setting(10.0, above=0, search=Real(0.1, 100.0, log=True))
    tolerance: float = setting(0.001, above=0)
    max_iter: int = setting(200, least=1, small=30)


@settings_class
class RankSVMStructSettings(StructuralSVMSettings):
    """A linear SVM whose cost is the share of swapped pairs (Joachims 2006), with one slack variable.

    Parameters
    ----------
    per_query
        Whether every query has the same total weight; otherwise every pair has the same weight.
    """

    name: ClassVar[str] = "ranksvm-struct"

    per_query: bool = setting(True)


@settings_class
class SVMMAPSettings(StructuralSVMSettings):
    """A linear SVM whose cost is 1 - average precision (Yue, Finley, Radlinski, Joachims 2007), with one
    slack.

    Parameters
    ----------
    relevant_above
        Documents with a label above this are relevant.
    """

    name: ClassVar[str] = "svmmap"

    relevant_above: float = setting(0.0)
    select: str | Callable[..., Any] = changed(LinearSettings, "select", "map", stored=text_or("map"))


@settings_class
class SmoothRankSettings(AimedSettings, ScaledSettings, RankerSettings):
    """A linear ranker that follows NDCG directly, by annealing (Chapelle and Wu 2010).

    Parameters
    ----------
    metric
        What is made smooth and followed: ndcg, or ndcg@k.
    sigma
        How soft the ranking is at first: the σ of exp(-d²/σ).
    l2
        The penalty on the squared distance of the weights from where training starts, a regression of the labels.
    max_iter
        How many times σ is halved; validation data decides how sharp NDCG should be.
    """

    name: ClassVar[str] = "smoothrank"
    budget: ClassVar[str | None] = "max_iter"
    chance: ClassVar[Mapping[str, Any] | None] = None

    sigma: float = setting(64.0, above=0)
    l2: float = setting(0.01, least=0, search=Real(0.001, 10.0, log=True))
    max_iter: int = setting(13, least=1, small=8)
    scaling: str | None = changed(ScaledSettings, "scaling", DEFAULT_SCALING)


@settings_class
class CRRSettings(PatientSettings, LinearSettings):
    """Combined regression and ranking by stochastic descent (Sculley 2010).

    Parameters
    ----------
    alpha
        The share of regression in the loss, and the probability that a draw is a document and not a pair.
    loss
        `squared` pulls scores to labels, and differences of scores to differences of labels; `logistic` asks whether a
        label is above 0, and which of a pair is better.
    l2
        How much the squared size of the weights costs.
    epochs
        How many epochs at most, each with as many draws as there are documents.
    """

    name: ClassVar[str] = "crr"
    budget: ClassVar[str | None] = "epochs"

    alpha: float = setting(0.5, least=0, most=1, search=Choice((0.5, 0.1, 0.0)))
    loss: Literal["squared", "logistic"] = setting("squared")
    l2: float = setting(0.01, least=0, search=Real(0.0001, 1.0, log=True))
    epochs: int = setting(20, least=1, small=8)
