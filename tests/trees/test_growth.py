"""Symmetric trees, and what is drawn when splits are chosen: laws of the options of growing."""

from __future__ import annotations

from dataclasses import replace
from math import erf, sqrt
from typing import Any

import numpy as np
import pytest
from tests.contracts.trained import chance, learnable, small
from tests.trees.test_grower import CASES, FREE, ONE_LEAF, binned, grow_case, leaves_of, noisy, same

import rankwright as rw
from rankwright import kernels
from rankwright.catalog.rankers import RANKERS, load
from rankwright.errors import SettingError
from rankwright.kernels import reference
from rankwright.kernels.naive.common import about_normal, stream_of
from rankwright.mart.forest_ranker import ForestRanker
from rankwright.trees.forests.forest import Tree
from rankwright.trees.grower import GrownTree, grow_tree
from rankwright.trees.params import TreeParams

FORESTS = [name for name, kind in RANKERS.items() if issubclass(kind, ForestRanker)]
OPTIONS: dict[str, dict[str, Any]] = {
    "noise": {"gain_noise": 1.0},
    "features drawn": {"split_feature_fraction": 0.5, "gain_noise": 0.3},
    "symmetric": {"growth": "symmetric"},
    "symmetric, all drawn": {"growth": "symmetric", "gain_noise": 2.0, "split_feature_fraction": 0.6},
}
TOGETHER = [
    (option, case)
    for option, settings in OPTIONS.items()
    for case in CASES
    if not ("growth" in settings and "categorical" in CASES[case])
]
SYMMETRIC = replace(FREE, growth="symmetric", max_leaves=8)


@pytest.mark.parametrize(("option", "case"), TOGETHER)
def test_the_compiled_tree_is_the_naive_one_for_any_number_of_threads(option, case, monkeypatch):
    core = pytest.importorskip("rankwright.kernels._core")
    chosen = dict(CASES[case], params=replace(CASES[case].get("params", FREE), **OPTIONS[option]))
    for name in ("grow_tree", "quantise_lambdas"):
        monkeypatch.setattr(kernels, name, getattr(reference, name))
    expected = grow_case(chosen, 0, 1)
    assert expected.tree.n_leaves > 1
    for name in ("grow_tree", "quantise_lambdas"):
        monkeypatch.setattr(kernels, name, getattr(core, name))
    for threads in (1, 2, 7):
        assert same(grow_case(chosen, 0, threads), expected)


@pytest.mark.parametrize("option", OPTIONS)
def test_little_room_for_histograms_changes_nothing(option):
    case = dict(CASES["plain"], params=replace(FREE, **OPTIONS[option]))
    assert same(grow_case(case, 3, 2), grow_case(case | {"histogram_memory": 1}, 3, 2))


# --- symmetric trees ---


def splits_of(tree: Tree) -> list[tuple[int, int, bool]]:
    """The different splits of the tree, in the order they were made."""
    inner = np.flatnonzero(tree.feature >= 0)
    made = inner[np.argsort(tree.left[inner])]
    return list(dict.fromkeys((int(tree.feature[i]), int(tree.bin[i]), bool(tree.missing_left[i])) for i in made))


def check_symmetric(tree: Tree, most_levels: int) -> None:
    """Every path makes some of the tree's splits, each at most once, in the order of levels."""
    splits = splits_of(tree)
    assert len(splits) <= most_levels
    level_above = np.full(len(tree.feature), -1)
    for node in np.flatnonzero(tree.feature >= 0):
        level = splits.index((int(tree.feature[node]), int(tree.bin[node]), bool(tree.missing_left[node])))
        assert level > level_above[node]
        level_above[[tree.left[node], tree.right[node]]] = level


@pytest.mark.parametrize(("max_leaves", "max_depth", "levels"), [(8, None, 3), (15, None, 3), (16, 2, 2), (64, 9, 6)])
@pytest.mark.parametrize("min_docs", [1, 20])
def test_a_level_has_one_split(max_leaves, max_depth, levels, min_docs):
    features, gradient, curvature = noisy(600, 6, 1)
    limits: dict[str, Any] = {"max_leaves": max_leaves, "max_depth": max_depth, "min_docs_in_leaf": min_docs}
    tree = grow_tree(binned(features), gradient, curvature, replace(SYMMETRIC, **limits)).tree
    check_symmetric(tree, levels)
    assert len(splits_of(tree)) == levels
    assert levels < tree.n_leaves <= 2**levels
    assert tree.count[leaves_of(tree)].min() >= min_docs


