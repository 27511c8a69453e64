"""The settings of boosted trees."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal

from rankwright.objectives.function import from_function
from rankwright.objectives.objective import Objective
from rankwright.settings.setting import setting, settings_class
from rankwright.settings.shared import (
    AimedSettings,
    DebiasedSettings,
    PairWeightSettings,
    PatientSettings,
    RankerSettings,
    ScaledSettings,
)
from rankwright.settings.spaces import Choice, Real, Whole
from rankwright.trees.bins.binning import MAX_WIDE_BINS
from rankwright.trees.params import MAX_LEAVES, Growth, SplitGain

Monotone = Mapping[int | str, int] | Sequence[tuple[int | str, int]] | None


def monotone_pairs(monotone: Monotone) -> list[list[int | str]] | None:
    """Features, as texts, and directions in pairs."""
    return None if monotone is None else [[str(feature), way] for feature, way in dict(monotone).items()]


def texts_of(features: Sequence[int | str] | None) -> list[str] | None:
    """Features as texts: numbers stand only in files that count from 0."""
    return None if features is None else list(map(str, features))


def counted_from_1(features: Any) -> Any:
    """Features of a file as they are given now: 0.2.0 stored numbers, and counted from 0."""
    return [_counted_from_1(one) for one in features] if isinstance(features, list) else features


def pairs_counted_from_1(pairs: Any) -> Any:
    """The same for pairs of feature and direction; what is no list of pairs is left for the check of settings."""
    if not isinstance(pairs, list) or not all(isinstance(pair, list) and pair for pair in pairs):
        return pairs
    return [[_counted_from_1(pair[0]), *pair[1:]] for pair in pairs]


def _counted_from_1(feature: Any) -> Any:
    return str(feature + 1) if isinstance(feature, int) and not isinstance(feature, bool) else feature


def objective_name(objective: str | Objective | Callable[..., Any] | None) -> str | None:
    """The objective's name: enough to score with, and to train again where the name is one of ours."""
    if objective is None or isinstance(objective, str):
        return objective
    return objective.name if isinstance(objective, Objective) else from_function(objective).name


@settings_class
class ForestSettings(PatientSettings, AimedSettings, ScaledSettings, RankerSettings):
    """What all boosted trees share. Settings that are None go by the size of the training data, and the values used are
    kept in the model as `chosen_`.

    Parameters
    ----------
    n_trees
        The most trees to grow; fewer are kept if they do better on validation data. None finds the best number on
        held-out training queries, then grows that many trees on all of them. With validation data None grows up to
        2,000 of them; of 20,000 to 150,000 documents slowly, up to 3,000, until 300 brought no gain; of fewer, these
        choose together with held-out training queries, and the mean of four forests is taken.
    max_leaves
        The most leaves a tree may have: more leaves fit finer interactions, but also noise.
    max_depth
        The most splits between the root and a leaf; None allows as many as the leaves do.
    min_docs_in_leaf
        The fewest documents in a leaf: a whole number, or a fraction of the training rows between 0 and 1. Raise it for
        noisy labels.
    learning_rate
        What each tree's values are multiplied by: smaller steps need more trees, and generalise better.
    query_fraction
        The share of the queries that is drawn for each tree.
    feature_fraction
        The share of the features that is drawn for each tree.
    split_feature_fraction
        The share of a tree's features that is drawn for each of its splits.
    query_bootstrap
        How much the weights of queries vary from tree to tree: 0 leaves them as they are, 1 multiplies each by a draw
        from an exponential distribution (the Bayesian bootstrap), and numbers in between mix the two.
    growth
        How trees grow: `best-first` splits the leaf that gains most, `symmetric` gives all leaves of a level the same
        split, up to the power of two that `max_leaves` reaches. Symmetric trees fit the data less closely, and so fit
        less noise. None tries both on held-out queries if these also decide `n_trees` and `max_leaves`; otherwise it is
        best-first.
    gain_noise
        How much randomness there is in the choice of splits, in units of how much gains vary by chance alone: 0 takes
        the best split, 1 often draws among splits that are about as good.
    max_bins
        The most values of a feature that can be told apart.
    l2
        How much leaf values shrink towards 0: it is added to a leaf's curvature.
    monotone
        Features, by name or by number from 1, that scores may only rise with (+1) or fall with (-1): a mapping, or
        pairs of feature and direction.
    categorical
        Features, by name or by number from 1, whose values are categories without an order.
    smoothing
        How the number of trees is chosen on held-out queries: the one whose neighbours, up to this share more or fewer
        trees, have the best mean metric; 0 takes the single best.
    scaling
        The name of a scaling of features, fitted on the training data and kept in the model. A scaling that keeps the
        order of all documents' values makes no difference to trees; a per-query one such as `query-minmax` does.
    """

    budget: ClassVar[str | None] = "n_trees"
    usual_steps: ClassVar[int | None] = 1000
    chance: ClassVar[Mapping[str, Any] | None] = {
        "query_fraction": 0.5,
        "feature_fraction": 0.5,
        "split_feature_fraction": 0.7,
        "query_bootstrap": 0.5,
        "gain_noise": 1.0,
    }

    n_trees: int | None = setting(None, least=1, small=8)
    max_leaves: int | None = setting(None, least=2, most=MAX_LEAVES, search=Whole(4, 64, log=True), small=6)
    max_depth: int | None = setting(None, least=1)
    min_docs_in_leaf: float | None = setting(None, above=0, search=Whole(5, 200, log=True), small=5)
    learning_rate: float | None = setting(None, above=0, search=Real(0.02, 0.3, log=True), small=0.1)
    query_fraction: float | None = setting(None, above=0, most=1, search=Real(0.3, 1.0), small=1.0)
    feature_fraction: float | None = setting(None, above=0, most=1, search=Real(0.1, 1.0), small=1.0)
    smoothing: float = setting(0.3, least=0, most=1, unsaid=0.0)
    split_feature_fraction: float = setting(1.0, above=0, most=1, unsaid=1.0)
    query_bootstrap: float = setting(0.0, least=0, most=1, unsaid=0.0)
    growth: Growth | None = setting(
        None, unsaid="best-first", small="best-first", search=Choice(("best-first", "symmetric"))
    )
    gain_noise: float = setting(0.0, least=0, unsaid=0.0)
    max_bins: int = setting(255, least=2, most=MAX_WIDE_BINS)
    l2: float = setting(0.0, least=0)
    monotone: Mapping[int | str, int] | Sequence[tuple[int | str, int]] | None = setting(
        None, stored=monotone_pairs, restored=pairs_counted_from_1
    )
    categorical: Sequence[int | str] | None = setting(None, stored=texts_of, restored=counted_from_1)


