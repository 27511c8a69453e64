"""Names of objectives, and what is wrong with some."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import rankwright as rw
from rankwright.errors import SettingError, UnknownNameError
from rankwright.metrics.convention import CONVENTIONS, parse_convention
from rankwright.metrics.list_metrics import NDCG, AveragePrecision
from rankwright.metrics.metric_table import parse_metric
from rankwright.objectives import (
    OBJECTIVES,
    Logistic,
    PairwiseObjective,
    lambdarank,
    objective_named,
    paper_lambdarank,
    ranknet,
)
from rankwright.objectives.deltas import Constant, MetricDelta
from rankwright.objectives.families import (
    LITTLE,
    LITTLE_IN_LEAF,
    LITTLE_IN_LONG,
    LONG,
    ORDERS_OF_MUCH,
    UsualForces,
    yetirank,
)


def test_ranknet_and_lambdarank_are_a_loss_and_a_delta():
    assert ranknet() == PairwiseObjective(pair_loss=Logistic(), delta=Constant())
    assert paper_lambdarank("ndcg@10") == PairwiseObjective(Logistic(), MetricDelta(NDCG(10)), shuffle_ties=False)


def test_the_default_lambdarank_has_its_switches_on():
    assert lambdarank() == PairwiseObjective(
        Logistic(), MetricDelta(NDCG(10), tail=True), truncation=30, query_norm=True, gap_norm=True
    )


def test_settings_stand_beside_the_name():
    assert objective_named("lambdarank:map", sigma=2.0, truncation=None) == lambdarank(
        "map", sigma=2.0, truncation=None
    )
    assert objective_named("ranknet", pair_equal_labels=True) == ranknet(pair_equal_labels=True)


@pytest.mark.parametrize("convention", [*CONVENTIONS, "standard(gain=linear)", "letor(relevant>=2, gain=0/1/3)"])
@pytest.mark.parametrize("family", [name for name, family in OBJECTIVES.items() if family.takes_metric])
def test_a_metric_brings_its_convention(family, convention, data):
    name = f"{family}:map@10:{parse_convention(convention)}"
    objective = objective_named(name)
    assert objective.name == name
    if isinstance(objective, UsualForces):
        objective = objective.for_documents(data, data.n_docs, data.n_queries)
    assert isinstance(objective, PairwiseObjective)
    assert objective.delta == MetricDelta(AveragePrecision(10), parse_convention(convention))


def test_the_tail_goes_on_under_every_convention():
    assert lambdarank("ndcg@5:letor").delta == MetricDelta(NDCG(5), parse_convention("letor"), tail=True)


def test_a_measure_can_be_aimed_at():
    assert lambdarank(parse_metric("map:mslr")) == lambdarank("map:mslr")
    assert lambdarank(parse_metric("map")) != lambdarank("map")  # one has the standard convention, the other none


def test_an_unknown_name_brings_the_known_ones():
    with pytest.raises(UnknownNameError, match=r"did you mean 'lambdarank'.*ranknet"):
        objective_named("lambdarnk")


def test_an_unknown_setting_brings_the_known_ones():
    with pytest.raises(SettingError, match="spring has no setting 'sigma'; it has margin"):
        objective_named("spring", sigma=2.0)
    with pytest.raises(SettingError, match="softmax has no setting 'sigma'; it has none"):
        objective_named("softmax", sigma=2.0)


def test_not_every_objective_aims_at_a_metric():
    with pytest.raises(SettingError, match="softmax aims at no metric"):
        objective_named("softmax:ndcg@10")


def test_a_metric_that_no_objective_can_aim_at():
    with pytest.raises(UnknownNameError, match="metric to aim at 'mean-ndcg'"):
        objective_named("lambdarank:mean-ndcg")


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


@pytest.mark.parametrize(("max_leaves", "expected"), [(255, yetirank()), (31, yetirank(perturbations=ORDERS_OF_MUCH))])
def test_small_leaves_of_much_data_need_as_many_orders_as_little_data(data, max_leaves, expected):
    assert UsualForces("ndcg@10", max_leaves).for_documents(data, 255 * LITTLE_IN_LEAF, 3_000) == expected


def test_clicks_and_pairs_have_lambdaranks_forces(data):
    clicks = replace(data, positions=np.concatenate([np.arange(size) for size in data.groups.sizes]))
    pairs = rw.RankingDataset.from_arrays(data.features, group=data.groups.sizes, preferences=rw.Preferences([0], [1]))
    for unjudged in (clicks, pairs):
        assert UsualForces("ndcg@10").for_documents(unjudged, 100, 10) == lambdarank("ndcg@10")


def test_other_metrics_have_lambdaranks_forces(data):
    assert UsualForces("map").for_documents(data, data.n_docs, data.n_queries) == lambdarank("map")


def test_long_lists_are_bound_to_ranknets_forces():
    data = rw.synthetic.web_search(n_queries=4, docs_per_query=400, seed=0)
    scores = np.random.default_rng(0).normal(size=data.n_docs)
    found, expected = (forces.bind(data)(scores) for forces in (UsualForces("ndcg@10"), ranknet()))
    assert_array_equal(found.gradient, expected.gradient)
