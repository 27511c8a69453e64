"""Leaps find the same point as steps do, with fewer of them."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.clicks.models.expected import fixed_point

FREE = (-np.inf, np.inf)


def slow_step(state, number):
    """Each step takes 1 % of the way to (1, 2)."""
    del number
    return [state[0] + 0.01 * (np.array([1.0, 2.0]) - state[0])]


def test_leaps_save_steps():
    found, n_steps = fixed_point(slow_step, [np.zeros(2)], [FREE], tolerance=1e-8, most=10_000)
    np.testing.assert_allclose(found[0], [1, 2], atol=1e-5)
    assert n_steps < 100, "1,500 plain steps would do"


def test_states_stay_within_their_bounds():
    seen = []

    def step(state, number):
        seen.append(state[0].copy())
        return slow_step(state, number)

    fixed_point(step, [np.zeros(2)], [(0.0, 1.5)], tolerance=1e-6, most=300)
    assert all((one >= 0).all() and (one <= 1.98).all() for one in seen)  # a step below 1.5 may end above it


@pytest.mark.parametrize("most", [1, 2, 3, 4, 5, 6])
def test_no_more_steps_than_allowed(most):
    counted = []

    def step(state, number):
        counted.append(number)
        return slow_step(state, number)

    _, n_steps = fixed_point(step, [np.zeros(2)], [FREE], tolerance=0.0, most=most)
    assert counted == list(range(most))
    assert n_steps == most


def test_leaps_that_make_it_worse_are_taken_back():
    def winding(state, number):
        """Turns around 0 while it comes nearer."""
        del number
        x, y = state[0]
        return [0.95 * np.array([0.8 * x - 0.6 * y, 0.6 * x + 0.8 * y])]

    found, _ = fixed_point(winding, [np.array([1.0, 1.0])], [FREE], tolerance=1e-9, most=2_000)
    np.testing.assert_allclose(found[0], 0, atol=1e-6)