@settings_class
class LambdaForestSettings(DebiasedSettings, PairWeightSettings, ForestSettings):
    """What boosted trees share that follow the forces of pairs.

    Parameters
    ----------
    objective
        The forces to follow: a name (`rankwright.objectives.OBJECTIVES`), an objective, or a function of your own that
        gives the λs of one query (`objectives.from_function` says how). None takes `yetirank` if `metric` is NDCG and
        labels are judgments; if queries then have more than 250 documents on average, `ranknet` for up to 100,000
        documents in all. Otherwise, or with any setting that shapes LambdaRank's forces, it takes those, for `metric`.
    truncation
        LambdaRank's forces: only pairs with a document among this many top ranks have a force; None takes 30, or all in
        the paper's mode.
    sigma
        LambdaRank's forces: how steep the logistic force of a pair is; None takes 1.
    split_gain
        What a split is worth: `newton` takes the second-order gain, `least-squares` the squared error of a fit to the
        forces; None takes `newton`, or `least-squares` in the paper's mode.
    mode
        `paper` is Ganjisaffar's formula and nothing else: every pair, σ = 1, least-squares splits; other settings that
        you give still apply.
    """

    objective: str | Objective | Callable[..., Any] | None = setting(None, stored=objective_name)
    truncation: int | None = setting(None, least=1)
    sigma: float | None = setting(None, above=0)
    split_gain: SplitGain | None = setting(None)
    mode: Literal["default", "paper"] = setting("default")


@settings_class
class WarmSettings:
    """The settings of forests that can grow on, or be grown anew.

    Parameters
    ----------
    warm_start
        Whether `fit` adds trees to the existing ones, up to `n_trees`, instead of starting anew.
    refit_on_valid
        Whether the forest is grown anew on training and validation queries together, once these have chosen the number
        of trees: a few more queries to learn from, and none left to measure it on.
    """

    warm_start: bool = setting(False)
    refit_on_valid: bool = setting(False, stored=False)


@settings_class
class LambdaMARTSettings(WarmSettings, LambdaForestSettings):
    """Boosted trees whose steps are LambdaRank's forces (Burges 2010; Ganjisaffar's slides)."""

    name: ClassVar[str] = "lambdamart"


@settings_class
class PointwiseForestSettings(ForestSettings):
    """What boosted regression trees share.

    Parameters
    ----------
    loss
        `squared` regresses labels; `logistic` is Ganjisaffar's loss for binary labels, relevant where above 0.
    metric
        The metric that decides the number of trees and early stopping, unless `select` names another.
    split_gain
        What a split is worth: `newton` takes the second-order gain, `least-squares` the squared error of a fit to the
        gradients.
    """

    loss: Literal["squared", "logistic"] = setting("squared")
    split_gain: SplitGain = setting("newton")


@settings_class
class MARTSettings(WarmSettings, PointwiseForestSettings):
    """Boosted regression trees (Friedman 2001): pointwise, LambdaMART's plain relative."""

    name: ClassVar[str] = "mart"
