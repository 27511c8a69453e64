"""Ordering and metric kernels: equal to their twins bit for bit, on any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.kernels import reference
from rankwright.kernels.records import RankedLists

_core = pytest.importorskip("rankwright.kernels._core")

NO_TIES = np.empty(0, np.bool_)
DEEP = 2**62


@pytest.fixture(params=range(6))
def lists(request):
    """Random lists: sizes from 0 up, few or many ties, some with documents that were not retrieved."""
    rng = np.random.default_rng(request.param)
    sizes = rng.integers(0, 40, size=60)
    n = int(sizes.sum())
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    scores = rng.integers(0, 8, size=n).astype(float) if request.param % 2 else rng.normal(size=n)
    rows, tied = np.empty(n, np.int64), np.empty(n, np.bool_)
    reference.rank_rows(scores, offsets, rows, 1)
    reference.mark_ties(scores, offsets, rows, tied, 1)
    n_ranked = sizes if request.param < 3 else rng.integers(0, sizes + 1)
    labels = rng.choice([0, 0, 0, 1, 2, 4, 0.5, 2.25], size=n).astype(np.float32)
    return offsets, n_ranked, rows, tied, labels


def run_both(name, inputs, outputs):
    """Check the compiled kernel against its twin on 1, 2 and 7 threads; the twin's outputs."""
    expected = [np.empty(shape, dtype) for shape, dtype in outputs]
    getattr(reference, name)(*inputs, *expected, 1)
    for threads in (1, 2, 7):
        found = [np.empty(shape, dtype) for shape, dtype in outputs]
        getattr(_core, name)(*inputs, *found, threads)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
    return expected


def each_tie_rule(lists):
    offsets, n_ranked, rows, tied, labels = lists
    return [(RankedLists(offsets, n_ranked, rows, ties), labels) for ties in (NO_TIES, tied)]


scores_in_any_range = st.lists(
    st.one_of(
        st.integers(0, 3).map(float),
        st.floats(allow_nan=False, width=32),
        st.floats(1.0, 1.0 + 2.0**-44),  # differ in their last bits alone
        st.just(-0.0),
    ),
    max_size=60,
)


@given(scores_in_any_range, st.integers(1, 5))
def test_ranking_is_a_stable_sort_of_each_query(scores, n_queries):
    scores = np.array(scores, dtype=np.float64)
    offsets = np.linspace(0, len(scores), n_queries + 1).astype(np.int64)
    (rows,) = run_both("rank_rows", (scores, offsets), [(len(scores), np.int64)])
    run_both("mark_ties", (scores, offsets, rows), [(len(scores), np.bool_)])


@pytest.mark.parametrize("n", [1, 2, 8, 9, 1023, 1024, 1025, 5000, (1 << 17) + 3, 300_001])
@pytest.mark.parametrize("kind", ["normal", "few", "close", "sorted"])
def test_queries_of_any_size_are_ranked(n, kind):
    rng = np.random.default_rng(n)
    scores = {
        "normal": rng.normal(size=n),
        "few": rng.integers(0, 5, size=n).astype(float),
        "close": 1.0 + rng.integers(0, 1000, size=n) * 2.0**-52,
        "sorted": np.arange(n, dtype=float),
    }[kind]
    run_both("rank_rows", (scores, np.array([0, n])), [(n, np.int64)])


def test_ties_are_ordered_by_their_keys(lists):
    _, _, rows, tied, labels = lists
    keys = labels.astype(np.float64)
    expected = rows.copy()
    reference.order_ties(keys, tied, expected, 1)
    for threads in (1, 2, 7):
        found = rows.copy()
        _core.order_ties(keys, tied, found, threads)
        np.testing.assert_array_equal(found, expected)


def test_a_run_of_ties_longer_than_a_block_is_ordered():
    n = 50_000
    tied = np.ones(n, np.bool_)
    tied[[0, 7, 40_000]] = False
    keys = np.random.default_rng(0).integers(0, 9, size=n).astype(float)
    expected, found = np.arange(n), np.arange(n)
    reference.order_ties(keys, tied, expected, 1)
    _core.order_ties(keys, tied, found, 7)
    np.testing.assert_array_equal(found, expected)


def test_exponential_gains():
    labels = np.concatenate([np.arange(60), np.random.default_rng(0).uniform(0, 100, size=500)]).astype(np.float32)
    (gains,) = run_both("exponential_gains", (labels,), [(len(labels), np.float64)])
    np.testing.assert_array_equal(gains[:53], [2.0**label - 1 for label in range(53)])


@pytest.mark.parametrize("depth", [0, 1, 5, 32, 33, 40])
def test_discounted_gains(lists, depth):
    for ranked, labels in each_tie_rule(lists):
        n_queries = len(ranked.n_ranked)
        inputs = (labels.astype(np.float64), ranked, 1 / np.log2(np.arange(2, depth + 2)))
        run_both("discounted_gains", inputs, [(n_queries, np.float64)] * 2)


def test_mean_gain_shares(lists):
    for ranked, labels in each_tie_rule(lists):
        inputs = (labels.astype(np.float64), ranked, 1 / np.log2(np.arange(2, 42)))
        run_both("mean_gain_shares", inputs, [(len(ranked.n_ranked), np.float64)])


@pytest.mark.parametrize("cutoff", [0, 1, 5, DEEP])
def test_precision_sums(lists, cutoff):
    for ranked, labels in each_tie_rule(lists):
        inputs = (labels >= 1, ranked, cutoff)
        run_both("precision_sums", inputs, [(len(ranked.n_ranked), np.float64), (len(ranked.n_ranked), np.int64)])


@pytest.mark.parametrize("cutoff", [1, 5, DEEP])
@pytest.mark.parametrize("binary", [True, False])
def test_read_until_satisfied(lists, cutoff, binary):
    for ranked, labels in each_tie_rule(lists):
        stop = (labels > 1).astype(np.float64) if binary else labels.astype(np.float64) / 4
        run_both("read_until_satisfied", (stop, ranked, cutoff), [(len(ranked.n_ranked), np.float64)] * 2)


def test_wrong_pairs(lists):
    for ranked, labels in each_tie_rule(lists):
        run_both("wrong_pairs", (labels, ranked), [(len(ranked.n_ranked), np.float64)] * 2)


@pytest.mark.parametrize("n", [1, 10, 1000])
def test_bootstrap_means(n):
    rng = np.random.default_rng(n)
    inputs = (rng.random(n), rng.random(n) + 0.1, 2**64 - 5)
    (means,) = run_both("bootstrap_means", inputs, [(50, np.float64)])
    assert n == 1 or len(set(means)) == 50


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 1000])
def test_random_sign_sums(n):
    values = np.random.default_rng(n).normal(size=n)
    (sums,) = run_both("random_sign_sums", (values, 3), [(205, np.float64)])
    assert (np.abs(sums) <= np.abs(values).sum() + 1e-9).all()
    assert n < 63 or abs(sums.mean()) < np.sqrt((values**2).sum() / 200) * 4
