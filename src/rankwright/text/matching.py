"""Features of how queries match texts: from a specification's columns to the kernel that scans token streams.

Where the tokens come from does not matter: from the segments of an index, or from texts that were analysed just now.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, Float64Array, IntArray, Uint32Array
from rankwright.errors import InputError
from rankwright.kernels.records import MatchedTerms, QueryPairs, StreamViews, TextColumns, TokenStream
from rankwright.text.specification import ALL_FIELDS, FeatureColumn, FeatureSpecification

MATCHED = ("text", "texts", "query")  # the sources of features that are made here


class CountsOfTerms(Protocol):
    """How common terms are: arrays of int64, of shape (terms, fields), and (terms,) for any field."""

    @property
    def document_frequency(self) -> IntArray:
        """In how many documents each field has the term."""

    @property
    def collection_count(self) -> IntArray:
        """How often each field has it in all."""

    @property
    def any_frequency(self) -> IntArray:
        """In how many documents any field has it."""


class CountsOfFields(Protocol):
    """How much text there is: the number of documents, and for each field its tokens and the documents that have it."""

    @property
    def n_documents(self) -> int:
        """The number of documents."""

    @property
    def tokens(self) -> IntArray:
        """The tokens of each field, of all documents together."""

    @property
    def documents_with_field(self) -> IntArray:
        """How many documents have the field."""


class KnownTexts(Protocol):
    """What weighs terms: an index, or what a model file keeps of one."""

    @property
    def text_fields(self) -> tuple[str, ...]:
        """The fields of text, in the order of the counts."""

    def totals(self) -> CountsOfFields:
        """How much text there is."""

    def statistics(self, terms: Sequence[str]) -> CountsOfTerms:
        """How common the terms are."""


@dataclass(frozen=True, slots=True, eq=False)
class MatchPlan:
    """What to compute of texts: the fields to scan, the views of them, the kernel's columns and where they go."""

    fields: tuple[str, ...]
    views: tuple[tuple[str, ...], ...]
    columns: TextColumns
    places: IntArray

    @classmethod
    def of(cls, specification: FeatureSpecification, text_fields: Sequence[str]) -> MatchPlan:
        """The plan of a specification's columns that look at texts with these fields."""
        wanted = [(place, one) for place, one in enumerate(specification.columns) if one.source in MATCHED]
        looked_at = [_fields_of(column, text_fields) for _, column in wanted]
        views = tuple(dict.fromkeys(looked_at))
        used = {name for view in views for name in view}
        settings = [_settings(column, len(own)) for (_, column), own in zip(wanted, looked_at, strict=True)]
        matrix = np.zeros((len(wanted), max(map(len, settings), default=0)))
        for row, own in zip(matrix, settings, strict=True):
            row[: len(own)] = own
        return cls(
            tuple(name for name in text_fields if name in used),
            views,
            TextColumns(
                [_measure(column) for _, column in wanted],
                np.array([views.index(own) for own in looked_at], np.int64),
                matrix,
                np.array([column.log for _, column in wanted], np.bool_),
            ),
            np.array([place for place, _ in wanted], np.int64),
        )


def _fields_of(column: FeatureColumn, text_fields: Sequence[str]) -> tuple[str, ...]:
    fields = column.fields
    if column.source == "query" or fields == (ALL_FIELDS,):
        return tuple(text_fields)
    lacking = next((name for name in fields if name not in text_fields), None)
    if lacking is not None:
        known = ", ".join(text_fields)
        raise InputError(f"{column.name!r} looks at the field {lacking!r}; fields of text are {known}")
    return fields


def _measure(column: FeatureColumn) -> str:
    return f"{column.family}.{column.statistic}" if column.statistic else column.family


def _settings(column: FeatureColumn, n_fields: int) -> list[float]:
    """The settings in the order in which the kernel reads them; those of each field stand together at the end."""
    values = dict(column.settings)
    alone = [value for value in values.values() if isinstance(value, float)]
    each = [value * (n_fields if len(value) == 1 else 1) for value in values.values() if isinstance(value, tuple)]
    return alone + [number for own in zip(*each, strict=True) for number in own]


