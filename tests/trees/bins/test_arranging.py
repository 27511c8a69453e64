"""Codes arranged for histograms: the arrangement is the naive one, and trees do not depend on it."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace

import numpy as np
import pytest

from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.kernels import reference
from rankwright.trees.bins import arranging
from rankwright.trees.bins.arranging import ArrangedOnce, arranged_rows, grouped_features
from rankwright.trees.bins.binned import BinnedDataset, bin_dataset
from rankwright.trees.forests.forest import Tree
from rankwright.trees.grower import GrowerMemory, grow_tree
from rankwright.trees.params import TreeParams

PARAMS = TreeParams(max_leaves=16, min_docs_in_leaf=3, learning_rate=0.5)
SOME_ROWS, SOME_FEATURES = np.arange(0, 9_000, 3), np.array([0, 3, 17, 18, 30])


@pytest.fixture
def arranged_at_once(monkeypatch):
    """However few codes there are."""
    monkeypatch.setattr(arranging, "LEAST_CODES", 0)


def streams(n_docs: int, n_features: int) -> BinnedDataset:
    """Features of three kinds in turn: two are 0 together in many rows, the third seldom."""
    rng = np.random.default_rng(n_features)
    features = rng.normal(size=(n_docs, n_features)).round(1).astype(np.float32)
    for kind, share in enumerate((0.9, 0.6, 0.05)):
        features[np.ix_(rng.random(n_docs) < share, np.arange(kind, n_features, 3))] = 0.0
    features[rng.random(features.shape) < 0.01] = np.nan
    source = RankingDataset(features=features, groups=Groups.of_sizes([n_docs]), labels=np.zeros(n_docs, np.float32))
    return bin_dataset(source, in_key_order=False)


def tree_of(data: BinnedDataset, params: TreeParams, threads: int, **settings) -> Tree:
    rng = np.random.default_rng(1)
    slope = data.codes[0, :, :3].sum(axis=1) / 100
    gradient, curvature = rng.normal(size=data.n_docs) + slope, rng.random(data.n_docs)
    gradient[::3] = curvature[::3] = 0.0  # no force acts on these
    return grow_tree(data, gradient, curvature, params, threads=threads, **settings).tree


def same(mine: Tree, other: Tree) -> bool:
    parts = [(getattr(mine, field.name), getattr(other, field.name)) for field in fields(Tree)]
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in parts)


@pytest.mark.usefixtures("arranged_at_once")
@pytest.mark.parametrize("n_features", [1, 16, 45])
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_compiled_arrangement_is_the_naive_one(n_features, threads):
    codes = streams(700, n_features).codes
    given = arranged_rows(codes, n_features, threads)
    naive, counts = np.full_like(given.rows, 7), np.full_like(given.counts, 7)
    reference.arrange_codes(codes, given.features, given.usual, given.n_skipping, naive, counts, 1)
    assert np.array_equal(given.rows, naive)
    assert np.array_equal(given.counts, counts)
    assert sorted(given.features[given.features >= 0]) == list(range(n_features))


@pytest.mark.parametrize(
    ("n_docs", "params", "settings"),
    [
        (1_000, PARAMS, {}),
        (9_000, PARAMS, {}),
        (9_000, PARAMS, {"rows": SOME_ROWS}),
        (1_000, PARAMS, {"features": SOME_FEATURES}),
        (9_000, replace(PARAMS, growth="symmetric"), {}),
        (1_000, replace(PARAMS, gain_noise=1.0, split_feature_fraction=0.5), {}),
    ],
)
def test_the_tree_does_not_depend_on_the_arrangement(monkeypatch, n_docs, params, settings):
    expected = tree_of(streams(n_docs, 45), params, 1, **settings)
    monkeypatch.setattr(arranging, "LEAST_CODES", 0)
    assert GrowerMemory(streams(n_docs, 45), 16).scratch.arranged.n_skipping > 0
    for threads in (1, 2, 7):
        assert same(tree_of(streams(n_docs, 45), params, threads, **settings), expected)


def test_features_that_are_usual_together_are_a_group():
    rng = np.random.default_rng(0)
    often = rng.random((500, 1)) < 0.3
    unusual = np.concatenate([np.tile(often, (1, 16)), rng.random((500, 20)) < 0.9], axis=1)
    shuffled = rng.permutation(36)
    order, n_skipping = grouped_features(unusual[:, shuffled])
    assert set(shuffled[order[:16]]) == set(range(16))
    assert n_skipping == 1
    assert sorted(order) == list(range(36))


def test_nothing_is_arranged_where_it_does_not_help_or_memory_is_short(monkeypatch):
    data = streams(300, 20)
    assert arranged_rows(data.codes, 20, 1) is arranging.NOT_ARRANGED
    monkeypatch.setattr(arranging, "LEAST_CODES", 0)
    assert arranged_rows(data.codes.astype(np.uint16), 20, 1) is arranging.NOT_ARRANGED
    monkeypatch.setattr(arranging, "free_memory", lambda: 10_000)
    assert arranged_rows(data.codes, 20, 1) is arranging.NOT_ARRANGED


@pytest.mark.usefixtures("arranged_at_once")
def test_an_arrangement_is_shared_by_all_that_have_the_codes():
    data = streams(300, 20)
    again = replace(data, feature_names=tuple(f"f{i}" for i in range(20)))
    first, second = (GrowerMemory(own, 4).scratch.arranged for own in (data, again))
    assert first.rows is second.rows
    other = replace(data, codes=data.codes.copy())
    assert GrowerMemory(other, 4).scratch.arranged.rows is not first.rows
    assert isinstance(pickle.loads(pickle.dumps(data.arranged)), ArrangedOnce)
