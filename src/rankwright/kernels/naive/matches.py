"""Twins of the kernels on texts: features of queries and documents from token streams, and PageRank."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, Int32Array, IntArray
from rankwright.kernels.naive.common import log_of, slices
from rankwright.kernels.records import MatchedTerms, QueryPairs, StreamViews, TextColumns, TokenStream

LOG2_OF_E = 1.4426950408889634
TWO_PI = 6.283185307179586

Occurrence = tuple[int, int]  # the position in the text, and the term's place among those of the query


@dataclass(frozen=True, slots=True)
class _Match:
    """A query in a text: all that features are computed from."""

    places: list[int]  # the query's text, as places among its terms
    query_counts: list[float]  # how often each term stands in the query
    idf: list[float]
    share: list[float]  # of each term among all tokens of the collection
    collection_counts: list[float]
    n_documents: float
    mean_length: float
    tokens: list[int]
    streams: list[tuple[list[float], float, float]]  # counts, length and mean length in each stream of the view
    counts: list[float]
    occurrences: list[Occurrence]

    @property
    def length(self) -> float:
        return float(len(self.tokens))

    @property
    def terms(self) -> range:
        return range(len(self.counts))


def text_features(
    streams: list[TokenStream],
    views: StreamViews,
    queries: MatchedTerms,
    pairs: QueryPairs,
    columns: TextColumns,
    places: IntArray,
    out: Float32Array,
    threads: int,
) -> None:
    """Fill a row of `out` for each pair of a query and a document; column k goes to `places[k]`."""
    what = list(zip(columns.measures, columns.views, columns.settings.tolist(), columns.logs, places, strict=True))
    for query, rows in enumerate(slices(pairs.starts)):
        for row in range(rows.start, rows.stop):
            texts = [own.tokens[slices(own.offsets)[pairs.documents[row]]].tolist() for own in streams]
            matches = [_match(texts, views, queries, query, view) for view in range(len(views.mean_lengths))]
            for measure, view, settings, log, place in what:
                value = MEASURES[measure](matches[view], *settings)
                out[row, place] = log_of(1.0 + value) if log else value


def _match(texts: list[list[int]], views: StreamViews, queries: MatchedTerms, query: int, view: int) -> _Match:
    terms, places = slices(queries.starts)[query], queries.places[slices(queries.place_starts)[query]].tolist()
    numbers = queries.numbers[terms].tolist()
    frequencies, collection = queries.document_frequencies[terms, view], queries.collection_counts[terms, view].tolist()
    n, n_tokens = views.n_documents, float(views.tokens[view])
    members = views.members[slices(views.starts)[view]].tolist()
    tokens = [token for stream in members for token in texts[stream]]
    term_of = {number: term for term, number in enumerate(numbers) if number != 2**32 - 1}
    occurrences = [(position, term_of[token]) for position, token in enumerate(tokens) if token in term_of]
    return _Match(
        places=places,
        query_counts=[float(places.count(term)) for term in range(len(numbers))],
        idf=[log_of(1.0 + (n - frequency + 0.5) / (frequency + 0.5)) for frequency in frequencies.tolist()],
        share=[count / n_tokens if n_tokens > 0 else 0.0 for count in collection],
        collection_counts=collection,
        n_documents=n,
        mean_length=float(views.mean_lengths[view]),
        tokens=tokens,
        streams=[
            (_counts(texts[own], numbers), float(len(texts[own])), float(views.stream_mean_lengths[own]))
            for own in members
        ],
        counts=_counts(tokens, numbers),
        occurrences=occurrences,
    )


def _counts(tokens: list[int], numbers: list[int]) -> list[float]:
    return [0.0 if number == 2**32 - 1 else float(tokens.count(number)) for number in numbers]


def _total(values: Iterator[float] | Sequence[float]) -> float:
    """The sum in the given order; Python's own `sum` keeps more digits than the compiled kernel."""
    total = 0.0
    for value in values:
        total += value
    return total


def _covered(match: _Match) -> float:
    return float(sum(count > 0 for count in match.counts))


def _covered_idf_share(match: _Match) -> float:
    every = _total(match.idf)
    covered = _total(match.idf[term] for term in match.terms if match.counts[term] > 0)
    return covered / every if every > 0 else 0.0


def _vector_space(match: _Match) -> float:
    weights = [count * idf for count, idf in zip(match.query_counts, match.idf, strict=True)]
    product = _total(weights[term] * (match.counts[term] * match.idf[term]) for term in match.terms)
    norm = _total(weight * weight for weight in weights)
    return product / (sqrt(norm) * sqrt(match.length)) if product > 0 else 0.0


