"""Candidates: the documents of an index that score highest for each query, exactly."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Float64Array, IntArray, Uint32Array, thread_count, whole_number
from rankwright.errors import InputError, InputTypeError, require_input
from rankwright.kernels.records import QueryPhrases, QueryTerms, SegmentStreams, TextScorer, TopDocuments
from rankwright.text.filters import FieldFilter, kept_documents
from rankwright.text.index.reading import Index
from rankwright.text.index.segments import Segment
from rankwright.text.scorers import BM25, BM25F, FieldFacts, Scorer, check_scorer, scorer_record

PHRASE = re.compile(r'(?<!\w)"([^"]*)"(?!\w)')
LARGEST_LOGARITHM = 40.0  # that a scorer gives a term of a query
MOST_WEIGHT = 2.0**18  # of a query: scores must stay below 2**19, where they are exact

Where: TypeAlias = Mapping[str, FieldFilter]


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The best documents of each query, best first; of equal scores, the first document of the index is better.

    Attributes
    ----------
    offsets : array of int64
        Query q has the documents from `offsets[q]` to `offsets[q + 1]`.
    ordinals : array of int64
        The documents.
    scores : array of float64
        Their scores.
    """

    offsets: IntArray
    ordinals: IntArray
    scores: Float64Array

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def of(self, query: int) -> tuple[IntArray, Float64Array]:
        """The documents of one query, and their scores.

        Parameters
        ----------
        query : int
            The query's number, in the order in which queries were given.

        Returns
        -------
        tuple
            Ordinals and scores.
        """
        own = slice(self.offsets[query], self.offsets[query + 1])
        return self.ordinals[own], self.scores[own]


def top_documents(
    index: Index,
    queries: Sequence[str],
    *,
    scorer: Scorer | None = None,
    k: int = 1000,
    where: Where | None = None,
    threads: int | None = None,
) -> Candidates:
    """Find the documents that score highest for each query.

    Parameters
    ----------
    index : Index
        The documents.
    queries : sequence of str
        Texts, analysed as the documents were. A document must have a phrase in quotes as it is, in one field; its
        terms count as the others do.
    scorer : BM25, BM25F, Dirichlet or DPH, optional
        How documents are scored; BM25 of all fields by default.
    k : int, default 1000
        How many documents each query gets at most; fewer where fewer have a term of the query.
    where : dict, optional
        What documents must have, by field: of numbers a number or a pair (least, most), with None for no limit; of
        texts words that stand there next to each other.
    threads : int, optional
        How many threads work; every core by default.

    Returns
    -------
    Candidates
        Documents and scores, exact: as if every document had been scored.

    Examples
    --------
    >>> from rankwright.text import BM25, build_index, read_documents, top_documents
    >>> documents = [{"id": "a", "title": "Red boats"}, {"id": "b", "title": "A boat, a blue boat"}]
    >>> import tempfile
    >>> index = build_index(read_documents(documents), tempfile.mkdtemp() + "/index")
    >>> found = top_documents(index, ["blue boats"], scorer=BM25(k1=1.2, b=0.75), k=10)
    >>> index.ids(found.ordinals)
    ['b', 'a']
    """
    scorer = BM25() if scorer is None else scorer
    check_scorer(scorer)
    index.require_analyser()
    if isinstance(queries, str):
        raise InputTypeError("queries must be a list of texts, got one text")
    fields = scorer.searched(index.text_fields)
    for name in fields:
        require_input(name in index.text_fields, _no_field(index, name))
    k = min(whole_number(k, "k", least=1), index.n_documents)
    plan = _plan(index, queries, scorer, fields)
    kept = kept_documents(index, where)
    n = len(queries)
    tops = TopDocuments(np.empty((n, k)), np.empty((n, k), np.int64), np.zeros(n, np.int64))
    for segment in index.segments:
        own = kept[segment.first : segment.first + segment.n_documents] if len(kept) else kept
        plan.search(segment, own, tops, thread_count(threads))
    return candidates_of(tops)


def _no_field(index: Index, name: str) -> str:
    return f"{index.path} has no text field {name!r}; it has {', '.join(index.text_fields) or 'none'}"


