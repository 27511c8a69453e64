"""The forces that LambdaMART follows by default: by what the labels are, how long lists are, how much data there is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import rankwright as rw
from rankwright.objectives.registry import lambdarank, ranknet, yetirank
from rankwright.objectives.usual import LITTLE, LITTLE_IN_LONG, LONG, ORDERS_OF_MUCH, UsualForces, usual_forces


@pytest.fixture(scope="module")
def data():
    return rw.synthetic.web_search(n_queries=12, docs_per_query=20, seed=0)


@pytest.mark.parametrize(
    ("n_docs", "n_queries", "expected"),
    [
        (10 * LONG, 10, yetirank()),
        (10 * LONG + 1, 10, ranknet()),
        (LITTLE, LITTLE, yetirank()),
        (LITTLE + 1, LITTLE, yetirank(perturbations=ORDERS_OF_MUCH)),
        (LITTLE_IN_LONG, 10, ranknet()),
        (LITTLE_IN_LONG + 1, 10, lambdarank("ndcg@10")),
    ],
)
def test_sizes_choose_the_forces_of_judgments(data, n_docs, n_queries, expected):
    assert UsualForces("ndcg@10").for_documents(data, n_docs, n_queries) == expected


def test_clicks_and_pairs_have_lambdaranks_forces(data):
    clicks = replace(data, positions=np.concatenate([np.arange(size) for size in data.groups.sizes]))
    pairs = rw.RankingDataset.from_arrays(data.features, group=data.groups.sizes, preferences=rw.Preferences([0], [1]))
    for unjudged in (clicks, pairs):
        assert UsualForces("ndcg@10").for_documents(unjudged, 100, 10) == lambdarank("ndcg@10")


def test_other_metrics_have_lambdaranks_forces():
    assert usual_forces("map") == lambdarank("map")


def test_long_lists_are_bound_to_ranknets_forces():
    data = rw.synthetic.web_search(n_queries=4, docs_per_query=400, seed=0)
    scores = np.random.default_rng(0).normal(size=data.n_docs)
    found, expected = (forces.bind(data)(scores) for forces in (usual_forces("ndcg@10"), ranknet()))
    assert_array_equal(found.gradient, expected.gradient)
