"""Topic-distillation-like data: few queries, long lists, one document in a hundred relevant.

In the manner of LETOR's TD2003 and TD2004, where a query names a broad topic and the good answers are the entry pages
of sites about it: a relevant page matches, is an entry page and has some authority. With 64 features as in LETOR 3.0,
or 44 as in the version SortNet used, which has neither the texts joined nor scores propagated between pages.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, IntArray, seed_number
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import require
from rankwright.synthetic.pages import Pages, bm25, draw_pages, floored, likelihoods, normal

PARTS = ("body", "anchor", "title", "url")
PER_TEXT = ("tf", "idf", "tf_idf", "length", "bm25", "lm_absolute_discount", "lm_dirichlet", "lm_jelinek_mercer")
PROPAGATED = ("tf", "bm25", "lm_dirichlet")
PER_PAGE = (
    *("page_rank", "host_rank", "authority", "hub", "topical_page_rank", "topical_authority"),
    *("inlinks", "outlinks", "child_pages", "url_slashes", "url_length", "content_length"),
)
FEATURE_NAMES = {
    64: (
        *(f"{feature}.{text}" for text in (*PARTS, "whole") for feature in PER_TEXT),
        *(f"propagated_{feature}.{text}" for text in PARTS for feature in PROPAGATED),
        *PER_PAGE,
    ),
    44: (*(f"{feature}.{text}" for text in PARTS for feature in PER_TEXT), *PER_PAGE),
}
RELEVANT_SHARE = 0.01
SHORT_LISTS_SHARE = 0.1  # of queries for which the engine found fewer pages than asked for


def topic_distillation(
    n_queries: int = 75, *, docs_per_query: int = 1000, n_features: int = 64, seed: int = 0
) -> RankingDataset:
    """Data like LETOR's TD2003 and TD2004: few queries, long lists, one document in a hundred relevant.

    A query names a broad topic, and the good answers are entry pages of sites about it. Labels are 0 and 1, with at
    least one relevant document in each query.

    Parameters
    ----------
    n_queries : int, default 75
        The number of queries.
    docs_per_query : int, default 1000
        The largest number of documents of a query; some queries have fewer.
    n_features : {64, 44}, default 64
        64 features as in LETOR 3.0, or 44 as in the version that SortNet used.
    seed : int, default 0
        The same seed gives the same data.

    Returns
    -------
    RankingDataset
        The data.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.synthetic.topic_distillation(5, docs_per_query=200, n_features=44).n_features
    44
    """
    require(n_queries >= 1, f"n_queries must be 1 or more, got {n_queries}")
    require(docs_per_query >= 1, f"docs_per_query must be 1 or more, got {docs_per_query}")
    require(n_features in FEATURE_NAMES, f"n_features must be 64 or 44, got {n_features}")
    size_seed, query_seed = np.random.SeedSequence(seed_number(seed)).spawn(2)
    groups = Groups.of_sizes(_sizes(np.random.default_rng(size_seed), n_queries, docs_per_query))
    names = FEATURE_NAMES[n_features]
    features = np.empty((groups.n_docs, n_features), np.float32)
    labels = np.empty(groups.n_docs, np.float32)
    for rows, child in zip(groups.slices(), query_seed.spawn(n_queries), strict=True):
        rng = np.random.default_rng(child)
        pages = draw_pages(rng, np.array([rows.stop - rows.start]))
        entry = normal(rng, len(pages.match))  # how much the page is the entry of a site
        columns = dict(_features(rng, pages, entry))
        features[rows] = np.stack([columns[name] for name in names], axis=1)
        labels[rows] = _relevant(rng, pages, entry)
    return RankingDataset.from_arrays(features, labels, qid=groups.query_of_row + 1, feature_names=names)


def _sizes(rng: np.random.Generator, n_queries: int, docs_per_query: int) -> IntArray:
    short = rng.random(n_queries) < SHORT_LISTS_SHARE
    share = np.where(short, rng.uniform(0.78, 1.0, n_queries), 1.0)
    sizes: IntArray = np.maximum(np.rint(docs_per_query * share), 1).astype(np.int64)
    return sizes


def _relevant(rng: np.random.Generator, pages: Pages, entry: Float32Array) -> BoolArray:
    """Which pages of one query are relevant: the best few, a number that differs from query to query."""
    n_docs = len(entry)
    match = pages.match_in
    worth = 0.6 * match["body"] + 0.5 * match["title"] + 0.3 * match["anchor"] + 0.6 * entry
    worth += 0.6 * np.minimum(match["body"], entry) + 0.3 * pages.quality
    worth -= 1.0 * pages.stuffed + 1.0 * pages.unrelated
    worth += 0.9 * normal(rng, n_docs)
    n_relevant = max(1, round(rng.gamma(2.0, RELEVANT_SHARE * n_docs / 2.0)))
    relevant = np.zeros(n_docs, np.bool_)
    relevant[np.argsort(-worth, kind="stable")[:n_relevant]] = True
    return relevant


def _features(rng: np.random.Generator, pages: Pages, entry: Float32Array) -> Iterator[tuple[str, Float32Array]]:
    """Every feature that either version has, with its name."""
    linked = rng.integers(0, len(entry), len(entry))  # the page each page lends its scores to
    for name in (*PARTS, "whole"):
        for feature, values in zip(PER_TEXT, _text_features(pages, name), strict=True):
            yield f"{feature}.{name}", values
            if feature in PROPAGATED and name in PARTS:
                yield f"propagated_{feature}.{name}", 0.5 * values + 0.5 * values[linked]
    yield from zip(PER_PAGE, _page_features(rng, pages, entry), strict=True)


def _text_features(pages: Pages, name: str) -> Iterator[Float32Array]:
    """The features of one text, in the order of `PER_TEXT`."""
    text = pages.texts[name]
    yield text.frequency.sum(axis=0)
    yield text.rarity.sum(axis=0)
    yield (text.frequency * text.rarity).sum(axis=0)
    yield text.length
    yield bm25(text)
    yield from likelihoods(text, pages.used)


def _page_features(rng: np.random.Generator, pages: Pages, entry: Float32Array) -> Iterator[Float32Array]:
    """The features of the page as a whole, in the order of `PER_PAGE`."""
    n_docs, quality, match = len(entry), pages.quality, pages.match
    page_rank = np.exp(-8.0 + 1.5 * (0.7 * quality + 0.7 * normal(rng, n_docs)))
    authority = np.exp(-7.0 + 1.2 * (0.6 * quality + 0.8 * normal(rng, n_docs)))
    depth = normal(rng, n_docs) - 0.7 * entry
    yield page_rank
    yield np.exp(-7.0 + 1.5 * (0.5 * quality + 0.9 * normal(rng, n_docs)))
    yield authority
    yield np.exp(-7.0 + 1.2 * (0.4 * entry + 0.9 * normal(rng, n_docs)))
    yield page_rank * np.exp(0.4 * match)
    yield authority * np.exp(0.4 * match)
    yield floored(np.exp(0.8 + 2.0 * (0.6 * quality + 0.3 * entry + 0.7 * normal(rng, n_docs))))
    yield floored(np.exp(2.0 + 1.2 * (0.4 * entry + 0.9 * normal(rng, n_docs))))
    yield floored(np.exp(-0.5 + 2.0 * (0.7 * entry + 0.7 * normal(rng, n_docs))))
    yield 1 + floored(np.exp(0.6 + 0.5 * depth))
    yield 6 + floored(np.exp(3.4 + 0.4 * (0.7 * depth + 0.7 * normal(rng, n_docs))))
    yield floored(pages.texts["body"].length * np.exp(1.7 + 0.3 * normal(rng, n_docs)))
