"""The table of metrics, which turns names into values and back.

A metric's full name is its own, then its convention where that is not the standard one: `ndcg@10`, `ndcg@10:letor`,
`map:standard(relevant>=2)`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, TypeAlias

from rankwright.errors import SettingError, UnknownNameError, require
from rankwright.metrics import list_metrics as lists
from rankwright.metrics.convention import CONVENTIONS, DEFAULT, Convention, as_convention, parse_convention
from rankwright.metrics.judgment_metrics import AlphaNDCG, BPref, JudgedShare
from rankwright.metrics.metric import AtAnyCutoff, AtCutoff, FunctionMetric, Metric


@dataclass(frozen=True, slots=True)
class MetricFamily:
    """A metric, or one metric for each cutoff."""

    make: type[Any]  # the metric's class
    summary: str

    @property
    def cutoff(self) -> str:
        """What may follow the name: `@k`, `[@k]` where it can be left out, or nothing."""
        if issubclass(self.make, AtCutoff):
            return "@k"
        return "[@k]" if issubclass(self.make, AtAnyCutoff) and self.make is not BPref else ""

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value is a better one."""
        return bool(self.make.higher_is_better)

    @property
    def has_swaps(self) -> bool:
        """Whether it is a `SwapMetric`: then rankers can be trained for it."""
        return hasattr(self.make, "worth")


METRICS: Mapping[str, MetricFamily] = {
    "ndcg": MetricFamily(lists.NDCG, "discounted gain as a share of the best possible"),
    "mean-ndcg": MetricFamily(lists.MeanNDCG, "mean of NDCG@p over every depth p of the list (LETOR)"),
    "dcg": MetricFamily(lists.DCG, "discounted cumulative gain"),
    "map": MetricFamily(lists.AveragePrecision, "precision at each relevant document, averaged"),
    "p": MetricFamily(lists.Precision, "share of the top k that is relevant"),
    "recall": MetricFamily(lists.Recall, "share of the relevant documents in the top k"),
    "hit": MetricFamily(lists.Hit, "whether anything in the top k is relevant"),
    "mrr": MetricFamily(lists.ReciprocalRank, "one over the rank of the first relevant document"),
    "wta": MetricFamily(lists.WinnerTakesAll, "winner takes all: 0 where the first document is relevant, else 1"),
    "err": MetricFamily(lists.ERR, "expected reciprocal rank at which a reader is satisfied"),
    "rbp": MetricFamily(
        lists.RBP, "what a reader gains who goes on to the next rank with probability 0.8, or p: rbp(p)"
    ),
    "pair-accuracy": MetricFamily(lists.PairAccuracy, "share of pairs of different labels in the right order"),
    "pair-error": MetricFamily(lists.PairError, "share of pairs of different labels in the wrong order"),
}


# They look at which documents were judged, and not at what a convention makes of the others.
METRICS_OF_JUDGMENTS: Mapping[str, MetricFamily] = {
    "bpref": MetricFamily(BPref, "how seldom judged irrelevant documents stand above relevant ones"),
    "judged": MetricFamily(JudgedShare, "share of the top k that was judged"),
    "alpha-ndcg": MetricFamily(AlphaNDCG, "discounted gain of new subtopics, with alpha 0.5, or a: alpha-ndcg(a)@k"),
}
ALL_METRICS: Mapping[str, MetricFamily] = {**METRICS, **METRICS_OF_JUDGMENTS}


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric under a convention: the whole definition of a number.

    Parameters
    ----------
    metric : Metric
        What is counted, such as NDCG@10.
    convention : Convention, default standard
        The rules it is counted by.

    Attributes
    ----------
    name : str
        The text that `parse_metric` turns back into this measure.
    higher_is_better : bool
        Whether a larger value is a better one.
    family : str
        The name of the metric without its cutoff; a metric of one's own may have none.
    cutoff : int or None
        How many documents the metric looks at; None for all.
    """

    metric: Metric
    convention: Convention = CONVENTIONS[DEFAULT]

    @property
    def name(self) -> str:
        """The text that `parse_metric` turns back into this measure."""
        convention = self.convention.name
        return self.metric.name if convention == DEFAULT else f"{self.metric.name}:{convention}"

    def __str__(self) -> str:
        return self.name

    @property
    def higher_is_better(self) -> bool:
        """Whether a larger value is a better one."""
        return self.metric.higher_is_better

    @property
    def family(self) -> str:
        """The name of the metric without its cutoff; a metric of one's own may have none."""
        return str(getattr(self.metric, "family", ""))

    @property
    def cutoff(self) -> int | None:
        """How many documents the metric looks at; None for all."""
        cutoff: int | None = getattr(self.metric, "cutoff", None)
        return cutoff


# One metric or several, by name or as what they are; a function takes the labels and scores of a query.
OneMetric: TypeAlias = str | Metric | Measure | Callable[..., Any]
Metrics: TypeAlias = OneMetric | Sequence[OneMetric]


