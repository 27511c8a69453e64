"""Web-search-like data of any size: 136 features in the manner of MSLR-WEB, labels 0 to 4.

A page's relevance is a hidden function of how well it matches and how good it is, which differs between queries that
look for a site and queries that look for content, and which features show only through counts and what search engines
compute from them. So there is much to learn, part of it in interactions, and no one can learn it all.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankwright.arrays import FEATURE_DTYPE, Float32Array, IntArray, seed_number
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import require
from rankwright.synthetic.pages import Pages, bm25, cosine, draw_pages, floored, happens, likelihoods, normal, spread

TEXTS = ("body", "anchor", "title", "url", "whole")
SPREAD = ("sum", "min", "max", "mean", "variance")
PER_TEXT = (
    *("covered_terms", "covered_share", "length", "idf"),
    *(f"{name}_{kind}" for kind in ("tf", "normalised_tf", "tf_idf") for name in SPREAD),
    *("boolean", "cosine", "bm25", "lm_absolute_discount", "lm_dirichlet", "lm_jelinek_mercer"),
)
PER_PAGE = (
    *("url_slashes", "url_length", "inlinks", "outlinks", "page_rank", "site_rank", "quality", "quality_of_site"),
    *("query_url_clicks", "url_clicks", "dwell_time"),
)
FEATURE_NAMES = (*(f"{feature}.{text}" for feature in PER_TEXT for text in TEXTS), *PER_PAGE)

QUERIES_AT_A_TIME = 64  # part of the recipe: each block has its own random numbers
SIZE_SHAPE = 4.5  # of the gamma distribution of documents per query: a spread of about half the mean
UNANSWERED_SHARE, UNANSWERED_DROP = 0.03, 5.0
LABEL_CUTS = np.array([-0.24, 1.375, 2.845, 3.58], np.float32)  # of the relevance, for 52, 32, 13, 2 and 1 %
LARGEST_QUALITY = 254
LARGEST_RANK = 65535  # ranks of pages and sites are stored in 16 bits

QUICKSTART_QUERIES = 250
QUICKSTART_DOCS = 40.0  # a query
QUICKSTART_SHARE = 0.2  # of the queries to validate on, and to test on


def web_search(n_queries: int = 1000, *, docs_per_query: float = 120.0, seed: int = 0) -> RankingDataset:
    """Data like that of a web search engine: 136 features in the manner of MSLR-WEB, labels 0 to 4.

    Pages are simulated and their features computed from them, so that sparsity, heavy tails and dependencies between
    features are like those of the benchmark. docs/synthetic.md has more.

    Parameters
    ----------
    n_queries : int, default 1000
        The number of queries.
    docs_per_query : float, default 120.0
        The mean number of documents of a query, 1 or more.
    seed : int, default 0
        The same seed gives the same data.

    Returns
    -------
    RankingDataset
        The data.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(10, docs_per_query=20)
    >>> data.n_queries, data.n_features, data.feature_names[-1]
    (10, 136, 'dwell_time')
    """
    require(n_queries >= 1, f"n_queries must be 1 or more, got {n_queries}")
    require(1 <= docs_per_query < 1e6, f"docs_per_query must be 1 or more and below a million, got {docs_per_query}")
    size_seed, block_seed = np.random.SeedSequence(seed_number(seed)).spawn(2)
    sizes = np.random.default_rng(size_seed).gamma(SIZE_SHAPE, docs_per_query / SIZE_SHAPE, n_queries)
    groups = Groups.of_sizes(np.maximum(np.rint(sizes), 1).astype(np.int64))
    features = np.empty((groups.n_docs, len(FEATURE_NAMES)), FEATURE_DTYPE)
    labels = np.empty(groups.n_docs, np.float32)
    blocks = range(0, n_queries, QUERIES_AT_A_TIME)
    for first, child in zip(blocks, block_seed.spawn(len(blocks)), strict=True):
        last = min(first + QUERIES_AT_A_TIME, n_queries)
        rows = slice(groups.offsets[first], groups.offsets[last])
        features[rows], labels[rows] = _block(np.random.default_rng(child), groups.sizes[first:last])
    return RankingDataset.from_arrays(features, labels, qid=groups.query_of_row + 1, feature_names=FEATURE_NAMES)


def quickstart(seed: int = 0) -> tuple[RankingDataset, RankingDataset, RankingDataset]:
    """A small web-search dataset, split into three parts: 10,000 documents in all.

    Parameters
    ----------
    seed : int, default 0
        The same seed gives the same data.

    Returns
    -------
    train, valid, test : RankingDataset
        150 queries to train on, 50 to validate on and 50 to test on.

    Examples
    --------
    >>> import rankwright as rw
    >>> train, valid, test = rw.synthetic.quickstart()
    >>> train.n_queries, valid.n_queries, test.n_queries
    (150, 50, 50)
    """
    data = web_search(QUICKSTART_QUERIES, docs_per_query=QUICKSTART_DOCS, seed=seed)
    train, valid, test = data.split(valid=QUICKSTART_SHARE, test=QUICKSTART_SHARE, seed=seed)
    return train, valid, test


def _block(rng: np.random.Generator, sizes: IntArray) -> tuple[Float32Array, Float32Array]:
    """Features and labels of the documents of some queries."""
    pages = draw_pages(rng, sizes)
    relevance = _relevance(rng, pages, len(sizes))
    columns = np.empty((len(FEATURE_NAMES), len(relevance)), FEATURE_DTYPE)  # a feature's values together: faster
    for place, name in enumerate(TEXTS):
        of_text = columns[place : len(TEXTS) * len(PER_TEXT) : len(TEXTS)]
        for column, values in zip(of_text, _text_features(pages, name), strict=True):
            column[:] = values
    for column, values in zip(columns[-len(PER_PAGE) :], _page_features(rng, pages, relevance), strict=True):
        column[:] = values
    return columns.T, np.searchsorted(LABEL_CUTS, relevance).astype(np.float32)


def _relevance(rng: np.random.Generator, pages: Pages, n_queries: int) -> Float32Array:
    """How relevant each page is, on a scale that `LABEL_CUTS` cuts into labels."""
    match_in, quality = pages.match_in, pages.quality
    content = 0.7 * match_in["body"] + 0.45 * match_in["title"]
    # A good page needs both: little match is not made up for by quality, and the other way round.
    content += 0.5 * np.minimum(match_in["body"], quality)
    site = 0.5 * match_in["url"] + 0.4 * match_in["anchor"] + 0.6 * np.maximum(quality, 0)
    relevance = np.where(pages.navigational > 0, site, content)
    relevance -= 1.0 * pages.stuffed + 0.5 * pages.unrelated
    ease = 0.7 * normal(rng, n_queries)  # some queries have many good answers, some few, and some none at all
    ease -= UNANSWERED_DROP * happens(rng, UNANSWERED_SHARE, n_queries)
    relevance += ease[pages.query_of_doc]
    relevance += 0.9 * normal(rng, len(relevance))  # what no feature shows, and what judges disagree on
    return relevance


def _text_features(pages: Pages, name: str) -> Iterator[Float32Array]:
    """The features of one text, in the order of `PER_TEXT`."""
    text, used, n_terms = pages.texts[name], pages.used, pages.n_terms
    covered = (text.frequency > 0).sum(axis=0).astype(np.float32)
    yield covered
    yield covered / n_terms
    yield text.length
    yield text.rarity.sum(axis=0)
    yield from spread(text.frequency, used, n_terms)
    yield from spread(np.divide(text.frequency, np.maximum(text.length, 1), dtype=np.float32), used, n_terms)
    yield from spread(text.frequency * text.rarity, used, n_terms)
    yield (covered == n_terms).astype(np.float32)
    yield cosine(text)
    yield bm25(text)
    yield from likelihoods(text, used)


def _page_features(rng: np.random.Generator, pages: Pages, relevance: Float32Array) -> Iterator[Float32Array]:
    """The features of the page as a whole, in the order of `PER_PAGE`."""
    n_docs, quality = len(relevance), pages.quality
    depth = normal(rng, n_docs)
    site_quality = 0.6 * quality + 0.8 * normal(rng, n_docs)
    popularity = 0.7 * quality + 0.7 * normal(rng, n_docs)
    yield 1 + floored(np.exp(0.5 + 0.5 * depth - 0.15 * quality))
    yield 6 + floored(np.exp(3.4 + 0.45 * (0.7 * depth + 0.7 * normal(rng, n_docs))))
    yield floored(np.exp(1.6 + 4.2 * popularity))
    yield floored(np.exp(0.1 + 1.5 * normal(rng, n_docs)))
    yield _rank(0.8 * quality + 0.6 * normal(rng, n_docs) - np.float32(0.7))
    yield _rank(site_quality)
    yield np.minimum(1 + floored(np.exp(1.6 + 1.5 * (0.5 * quality + 0.87 * normal(rng, n_docs)))), LARGEST_QUALITY)
    yield np.minimum(
        1 + floored(np.exp(2.0 + 1.4 * (0.5 * site_quality + 0.87 * normal(rng, n_docs)))), LARGEST_QUALITY
    )
    shown = happens(rng, 0.12, n_docs)
    yield floored(np.exp(0.4 + 1.1 * relevance + 1.8 * normal(rng, n_docs))) * shown
    url_clicks = floored(np.exp(-2.6 + 4.1 * popularity))
    yield url_clicks
    yield np.where(url_clicks > 0, np.exp(2.2 + 0.4 * quality + 1.2 * normal(rng, n_docs)), np.float32(0))


def _rank(strength: Float32Array) -> Float32Array:
    """A whole number up to `LARGEST_RANK` that grows with `strength`."""
    share: Float32Array = 1 / (1 + np.exp(-1.7 * strength))
    return np.rint(LARGEST_RANK * share)
