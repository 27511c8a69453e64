"""Kernels that standardise features: equal to their twins, in bits for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.kernels import reference
from rankwright.kernels.records import StandardisedRows

_core = pytest.importorskip("rankwright.kernels._core")
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
def test_threads_do_not_change_a_bit(threads):
    shape = (1000, 37)
    assert np.array_equal(standardised(_core, shape), standardised(_core, shape, threads))
    assert np.array_equal(moments(_core, shape), moments(_core, shape, threads))
