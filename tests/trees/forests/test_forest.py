"""Forests: scores are what walking each tree gives, for raw values and codes, whole and in parts."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rankwright import kernels
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, SettingError, UnknownNameError
from rankwright.kernels import reference
from rankwright.trees.bins.binned import BinnedDataset, bin_dataset
from rankwright.trees.forests import compiled as compiled_module
from rankwright.trees.forests.forest import Forest, forest_of
from rankwright.trees.forests.merging import merge_forests
from rankwright.trees.grower import grow_tree
from rankwright.trees.params import TreeParams

AWKWARD = [0.0, -0.0, 1e-45, -1e-45, 3.4028235e38, -3.4028235e38, 1.0, 1.0000001, np.inf, -np.inf, np.nan]


def walk(forest: Forest, features: np.ndarray) -> np.ndarray:
    """The leaf of every document in every tree, as the forest's arrays say it."""
    leaves = np.empty((len(features), forest.n_trees), int)
    for row, values in enumerate(features):
        for tree, root in enumerate(forest.root):
            node = int(root)
            while forest.feature[node] >= 0:
                node = int(forest.left[node] if goes_left(forest, node, values) else forest.right[node])
            leaves[row, tree] = node
    return leaves


def goes_left(forest: Forest, node: int, values: np.ndarray) -> bool:
    value = values[forest.feature[node]]
    if not np.isnan(forest.threshold[node]):
        return bool(forest.missing_left[node] if np.isnan(value) else value <= forest.threshold[node])
    known = forest.categories_of(int(forest.feature[node])).tolist()
    if value not in known:
        return bool(forest.missing_left[node])
    code = known.index(value)
    return bool(forest.categories[node, code // 32] >> (code % 32) & 1)


def summed(forest: Forest, leaves: np.ndarray) -> np.ndarray:
    return np.add.accumulate(forest.value[leaves].astype(np.float64), axis=1)


def grown(
    features: np.ndarray, n_trees: int = 6, seed: int = 0, **settings: Any
) -> tuple[Forest, BinnedDataset, np.ndarray]:
    """A forest boosted on noise, its training data and its training scores."""
    rng = np.random.default_rng(seed)
    bins = {name: settings.pop(name) for name in ("max_bins", "categorical") if name in settings}
    bins["categorical"] = [column + 1 for column in bins.get("categorical", ())]
    params = TreeParams(**({"max_leaves": 8, "min_docs_in_leaf": 1, "min_curvature_in_leaf": 0.0} | settings))
    n_docs = len(features)
    given = RankingDataset.from_arrays(features, np.zeros(n_docs), group=[n_docs])
    data = bin_dataset(given, in_key_order=False, **bins)
    target, scores = rng.normal(size=n_docs), np.zeros(n_docs)
    trees = []
    for number in range(n_trees):
        tree = grow_tree(data, scores - target, np.ones(n_docs), params, seed=number)
        tree.add_to(scores)
        trees.append(tree.tree)
    return forest_of(trees, data.mapper), data, scores


def noise(n_docs: int, n_features: int, seed: int, missing: float = 0.1) -> np.ndarray:
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_docs, n_features)).round(1).astype(np.float32)
    features[rng.random(features.shape) < missing] = np.nan
    return features


CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "no missing values": {"missing": 0.0},
    "one tree": {"n_trees": 1},
    "five trees": {"n_trees": 5},
    "two-byte codes": {"n_docs": 900, "n_features": 2, "max_leaves": 300, "digits": 6, "max_bins": 900},
    "many leaves": {"n_docs": 600, "max_leaves": 300},
    "64 leaves": {"n_docs": 400, "max_leaves": 64},
    "65 leaves": {"n_docs": 400, "max_leaves": 65},
    "symmetric": {"growth": "symmetric", "n_docs": 400, "max_leaves": 64},
    "symmetric, no missing values": {"growth": "symmetric", "n_docs": 400, "max_leaves": 16, "missing": 0.0},
    "symmetric, large": {"growth": "symmetric", "n_docs": 600, "max_leaves": 256, "n_features": 9},
    "symmetric, two-byte codes": {"growth": "symmetric", "n_docs": 900, "max_leaves": 64, "digits": 6, "max_bins": 900},
    "categories": {"categorical": [1, 2]},
    "many categories": {"categorical": [1], "n_docs": 600, "category_width": 200, "max_leaves": 20},
}


