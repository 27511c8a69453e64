"""Conventions: everything besides a metric's name that decides what number comes out.

A convention is a set of rules, one for each choice in which tools disagree; each rule is a small type. A convention
prints as its name, such as `letor`, or as a named one with the rules that differ, such as
`standard(gain=linear, empty=skip, relevant>=2)`, and parses back from that text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float32Array
from rankwright.errors import SettingError, UnknownNameError, require, require_type
from rankwright.ranking.gains import DISCOUNTS, EXPONENTIAL, GAINS, LETOR, LINEAR, LOG2, Discount, Gain, number_text
from rankwright.ranking.order import Ties


class Empty(Enum):
    """The value of a query with nothing relevant, for which the metric itself would be 0 / 0."""

    ZERO = "zero"
    ONE = "one"
    SKIP = "skip"  # the query is left out, of every metric

    @property
    def number(self) -> float:
        """The value the query gets; NaN leaves it out of the mean."""
        return {Empty.ZERO: 0.0, Empty.ONE: 1.0, Empty.SKIP: math.nan}[self]


class Short(Enum):
    """What NDCG@k counts for a list of fewer than k documents."""

    TRUNCATE = "truncate"  # the list as it is
    ZERO = "zero"  # nothing


class PrecisionOver(Enum):
    """What P@k divides the hits by."""

    CUTOFF = "cutoff"  # k, even where the list is shorter
    LIST = "list"  # the documents there are, at most k


class MapOver(Enum):
    """What MAP@k divides the sum of precisions by."""

    REACHABLE = "reachable"  # the relevant documents, at most k: the ideal order has 1
    RELEVANT = "relevant"  # all relevant documents


class ScorePrecision(Enum):
    """The floating-point type in which scores are compared; what it cannot tell apart is tied."""

    DOUBLE = "double"
    SINGLE = "single"


class Unjudged(Enum):
    """How a document without a judgment (label NaN) counts."""

    ZERO = "zero"  # it holds its rank and has label 0
    SKIP = "skip"  # it is taken out of the list, and those below it move up


class Stop(Enum):
    """The probability that a document of label l satisfies ERR's reader."""

    GRADED = "graded"  # (2^l - 1) / 2^max_grade
    LABEL = "label"  # l itself, which must lie between 0 and 1


@dataclass(frozen=True, slots=True)
class Relevance:
    """Which labels count as relevant for binary metrics: those above a threshold, or also those equal to it."""

    threshold: float
    inclusive: bool

    def __post_init__(self) -> None:
        require(0 <= self.threshold < math.inf, f"a relevance threshold must be 0 or more, got {self.threshold}")
        told = "label 0 cannot be relevant: write relevant>0, or relevant>=1"
        require(self.threshold > 0 or not self.inclusive, told)

    def of(self, labels: Float32Array) -> BoolArray:
        """Whether each label is relevant."""
        threshold = np.float32(self.threshold)
        return labels >= threshold if self.inclusive else labels > threshold

    def __str__(self) -> str:
        return f"{'>=' if self.inclusive else '>'}{number_text(self.threshold)}"

    @classmethod
    def parse(cls, text: str) -> Relevance:
        """The rule whose text is `text`, such as `>0` or `>=2`."""
        match = re.fullmatch(r"(>=?)\s*([0-9.eE+-]+)", text.strip())
        try:
            return cls(float(match[2]), match[1] == ">=") if match else cls(float(text), inclusive=True)
        except ValueError as error:
            if isinstance(error, SettingError):
                raise
            raise SettingError(f"relevant must read like >0 or >=2, got {text!r}") from None


DEFAULT = "standard"
ABOVE_ZERO = Relevance(0.0, inclusive=False)
LARGEST_GRADE = 1023.0  # 2^1024 has no float64


