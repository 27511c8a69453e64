"""Kernels of a net's first layer: equal to their twins but for rounding, and in bits for any number of threads."""

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


def layer(module, shape, n_units, threads=1):
    weights = np.random.default_rng(1).normal(size=(n_units, shape[1])).astype(np.float32)
    out = np.full((shape[0], n_units), -7, np.float32)
    module.first_layer(*case(*shape), weights, out, threads)
    return out


def layer_gradient(module, shape, n_units, threads=1):
    forces = np.random.default_rng(1).normal(size=(shape[0], n_units)).astype(np.float32)
    gradient = np.full((n_units, shape[1]), -7, np.float32)
    module.first_layer_gradient(*case(*shape), forces, gradient, threads)
    return gradient


@pytest.mark.parametrize("n_units", [1, 4, 7])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_first_layer_is_the_twins_but_for_rounding(shape, n_units):
    assert layer(_core, shape, n_units) == pytest.approx(layer(reference, shape, n_units), abs=1e-3)
    assert layer_gradient(_core, shape, n_units) == pytest.approx(layer_gradient(reference, shape, n_units), abs=2e-3)


@pytest.mark.parametrize("threads", [2, 7])
def test_threads_do_not_change_a_bit(threads):
    shape = (1000, 37)
    assert np.array_equal(layer(_core, shape, 6), layer(_core, shape, 6, threads))
    assert np.array_equal(layer_gradient(_core, shape, 6), layer_gradient(_core, shape, 6, threads))