def grow_case(case: dict[str, Any]) -> tuple[Forest, BinnedDataset, np.ndarray, np.ndarray]:
    case = dict(case)
    features = noise(case.pop("n_docs", 300), case.pop("n_features", 4), 1, case.pop("missing", 0.1))
    if case.pop("digits", 1) > 1:
        features += np.random.default_rng(2).random(features.shape, np.float32)
    width = case.pop("category_width", 6)
    for feature in case.get("categorical", []):
        features[:, feature] = np.floor(features[:, feature] * width)
    return *grown(features, **case), features


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_scores_are_what_walking_the_trees_gives(case):
    forest, data, training_scores, features = grow_case(case)
    probes = np.concatenate([features, np.full((1, features.shape[1]), np.nan), features[:9] + np.float32(0.05)])
    leaves = walk(forest, probes)
    expected = summed(forest, leaves)
    assert np.array_equal(forest.predict(probes), expected[:, -1])
    assert np.array_equal(forest.apply(probes), leaves)
    assert np.array_equal(forest.predict(features), training_scores)
    from_codes = np.zeros(len(features))
    forest.add_scores_of_codes(data, from_codes)
    assert np.array_equal(from_codes, training_scores)
    for n_trees, scores in forest.staged_predict(probes, every=4):
        assert np.array_equal(scores, expected[:, n_trees - 1])
    assert n_trees == forest.n_trees


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_compiled_scorer_is_the_naive_one_for_any_number_of_threads(case, monkeypatch):
    core = pytest.importorskip("rankwright.kernels._core")
    forest, data, _, features = grow_case(case)

    def results(threads: int) -> list[np.ndarray]:
        from_codes = np.zeros(data.n_docs)
        forest.add_scores_of_codes(data, from_codes, threads=threads)
        return [forest.predict(features, threads=threads), forest.apply(features, threads=threads), from_codes]

    for name in ("score_forest", "score_by_bits", "find_leaves", "score_codes"):
        monkeypatch.setattr(kernels, name, getattr(reference, name))
    expected = results(1)
    for name in ("score_forest", "score_by_bits", "find_leaves", "score_codes"):
        monkeypatch.setattr(kernels, name, getattr(core, name))
    for threads in (1, 2, 7):
        assert all(np.array_equal(mine, theirs) for mine, theirs in zip(results(threads), expected, strict=True))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_tree_that_was_just_grown_says_what_its_forest_does(case, monkeypatch):
    _, data, _, _ = grow_case(case)
    rng = np.random.default_rng(3)
    params = TreeParams(max_leaves=case.get("max_leaves", 8), min_docs_in_leaf=1, min_curvature_in_leaf=0.0)
    some = np.flatnonzero(rng.random(data.n_docs) < 0.7)
    tree = grow_tree(data, rng.normal(size=data.n_docs), np.ones(data.n_docs), params, rows=some)
    assert tree.tree.n_leaves > 1
    expected = np.ones(data.n_docs)
    forest_of([tree.tree], data.mapper).add_scores_of_codes(data, expected)
    for name, threads in (("compiled", 1), ("compiled", 2), ("compiled", 7), ("reference", 1)):
        if name == "reference":
            monkeypatch.setattr(kernels, "score_tree", reference.score_tree)
        scores = np.ones(data.n_docs)
        tree.add_to_all(data, scores, threads=threads)
        assert np.array_equal(scores, expected)


@given(arrays(np.float32, (12, 2), elements=st.one_of(st.floats(width=32), st.sampled_from(AWKWARD))))
def test_raw_values_and_codes_reach_the_same_leaves_whatever_the_floats(features):
    forest, data, training_scores = grown(features, n_trees=3)
    assert np.array_equal(forest.predict(features, threads=1), training_scores)
    from_codes = np.zeros(12)
    forest.add_scores_of_codes(data, from_codes, threads=1)
    assert np.array_equal(from_codes, training_scores)


@pytest.mark.parametrize("n_docs", [0, 1, 63, 64, 65, 128, 129, 256, 257, 400])
def test_a_documents_score_does_not_depend_on_the_others(n_docs):
    features = noise(400, 4, 3)
    forest, _, scores = grown(features, n_trees=9)
    assert np.array_equal(forest.predict(features[:n_docs]), scores[:n_docs])
    whole = noise(400, 4, 3, missing=0.0)
    without_missing, _, whole_scores = grown(whole, n_trees=9)
    assert np.array_equal(without_missing.predict(whole[:n_docs]), whole_scores[:n_docs])


def test_a_forest_with_more_thresholds_than_codes_is_scored_in_pieces(monkeypatch):
    features = noise(300, 2, 4)
    forest, _, scores = grown(features, n_trees=11)
    monkeypatch.setattr(compiled_module, "MAX_EDGES", 10)
    in_pieces = replace(forest)
    assert len(in_pieces.compiled) > 2
    assert np.array_equal(in_pieces.predict(features), scores)
    assert np.array_equal(in_pieces.apply(features), walk(forest, features))
    staged = dict(in_pieces.staged_predict(features, every=3))
    assert list(staged) == [3, 6, 9, 11]
    assert np.array_equal(staged[6], forest.truncated(6).predict(features))