@dataclass(frozen=True, slots=True, eq=False)
class QueryTexts:
    """Queries as terms: of each its different terms, and its text as places among them."""

    starts: IntArray
    terms: list[str]  # of all queries, one query after another
    place_starts: IntArray
    places: IntArray

    @classmethod
    def of(cls, queries: Sequence[Sequence[str]]) -> QueryTexts:
        """The queries with these terms, in their order."""
        terms: list[str] = []
        places: list[int] = []
        starts, place_starts = [0], [0]
        for query in queries:
            place_of = {term: place for place, term in enumerate(dict.fromkeys(query))}
            terms += place_of
            places += [place_of[term] for term in query]
            starts.append(len(terms))
            place_starts.append(len(places))
        arrays = (np.array(values, np.int64) for values in (starts, place_starts, places))
        return cls(next(arrays), terms, next(arrays), next(arrays))


class Matcher:
    """Computes the features of a plan for some queries, weighed by what is known of all texts."""

    def __init__(self, plan: MatchPlan, known: KnownTexts, queries: QueryTexts) -> None:
        self._plan, self._queries = plan, queries
        self._views = _views(plan, known)
        self._different = list(dict.fromkeys(queries.terms))
        number_of = {term: number for number, term in enumerate(self._different)}
        self._number = np.array([number_of[term] for term in queries.terms], np.int64)
        self._frequencies, self._counts = _term_counts(plan, known, self._different, self._number)

    def fill(
        self,
        streams: Sequence[TokenStream],
        numbers_of: Callable[[list[str]], Uint32Array],
        pairs: QueryPairs,
        out: Float32Array,
        threads: int,
    ) -> None:
        """Fill the plan's columns of a row for each pair; `streams` are of the plan's fields, in their order."""
        own = self._queries
        numbers = numbers_of(self._different)[self._number] if len(self._number) else np.zeros(0, np.uint32)
        terms = MatchedTerms(own.starts, numbers, self._frequencies, self._counts, own.place_starts, own.places)
        plan = self._plan
        kernels.text_features(list(streams), self._views, terms, pairs, plan.columns, plan.places, out, threads)


def _views(plan: MatchPlan, known: KnownTexts) -> StreamViews:
    totals, place_of = known.totals(), {name: place for place, name in enumerate(known.text_fields)}
    tokens, having = totals.tokens.astype(np.float64), totals.documents_with_field.astype(np.float64)
    n_documents = float(totals.n_documents)
    members = [[place_of[name] for name in view] for view in plan.views]
    view_tokens = np.array([tokens[own].sum() for own in members], np.float64)
    view_having = np.array([having[own[0]] if len(own) == 1 else n_documents for own in members], np.float64)
    stream_of = {name: stream for stream, name in enumerate(plan.fields)}
    used = [place_of[name] for name in plan.fields]
    return StreamViews(
        np.cumsum([0, *map(len, members)], dtype=np.int64),
        np.array([stream_of[name] for view in plan.views for name in view], np.int64),
        view_tokens,
        _means(view_tokens, view_having),
        _means(tokens[used], having[used]),
        n_documents,
    )


def _means(tokens: Float64Array, documents: Float64Array) -> Float64Array:
    """Mean lengths; 1 where no document has such a text, so that a text from elsewhere can be scored."""
    return np.where(tokens > 0, tokens / np.maximum(documents, 1.0), 1.0)


def _term_counts(
    plan: MatchPlan, known: KnownTexts, different: list[str], number: IntArray
) -> tuple[Float64Array, Float64Array]:
    """The document frequencies and the counts of each query's terms in each view."""
    found, place_of = known.statistics(different), {name: place for place, name in enumerate(known.text_fields)}
    frequencies = np.zeros((len(different), len(plan.views)))
    counts = np.zeros_like(frequencies)
    for view, fields in enumerate(plan.views):
        own = [place_of[name] for name in fields]
        counts[:, view] = found.collection_count[:, own].sum(axis=1)
        every = len(own) > 1 and len(own) == len(place_of)
        # Of some of the fields it is not known how many documents have a term in any of them: the commonest tells.
        frequencies[:, view] = found.any_frequency if every else found.document_frequency[:, own].max(axis=1)
    return frequencies[number], counts[number]
