"""What search engines compute from a query's terms in one stream of a page: counts, tf-idf, BM25, language models.

Each function takes a `Text` and returns one value per document.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankwright.arrays import BoolArray, Float32Array
from rankwright.synthetic.pages import Text

BM25_K1, BM25_B = np.float32(2.5), np.float32(0.8)
ABSOLUTE_DISCOUNT = np.float32(0.7)
JELINEK_MERCER = np.float32(0.1)  # weight of the collection
COMMONEST = np.float32(1e-3)  # probability in the collection of a term of inverse document frequency 0


def spread(values: Float32Array, used: BoolArray, n_terms: Float32Array) -> Iterator[Float32Array]:
    """Sum, smallest, largest, mean and variance of `values`, `(terms, documents)`, over the terms of each query."""
    total = values.sum(axis=0)
    mean = total / n_terms
    yield total
    yield np.where(used, values, np.float32(np.inf)).min(axis=0)
    yield values.max(axis=0)
    yield mean
    yield (np.square(values - mean) * used).sum(axis=0) / n_terms


def cosine(text: Text) -> Float32Array:
    """Cosine of the angle between page and query, both weighted by rarity: the vector space model."""
    weighted = text.frequency * text.rarity
    norms = np.sqrt(np.square(weighted).sum(axis=0) * np.square(text.rarity).sum(axis=0))
    cosines: Float32Array = (weighted * text.rarity).sum(axis=0) / np.maximum(norms, np.float32(1e-6))
    return cosines


def bm25(text: Text) -> Float32Array:
    """Okapi BM25."""
    slack = BM25_K1 * (1 - BM25_B + BM25_B / np.float32(text.usual_length) * text.length)
    scores: Float32Array = (text.rarity * text.frequency * (BM25_K1 + 1) / (text.frequency + slack)).sum(axis=0)
    return scores


def language_models(text: Text, used: BoolArray) -> Iterator[Float32Array]:
    """Log-likelihood of the query under three smoothed models: absolute discounting, Dirichlet, Jelinek-Mercer."""
    in_collection = COMMONEST * np.exp(-np.float32(0.5) * text.rarity)
    length = np.maximum(text.length, 1)
    distinct_words = np.power(length, np.float32(0.8))
    dirichlet = np.float32(text.usual_length)
    likelihoods = (
        (np.maximum(text.frequency - ABSOLUTE_DISCOUNT, 0) + ABSOLUTE_DISCOUNT * distinct_words * in_collection)
        / length,
        (text.frequency + dirichlet * in_collection) / (text.length + dirichlet),
        (1 - JELINEK_MERCER) * text.frequency / length + JELINEK_MERCER * in_collection,
    )
    for likelihood in likelihoods:
        yield (np.log(likelihood) * used).sum(axis=0)
