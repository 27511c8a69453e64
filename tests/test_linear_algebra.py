"""Sums and solutions that no library orders, against NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.linear_algebra import inner, length, solve_symmetric, times


def covariance(n_rows: int, n_columns: int, *, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(n_rows, n_columns))
    return rows.T @ rows / n_rows


def test_sums_are_those_of_numpy():
    rng = np.random.default_rng(0)
    matrix, one, other = rng.normal(size=(7, 5)), rng.normal(size=5), rng.normal(size=5)
    assert inner(one, other) == pytest.approx(one @ other)
    assert length(one) == pytest.approx(np.linalg.norm(one))
    np.testing.assert_allclose(times(matrix, one), matrix @ one)


@pytest.mark.parametrize("n", [0, 1, 2, 30, 200])
def test_a_system_of_independent_rows_has_its_solution(n):
    matrix, wanted = covariance(2 * n + 1, n), np.random.default_rng(1).normal(size=n)
    np.testing.assert_allclose(solve_symmetric(matrix, matrix @ wanted), wanted, rtol=1e-6, atol=1e-8)


def test_units_do_not_matter():
    matrix, wanted = covariance(50, 4), np.array([1.0, -2.0, 3.0, 0.5])
    unit = np.array([1e-8, 1.0, 1e6, 1e3])
    found = solve_symmetric(matrix * unit[:, None] * unit, (matrix @ wanted) * unit)
    np.testing.assert_allclose(found * unit, wanted, rtol=1e-8)


@pytest.mark.parametrize("rank", [1, 3, 9])
def test_of_many_solutions_it_is_the_shortest(rank):
    rows = np.random.default_rng(rank).normal(size=(rank, 10))
    matrix = rows.T @ rows
    unit = 1 / np.sqrt(np.diag(matrix))
    matrix = matrix * unit[:, None] * unit
    answers = matrix @ np.random.default_rng(2).normal(size=10)
    shortest = np.linalg.lstsq(matrix, answers, rcond=1e-10)[0]
    np.testing.assert_allclose(solve_symmetric(matrix, answers), shortest, rtol=1e-5, atol=1e-8)


def test_copies_share_and_what_never_varies_gets_nothing():
    matrix = np.array([[2.0, 2.0, 0.0], [2.0, 2.0, 0.0], [0.0, 0.0, 0.0]])
    np.testing.assert_allclose(solve_symmetric(matrix, np.array([4.0, 4.0, 0.0])), [1.0, 1.0, 0.0], atol=1e-12)
