"""Laws over every recipe."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright import synthetic
from rankwright.errors import SettingError

SMALL = {
    "random_network": lambda **settings: synthetic.random_network(20, **settings),
    "random_polynomial": lambda **settings: synthetic.random_polynomial(20, **settings),
    "topic_distillation": lambda **settings: synthetic.topic_distillation(5, docs_per_query=200, **settings),
    "web_search": lambda **settings: synthetic.web_search(130, docs_per_query=20, **settings),
    "quickstart": lambda **settings: synthetic.quickstart(**settings)[0],
}


def test_every_recipe_is_tested():
    assert sorted([*SMALL, "Handbook", "handbook"]) == sorted(synthetic.__all__)


def test_the_seed_decides_a_handbook():
    assert synthetic.handbook(5, seed=3) == synthetic.handbook(5, seed=3)
    assert synthetic.handbook(5, seed=3) != synthetic.handbook(5, seed=4)


@pytest.mark.parametrize("name", SMALL)
def test_the_seed_decides(name):
    data = SMALL[name](seed=3)
    assert data.equals(SMALL[name](seed=3))
    assert not np.array_equal(data.features[:5], SMALL[name](seed=4).features[:5])


@pytest.mark.parametrize("name", SMALL)
def test_values_are_finite_and_queries_have_ids(name):
    data = SMALL[name]()
    assert data.labels is not None
    assert data.query_ids is not None
    assert np.isfinite(data.features).all()
    assert len(set(data.query_ids.tolist())) == data.n_queries
    assert (data.groups.sizes > 0).all()
    assert data.labels.max() > 0


@pytest.mark.parametrize("name", SMALL)
def test_no_two_features_are_the_same(name):
    features = SMALL[name]().features
    assert len({column.tobytes() for column in features.T}) == features.shape[1]


@pytest.mark.parametrize("seed", [-1, 0.5, "now"])
@pytest.mark.parametrize("name", SMALL)
def test_a_seed_is_a_whole_number(name, seed):
    with pytest.raises(SettingError, match="seed must be a whole number of 0 or more"):
        SMALL[name](seed=seed)


@pytest.mark.parametrize("name", sorted(set(SMALL) - {"quickstart"}))
def test_there_is_at_least_one_query(name):
    with pytest.raises(SettingError, match="n_queries must be 1 or more, got 0"):
        getattr(synthetic, name)(0)
    assert getattr(synthetic, name)(1).n_queries == 1
