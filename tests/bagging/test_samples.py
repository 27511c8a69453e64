"""Which queries a bag draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.bagging.samples import BagPlan
from rankwright.errors import SettingError


@given(
    n_queries=st.integers(1, 60),
    bag=st.integers(0, 5),
    fraction=st.floats(0.05, 1.0),
    bootstrap=st.booleans(),
    seed=st.integers(0, 9),
)
def test_a_bag_and_the_rest_are_all_queries(n_queries, bag, fraction, bootstrap, seed):
    plan = BagPlan(n_bags=6, bag_fraction=fraction, bootstrap=bootstrap, seed=seed)
    sample = plan.sample(bag, n_queries)
    assert sorted([*sample.queries, *sample.others]) == list(range(n_queries))
    assert sample.counts.sum() == len(sample.repeated) == max(1, round(fraction * n_queries))
    assert bootstrap or sample.counts.max() == 1
    assert np.array_equal(sample.counts, plan.sample(bag, n_queries).counts)


def test_a_bootstrap_leaves_about_a_share_of_1_in_e_out():
    left_out = [len(BagPlan(n_bags=1, seed=seed).sample(0, 1000).others) / 1000 for seed in range(20)]
    assert np.mean(left_out) == pytest.approx(np.exp(-1), abs=0.01)


def test_everything_once_is_no_sample():
    assert BagPlan(n_bags=1, bootstrap=False).sample(0, 30).is_everything
    assert not BagPlan(n_bags=1).sample(0, 30).is_everything


def test_bags_differ_and_none_is_a_bag_of_another_seed():
    seeds = [BagPlan(n_bags=9, seed=seed).seed_of(bag) for seed in range(5) for bag in range(9)]
    assert len(set(seeds)) == len(seeds)
    samples = [tuple(BagPlan(n_bags=9, seed=s).sample(bag, 50).counts) for s in range(5) for bag in range(9)]
    assert len(set(samples)) == len(samples)
    assert BagPlan(n_bags=1, seed=7).seed_of(0) == 7


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_bags": 0}, "n_bags must be 1 or more, got 0"),
        ({"n_bags": 1, "bag_fraction": 0.0}, "bag_fraction must lie above 0 and be at most 1, got 0.0"),
        ({"n_bags": 1, "bag_fraction": 1.5}, "at most 1, got 1.5"),
        ({"n_bags": 1, "seed": -1}, "seed must be a whole number of 0 or more"),
    ],
)
def test_nonsense_is_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        BagPlan(**settings)
