"""Trees chosen and weighed anew: least squares to a model's scores, less each query's mean."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError
from rankwright.mart.lambdamart import LambdaMART
from rankwright.trees.forests import selection as selection_module
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.selection import select_trees, tree_products


@pytest.fixture(scope="module")
def data() -> RankingDataset:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(400, 4)).astype(np.float32)
    labels = np.clip(np.rint(features[:, 0] + features[:, 1] * features[:, 2]), 0, 4)
    return RankingDataset.from_arrays(features, labels, group=[20] * 20)


@pytest.fixture(scope="module")
def forest(data) -> Forest:
    return LambdaMART(n_trees=12, max_leaves=5, min_docs_in_leaf=5).fit(data).forest_


def centred(values: np.ndarray, groups: Groups) -> np.ndarray:
    return np.concatenate([values[docs] - values[docs].mean(axis=0) for docs in groups.slices()])


def error(chosen: Forest, forest: Forest, data: RankingDataset) -> float:
    missed = chosen.predict(data.features) - forest.predict(data.features)
    return float((centred(missed, data.groups) ** 2).sum())


def test_products_are_those_of_scores_less_their_means(forest, data):
    says = centred(forest.value[forest.apply(data.features)].astype(np.float64), data.groups)
    target = forest.predict(data.features)
    products = tree_products(forest, data.features, data.groups, target)
    assert np.allclose(products.among, says.T @ says, rtol=1e-5, atol=1e-5 * np.abs(says).max() ** 2)
    assert np.allclose(products.with_target, says.T @ centred(target, data.groups), rtol=1e-5, atol=1e-5)


def test_products_do_not_depend_on_batches_or_threads(forest, data, monkeypatch):
    target = forest.predict(data.features)
    whole = tree_products(forest, data.features, data.groups, target, threads=1)
    monkeypatch.setattr(selection_module, "BATCH_CELLS", 100)
    parts = tree_products(forest, data.features, data.groups, target, threads=2)
    assert np.array_equal(whole.among, parts.among)
    assert np.array_equal(whole.with_target, parts.with_target)


def test_weights_are_those_of_least_squares(forest, data):
    target = forest.predict(data.features)
    chosen = select_trees(forest, data.features, data.groups, target, 5)
    says = centred(forest.value[forest.apply(data.features)].astype(np.float64), data.groups)
    for size in (1, 3, 5):
        best = np.linalg.lstsq(says[:, chosen.trees[:size]], centred(target, data.groups), rcond=None)[0]
        assert chosen.weights(size) == pytest.approx(best, rel=0.02)


def test_the_first_tree_is_the_best_one_and_more_trees_come_closer(forest, data):
    chosen = select_trees(forest, data.features, data.groups, forest.predict(data.features), forest.n_trees)
    errors = [error(chosen.best(size), forest, data) for size in range(1, chosen.n_trees + 1)]
    assert errors == sorted(errors, reverse=True)
    alone = [
        select_trees(forest.take_trees([tree]), data.features, data.groups, forest.predict(data.features), 1).best(1)
        for tree in range(forest.n_trees)
    ]
    assert errors[0] == pytest.approx(min(error(tree, forest, data) for tree in alone))
    assert errors[-1] < 1e-3 * errors[0]


def test_the_second_tree_is_the_best_beside_the_first(forest, data):
    target = forest.predict(data.features)
    chosen = select_trees(forest, data.features, data.groups, target, 2)
    first = int(chosen.trees[0])
    pairs = [
        select_trees(forest.take_trees([first, other]), data.features, data.groups, target, 2).best(2)
        for other in range(forest.n_trees)
        if other != first
    ]
    assert error(chosen.best(2), forest, data) == pytest.approx(
        min(error(pair, forest, data) for pair in pairs), rel=1e-3
    )


def test_a_tree_that_says_the_same_is_not_chosen_twice(forest, data):
    doubled = forest.take_trees([0, 0, 1, 1])
    chosen = select_trees(doubled, data.features, data.groups, doubled.predict(data.features), 4)
    assert chosen.n_trees == 2
    assert error(chosen.best(2), doubled, data) < 1e-3 * error(chosen.best(1), doubled, data)


def test_trees_that_say_nothing_are_not_chosen(forest, data):
    silent = forest.scaled(0.0)
    assert select_trees(silent, data.features, data.groups, silent.predict(data.features), 3).n_trees == 0


def test_trees_can_be_taken_in_any_order(forest, data):
    taken = forest.take_trees([7, 2])
    expected = sum(forest.part(tree, tree + 1).predict(data.features) for tree in (7, 2))
    assert np.array_equal(taken.predict(data.features), expected)
    assert forest.take_trees(range(4)).equals(forest.truncated(4))
    with pytest.raises(InputError, match="between 0 and 11"):
        forest.take_trees([12])
