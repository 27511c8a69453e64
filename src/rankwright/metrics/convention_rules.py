"""The choices that a convention makes where tools disagree, each a small type."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import Enum

import numpy as np

from rankwright.arrays import BoolArray, Float32Array
from rankwright.errors import SettingError, require
from rankwright.ranking.gains import number_text


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
        require(
            self.threshold > 0 or not self.inclusive, "label 0 cannot be relevant: write relevant>0, or relevant>=1"
        )

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
