"""The kernels on matrices of features do what their twins do."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.kernels import reference
from rankwright.kernels.records import StandardisedRows


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


_core = pytest.importorskip("rankwright.kernels._core")
KERNELS = ["scale_by_mean", "scale_by_range", "scale_by_rank"]
NUMBERS = st.sampled_from([np.nan, 0.0, -0.0, 1.0, -1.0, 0.1, 3e38, -3e38, 1e-40, 7.5]) | st.floats(
    width=32, allow_infinity=False
)


def run(module, name, features, offsets, threads=1):
    out = np.full_like(features, -7)
    getattr(module, name)(features, offsets, out, threads)
    return out


@pytest.mark.parametrize("name", KERNELS)
@given(data=st.data(), n_features=st.integers(0, 9), sizes=st.lists(st.integers(0, 6), max_size=6))
def test_kernel_and_twin_agree(name, data, n_features, sizes):
    n_values = sum(sizes) * n_features
    values = data.draw(st.lists(NUMBERS, min_size=n_values, max_size=n_values))
    features = np.array(values, np.float32).reshape(sum(sizes), n_features)
    offsets = np.cumsum([0, *sizes])
    assert np.array_equal(run(_core, name, features, offsets), run(reference, name, features, offsets), equal_nan=True)


@pytest.mark.parametrize("name", KERNELS)
def test_threads_do_not_change_a_bit(name):
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 40, 200)
    features = rng.normal(size=(sizes.sum(), 11)).astype(np.float32)
    features[rng.random(features.shape) < 0.1] = np.nan
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    one, two, seven = (run(_core, name, features, offsets, threads).tobytes() for threads in (1, 2, 7))
    assert one == two == seven


@pytest.mark.parametrize("name", KERNELS)
def test_output_may_be_the_input(name):
    features = np.random.default_rng(1).normal(size=(50, 3)).astype(np.float32)
    offsets = np.array([0, 20, 50])
    for module in (_core, reference):
        expected, in_place = run(module, name, features, offsets), features.copy()
        getattr(module, name)(in_place, offsets, in_place, 1)
        assert np.array_equal(in_place, expected)


SHAPES = [(0, 3), (1, 1), (5, 16), (300, 17), (700, 40)]


def case(n_rows, n_features, seed=0):
    """Features with some values missing and how they are scaled, and rows of them in any order."""
    rng = np.random.default_rng(seed)
    features = rng.normal(3, 2, size=(max(1, n_rows), n_features)).astype(np.float32)
    features[rng.random(features.shape) < 0.1] = np.nan
    rows = rng.integers(0, len(features), size=n_rows)
    shift, factor = rng.normal(size=n_features).astype(np.float32), rng.random(n_features).astype(np.float32)
    return StandardisedRows(features, shift, factor), rows


def standardised(module, shape, threads=1):
    inputs, rows = case(*shape)
    out = np.full((len(rows), shape[1]), -7, np.float32)
    module.standardise_rows(inputs, rows, out, threads)
    return out


def moments(module, shape, threads=1):
    features = case(*shape)[0].features
    out = [np.full(shape[1], -7.0) for _ in range(3)]
    module.sum_moments(np.tile(features, (20, 1)), np.full(shape[1], 2.5), *out, threads)
    return np.stack(out)


@pytest.mark.parametrize("shape", SHAPES)
def test_standardised_rows_equal_the_twins(shape):
    assert np.array_equal(standardised(_core, shape), standardised(reference, shape))


@pytest.mark.parametrize("shape", SHAPES)
def test_moments_equal_the_twins(shape):
    assert np.array_equal(moments(_core, shape), moments(reference, shape))


@pytest.mark.parametrize("threads", [2, 7])
def test_threads_do_not_change_a_bit_of_standardised_rows(threads):
    shape = (1000, 37)
    assert np.array_equal(standardised(_core, shape), standardised(_core, shape, threads))
    assert np.array_equal(moments(_core, shape), moments(_core, shape, threads))