def test_symmetric_trees_are_scored_by_the_bits_of_their_splits():
    features = noise(400, 9, 6)
    symmetric, _, _ = grown(features, growth="symmetric", max_leaves=64)
    [scored] = symmetric._scored
    assert scored.trees.by_bits
    n_splits = np.diff(scored.trees.node_offsets)
    assert np.array_equal(n_splits, symmetric.depth_of_trees())
    assert np.array_equal(np.diff(scored.trees.leaf_offsets), 2**n_splits)
    best_first, _, _ = grown(features, max_leaves=64)
    assert not best_first._scored[0].trees.by_bits
    mixed = merge_forests([symmetric, best_first], np.ones(2))
    assert not mixed._scored[0].trees.by_bits
    assert np.array_equal(mixed.predict(features), summed(mixed, walk(mixed, features))[:, -1])


def test_a_part_of_a_forest_says_what_its_trees_say():
    features = noise(200, 3, 5)
    forest, _, _ = grown(features)
    assert forest.truncated(0).predict(features).tolist() == [0.0] * 200
    sums = summed(forest, walk(forest, features))
    assert np.array_equal(forest.truncated(4).predict(features), sums[:, 3])
    assert forest.truncated(forest.n_trees).equals(forest)
    assert np.allclose(forest.part(2, 6).predict(features), sums[:, 5] - sums[:, 1])
    with pytest.raises(SettingError, match="n_trees must be 0 to 6, got 7"):
        forest.truncated(7)


@pytest.mark.parametrize("categorical", [[], [1]])
def test_merged_forests_say_the_mean_of_what_each_says(categorical):
    features = noise(300, 3, 6)
    features[:, 1] = np.floor(features[:, 1] * 3)
    forests = [grown(features[first : first + 100], seed=first, categorical=categorical)[0] for first in (0, 100, 200)]
    means = np.mean([forest.predict(features) for forest in forests], axis=0)
    merged = merge_forests(forests)
    assert merged.n_trees == 18
    assert np.allclose(merged.predict(features), means, rtol=1e-5, atol=1e-6)
    weighted = merge_forests(forests, [1.0, 0.0, -2.0])
    expected = forests[0].predict(features) - 2.0 * forests[2].predict(features)
    assert np.allclose(weighted.predict(features), expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(InputError, match="at least one"):
        merge_forests([])
    with pytest.raises(InputError, match=r"same features, got \[3, 2\]"):
        merge_forests([forests[0], grown(features[:, :2])[0]])


def test_importance_is_the_gain_or_the_number_of_a_features_splits():
    features = noise(300, 4, 7)
    forest, _, _ = grown(features)
    inner = forest.feature >= 0
    assert forest.importance().sum() == pytest.approx(forest.gain[inner].sum())
    assert forest.importance("count").tolist() == [(forest.feature == feature).sum() for feature in range(4)]
    with pytest.raises(UnknownNameError, match="unknown importance 'cover'"):
        forest.importance("cover")


def test_a_forest_of_no_trees_and_trees_of_one_leaf_say_what_they_can():
    features = np.ones((5, 2), np.float32)
    forest, data, scores = grown(features, n_trees=3)
    assert np.array_equal(forest.predict(features), scores)
    nothing = forest_of([], data.mapper)
    assert nothing.predict(features).tolist() == [0.0] * 5
    assert nothing.apply(features).shape == (5, 0)
    assert list(nothing.staged_predict(features)) == []


def test_a_forest_survives_pickling_with_or_without_its_layout():
    features = noise(100, 3, 8)
    forest, _, scores = grown(features)
    for _ in range(2):
        copy = pickle.loads(pickle.dumps(forest))
        assert copy.equals(forest)
        assert np.array_equal(copy.predict(features), scores)


def test_what_does_not_fit_is_refused():
    features = noise(100, 3, 9)
    forest, _, _ = grown(features)
    with pytest.raises(InputError, match="3 columns, as in training, got 2"):
        forest.predict(features[:, :2])
    with pytest.raises(SettingError, match="every must be 1 or more, got 0"):
        next(forest.staged_predict(features, every=0))
    _, other, _ = grown(features, max_bins=3)
    with pytest.raises(InputError, match="trained on other bins"):
        forest.add_scores_of_codes(other, np.zeros(100))


def test_leaves_and_depths_are_those_of_the_walks():
    forest, _, _ = grown(noise(200, 4, seed=3), n_trees=4, max_leaves=9)
    for tree in range(forest.n_trees):
        alone = forest.part(tree, tree + 1)
        parent = {
            int(child): node for node in range(len(alone.feature)) for child in (alone.left[node], alone.right[node])
        }
        leaves = np.flatnonzero(alone.feature < 0).tolist()
        assert forest.n_leaves_of_trees()[tree] == len(leaves)
        assert forest.depth_of_trees()[tree] == max(steps_up(leaf, parent) for leaf in leaves)


def steps_up(node: int, parent: dict[int, int]) -> int:
    return 0 if node == 0 else 1 + steps_up(parent[node], parent)


def test_no_trees_have_no_leaves():
    forest, _, _ = grown(noise(20, 2, seed=0), n_trees=0)
    assert forest.n_leaves_of_trees().tolist() == forest.depth_of_trees().tolist() == []
