"""L-BFGS finds what SciPy's finds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import rosen, rosen_der

from rankwright.linear.descent import least_cost


def test_the_lowest_point_of_a_bowl():
    rng = np.random.default_rng(0)
    root, wanted = rng.normal(size=(12, 8)), rng.normal(size=8)
    bowl = root.T @ root

    def cost(at):
        return 0.5 * float((at - wanted) @ bowl @ (at - wanted)), bowl @ (at - wanted)

    np.testing.assert_allclose(least_cost(cost, np.zeros(8), most_steps=100), wanted, atol=1e-3)


def test_a_curved_valley_is_followed():
    found = least_cost(lambda at: (float(rosen(at)), rosen_der(at)), np.array([-1.2, 1.0]), most_steps=200)
    assert rosen(found) == pytest.approx(0.0, abs=1e-6)


def test_it_begins_and_ends_at_the_lowest_point():
    start = np.array([3.0, 4.0])
    assert np.array_equal(least_cost(lambda at: (1.0, np.zeros_like(at)), start, most_steps=5), start)


def test_more_steps_are_never_worse():
    values = [
        rosen(least_cost(lambda at: (float(rosen(at)), rosen_der(at)), np.zeros(3), most_steps=n)) for n in range(30)
    ]
    assert values == sorted(values, reverse=True)
