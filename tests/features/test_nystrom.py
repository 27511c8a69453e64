from __future__ import annotations

import numpy as np
import pytest

from rankwright.errors import InputError, UnknownNameError
from rankwright.features.nystrom import KERNELS, FittedNystrom, fit_nystrom


@pytest.fixture
def features():
    return np.random.default_rng(0).normal(size=(60, 4)).astype(np.float32)


@pytest.mark.parametrize("kernel", KERNELS)
def test_with_every_row_a_landmark_scalar_products_are_kernel_values(kernel, features):
    mapped = fit_nystrom(features, kernel, n_landmarks=60).transform(features).astype(np.float64)
    rows = features.astype(np.float64)
    values = KERNELS[kernel](rows, rows, 1 / 4)
    assert mapped @ mapped.T == pytest.approx(values, rel=1e-3, abs=1e-3)


def test_fewer_landmarks_come_near(features):
    mapped = fit_nystrom(features, "rbf", n_landmarks=40, gamma=0.1).transform(features).astype(np.float64)
    rows = features.astype(np.float64)
    assert np.abs(mapped @ mapped.T - KERNELS["rbf"](rows, rows, 0.1)).mean() < 0.01


def test_the_rbf_kernel_by_hand():
    one, other = np.array([[0.0, 0.0]]), np.array([[1.0, 2.0]])
    assert KERNELS["rbf"](one, other, 0.5)[0, 0] == pytest.approx(np.exp(-0.5 * (1 + 4)))
    assert KERNELS["quadratic"](other, other, 0.5)[0, 0] == pytest.approx((1 + 0.5 * 5) ** 2)


def test_parts_give_the_map_back(features):
    fitted = fit_nystrom(features, "rbf", n_landmarks=10, seed=2)
    again = FittedNystrom.of_parts(fitted.header, fitted.learned)
    assert np.array_equal(again.transform(features), fitted.transform(features))


def test_what_does_not_fit_is_refused(features):
    with pytest.raises(UnknownNameError, match="unknown kernel 'rbg'; did you mean 'rbf'"):
        fit_nystrom(features, "rbg")
    with pytest.raises(InputError, match="fitted on 4 features, got 3"):
        fit_nystrom(features).transform(features[:, :3])