@pytest.mark.parametrize("case", [name for name, case in CASES.items() if "categorical" not in case])
def test_a_single_level_is_the_best_split(case):
    both = [
        grow_case(dict(CASES[case], params=replace(CASES[case].get("params", FREE), max_leaves=n, growth=growth)), 2, 1)
        for n, growth in ((2, "best-first"), (3, "symmetric"))
    ]
    assert same(*both)


def test_a_level_gains_most_in_all_its_leaves_together():
    features, gradient, curvature = noisy(300, 4, 2, missing=0.0)
    grown = grow_tree(binned(features), gradient, curvature, replace(SYMMETRIC, max_leaves=4))
    g, h = gradient.astype(float), curvature.astype(float)

    def gain(rows: np.ndarray, left: np.ndarray) -> float:
        sides = [rows[left[rows]], rows[~left[rows]]]
        if min(map(len, sides)) == 0:
            return 0.0
        return float(sum(g[side].sum() ** 2 / h[side].sum() for side in sides) - g[rows].sum() ** 2 / h[rows].sum())

    tree, leaves = grown.tree, [rows_of(grown, 1), rows_of(grown, 2)]
    places = [features[:, feature] <= value for feature in range(4) for value in np.unique(features[:, feature])]
    best = max(sum(gain(rows, left) for rows in leaves) for left in places)
    assert tree.gain[[1, 2]].sum() == pytest.approx(best, rel=0.01)
    for node, rows in zip((1, 2), leaves, strict=True):
        if tree.feature[node] >= 0:
            made = gain(rows, features[:, tree.feature[node]] <= tree.threshold[node])
            assert tree.gain[node] == pytest.approx(made, rel=0.05, abs=0.01)


def rows_of(grown: GrownTree, node: int) -> np.ndarray:
    return grown.rows[grown.begin[node] : grown.begin[node] + grown.tree.count[node]].astype(np.int64)


def test_a_leaf_that_a_split_would_make_too_small_takes_no_part_in_it():
    first, second = np.repeat([0.0, 1.0], [40, 10]), np.tile([0.0, 1.0], 25)
    gradient = np.where(first > 0, 5.0, np.where(second > 0, 1.0, -1.0))
    params = replace(SYMMETRIC, max_leaves=4, min_docs_in_leaf=6)
    tree = grow_tree(binned(np.stack([first, second], axis=1)), gradient, np.ones(50), params).tree
    assert tree.feature.tolist() == [0, 1, -1, -1, -1]  # of the ten documents on the right, five would go each way
    assert tree.count.tolist() == [50, 40, 10, 20, 20]
    assert tree.value[leaves_of(tree)].tolist() == [-5.0, 1.0, -1.0]


def test_missing_values_go_to_one_side_of_a_level():
    features, gradient, curvature = noisy(500, 4, 5, missing=0.4)
    tree = grow_tree(binned(features), gradient, curvature, replace(SYMMETRIC, max_leaves=16)).tree
    sides: dict[tuple[int, int], set[bool]] = {}
    for feature, bin, missing_left in splits_of(tree):
        sides.setdefault((feature, bin), set()).add(missing_left)
    assert all(len(side) == 1 for side in sides.values())
    values = np.tile(np.array([[0.0], [1.0], [np.nan]]), (20, 1))
    for like, forces in ((0, [-1.0, 1.0, -1.0]), (1, [-1.0, 1.0, 1.0])):
        tree = grow_tree(binned(values), np.tile(forces, 20), np.ones(60), SYMMETRIC).tree
        assert tree.missing_left[0] == (like == 0)


def test_symmetric_trees_refuse_categories_in_one_line():
    data = learnable()
    with pytest.raises(SettingError, match="symmetric trees do not split on categories"):
        rw.LambdaMART(n_trees=2, growth="symmetric", categorical=[1]).fit(data)


@pytest.mark.parametrize("name", FORESTS)
def test_symmetric_forests_are_saved_resumed_and_scored_like_others(name, tmp_path):
    data, budget = learnable(), str(RANKERS[name].budget)
    settings: dict[str, Any] = {"growth": "symmetric", "max_leaves": 8, **chance(name)}
    whole = small(name, **settings, **{budget: 6}).fit(data)
    whole.save(tmp_path / "whole.rw")
    small(name, **settings, **{budget: 3}).fit(data, checkpoint=tmp_path / "run")
    resumed = small(name, **settings, **{budget: 6}).fit(data, checkpoint=tmp_path / "run")
    resumed.save(tmp_path / "resumed.rw")
    small(name, **settings, **{budget: 6}).set_params(threads=2).fit(data).save(tmp_path / "threads.rw")
    expected = (tmp_path / "whole.rw").read_bytes()
    assert (tmp_path / "resumed.rw").read_bytes() == expected
    assert (tmp_path / "threads.rw").read_bytes() == expected
    loaded = load(tmp_path / "whole.rw")
    assert loaded.growth == "symmetric"
    assert np.array_equal(loaded.predict(data), whole.predict(data))
    assert np.array_equal(list(loaded.staged_predict(data))[-1], whole.predict(data))


