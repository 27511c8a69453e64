"""Models of relevance that score documents for a query: what each asks of the index, and of its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rankwright.arrays import Float64Array, IntArray, real_number
from rankwright.errors import InputError, require
from rankwright.kernels.records import TextScorer

LEAST_MU = 1e-6  # of Dirichlet's prior, in words: logarithms of what is smaller would leave too little room for digits


@dataclass(frozen=True, slots=True, eq=False)
class FieldFacts:
    """What scorers know of the fields that are searched, and of the terms of queries."""

    n_documents: int
    tokens: IntArray  # of each field
    least_length: int  # of the fields together
    frequencies: IntArray  # in how many documents a term is in one of the fields
    occurrences: IntArray  # how often it is there

    @property
    def mean_length(self) -> float:
        """The mean length of the fields together."""
        return float(self.tokens.sum()) / max(self.n_documents, 1) or 1.0


def _checked_fields(fields: Sequence[str] | None) -> tuple[str, ...] | None:
    if fields is None:
        return None
    names = (fields,) if isinstance(fields, str) else tuple(fields)
    require(bool(names) and len(set(names)) == len(names), f"fields must be different names, got {names!r}")
    return names


@dataclass(frozen=True)
class BM25:
    """Okapi's BM25 as Lucene computes it: idf = ln(1 + (N - n + 0.5) / (n + 0.5)), and no factor k1 + 1.

    Parameters
    ----------
    k1 : float, default 0.9
        How much more a term counts that occurs more often; 0 counts it once.
    b : float, default 0.4
        How much long documents are held back, from 0 (not at all) to 1.
    fields : sequence of str, optional
        The text fields that are searched, as one text; all by default.
    """

    k1: float = 0.9
    b: float = 0.4
    fields: Sequence[str] | None = None

    def __post_init__(self) -> None:
        real_number(self.k1, "k1")
        require(real_number(self.b, "b") <= 1, f"b must lie between 0 and 1, got {self.b!r}")
        object.__setattr__(self, "fields", _checked_fields(self.fields))

    def searched(self, text_fields: Sequence[str]) -> tuple[str, ...]:
        """The fields that are searched."""
        return tuple(text_fields if self.fields is None else self.fields)

    def terms(self, facts: FieldFacts) -> tuple[Float64Array, Float64Array]:
        """The weight of each term, and its rarity."""
        return inverse_frequencies(facts), np.ones(len(facts.frequencies))

    def record(self, facts: FieldFacts) -> TextScorer:
        """The scorer as the kernel takes it."""
        base, slope = self.k1 * (1 - self.b), self.k1 * self.b / facts.mean_length
        return _record("bm25", bases=[base], slopes=[slope])


@dataclass(frozen=True)
class BM25F:
    """BM25 of several fields: counts are weighted and added before they saturate, so that a term counts once.

    Parameters
    ----------
    weights : dict from str to float, optional
        How much an occurrence in a field counts; the fields named are searched. All fields count 1 by default.
    k1 : float, default 0.9
        How much more a term counts that occurs more often.
    b : float or dict from str to float, default 0.4
        How much documents are held back whose field is long, from 0 to 1, for all fields or for each.
    """

    weights: Mapping[str, float] | None = None
    k1: float = 0.9
    b: float | Mapping[str, float] = 0.4

    def __post_init__(self) -> None:
        real_number(self.k1, "k1")
        for name, value in (self.weights or {}).items():
            require(real_number(value, f"the weight of {name!r}") > 0, f"the weight of {name!r} must be above 0")
        for name, value in self.b.items() if isinstance(self.b, Mapping) else [("b", self.b)]:
            require(real_number(value, f"b of {name!r}") <= 1, f"b must lie between 0 and 1, got {value!r}")
        require(self.weights is None or bool(self.weights), "weights must name a field")

    def searched(self, text_fields: Sequence[str]) -> tuple[str, ...]:
        """The fields that are searched."""
        return tuple(text_fields if self.weights is None else self.weights)

    def terms(self, facts: FieldFacts) -> tuple[Float64Array, Float64Array]:
        """The weight of each term, and its rarity."""
        return inverse_frequencies(facts), np.ones(len(facts.frequencies))

    def record(self, facts: FieldFacts, names: Sequence[str] = ()) -> TextScorer:
        """The scorer as the kernel takes it; `names` are the fields searched."""
        means = facts.tokens / max(facts.n_documents, 1)
        b = np.array([self.b.get(name, 0.4) if isinstance(self.b, Mapping) else self.b for name in names], np.float64)
        weights = [1.0 if self.weights is None else float(self.weights[name]) for name in names]
        slopes = b / np.where(means > 0, means, 1.0)
        return _record("bm25f", saturation=self.k1, bases=1 - b, slopes=slopes, weights=weights)


@dataclass(frozen=True)
class Dirichlet:
    """The likelihood of the query in a document's language model, smoothed by the collection's (Dirichlet's prior).

    Documents are ranked by the logarithm, of which what all documents share is left out.

    Parameters
    ----------
    mu : float, default 1000
        How much the collection's model counts, in words.
    fields : sequence of str, optional
        The text fields that are searched, as one text; all by default.
    """

    mu: float = 1000.0
    fields: Sequence[str] | None = None

    def __post_init__(self) -> None:
        require(real_number(self.mu, "mu") >= LEAST_MU, f"mu must be {LEAST_MU} or more, got {self.mu!r}")
        object.__setattr__(self, "fields", _checked_fields(self.fields))

    def searched(self, text_fields: Sequence[str]) -> tuple[str, ...]:
        """The fields that are searched."""
        return tuple(text_fields if self.fields is None else self.fields)

    def terms(self, facts: FieldFacts) -> tuple[Float64Array, Float64Array]:
        """The weight of each term, and its rarity: 1 / (μ · its share of the collection)."""
        occurrences = np.maximum(facts.occurrences, 1)
        return np.ones(len(occurrences)), float(facts.tokens.sum()) / (self.mu * occurrences)

    def record(self, facts: FieldFacts) -> TextScorer:
        """The scorer as the kernel takes it."""
        return _record("dirichlet", smoothing=self.mu, least_length=facts.least_length)


@dataclass(frozen=True)
class DPH:
    """Divergence from randomness by the hypergeometric model with Popper's normalisation: it has no parameters.

    Parameters
    ----------
    fields : sequence of str, optional
        The text fields that are searched, as one text; all by default.
    """

    fields: Sequence[str] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", _checked_fields(self.fields))

    def searched(self, text_fields: Sequence[str]) -> tuple[str, ...]:
        """The fields that are searched."""
        return tuple(text_fields if self.fields is None else self.fields)

    def terms(self, facts: FieldFacts) -> tuple[Float64Array, Float64Array]:
        """The weight of each term, and its rarity: documents / occurrences."""
        occurrences = np.maximum(facts.occurrences, 1)
        return np.ones(len(occurrences)), facts.n_documents / occurrences

    def record(self, facts: FieldFacts) -> TextScorer:
        """The scorer as the kernel takes it."""
        return _record("dph", mean_length=facts.mean_length)


Scorer: TypeAlias = BM25 | BM25F | Dirichlet | DPH


def inverse_frequencies(facts: FieldFacts) -> Float64Array:
    """The idf of each term, as Lucene has it: ln(1 + (N - n + 0.5) / (n + 0.5))."""
    n = facts.frequencies
    return np.log1p((facts.n_documents - n + 0.5) / (n + 0.5))


def scorer_record(scorer: Scorer, facts: FieldFacts, fields: Sequence[str]) -> TextScorer:
    """The scorer as the kernel takes it, for these fields."""
    return scorer.record(facts, fields) if isinstance(scorer, BM25F) else scorer.record(facts)


def _record(
    model: str,
    *,
    saturation: float = 0.0,
    bases: Sequence[float] | Float64Array = (0.0,),
    slopes: Sequence[float] | Float64Array = (0.0,),
    weights: Sequence[float] = (1.0,),
    smoothing: float = 1.0,
    mean_length: float = 1.0,
    least_length: float = 0.0,
) -> TextScorer:
    numbers = [np.asarray(values, np.float64) for values in (bases, slopes, weights)]
    plain = [float(value) for value in (smoothing, mean_length, least_length)]
    return TextScorer(model, float(saturation), numbers[0], numbers[1], numbers[2], plain[0], plain[1], plain[2])


def check_scorer(scorer: object) -> None:
    """Raise unless it is one of the scorers."""
    if not isinstance(scorer, Scorer):
        raise InputError(f"a scorer must be BM25, BM25F, Dirichlet or DPH, got {scorer!r}")
