"""Where the spread of differences comes from."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rankwright.errors import InputError
from rankwright.metrics.comparison.variance_components import variance_components

SIZES = (40, 60, 50, 80, 30)


def simulated(rng, *, queries, seeds, folds, rest, n_seeds=4):
    """Differences with these standard deviations, and a mean of 0.1."""
    return [
        0.1
        + folds * rng.normal()
        + queries * rng.normal(size=(size, 1))
        + seeds * rng.normal(size=(1, n_seeds))
        + rest * rng.normal(size=(size, n_seeds))
        for size in SIZES
    ]


@pytest.mark.parametrize(
    ("queries", "seeds", "folds", "rest"), [(0.3, 0.05, 0.1, 0.1), (0.1, 0.1, 0.02, 0.3), (0.2, 0.0, 0.0, 0.05)]
)
def test_components_that_were_put_in_are_found(queries, seeds, folds, rest):
    rng = np.random.default_rng(0)
    found = [
        variance_components(simulated(rng, queries=queries, seeds=seeds, folds=folds, rest=rest)) for _ in range(600)
    ]
    for name, put_in in (("queries", queries), ("rest", rest)):
        assert np.mean([getattr(one, name) for one in found]) == pytest.approx(put_in**2, rel=0.05)
    # Estimates below 0 become 0, which lifts the means of small components a little.
    assert np.mean([one.seeds for one in found]) == pytest.approx(seeds**2, rel=0.1, abs=2e-4)
    assert np.mean([one.folds for one in found]) == pytest.approx(folds**2, rel=0.25, abs=2.5e-3)


def test_the_standard_error_is_the_spread_of_the_mean():
    rng = np.random.default_rng(1)
    put_in = {"queries": 0.3, "seeds": 0.1, "folds": 0.05, "rest": 0.1}
    found = [variance_components(simulated(rng, **put_in)) for _ in range(1500)]
    spread = np.std([one.mean for one in found])
    assert math.sqrt(np.mean([one.standard_error**2 for one in found])) == pytest.approx(spread, rel=0.08)


def test_by_hand():
    """Two queries, two seeds, one fold: squares of 4 numbers that can be done in the head."""
    found = variance_components([np.array([[1.0, 2.0], [5.0, 4.0]])])
    # Means of queries 1.5 and 4.5, of seeds 3 and 3; all 3. What is left: -.5, .5, .5, -.5.
    rest = 4 * 0.25 / 1
    between_queries = 2 * (1.5**2 + 1.5**2) / 1
    assert found.rest == pytest.approx(rest)
    assert found.seeds == 0.0  # (0 - rest) / 2 is below 0
    assert found.queries == pytest.approx((between_queries - rest) / 2)
    assert math.isnan(found.folds)
    assert found.mean == 3.0


def test_one_seed_tells_queries_and_folds_alone():
    rng = np.random.default_rng(2)
    found = variance_components(simulated(rng, queries=0.3, seeds=0.1, folds=0.1, rest=0.0, n_seeds=1))
    assert math.isnan(found.seeds)
    assert math.isnan(found.rest)
    assert found.standard_error > 0
    assert found.to_dict()["variance"]["seeds"] is None


def test_queries_that_do_not_count_are_left_out_and_no_order_matters():
    rng = np.random.default_rng(3)
    tables = simulated(rng, queries=0.3, seeds=0.1, folds=0.1, rest=0.1)
    more = [np.vstack([table, np.full((2, 4), np.nan)])[rng.permutation(len(table) + 2)] for table in tables]
    assert variance_components(more) == variance_components(tables)


@pytest.mark.parametrize("tables", [[], [np.full((3, 2), np.nan)], [np.zeros((1, 3)), np.zeros((1, 3))]])
def test_too_little_is_refused(tables):
    with pytest.raises(InputError, match="two queries or more"):
        variance_components(tables)
