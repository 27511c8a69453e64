"""Sorting by a comparator, transitive or not, and the stability of the order."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.comparators.net import ComparatorNet, random_net
from rankwright.comparators.sorting import count_triples, measure_stability, most_comparisons, sort_documents
from rankwright.data.groups import Groups


def wild_net(n_features=5, seed=0):
    """A net far from transitive: large random weights."""
    net = random_net(n_features, (12,), np.random.default_rng(seed))
    return ComparatorNet(n_features, net.hidden, (6 * net.weights).astype(np.float32))


def linear_net(weights):
    """A net that prefers the document with the larger weighted sum of features: one nearly linear neuron."""
    n, small = len(weights), 0.01
    w = np.asarray(weights, np.float32)
    return ComparatorNet(n, (1,), np.concatenate([small * w, -small * w, [0, 1, -1, 0]]).astype(np.float32))


@pytest.fixture
def documents():
    rng = np.random.default_rng(1)
    groups = Groups.of_sizes([0, 1, 2, 40, 7, 100])
    return rng.normal(size=(groups.n_docs, 5)).astype(np.float32), groups


@pytest.mark.parametrize("algorithm", ["merge", "heap"])
@pytest.mark.parametrize("seed", range(5))
def test_any_comparator_ends_in_a_permutation(documents, algorithm, seed):
    features, groups = documents
    found = sort_documents(wild_net(seed=seed), features, groups, start=np.arange(groups.n_docs), algorithm=algorithm)
    for docs in groups.slices():
        assert np.array_equal(np.sort(found.rows[docs]), np.arange(docs.start, docs.stop))
    if algorithm == "merge":
        assert (found.n_comparisons <= most_comparisons(groups)).all()
    assert found.n_comparisons[:3].tolist() == [0, 0, 1]


def test_a_transitive_comparator_sorts_by_what_it_sees(documents):
    features, groups = documents
    worth = features @ np.array([1, -2, 0, 0, 1], np.float32)
    found = sort_documents(linear_net([1, -2, 0, 0, 1]), features, groups)
    for docs in groups.slices():
        assert (np.diff(worth[found.rows[docs]]) <= 0).all()


def test_scores_reproduce_the_order_and_equals_share_one():
    features = np.array([[0.0], [2.0], [1.0], [2.0], [1.0], [5.0]], np.float32)
    groups = Groups.of_sizes([5, 1])
    scores = sort_documents(linear_net([1]), features, groups).scores(groups)
    assert scores.tolist() == [-4, 0, -2, 0, -2, 0]


def test_the_order_documents_come_in_does_not_matter(documents):
    features, groups = documents
    net, usual = wild_net(), sort_documents(wild_net(), features, groups).scores(groups)
    order = np.lexsort((np.random.default_rng(0).random(groups.n_docs), groups.query_of_row))
    assert np.array_equal(sort_documents(net, features[order], groups).scores(groups), usual[order])


def test_triples_are_counted_as_one_by_one(documents):
    features, _ = documents
    n, net = 12, wild_net()
    left, right = (rows.ravel() for rows in np.meshgrid(np.arange(n), np.arange(n), indexing="ij"))
    margins = net.margins(features[:n], left, right)
    beats = (margins[:, 0] > margins[:, 1]).reshape(n, n)
    cycles = [
        (a, b, c) for a in range(n) for b in range(n) for c in range(n)
        if a < b and a < c and beats[a, b] and beats[b, c] and beats[c, a]
    ]  # fmt: skip
    groups = Groups.of_sizes([n])
    found = count_triples(net, features[:n], groups, rng=np.random.default_rng(0))
    assert found == (n * (n - 1) * (n - 2) // 6, len(cycles))
    assert len(cycles) > 5


def test_a_transitive_comparator_is_stable_and_a_wild_one_is_not(documents):
    features, groups = documents
    steady = measure_stability(linear_net([1, 2, 3, 4, 5]), features, groups, rng=np.random.default_rng(0))
    assert (steady.share_of_same_orders, steady.most_moved, steady.n_intransitive) == (1.0, 0, 0)
    wild = measure_stability(wild_net(), features, groups, rng=np.random.default_rng(0))
    assert wild.share_of_same_orders < 1
    assert wild.n_intransitive > 0
    assert wild.most_moved <= 100
    assert wild.mean_moved * groups.n_queries == pytest.approx(wild.share_of_moved_positions * groups.n_docs)


def test_equal_documents_are_no_instability():
    features, groups = np.ones((30, 5), np.float32), Groups.of_sizes([30])
    found = measure_stability(wild_net(), features, groups, rng=np.random.default_rng(0))
    assert (found.most_moved, found.n_intransitive) == (0, 0)
