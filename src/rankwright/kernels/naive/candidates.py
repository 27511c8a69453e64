"""Twins of the kernels that find the best documents of queries: all documents are scored, then sorted."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float64Array
from rankwright.kernels.records import (
    QueryPhrases,
    QueryTerms,
    SegmentPostings,
    SegmentStreams,
    TextScorer,
    TopDocuments,
)

_NO_TERM = 2**32 - 1
_SHIFT = 1.5 * 2**20  # adding it rounds to a multiple of 2**-32


def top_documents(
    postings: SegmentPostings,
    streams: SegmentStreams,
    queries: QueryTerms,
    phrases: QueryPhrases,
    scorer: TextScorer,
    kept: NDArray[np.uint8],
    first: int,
    tops: TopDocuments,
    threads: int,
) -> None:
    """Add a segment's documents, which are numbered from `first` on, to the best ones of each query.

    Every addend is rounded to a multiple of 2**-32, so that sums are exact in any order. Of equal scores, the first
    document is better. A document comes in if it has a term of the query, if its entry in `kept` is not 0 (where there
    are such), and if it has all phrases of the query. Logarithms may differ from the kernel's in the last digit.
    """
    for query in range(len(queries.starts) - 1):
        found = _scores(query, postings, queries, scorer)
        wanted = [
            (score, first + document)
            for document, score in found.items()
            if (not len(kept) or kept[document]) and _has_phrases(document, query, streams, phrases)
        ]
        n = int(tops.sizes[query])
        wanted += zip(tops.scores[query, :n].tolist(), tops.documents[query, :n].tolist(), strict=True)
        best = sorted(wanted, key=lambda pair: (-pair[0], pair[1]))[: tops.scores.shape[1]]
        tops.sizes[query] = len(best)
        for place, (score, document) in enumerate(best):
            tops.scores[query, place], tops.documents[query, place] = score, document


def top_vectors(
    vectors: NDArray[np.float32],
    scales: Float64Array,
    queries: NDArray[np.float64],
    kept: NDArray[np.uint8],
    tops: TopDocuments,
    threads: int,
) -> None:
    """The documents whose vectors have the largest scalar products with each query's, times their scales.

    Products that are NaN are passed over. The kernel adds up in another order: products may differ in the last digits.
    """
    for row, query in enumerate(queries):
        products = vectors.astype(np.float64) @ query * (scales if len(scales) else 1.0)
        fits = ~np.isnan(products) & (kept.astype(np.bool_) if len(kept) else True)
        documents = np.flatnonzero(fits)
        best = documents[np.lexsort((documents, -products[documents]))][: tops.scores.shape[1]]
        tops.sizes[row] = len(best)
        tops.scores[row, : len(best)], tops.documents[row, : len(best)] = products[best], best


def _scores(query: int, postings: SegmentPostings, queries: QueryTerms, scorer: TextScorer) -> dict[int, float]:
    scores: dict[int, float] = {}
    addend = _ADDENDS[scorer.model]
    for place in range(int(queries.starts[query]), int(queries.starts[query + 1])):
        term = int(queries.terms[place])
        if term == _NO_TERM:
            continue
        weight, rarity = float(queries.weights[place]), float(queries.rarities[place])
        for posting in range(int(postings.starts[term]), int(postings.starts[term + 1])):
            document = int(postings.documents[posting])
            counts = [int(own[posting]) for own in postings.counts]
            if any(counts):
                lengths = [int(own[document]) for own in postings.lengths]
                value = _rounded(addend(scorer, weight, rarity, counts, lengths))
                scores[document] = scores.get(document, 0.0) + value
    if scorer.model == "dirichlet":
        n_words = float(queries.lengths[query])
        for document in scores:
            length = int(postings.lengths[0][document])
            scores[document] += _rounded(-n_words * math.log(1 + length / scorer.smoothing))
    return scores


def _rounded(score: float) -> float:
    return (score + _SHIFT) - _SHIFT


def _bm25(scorer: TextScorer, weight: float, rarity: float, counts: list[int], lengths: list[int]) -> float:
    count = sum(counts)
    return weight * (count / (count + float(scorer.bases[0] + scorer.slopes[0] * lengths[0])))


def _bm25f(scorer: TextScorer, weight: float, rarity: float, counts: list[int], lengths: list[int]) -> float:
    total = 0.0
    for count, length, own, base, slope in zip(
        counts, lengths, scorer.weights.tolist(), scorer.bases.tolist(), scorer.slopes.tolist(), strict=True
    ):
        total += own * count / (base + slope * length) if count else 0.0
    return weight * (total / (scorer.saturation + total)) if total else 0.0


def _dirichlet(scorer: TextScorer, weight: float, rarity: float, counts: list[int], lengths: list[int]) -> float:
    return weight * math.log(1 + sum(counts) * rarity)


def _dph(scorer: TextScorer, weight: float, rarity: float, counts: list[int], lengths: list[int]) -> float:
    count = sum(counts)
    share = count / lengths[0]
    if share >= 1:
        return 0.0
    norm = (1 - share) ** 2 / (count + 1)
    information = count * math.log2(count * scorer.mean_length / lengths[0] * rarity)
    return weight * norm * (information + 0.5 * math.log2(2 * math.pi * count * (1 - share)))


_ADDENDS: dict[str, Callable[[TextScorer, float, float, list[int], list[int]], float]] = {
    "bm25": _bm25,
    "bm25f": _bm25f,
    "dirichlet": _dirichlet,
    "dph": _dph,
}


def _has_phrases(document: int, query: int, streams: SegmentStreams, phrases: QueryPhrases) -> bool:
    if not len(phrases.starts):
        return True
    own: Any = [
        tokens[offsets[document] : offsets[document + 1]].tolist()
        for offsets, tokens in zip(streams.offsets, streams.tokens, strict=True)
    ]
    for phrase in range(int(phrases.starts[query]), int(phrases.starts[query + 1])):
        terms = phrases.terms[phrases.term_starts[phrase] : phrases.term_starts[phrase + 1]].tolist()
        n = len(terms)
        if not any(tokens[at : at + n] == terms for tokens in own for at in range(len(tokens) - n + 1)):
            return False
    return True