def _saturation(match: _Match, k1: float, b: float) -> float:
    return k1 * (1.0 - b + b * match.length / match.mean_length)


def _bm25(match: _Match, k1: float, b: float) -> float:
    if not match.tokens:
        return 0.0
    saturation = _saturation(match, k1, b)
    return _total(
        match.query_counts[term] * match.idf[term] * (match.counts[term] / (match.counts[term] + saturation))
        for term in match.terms
        if match.counts[term] > 0
    )


def _bm25f(match: _Match, k1: float, *settings: float) -> float:
    score = 0.0
    for term in match.terms:
        count = 0.0
        for (counts, length, mean), weight, b in zip(match.streams, settings[::2], settings[1::2], strict=False):
            if counts[term] > 0:
                count += weight * (counts[term] / (1.0 - b + b * length / mean))
        if count > 0:
            score += match.query_counts[term] * match.idf[term] * (count / (count + k1))
    return score


def _log_likelihood_ratio(match: _Match, ratio: Callable[[float, float], float]) -> float:
    return _total(
        match.query_counts[term] * log_of(ratio(match.counts[term], match.share[term]))
        for term in match.terms
        if match.share[term] > 0
    )


def _absolute_discount(match: _Match, discount: float) -> float:
    if not match.tokens:
        return _log_likelihood_ratio(match, lambda _, __: discount)
    rest = discount * len(set(match.tokens)) / match.length
    return _log_likelihood_ratio(match, lambda count, share: max(count - discount, 0.0) / match.length / share + rest)


def _dirichlet(match: _Match, mu: float) -> float:
    return _log_likelihood_ratio(match, lambda count, share: (count / share + mu) / (match.length + mu))


def _jelinek_mercer(match: _Match, background: float) -> float:
    if not match.tokens:
        return _log_likelihood_ratio(match, lambda _, __: background)
    return _log_likelihood_ratio(
        match, lambda count, share: (1.0 - background) * (count / match.length) / share + background
    )


def _dph(match: _Match) -> float:
    score = 0.0
    for term in match.terms:
        count, collection = match.counts[term], match.collection_counts[term]
        part = count / match.length if match.tokens else 0.0
        if count == 0 or part >= 1 or collection == 0:
            continue
        norm = (1.0 - part) * (1.0 - part) / (count + 1.0)
        expected = count * (match.mean_length / match.length) * (match.n_documents / collection)
        information = count * (log_of(expected) * LOG2_OF_E)
        score += (
            match.query_counts[term] * norm * (information + 0.5 * (log_of(TWO_PI * count * (1.0 - part)) * LOG2_OF_E))
        )
    return score


def _shortest_window(match: _Match) -> float:
    covered, found = {term for _, term in match.occurrences}, match.occurrences
    lengths = [
        found[right][0] - found[left][0] + 1
        for left in range(len(found))
        for right in range(left, len(found))
        if {term for _, term in found[left : right + 1]} == covered
    ]
    return float(min(lengths, default=0))


def _begins(match: _Match, position: int) -> bool:
    """Whether the query's text stands at that position."""
    wanted = [(position + place, term) for place, term in enumerate(match.places)]
    return bool(wanted) and set(wanted) <= set(match.occurrences)


def _phrase(match: _Match) -> float:
    return float(sum(_begins(match, position) for position, _ in match.occurrences))


def _ordered_phrase(match: _Match, slack: float) -> float:
    n = 0.0
    for position, term in match.occurrences:
        if term != match.places[0]:
            continue
        end: int | None = position
        for wanted in match.places[1:]:
            end = next((later for later, other in match.occurrences if other == wanted and later > (end or 0)), None)
            if end is None:
                break
        n += end is not None and end - position + 1 <= len(match.places) + slack
    return n


def _ordered_pairs(match: _Match, within: float) -> float:
    follow = set(zip(match.places, match.places[1:], strict=False))
    return float(
        sum(
            any(0 < later - position <= within and (term, other) in follow for later, other in match.occurrences)
            for position, term in match.occurrences
        )
    )


def _unordered_pairs(match: _Match, within: float) -> float:
    return float(sum(later - position <= within for position, later, one, other in _neighbours(match) if one != other))


def _neighbours(match: _Match) -> Iterator[tuple[int, int, int, int]]:
    for (position, one), (later, other) in zip(match.occurrences, match.occurrences[1:], strict=False):
        yield position, later, one, other


def _longest_run(match: _Match) -> float:
    term_at, longest = dict(match.occurrences), 0
    for position in term_at:
        for place in range(len(match.places)):
            run = 0
            while place + run < len(match.places) and term_at.get(position + run) == match.places[place + run]:
                run += 1
            longest = max(longest, run)
    return float(longest)


