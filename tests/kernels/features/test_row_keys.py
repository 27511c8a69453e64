"""Hashes of rows, and the order that keys give."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.kernels import reference


def rows_of(n_rows: int, n_features: int) -> np.ndarray:
    rng = np.random.default_rng(n_rows)
    features = rng.normal(size=(n_rows, n_features)).round(1).astype(np.float32)
    features[rng.random(features.shape) < 0.2] = np.nan
    features[rng.random(features.shape) < 0.2] = -0.0
    return features


def hashes_of(module, features, threads=1):
    out = np.full(len(features), 7, np.uint64)
    module.hash_rows(np.ascontiguousarray(features, np.float32), out, threads)
    return out


@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (1, 1), (1500, 7)])
def test_the_compiled_hashes_are_the_naive_ones(shape):
    core = pytest.importorskip("rankwright.kernels._core")
    features = rows_of(*shape)
    for threads in (1, 2, 7):
        assert np.array_equal(hashes_of(core, features, threads), hashes_of(reference, features))


def test_equal_rows_have_equal_hashes_and_no_others_do():
    features = np.unique(rows_of(2000, 4) + 0.0, axis=0)
    features = features[~np.isnan(features).any(axis=1)]
    assert len(np.unique(hashes_of(reference, features))) == len(features)
    one, other = np.array([[1, 0.0, np.nan]]), np.array([[1, -0.0, -np.float32(np.nan)]])
    assert hashes_of(reference, one) == hashes_of(reference, other)
    assert hashes_of(reference, [[1, 2]]) != hashes_of(reference, [[2, 1]])
    assert hashes_of(reference, [[1, 0]]) != hashes_of(reference, [[1, np.nan]])


def test_zeros_at_the_end_change_nothing():
    features = rows_of(50, 3)
    assert np.array_equal(hashes_of(reference, np.pad(features, ((0, 0), (0, 4)))), hashes_of(reference, features))


def hashes_of_queries(module, words, offsets, threads=1):
    out = np.full(len(offsets) - 1, 7, np.uint64)
    module.hash_queries(words, np.asarray(offsets, np.int64), out, threads)
    return out


@pytest.mark.parametrize("shape", [(0, 300, 2), (1, 300, 1), (9, 300, 2), (2, 0, 2)])
def test_the_compiled_hashes_of_queries_are_the_naive_ones(shape):
    core = pytest.importorskip("rankwright.kernels._core")
    rng = np.random.default_rng(0)
    words = rng.integers(0, 2**63, shape).astype(np.uint64)
    offsets = np.concatenate([[0], np.sort(rng.integers(0, shape[1] + 1, 150)), [shape[1]]])
    for threads in (1, 2, 7):
        assert np.array_equal(
            hashes_of_queries(core, words, offsets, threads), hashes_of_queries(reference, words, offsets)
        )


def test_the_hash_of_a_query_depends_on_its_own_words_and_their_places():
    words = np.random.default_rng(1).integers(0, 2**63, (3, 10, 2)).astype(np.uint64)
    first, second = hashes_of_queries(reference, words, [0, 4, 10])
    assert hashes_of_queries(reference, np.ascontiguousarray(words[:, 4:]), [0, 6]) == second
    assert first != second
    for swap in ([1, 0, 2, 3], [0, 1, 3, 2]):
        assert hashes_of_queries(reference, np.ascontiguousarray(words[:, swap]), [0, 4]) != first
    assert hashes_of_queries(reference, np.ascontiguousarray(words[::-1, :4]), [0, 4]) != first


def test_the_compiled_order_is_the_naive_one():
    core = pytest.importorskip("rankwright.kernels._core")
    rng = np.random.default_rng(0)
    sizes = np.concatenate([[0, 1, 0], rng.integers(0, 30, 200)])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    keys = rng.integers(0, 20, offsets[-1]).astype(np.uint64)  # many are equal
    ties = rng.integers(0, 3, offsets[-1]).astype(np.uint64)
    queries = rng.permutation(len(sizes))
    expected = np.empty(len(keys), np.int64)
    reference.order_by_key(keys, ties, offsets, queries, expected, 1)
    assert np.array_equal(np.sort(expected), np.arange(len(keys)))
    for threads in (1, 2, 7):
        found = np.full(len(keys), -1)
        core.order_by_key(keys, ties, offsets, queries, found, threads)
        assert np.array_equal(found, expected)
