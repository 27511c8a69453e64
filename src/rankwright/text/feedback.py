"""The words that stand out in a query's best documents: what a reader who trusts them would ask for, too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float64Array, IntArray
from rankwright.text.candidates import top_documents
from rankwright.text.index.reading import Index

PARTS = 100  # a term's share of the weight is counted in parts of so many, as if the term stood so often in the query

Weights = dict[bytes, float]  # by term


def feedback_terms(
    index: Index, queries: Sequence[str], n_documents: int, n_terms: int, threads: int
) -> list[list[str]]:
    """For each query the terms that stand out in its best documents by BM25, each as often as it weighs.

    A term weighs its share of each document's text, the documents weighed by their scores. Terms that weigh much and
    are rare in the collection are kept.
    """
    found = top_documents(index, queries, k=n_documents, threads=threads)
    vocabularies = [_terms_of(index, number) for number in range(len(index.segments))]
    weights = [_weights(index, vocabularies, *found.of(query)) for query in range(len(queries))]  # by query
    different = sorted({term for own in weights for term in own})
    rarities = _rarities(index, different)
    return [_chosen(own, rarities, n_terms) for own in weights]


def _terms_of(index: Index, segment: int) -> tuple[bytes, IntArray]:
    texts = index.segments[segment].texts("term")
    return texts.bytes.tobytes(), texts.starts


def _weights(
    index: Index, vocabularies: Sequence[tuple[bytes, IntArray]], ordinals: IntArray, scores: Float64Array
) -> Weights:
    """How much of the documents' texts each term is."""
    weights: Weights = {}
    total = float(scores.sum())
    firsts = np.array([segment.first for segment in index.segments])
    for ordinal, score in zip(ordinals.tolist(), scores.tolist(), strict=True):
        number = int(np.searchsorted(firsts, ordinal, side="right")) - 1
        segment, (content, starts) = index.segments[number], vocabularies[number]
        streams = [segment.stream(name) for name in index.text_fields]
        place = ordinal - segment.first
        tokens = np.concatenate([own.tokens[own.offsets[place] : own.offsets[place + 1]] for own in streams])
        terms, counts = np.unique(tokens, return_counts=True)
        with segment.faults():  # such as the number of a term that there is not
            texts = [content[starts[term] : starts[term + 1]] for term in terms.tolist()]
        for text, count in zip(texts, counts.tolist(), strict=True):
            weights[text] = weights.get(text, 0.0) + count / len(tokens) * (score / total if total > 0 else 1.0)
    return weights


def _rarities(index: Index, terms: Sequence[bytes]) -> dict[bytes, float]:
    """The idf of each term in any field."""
    frequencies = index.statistics([term.decode("utf-8", "replace") for term in terms]).any_frequency
    rarities = (index.n_documents - frequencies + 0.5) / (frequencies + 0.5)
    kernels.logs_of_counts(rarities, rarities, 1)
    return dict(zip(terms, rarities.tolist(), strict=True))


def _chosen(weights: Weights, rarities: dict[bytes, float], n_terms: int) -> list[str]:
    best = sorted(weights, key=lambda term: (-weights[term] * rarities[term], term))[:n_terms]
    total = sum(weights[term] for term in best)
    return [
        term.decode("utf-8", "replace") for term in best for _ in range(max(1, round(PARTS * weights[term] / total)))
    ]
