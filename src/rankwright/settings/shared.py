"""Settings that many kinds of ranker share.

Those without a base are groups of settings that a ranker's own settings take in beside `RankerSettings`, so that the
settings of no ranker have ancestors more than three deep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from rankwright.arrays import MOST_THREADS
from rankwright.errors import require
from rankwright.settings.setting import (
    Setting,
    setting,
    settings_class,
    settings_of,
    space_of,
    stored_settings,
    summary_of,
)
from rankwright.settings.spaces import Space


def text_or(default: str | None) -> Callable[[Any], str | None]:
    """What a file holds of a setting that is a text or a function: functions cannot be kept, the default stands."""
    return lambda value: value if isinstance(value, str) else default


@settings_class
class RankerSettings:
    """What every kind of ranker states: its name, what it is, and the settings that all of them have.

    Parameters
    ----------
    unjudged
        The share of the unjudged documents (label NaN), drawn at random, that count as irrelevant in training; None
        leaves them all out.
    seed
        The seed of all randomness in training: the same seed gives the same model.
    threads
        How many threads to use; None takes OMP_NUM_THREADS if that is set, otherwise every core. The model does not
        depend on it.
    """

    name: ClassVar[str]
    summary: ClassVar[str]  # what it is, in a line: the beginning of its docstring
    usual_steps: ClassVar[int | None] = None  # the most that are looked at where the data decides how many
    budget: ClassVar[str | None] = None  # the setting that says how many steps to take; a checkpoint can take more
    # Settings with which chance takes part in training; none needed where it always does, None where it never does.
    chance: ClassVar[Mapping[str, Any] | None] = {}
    space: ClassVar[Space]  # where a search looks for the settings that matter, unless it is told otherwise

    unjudged: float | None = setting(None, least=0, most=1)
    seed: int = setting(0, least=0)
    threads: int | None = setting(None, least=1, most=MOST_THREADS, stored=False)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # Fields are known once the class is a dataclass.
        cls.space, cls.summary = _Lazily(space_of), _Lazily(summary_of)  # type: ignore[assignment]

    @classmethod
    def settings(cls) -> Mapping[str, Setting]:
        """The settings by name, each with its type, default, range and meaning."""
        return settings_of(cls)

    def stored_settings(self) -> dict[str, Any]:
        """The settings as a model file holds them."""
        return stored_settings(self)


class _Lazily:
    """A class attribute that a function computes from the class when it is read."""

    def __init__(self, function: Any) -> None:
        self.function = function

    def __get__(self, instance: Any, owner: type) -> Any:
        return self.function(owner)


@settings_class
class ScaledSettings:
    """The setting of rankers that can scale features.

    Parameters
    ----------
    scaling
        The name of a scaling of features, fitted on the training data and kept in the model, such as `zscore`,
        `query-minmax` or `log-counts+zscore`; None takes features as they are.
    """

    scaling: str | None = setting(None)


@settings_class
class AimedSettings:
    """The settings of rankers that aim at a metric.

    Parameters
    ----------
    metric
        The metric that training aims at, such as `ndcg@10`, `map` or, with a convention, `ndcg@10:letor`.
    select
        The metric on validation data that decides the best step and early stopping, such as `ndcg@10:letor`, or a
        function of the labels and the scores of a query; None takes `metric`.
    """

    metric: str = setting("ndcg@10")
    select: str | Callable[..., Any] | None = setting(None, stored=text_or(None))


@settings_class
class PairWeightSettings(RankerSettings):
    """The settings of rankers that weigh pairs by what swapping them does to a metric.

    Parameters
    ----------
    perturbations
        Over how many noisy orders of the documents a pair's weight is averaged, such as 8; 0 takes the order of the
        scores. It makes forces steadier, and costs a sort for each order.
    noise
        How many times logistic noise is added to the scores for a noisy order, 0 or more; None takes 1. With 0 only
        documents with equal scores change places. It needs `perturbations`.
    neighbours
        Whether only documents that are next to each other in a noisy order form pairs, as in YetiRank. It needs
        `perturbations`.
    expected_ties
        Whether a pair's weight is its exact mean over all orders of documents with equal scores, instead of its weight
        in one random order; for NDCG, DCG, precision and recall.
    constant_share
        The share of a query's weight that its pairs get in equal parts, as in RankNet; the rest follows the metric.
    """

    perturbations: int = setting(0, least=0, unsaid=0)
    noise: float | None = setting(None, least=0, unsaid=None)
    neighbours: bool = setting(False, unsaid=False)
    expected_ties: bool = setting(False, unsaid=False)
    constant_share: float = setting(0.0, least=0, most=1, unsaid=0.0)

    def pair_weights(self) -> dict[str, Any]:
        """The fields of a pairwise objective that these settings change."""
        has_orders = self.noise is None or self.perturbations > 0
        require(has_orders, "noise is for noisy orders: set perturbations to how many, such as 8")
        names = ("perturbations", "neighbours", "expected_ties", "constant_share")
        given = {name: value for name in names if (value := getattr(self, name))}
        return given if self.noise is None else given | {"noise": self.noise}


@settings_class
class DebiasedSettings(RankerSettings):
    """The setting of rankers that look at the positions of clicks.

    Parameters
    ----------
    debias
        What is done about position bias where the data has positions, and labels are clicks or click rates: `auto`
        learns examination and relevance together and corrects labels if held-out clicks support it, `always`
        corrects them in any case, `pairwise` weighs the clicks (0 or 1) of each position along with training (Unbiased
        LambdaMART) if held-out clicks support it, `none` takes clicks as they are. Where the data has propensities
        instead, `auto` and `always` correct labels by those; `pairwise` and `none` weigh clicks by them, unchecked.
    """

    debias: str = setting("auto", choices=lambda: ("auto", "always", "pairwise", "none"), unsaid="none")


@settings_class
class PatientSettings:
    """The setting of rankers that can stop early.

    Parameters
    ----------
    early_stopping
        Stop after this many steps without a better value on the validation data; None makes all steps.
    """

    early_stopping: int | None = setting(None, least=1)