def test_symmetric_forests_learn_and_are_compressed_exactly():
    train, test = learnable().split(valid=0.3, seed=0)
    ranker = rw.LambdaMART(n_trees=30, max_leaves=8, growth="symmetric", min_docs_in_leaf=5).fit(train)
    plain = rw.evaluate(np.zeros(test.n_docs), test, ["ndcg@5"])["ndcg@5"].mean
    assert rw.evaluate(ranker.predict(test), test, ["ndcg@5"])["ndcg@5"].mean > plain + 0.1
    smaller = rw.compress(ranker, train, means=["exact"]).model
    np.testing.assert_allclose(smaller.predict(test), ranker.predict(test), atol=1e-5)


# --- noise on gains ---


def two_features(share: float) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of ±1, and two features: the first agrees with `share` of them, the second with 40 fewer of 400."""
    gradient = np.tile([1.0, -1.0], 200)
    columns = []
    for wrong in (round(400 * (1 - share)), round(400 * (1 - share)) + 40):
        column = gradient.copy()
        column[:wrong] *= -1  # as many of each sign
        columns.append(column)
    return np.stack(columns, axis=1), gradient


def test_the_draw_follows_the_normal_law_in_roots_of_gains():
    """Of n documents with gradients ±1 and curvature 1, a feature that agrees with n - w gains (n - 2w)² / n."""
    features, gradient = two_features(0.75)
    roots = [(400 - 2 * wrong) / sqrt(400) for wrong in (100, 140)]
    data, deviation = binned(features), 2.0  # in units of Σ gradient² / Σ curvature = 1
    params = replace(FREE, max_leaves=2, gain_noise=deviation)
    trees = [grow_tree(data, gradient, np.ones(400), params, seed=seed, threads=1).tree for seed in range(1000)]
    share = np.mean([tree.feature[0] == 1 for tree in trees])
    expected = 0.5 * (1 + erf((roots[1] - roots[0]) / (deviation * sqrt(2)) / sqrt(2)))
    assert abs(share - expected) < 4 * sqrt(expected * (1 - expected) / 1000)
    for tree in trees[:50]:
        assert tree.gain[0] == pytest.approx(roots[tree.feature[0]] ** 2, rel=1e-3)  # the true one


def test_equal_features_are_drawn_alike_and_without_noise_the_first_wins():
    features, gradient, curvature = noisy(200, 1, 0)
    data = binned(np.repeat(features, 4, axis=1))
    for noise in (0.0, 0.1):
        params = replace(FREE, max_leaves=2, gain_noise=noise)
        roots = [
            grow_tree(data, gradient, curvature, params, seed=seed, threads=1).tree.feature[0] for seed in range(400)
        ]
        counts = np.bincount(roots, minlength=4)
        assert counts[0] == 400 if noise == 0 else (abs(counts - 100) < 4 * sqrt(400 * 0.25 * 0.75)).all()


@pytest.mark.parametrize("growth", ["best-first", "symmetric"])
@pytest.mark.parametrize("features, gradient, curvature", ONE_LEAF.values(), ids=ONE_LEAF)  # noqa: PT006
def test_noise_makes_no_split_where_none_gains(growth, features, gradient, curvature):
    params = replace(FREE, gain_noise=1e6, growth=growth)
    assert grow_tree(binned(features), gradient, curvature, params).tree.n_leaves == 1


@pytest.mark.parametrize("growth", ["best-first", "symmetric"])
def test_noise_keeps_every_limit(growth):
    features, gradient, curvature = noisy(400, 5, 3)
    limits: dict[str, Any] = {"min_docs_in_leaf": 15, "min_gain": 4.0, "max_leaves": 16}
    for seed in range(20):
        params = replace(FREE, gain_noise=1e3, growth=growth, **limits)
        tree = grow_tree(binned(features), gradient, curvature, params, seed=seed).tree
        assert tree.count[leaves_of(tree)].min() >= 15
        inner = tree.feature >= 0
        assert (tree.gain[inner] > 0).all()
        if growth == "best-first":
            assert (tree.gain[inner] > 4.0).all()


def test_noise_is_one_number_for_a_tree_node_and_feature():
    """The scale of forces says nothing about how they are told apart, so it does not change what is drawn."""
    features, gradient, curvature = noisy(300, 5, 4)
    data, params = binned(features), replace(FREE, gain_noise=1.5)
    plain = grow_tree(data, gradient, curvature, params, seed=9).tree
    scaled = grow_tree(data, 4 * gradient, 2 * curvature, params, seed=9).tree  # exact in every digit
    assert np.array_equal(plain.feature, scaled.feature)
    assert np.array_equal(plain.bin, scaled.bin)
    assert np.array_equal(8 * plain.gain, scaled.gain)
    assert not np.array_equal(plain.feature, grow_tree(data, gradient, curvature, params, seed=10).tree.feature)


def test_the_numbers_drawn_are_about_normal():
    numbers = about_normal(stream_of(5, np.arange(100_000)))
    assert abs(numbers.mean()) < 0.01
    assert numbers.std() == pytest.approx(1.0, abs=0.01)
    place = 2 - 1 / sqrt(3)  # one deviation below the mean of four numbers from 0 to 1
    assert np.mean(numbers < -1) == pytest.approx((place**4 - 4 * (place - 1) ** 4) / 24, abs=0.005)
    assert abs(numbers).max() < 3.47


# --- features and queries drawn ---


def test_every_split_draws_its_features():
    features, gradient, curvature = noisy(500, 5, 6)
    data = binned(features)
    one = replace(FREE, split_feature_fraction=0.2)  # one of five
    trees = [grow_tree(data, gradient, curvature, one, seed=seed).tree for seed in range(100)]
    counts = np.bincount([tree.feature[0] for tree in trees], minlength=5)
    assert (abs(counts - 20) < 4 * sqrt(100 * 0.2 * 0.8)).all()
    assert any(len(set(tree.feature[tree.feature >= 0])) > 2 for tree in trees)
    few = [grow_tree(data, gradient, curvature, one, features=[1, 4], seed=seed).tree.feature[0] for seed in range(50)]
    assert set(few) == {1, 4}
    whole = grow_tree(data, gradient, curvature, FREE, seed=3)
    assert same(whole, grow_tree(data, gradient, curvature, replace(FREE, split_feature_fraction=1.0), seed=3))


def test_a_symmetric_level_draws_features_once_for_all_its_leaves():
    features, gradient, curvature = noisy(500, 5, 7)
    params = replace(SYMMETRIC, split_feature_fraction=0.2)
    for seed in range(10):
        check_symmetric(grow_tree(binned(features), gradient, curvature, params, seed=seed).tree, 3)


def test_weights_of_queries_are_those_of_the_bayesian_bootstrap():
    """A leaf's mean label then has the deviation s / √(n + 1) of n documents with deviation s (Rubin 1981)."""
    labels = np.random.default_rng(0).permutation(np.repeat([0.0, 1.0, 2.0, 4.0], 20))
    features, qid = np.arange(80.0)[:, None] % 2, np.arange(80)
    data = rw.RankingDataset.from_arrays(features, labels, qid=qid)

    def right_leaf(**settings: Any) -> float:
        whole: dict[str, Any] = {"learning_rate": 1.0, "query_fraction": 1.0, "feature_fraction": 1.0, "threads": 1}
        ranker = rw.MART(n_trees=1, max_leaves=2, min_docs_in_leaf=1, **whole, **settings)
        return float(ranker.fit(data).predict(np.array([[1.0]]))[0])

    inside = labels[features[:, 0] == 1]
    assert right_leaf() == pytest.approx(inside.mean(), abs=1e-5)
    for amount in (0.5, 1.0):
        means = [right_leaf(query_bootstrap=amount, seed=seed) for seed in range(150)]
        assert np.mean(means) == pytest.approx(inside.mean(), abs=0.1)
        if amount == 1:
            assert np.std(means) == pytest.approx(inside.std() / sqrt(len(inside) + 1), rel=0.25)


@pytest.mark.parametrize(
    ("setting", "value"),
    [("growth", "level"), ("gain_noise", -0.1), ("split_feature_fraction", 0.0), ("split_feature_fraction", 1.5)],
)
def test_settings_cannot_hold_nonsense(setting, value):
    with pytest.raises(SettingError, match=setting):
        TreeParams(**{setting: value})
    with pytest.raises(SettingError, match=setting):
        rw.LambdaMART(n_trees=1, **{setting: value}).fit(learnable())


def test_a_bootstrap_of_more_than_all_is_refused():
    with pytest.raises(SettingError, match="query_bootstrap"):
        rw.LambdaMART(n_trees=1, query_bootstrap=1.5).fit(learnable())