@dataclass(frozen=True, slots=True, kw_only=True)
class Convention:
    """The rules by which metrics are counted. Two conventions are equal where all their rules are.

    The defaults are the standard convention. `parse_convention` makes named ones, and is the shorter way to write one's
    own.

    Parameters
    ----------
    gain : Gain, default 2^l - 1
        The worth of a label l, for NDCG and DCG.
    discount : Discount, default 1 / log2(p + 1)
        What is left of a gain at rank p, counted from 1.
    empty : Empty, default ZERO
        What a query with nothing relevant counts: 0, 1, or it is left out.
    empty_map : Empty, optional
        The same for MAP, where it differs from `empty`.
    short : Short, default TRUNCATE
        Whether NDCG@k counts a list shorter than k as it is, or as 0.
    precision_over : PrecisionOver, default CUTOFF
        Whether P@k divides by k, or by the length of a shorter list.
    map_over : MapOver, default REACHABLE
        Whether MAP@k divides by the relevant documents, at most k, or by all of them.
    relevant : Relevance, default above 0
        Which labels are relevant, for binary metrics.
    ties : Ties, default INPUT
        The order of documents with equal scores.
    scores : ScorePrecision, default DOUBLE
        The precision in which scores are compared.
    unjudged : Unjudged, default ZERO
        Whether a document without a judgment has label 0, or is taken out of the list.
    stop : Stop, default GRADED
        ERR's chance to stop at a label l: (2^l - 1) / 2^max_grade, or l itself.
    max_grade : float, default 4
        The highest label of ERR's scale, above 0 and at most 1023.
    base : str, default "standard"
        The named convention with which the name starts; it changes no number.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.Convention(gain=rw.Gain.of_table((0, 1, 5))).name
    'standard(gain=0/1/5)'
    """

    gain: Gain = EXPONENTIAL
    discount: Discount = LOG2
    empty: Empty = Empty.ZERO
    empty_map: Empty | None = None
    short: Short = Short.TRUNCATE
    precision_over: PrecisionOver = PrecisionOver.CUTOFF
    map_over: MapOver = MapOver.REACHABLE
    relevant: Relevance = ABOVE_ZERO
    ties: Ties = Ties.INPUT
    scores: ScorePrecision = ScorePrecision.DOUBLE
    unjudged: Unjudged = Unjudged.ZERO
    stop: Stop = Stop.GRADED
    max_grade: float = 4.0
    base: str = field(default=DEFAULT, compare=False)

    def __post_init__(self) -> None:
        wanted = f"max_grade must be above 0 and at most {LARGEST_GRADE:g}, got {self.max_grade}"
        require(0 < self.max_grade <= LARGEST_GRADE, wanted)

    @property
    def name(self) -> str:
        """The text that `parse_convention` turns back into this convention."""
        changes = self.changes_from(CONVENTIONS[self.base])
        equals = {rule: "" if rule == "relevant" else "=" for rule in changes}  # relevant>=2
        told = ", ".join(f"{rule}{sign}{_value_text(getattr(self, rule))}" for rule, sign in equals.items())
        return f"{self.base}({told})" if changes else self.base

    def __str__(self) -> str:
        return self.name

    def changes_from(self, other: Convention) -> tuple[str, ...]:
        """Return the names of the rules in which this convention differs from another.

        Parameters
        ----------
        other : Convention
            The convention to compare with.

        Returns
        -------
        tuple of str
            Names such as `gain`.
        """
        return tuple(rule for rule in RULES if getattr(self, rule) != getattr(other, rule))

    def rules(self) -> dict[str, str]:
        """Return every rule as text.

        Returns
        -------
        dict of str to str
            The value of each rule by the rule's name.
        """
        return {rule: _value_text(getattr(self, rule)) for rule in RULES}

    @property
    def empty_of_map(self) -> Empty:
        """What MAP counts where nothing is relevant; a query left out of one metric is left out of all."""
        return self.empty if self.empty_map is None or self.empty is Empty.SKIP else self.empty_map


RULES = tuple(rule.name for rule in fields(Convention) if rule.name != "base")
_SCRIPT = Convention(discount=LETOR, short=Short.ZERO)  # what the two official Perl scripts have in common
# The named conventions. docs/conventions.md says where each comes from, and what was read or run to settle it.
CONVENTIONS: Mapping[str, Convention] = {
    name: replace(convention, base=name)
    for name, convention in {
        DEFAULT: Convention(),
        "skip-empty": Convention(empty=Empty.SKIP),
        "letor": replace(_SCRIPT, relevant=Relevance(1.0, inclusive=True)),
        "mslr": replace(_SCRIPT, relevant=Relevance(2.0, inclusive=True)),
        "lightgbm": Convention(empty=Empty.ONE, relevant=Relevance(0.5, inclusive=False)),
        "xgboost": Convention(empty=Empty.ONE, precision_over=PrecisionOver.LIST, scores=ScorePrecision.SINGLE),
        "catboost": Convention(
            gain=LINEAR,
            empty=Empty.ONE,
            empty_map=Empty.ZERO,
            precision_over=PrecisionOver.LIST,
            relevant=Relevance(0.5, inclusive=False),
            ties=Ties.PESSIMISTIC,
            stop=Stop.LABEL,
        ),
        "trec": Convention(
            gain=LINEAR,
            map_over=MapOver.RELEVANT,
            relevant=Relevance(1.0, inclusive=True),
            ties=Ties.DOCUMENT_ID,
            scores=ScorePrecision.SINGLE,
        ),
        "sklearn": Convention(gain=LINEAR, ties=Ties.AVERAGED),
        "ranklib": Convention(precision_over=PrecisionOver.LIST),
    }.items()
}
SUMMARIES: Mapping[str, str] = {
    "standard": "gain 2^l - 1, discount 1/log2(p + 1), nothing relevant counts 0, short lists count as they are",
    "skip-empty": "as standard, but queries with nothing relevant are left out",
    "letor": "Eval-Score-4.0.pl: ranks 1 and 2 undiscounted, NDCG@k of a shorter list is 0",
    "mslr": "eval-score-mslr.pl: as letor, but labels from 2 up are relevant",
    "lightgbm": "nothing relevant counts 1; labels above 0.5 are relevant",
    "xgboost": "nothing relevant counts 1; scores are compared in single precision",
    "catboost": "linear gain, the lower label first on ties, nothing relevant counts 1 (0 for MAP)",
    "trec": "trec_eval: linear gain, ties by descending document id, MAP@k over all relevant documents",
    "sklearn": "ndcg_score: linear gain, ties averaged",
    "ranklib": "as standard, but P@k divides by the length of a list shorter than k",
}


