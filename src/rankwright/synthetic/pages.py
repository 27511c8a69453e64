"""A small world of queries and web pages: which pages match a query, and where its terms occur.

Everything is drawn for a block of queries at once. Arrays are `(documents,)` or `(terms, documents)`; a query with
fewer than `MAX_TERMS` terms leaves the last ones unused (`used` is False, frequency and rarity are 0).

Each page has a hidden `match`, how well its content suits the query, and a hidden `quality`, which does not depend on
the query. Both show only through counts: the frequency of a term in a stream of the page grows with the match in that
stream, with the stream's length and with how common the term is. Stuffed pages repeat the terms without matching.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array, IntArray

MAX_TERMS = 5
TERMS_SHARES = (0.12, 0.34, 0.29, 0.16, 0.09)  # of queries with 1, 2, … terms
USUAL_RARITY = 3.3  # the mean of a term's inverse document frequency
LENGTH_EFFECT = np.float32(0.4)  # what a log length adds to a log frequency
RARITY_EFFECT = np.float32(0.15)  # what a term's rarity takes from it
EASIER_TO_FIND = np.float32(0.99)  # a term is a little less rare in a whole page than in its body
NAVIGATIONAL_SHARE = 0.25
STUFFED_SHARE = 0.08
UNRELATED_SHARE = 0.1  # of pages that hold none of the query's terms


@dataclass(frozen=True, slots=True)
class Stream:
    """One text of a page. Lengths and term frequencies are rounded down from log-normal values; below 1 they are 0."""

    name: str
    share_present: float
    log_length: float
    log_length_spread: float
    log_frequency: float  # of a common term, in a page of mean length and match
    frequency_spread: float
    match_effect: float  # what one standard deviation of match adds to the log frequency
    rarity: float  # what this stream adds to a term's inverse document frequency
    own_match: float  # share of the variance of the match that this stream does not share with the others
    stuffing: float  # what stuffing adds to the log frequency of every term

    @property
    def usual_length(self) -> float:
        """The mean length over all pages."""
        return self.share_present * math.exp(self.log_length + self.log_length_spread**2 / 2)


BODY = Stream("body", 0.98, 6.0, 0.95, 1.5, 0.85, 0.6, 0.0, 0.2, 1.3)
ANCHOR = Stream("anchor", 0.27, 1.0, 1.1, -0.15, 0.45, 0.4, 3.7, 0.5, 0.0)
TITLE = Stream("title", 0.97, 1.95, 0.6, 0.0, 0.4, 0.4, 3.0, 0.4, 0.7)
URL = Stream("url", 1.0, 2.05, 0.35, -0.35, 0.3, 0.3, 3.6, 0.5, 0.0)
STREAMS = (BODY, ANCHOR, TITLE, URL)


@dataclass(frozen=True, slots=True, eq=False)
class Text:
    """One stream of each page, as far as the query is concerned: its length and the frequency of each query term."""

    length: Float32Array
    frequency: Float32Array  # (terms, documents)
    rarity: Float32Array  # (terms, documents): inverse document frequency of the terms in this stream
    usual_length: float  # what an engine would call the average length


@dataclass(frozen=True, slots=True, eq=False)
class Pages:
    """The pages of a block of queries: a value for each document; values of a query are repeated."""

    query_of_doc: IntArray
    n_terms: Float32Array
    used: BoolArray  # (terms, documents)
    navigational: Float32Array  # 1 if the query looks for one site, 0 if it looks for content
    stuffed: Float32Array  # 1 or 0
    unrelated: Float32Array  # 1 or 0
    match: Float32Array
    match_in: dict[str, Float32Array]  # by stream
    quality: Float32Array
    texts: dict[str, Text]  # by stream, and "whole" for all of them together


def normal(rng: np.random.Generator, *shape: int) -> Float32Array:
    """Standard normal numbers."""
    return rng.standard_normal(shape, dtype=np.float32)


def happens(rng: np.random.Generator, share: float, n: int) -> Float32Array:
    """`n` numbers that are 1 with probability `share`, else 0."""
    return (rng.random(n, dtype=np.float32) < share).astype(np.float32)


def floored(values: NDArray[np.float32]) -> Float32Array:
    """`values` rounded down to whole numbers, negative ones to 0."""
    return np.floor(np.maximum(values, 0))


def draw_pages(rng: np.random.Generator, sizes: IntArray) -> Pages:
    """Pages of queries with the given numbers of documents."""
    n_queries, n_docs = len(sizes), int(sizes.sum())
    query_of_doc = np.repeat(np.arange(n_queries), sizes)
    n_terms = rng.choice(np.arange(1, MAX_TERMS + 1), size=n_queries, p=TERMS_SHARES)
    used = np.arange(MAX_TERMS)[:, None] < n_terms
    rarity = (rng.gamma(3.0, USUAL_RARITY / 3.0, (MAX_TERMS, n_queries)) * used).astype(np.float32)
    navigational = happens(rng, NAVIGATIONAL_SHARE, n_queries)

    stuffed, unrelated = happens(rng, STUFFED_SHARE, n_docs), happens(rng, UNRELATED_SHARE, n_docs)
    match, quality = normal(rng, n_docs), normal(rng, n_docs)
    quality -= 0.8 * stuffed
    used_of_doc, rarity_of_doc = used[:, query_of_doc], rarity[:, query_of_doc]
    match_in, texts = {}, {}
    for stream in STREAMS:
        match_in[stream.name] = _blend(match, normal(rng, n_docs), stream.own_match)
        shift = stream.match_effect * match_in[stream.name] + stream.stuffing * stuffed
        texts[stream.name] = _draw_text(rng, stream, shift, used_of_doc * (1 - unrelated), rarity_of_doc)
    length = np.sum([text.length for text in texts.values()], axis=0)
    frequency = np.sum([text.frequency for text in texts.values()], axis=0)
    usual_length = sum(stream.usual_length for stream in STREAMS)
    texts["whole"] = Text(length, frequency, EASIER_TO_FIND * rarity_of_doc, usual_length)
    of_query = query_of_doc, n_terms[query_of_doc].astype(np.float32), used_of_doc, navigational[query_of_doc]
    return Pages(*of_query, stuffed, unrelated, match, match_in, quality, texts)


def _blend(shared: Float32Array, own: Float32Array, own_share: float) -> Float32Array:
    """A standard normal number, `own_share` of whose variance is its own."""
    return np.float32(np.sqrt(1 - own_share)) * shared + np.float32(np.sqrt(own_share)) * own


def _draw_text(
    rng: np.random.Generator, stream: Stream, shift: Float32Array, possible: Float32Array, rarity: Float32Array
) -> Text:
    """The text of each page. `shift` adds to the log frequency; only terms that are `possible` (1, not 0) occur."""
    n_docs = len(shift)
    present = happens(rng, stream.share_present, n_docs)
    longer = normal(rng, n_docs)
    length = floored(np.exp(stream.log_length + stream.log_length_spread * longer)) * present
    log_frequency = normal(rng, MAX_TERMS, n_docs)
    log_frequency *= stream.frequency_spread
    log_frequency += stream.log_frequency + shift + LENGTH_EFFECT * stream.log_length_spread * longer
    log_frequency -= RARITY_EFFECT * (rarity - USUAL_RARITY)
    frequency = floored(np.exp(log_frequency))
    frequency *= possible * present
    # A text is at least as long as the query terms in it.
    length = np.maximum(length, frequency.sum(axis=0))
    return Text(length, frequency, np.where(rarity > 0, rarity + stream.rarity, 0), stream.usual_length)


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


def likelihoods(text: Text, used: BoolArray) -> Iterator[Float32Array]:
    """Log-likelihood of the query under three smoothed models: absolute discounting, Dirichlet, Jelinek-Mercer."""
    in_collection = COMMONEST * np.exp(-np.float32(0.5) * text.rarity)
    length = np.maximum(text.length, 1)
    distinct_words = np.power(length, np.float32(0.8))
    dirichlet = np.float32(text.usual_length)
    models = (
        (np.maximum(text.frequency - ABSOLUTE_DISCOUNT, 0) + ABSOLUTE_DISCOUNT * distinct_words * in_collection)
        / length,
        (text.frequency + dirichlet * in_collection) / (text.length + dirichlet),
        (1 - JELINEK_MERCER) * text.frequency / length + JELINEK_MERCER * in_collection,
    )
    for likelihood in models:
        yield (np.log(likelihood) * used).sum(axis=0)