WITH_NUMBER = {"rbp": "persistence", "alpha-ndcg": "alpha"}  # metrics with a number in brackets, and what it is


def parse_metric(text: str, convention: str | Convention = DEFAULT) -> Measure:
    """Return the measure of that name.

    Parameters
    ----------
    text : str
        The name of a metric with its cutoff, followed by a convention where it has one of its own: `map`, `ndcg@10`,
        `ndcg@10:letor`, `p@5:standard(relevant>=2)`. `rankwright list metrics` prints the names.
    convention : str or Convention, default "standard"
        The rules for a text that names no convention.

    Returns
    -------
    Measure
        The metric and its convention.

    Examples
    --------
    >>> parse_metric("ndcg@10:letor").name
    'ndcg@10:letor'
    """
    if not isinstance(text, str):
        raise SettingError(f"a metric is named by a text such as 'ndcg@10', got {text!r}")
    metric, colon, own = text.partition(":")
    return Measure(_metric_of(metric.strip()), parse_convention(own) if colon else as_convention(convention))


# What people type, and the name it has here.
ALIASES: Mapping[str, str] = {
    alias: name
    for name, aliases in {
        "map": ("ap", "average-precision", "mean-average-precision", "map-cut"),
        "p": ("precision", "prec"),
        "mrr": ("rr", "recip-rank", "reciprocal-rank", "mean-reciprocal-rank"),
        "ndcg": ("ndcg-cut",),
        "hit": ("hits", "hit-rate", "hr", "success"),
        "recall": ("r",),
        "mean-ndcg": ("meanndcg",),
        "pair-accuracy": ("pairwise-accuracy",),
        "pair-error": ("pairwise-error",),
    }.items()
    for alias in aliases
}


def as_measure(metric: Any, convention: str | Convention = DEFAULT) -> Measure:
    """The measure that `metric` names or is; one without a convention of its own gets `convention`.

    A function of a query's labels and scores is a metric too.
    """
    if isinstance(metric, Measure):
        return metric
    if isinstance(metric, str):
        return parse_metric(metric, convention)
    if hasattr(metric, "per_query") and not isinstance(metric, type):
        return Measure(metric, as_convention(convention))
    if callable(metric):
        return Measure(FunctionMetric(metric), as_convention(convention))
    raise SettingError(f"a metric must be a name such as 'ndcg@10', or a function, got {metric!r}")


def _metric_of(text: str) -> Metric:
    name, number, cutoff = _name_and_cutoff(text)
    if name not in ALL_METRICS:
        raise _unknown_metric(text, name, cutoff)
    family = ALL_METRICS[name]
    require(number is None or name in WITH_NUMBER, f"metric {name} takes no number in brackets, got {text!r}")
    more: dict[str, float] = {} if number is None else {WITH_NUMBER[name]: float(number)}
    if cutoff is None:
        require(family.cutoff != "@k", f"metric {name} needs a cutoff, such as {name}@10")
    else:
        require(family.cutoff != "", f"metric {name} takes no cutoff, got {text!r}")
        is_number = re.fullmatch(r"[1-9][0-9]*", cutoff) is not None
        require(is_number, f"a cutoff must be a whole number, 1 or more, got {text!r}")
        more["cutoff"] = int(cutoff)
    metric: Metric = family.make(**more)
    return metric


def _name_and_cutoff(text: str) -> tuple[str, str | None, str | None]:
    """The metric's own name, the number in its brackets and its cutoff, of a text in any case and any of its names."""
    name, at, cutoff = text.strip().lower().partition("@")
    name = re.sub(r"[\s_]+", "-", name.strip())
    bracket = re.fullmatch(r"(.*[a-z])-?\((\d*\.?\d+)\)", name)  # rbp(0.8)
    if bracket is not None:
        name = bracket[1]
    ending = None if at or bracket else re.fullmatch(r"(.*[a-z])-?(\d+)", name)  # ndcg10, ndcg_cut_10
    if ending is not None and ending[1] in {*ALL_METRICS, *ALIASES}:
        name, at, cutoff = ending[1], "@", ending[2]
    return ALIASES.get(name, name), bracket and bracket[2], cutoff.strip() if at else None


def _unknown_metric(text: str, name: str, cutoff: str | None) -> UnknownNameError:
    near = get_close_matches(name, [*ALL_METRICS, *ALIASES], n=1)
    meant = None
    if near:
        meant = ALIASES.get(near[0], near[0])
        meant += "" if cutoff is None or ALL_METRICS[meant].cutoff == "" else f"@{cutoff}"
    return UnknownNameError("metric", text, [name + family.cutoff for name, family in ALL_METRICS.items()], meant)


def split_metrics(text: str) -> list[str]:
    """The names in a list separated by commas; commas inside the brackets of a convention do not separate."""
    return [name.strip() for name in re.split(r",(?![^(]*\))", text) if name.strip()]