def parse_convention(text: str, *, gains: Iterable[Gain] = ()) -> Convention:
    """Return the convention of that name.

    Parameters
    ----------
    text : str
        The name of a convention, followed in brackets by the rules that differ: `letor`,
        `standard(gain=linear, relevant>=2)`. `rankwright list conventions` prints the names.
    gains : iterable of Gain, optional
        Gains of your own, which the text may name beside the built-in ones.

    Returns
    -------
    Convention
        Its `name` is the text again, in its shortest form.

    Examples
    --------
    >>> parse_convention("standard( empty=zero, gain=0/1/3 )").name
    'standard(gain=0/1/3)'
    """
    require_type(text, str, "a convention", "a name such as 'letor'")
    match = re.fullmatch(r"\s*([\w-]+)\s*(?:\((.*)\))?\s*", text, flags=re.DOTALL)
    if match is None:
        raise SettingError(f"a convention reads like letor or standard(gain=linear, empty=skip), got {text!r}")
    if match[1] not in CONVENTIONS:
        raise UnknownNameError("convention", match[1], known=CONVENTIONS)
    known_gains = dict(GAINS) | {gain.name: gain for gain in gains}
    changes: dict[str, Any] = {}
    for part in filter(None, map(str.strip, (match[2] or "").split(","))):
        rule, value = _parse_rule(part, known_gains)
        require(rule not in changes, f"{rule} is given twice in {text!r}")
        changes[rule] = value
    return replace(CONVENTIONS[match[1]], **changes)


def as_convention(convention: str | Convention) -> Convention:
    """The convention itself, or the one of that name."""
    return convention if isinstance(convention, Convention) else parse_convention(convention)


def _value_text(value: Any) -> str:
    if value is None:
        return "empty"  # as the rule of that name says
    if isinstance(value, Enum):
        return str(value.value)
    if isinstance(value, Gain | Discount):
        return value.name
    return str(value) if isinstance(value, Relevance) else number_text(value)


def _parse_rule(part: str, known_gains: Mapping[str, Gain]) -> tuple[str, Any]:
    match = re.fullmatch(r"(\w+)\s*(=|(?=>))\s*(.+)", part)
    if match is None:
        raise SettingError(f"a rule reads like gain=linear or relevant>=2, got {part!r}")
    rule, text = match[1], match[3].strip()
    if rule not in RULES:
        raise UnknownNameError("rule of a convention", rule, known=RULES)
    if rule == "relevant":
        return rule, Relevance.parse(text)
    if rule == "gain":
        return rule, _parse_gain(text, known_gains)
    if rule == "max_grade":
        return rule, _number(rule, text)
    if rule == "empty_map" and text == "empty":
        return rule, None
    standard = getattr(CONVENTIONS[DEFAULT], "empty" if rule == "empty_map" else rule)
    known: Mapping[str, Any] = DISCOUNTS if rule == "discount" else {one.value: one for one in type(standard)}
    if text not in known:
        raise UnknownNameError(rule, text, known=known)
    return rule, known[text]


def _parse_gain(text: str, gains: Mapping[str, Gain]) -> Gain:
    if text in gains:
        return gains[text]
    if "/" in text:
        return Gain.of_table(tuple(_number("gain", part) for part in text.split("/")))
    raise UnknownNameError("gain", text, known=[*gains, "a table such as 0/1/3/7"])


def _number(rule: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SettingError(f"{rule} needs a number, got {text!r}") from None
