"""The kernels on token streams do what their twins do, to the bit."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.kernels import reference
from rankwright.kernels.naive.common import log_of
from rankwright.kernels.naive.matches import MEASURES
from rankwright.kernels.records import MatchedTerms, QueryPairs, StreamViews, TextColumns, TokenStream

NO_TERM = 2**32 - 1
SETTINGS = {
    "bm25": (1.2, 0.75), "bm25f": (1.2, 2.0, 0.3, 1.0, 0.75), "absolute_discount": (0.7,), "dirichlet": (50.0,),
    "jelinek_mercer": (0.4,), "ordered_phrase": (3.0,), "ordered_pairs": (2.0,), "unordered_pairs": (4.0,),
    "closeness": (1.2, 0.75),
}  # fmt: skip
LOGS = ("length", "tf.sum", "covered_terms", "phrase", "bm25")  # never negative


def stream_of(rng, n_documents, n_terms, longest):
    lengths = rng.integers(0, longest + 1, n_documents)
    offsets = np.concatenate([[0], lengths.cumsum()]).astype(np.int64)
    return TokenStream(offsets, rng.integers(0, n_terms, offsets[-1]).astype(np.uint32))


def queries_of(rng, n_queries, n_terms, longest):
    """Queries of random terms, some of which stand there twice and some of which no document has."""
    starts, numbers, place_starts, places = [0], [], [0], []
    for _ in range(n_queries):
        own = rng.choice([*range(n_terms), NO_TERM], size=rng.integers(0, longest + 1)).tolist()
        different = list(dict.fromkeys(own))
        numbers += different
        places += [different.index(term) for term in own]
        starts.append(len(numbers))
        place_starts.append(len(places))
    frequencies = rng.integers(0, 9, (len(numbers), 3)).astype(np.float64)
    ints = [np.array(values, np.int64) for values in (starts, place_starts, places)]
    return MatchedTerms(ints[0], np.array(numbers, np.uint32), frequencies, frequencies * 2, ints[1], ints[2])


def problem(seed, n_documents=9, n_terms=6, longest=12, n_queries=4, longest_query=5):
    rng = np.random.default_rng(seed)
    streams = [stream_of(rng, n_documents, n_terms, longest) for _ in range(2)]
    tokens = np.array([len(own.tokens) for own in streams] + [sum(len(own.tokens) for own in streams)], np.float64)
    views = StreamViews(
        np.array([0, 1, 2, 4]), np.array([0, 1, 0, 1]), tokens, tokens / n_documents, tokens[:2] / n_documents, 9.0
    )
    sizes = rng.integers(0, 5, n_queries)
    pairs = QueryPairs(np.concatenate([[0], sizes.cumsum()]), rng.integers(0, n_documents, sizes.sum()))
    return streams, views, queries_of(rng, n_queries, n_terms, longest_query), pairs


def every_column():
    names = [name for name in MEASURES for _ in range(3)]
    settings = np.zeros((len(names), 5))
    for row, name in zip(settings, names, strict=True):
        row[: len(SETTINGS.get(name, ()))] = SETTINGS.get(name, ())
    views = np.tile(np.arange(3), len(MEASURES))
    logs = np.array([name in LOGS for name in names]) & (np.arange(len(names)) % 2 == 0)
    return TextColumns(names, views, settings, logs)


def features(module, streams, views, queries, pairs, columns, threads=1):
    out = np.full((len(pairs.documents), len(columns.measures)), np.float32(-7))
    places = np.arange(len(columns.measures))[::-1].copy()
    module.text_features(streams, views, queries, pairs, columns, places, out, threads)
    return out


@given(st.integers(0, 10**6))
def test_the_compiled_features_are_the_naive_ones(seed):
    core = pytest.importorskip("rankwright.kernels._core")
    streams, views, queries, pairs = problem(seed)
    columns = every_column()
    naive = features(reference, streams, views, queries, pairs, columns)
    for threads in (1, 2, 7):
        compiled = features(core, streams, views, queries, pairs, columns, threads)
        wrong = np.argwhere(compiled.view(np.uint32) != naive.view(np.uint32))
        assert not len(wrong), [(columns.measures[::-1][k], naive[i, k], compiled[i, k]) for i, k in wrong[:5]]


def test_many_pairs_are_the_same_for_any_number_of_threads():
    core = pytest.importorskip("rankwright.kernels._core")
    streams, views, queries, _ = problem(1, n_documents=50, n_queries=30)
    rng = np.random.default_rng(0)
    starts = np.concatenate([[0], np.sort(rng.integers(0, 2000, 29)), [2000]])
    pairs, columns = QueryPairs(starts, rng.integers(0, 50, 2000)), every_column()
    one = features(core, streams, views, queries, pairs, columns)
    assert np.isfinite(one).all()
    for threads in (2, 7):
        assert np.array_equal(one, features(core, streams, views, queries, pairs, columns, threads))


@given(st.floats(1e-300, 1e300))
def test_our_logarithm_is_the_logarithm(x):
    assert log_of(x) == pytest.approx(log(x), rel=1e-14, abs=1e-15)


def test_the_compiled_logs_are_the_naive_ones():
    core = pytest.importorskip("rankwright.kernels._core")
    counts = np.concatenate([np.arange(9000.0), np.random.default_rng(0).random(50) * 1e12])
    wanted, found = np.empty_like(counts), np.empty_like(counts)
    reference.logs_of_counts(counts, wanted, 1)
    for threads in (1, 2, 7):
        core.logs_of_counts(counts, found, threads)
        assert np.array_equal(found, wanted)


def graph(n, n_links, seed):
    rng = np.random.default_rng(seed)
    targets, sources = np.sort(rng.integers(0, n, n_links)), rng.integers(0, n, n_links).astype(np.int32)
    return np.searchsorted(targets, np.arange(n + 1)), sources, np.bincount(sources, minlength=n).astype(np.int32)


@pytest.mark.parametrize(("n", "n_links"), [(1, 0), (1, 3), (7, 12), (9000, 20000)])
def test_the_compiled_step_of_page_rank_is_the_naive_one(n, n_links):
    core = pytest.importorskip("rankwright.kernels._core")
    ranks = np.random.default_rng(n).random(n)
    results = []
    for module, threads in ((reference, 1), (core, 1), (core, 2), (core, 7)):
        passed_on, after = np.zeros(n), np.zeros(n)
        change = module.page_rank_step(*graph(n, n_links, 3), 0.85, ranks, passed_on, after, threads)
        results.append((change, after))
    assert all(change == results[0][0] and np.array_equal(after, results[0][1]) for change, after in results)