@dataclass(frozen=True, slots=True, eq=False)
class _SearchPlan:
    """Queries ready to be searched for: terms as numbers of a vocabulary, which each segment translates."""

    fields: tuple[str, ...]
    by_field: bool  # whether the scorer asks for the length of each field
    scorer: TextScorer
    vocabulary: list[str]
    starts: IntArray
    terms: IntArray
    weights: Float64Array
    rarities: Float64Array
    lengths: Float64Array
    phrases: _Phrases

    def search(self, segment: Segment, kept: NDArray[np.uint8], tops: TopDocuments, threads: int) -> None:
        """Add a segment's documents to the best ones."""
        numbers = segment.numbers_of(self.vocabulary)
        queries = QueryTerms(
            self.starts,
            numbers[self.terms] if len(numbers) else np.empty(0, np.uint32),
            self.weights,
            self.rarities,
            self.lengths,
        )
        phrases = self.phrases.record(segment)
        streams = SegmentStreams((), ())
        if len(phrases.starts):
            parts = [segment.stream(field) for field in self.fields]
            streams = SegmentStreams(tuple(one.offsets for one in parts), tuple(one.tokens for one in parts))
        postings = segment.postings(self.fields, by_field=self.by_field)
        with segment.faults():
            kernels.top_documents(postings, streams, queries, phrases, self.scorer, kept, segment.first, tops, threads)


@dataclass(frozen=True, slots=True, eq=False)
class _Phrases:
    """The phrases of queries, as numbers of a vocabulary; no query has one where `starts` is empty."""

    starts: IntArray
    term_starts: IntArray
    terms: Uint32Array
    vocabulary: list[str]

    def record(self, segment: Segment) -> QueryPhrases:
        """The phrases in a segment's numbers."""
        numbers = segment.numbers_of(self.vocabulary)
        terms = numbers[self.terms] if len(numbers) else np.empty(0, np.uint32)
        return QueryPhrases(self.starts, self.term_starts, terms)


def _plan(index: Index, queries: Sequence[str], scorer: Scorer, fields: tuple[str, ...]) -> _SearchPlan:
    offsets, tokens, vocabulary = index.analyser.streams([PHRASE.sub(r" \1 ", query) for query in queries])
    facts = _facts(index, vocabulary, fields)
    weights, rarities = scorer.terms(facts)
    owners = np.repeat(np.arange(len(queries)), np.diff(offsets))
    known = facts.frequencies[tokens] > 0 if len(tokens) else np.zeros(0, np.bool_)
    owners, tokens = owners[known], tokens[known]
    pairs, times = np.unique(owners * max(len(vocabulary), 1) + tokens, return_counts=True)
    of_query, terms = np.divmod(pairs, max(len(vocabulary), 1))
    lengths = np.bincount(owners, minlength=len(queries)).astype(np.float64)
    _check_weights(queries, np.bincount(of_query, times * np.maximum(weights[terms], LARGEST_LOGARITHM), len(queries)))
    return _SearchPlan(
        fields,
        isinstance(scorer, BM25F),
        scorer_record(scorer, facts, fields),
        vocabulary,
        np.searchsorted(of_query, np.arange(len(queries) + 1)),
        terms,
        times * weights[terms],
        rarities[terms],
        lengths,
        _phrases(index, queries),
    )


def _check_weights(queries: Sequence[str], totals: NDArray[Any]) -> None:
    if len(totals) and totals.max() > MOST_WEIGHT:
        query = int(totals.argmax())
        raise InputError(f"query {query} has too many words for exact scores: {queries[query][:40]!r} …")


def _facts(index: Index, terms: Sequence[str], fields: Sequence[str]) -> FieldFacts:
    columns = [index.text_fields.index(name) for name in fields]
    statistics = index.statistics(terms)
    if len(fields) == len(index.text_fields):
        frequencies = statistics.any_frequency
    elif len(fields) == 1:
        frequencies = statistics.document_frequency[:, columns[0]]
    else:
        frequencies = sum(
            (segment.frequencies_in(terms, fields) for segment in index.segments), np.zeros(len(terms), np.int64)
        )
    least = min(
        (int(segment.total_lengths(tuple(fields)).min(initial=2**31 - 1)) for segment in index.segments), default=0
    )
    occurrences = statistics.collection_count[:, columns].sum(axis=1)
    return FieldFacts(index.n_documents, index.totals().tokens[columns], least, frequencies, occurrences)


def _phrases(index: Index, queries: Sequence[str]) -> _Phrases:
    found = [PHRASE.findall(query) for query in queries]
    offsets, tokens, vocabulary = index.analyser.streams([text for own in found for text in own])
    owners = np.repeat(np.arange(len(queries)), [len(own) for own in found])
    owners = owners[np.diff(offsets) > 0]  # a phrase of stop words alone asks for nothing
    if not len(owners):
        return _Phrases(np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0, np.uint32), [])
    starts = np.searchsorted(owners, np.arange(len(queries) + 1))
    return _Phrases(starts, np.unique(offsets), tokens, vocabulary)


def candidates_of(tops: TopDocuments) -> Candidates:
    """The documents that a kernel found, as candidates."""
    offsets = np.zeros(len(tops.sizes) + 1, np.int64)
    np.cumsum(tops.sizes, out=offsets[1:])
    inside = np.arange(tops.scores.shape[1]) < tops.sizes[:, None]
    return Candidates(offsets, tops.documents[inside], tops.scores[inside])