def _closeness(match: _Match, k1: float, b: float) -> float:
    near = [0.0] * len(match.counts)
    for position, later, one, other in _neighbours(match):
        if one != other:
            distance = float(later - position)
            near[one] += match.idf[other] / (distance * distance)
            near[other] += match.idf[one] / (distance * distance)
    if not match.tokens:
        return 0.0
    saturation = _saturation(match, k1, b)
    return _total(idf * (close / (close + saturation)) for idf, close in zip(match.idf, near, strict=True) if close > 0)


def _over_terms(statistic: str, value: Callable[[_Match, int], float]) -> Callable[..., float]:
    def measure(match: _Match, *_: float) -> float:
        values = [value(match, term) for term in match.terms]
        return STATISTICS[statistic](values) if values else 0.0

    return measure


def _mean(values: list[float]) -> float:
    return _total(values) / len(values)


def _variance(values: list[float]) -> float:
    mean = _mean(values)
    return _total((value - mean) * (value - mean) for value in values) / len(values)


STATISTICS: Mapping[str, Callable[[list[float]], float]] = {
    "sum": _total,
    "min": min,
    "max": max,
    "mean": _mean,
    "variance": _variance,
}
TERM_VALUES: Mapping[str, Callable[[_Match, int], float]] = {
    "tf": lambda match, term: match.counts[term],
    "tf_share": lambda match, term: match.counts[term] / match.length if match.tokens else 0.0,
    "tf_idf": lambda match, term: match.counts[term] * match.idf[term],
    "idf": lambda match, term: match.idf[term],
}
MEASURES: Mapping[str, Callable[..., float]] = {
    "covered_terms": lambda match, *_: _covered(match),
    "covered_share": lambda match, *_: _covered(match) / len(match.counts) if match.counts else 0.0,
    "covered_idf_share": lambda match, *_: _covered_idf_share(match),
    "length": lambda match, *_: match.length,
    "different_terms": lambda match, *_: float(len(set(match.tokens))),
    "query_length": lambda match, *_: float(len(match.places)),
    "boolean": lambda match, *_: float(len(match.counts) > 0 and _covered(match) == len(match.counts)),
    "vector_space": lambda match, *_: _vector_space(match),
    "bm25": lambda match, k1, b, *_: _bm25(match, k1, b),
    "bm25f": _bm25f,
    "absolute_discount": lambda match, discount, *_: _absolute_discount(match, discount),
    "dirichlet": lambda match, mu, *_: _dirichlet(match, mu),
    "jelinek_mercer": lambda match, background, *_: _jelinek_mercer(match, background),
    "dph": lambda match, *_: _dph(match),
    "shortest_window": lambda match, *_: _shortest_window(match),
    "first_position": lambda match, *_: 1.0 / (match.occurrences[0][0] + 1) if match.occurrences else 0.0,
    "phrase": lambda match, *_: _phrase(match),
    "ordered_phrase": lambda match, slack, *_: _ordered_phrase(match, slack),
    "ordered_pairs": lambda match, within, *_: _ordered_pairs(match, within),
    "unordered_pairs": lambda match, within, *_: _unordered_pairs(match, within),
    "longest_run": lambda match, *_: _longest_run(match),
    "closeness": lambda match, k1, b, *_: _closeness(match, k1, b),
    "begins_with_query": lambda match, *_: float(_begins(match, 0)),
    "equals_query": lambda match, *_: float(len(match.tokens) == len(match.places) and _begins(match, 0)),
} | {
    f"{name}.{statistic}": _over_terms(statistic, value)
    for name, value in TERM_VALUES.items()
    for statistic in STATISTICS
}


def logs_of_counts(counts: Float64Array, logs: Float64Array, threads: int) -> None:
    """ln(1 + count) of each count; `logs` may be the same array."""
    logs[:] = [log_of(1.0 + count) for count in counts.tolist()]


def page_rank_step(
    starts: IntArray,
    sources: Int32Array,
    n_targets: Int32Array,
    damping: float,
    ranks: Float64Array,
    passed_on: Float64Array,
    next: Float64Array,
    threads: int,
) -> float:
    """One step of PageRank's power iteration, from `ranks` to `next`; returns by how much they differ in all."""
    lost = _total(ranks[n_targets == 0].tolist())
    passed_on[:] = np.where(n_targets == 0, 0.0, ranks / np.maximum(n_targets, 1))
    alike = (1.0 - damping + damping * lost) / len(ranks)
    for document, links in enumerate(slices(starts)):
        next[document] = alike + damping * _total(passed_on[sources[links]].tolist())
    return _total(np.abs(next - ranks).tolist())
