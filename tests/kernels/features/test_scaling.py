from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.kernels import reference

_core = pytest.importorskip("rankwright.kernels._core")
KERNELS = ["scale_by_mean", "scale_by_range"]
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
