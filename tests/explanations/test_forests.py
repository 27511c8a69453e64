"""Contributions of forests: those of every coalition of features, whatever the trees and documents are like."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import comb

import numpy as np
import pytest

import rankwright as rw
from rankwright import kernels
from rankwright.errors import InputError, UnknownNameError
from rankwright.kernels import reference
from rankwright.trees.forests.explaining import ExplainedForest, known_covers
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.merging import merge_forests
from rankwright.trees.forests.simplifying import merge_equal_shapes, simplified

N_FEATURES, N_CATEGORIES = 14, 5
CATEGORY = N_FEATURES - 1  # the feature that is split by categories


def random_tree(rng: np.random.Generator, depth: int, n_leaves: int) -> Forest:
    """A tree that splits leaves at random until it has so many or none may be split."""
    nodes = [{"depth": 0, "feature": -1, "left": -1, "right": -1, "count": 1000}]
    while sum(node["feature"] < 0 for node in nodes) < n_leaves:
        open_leaves = [n for n, node in enumerate(nodes) if node["feature"] < 0 and node["depth"] < depth]
        if not open_leaves:
            break
        at = open_leaves[-1] if rng.random() < 0.6 else int(rng.choice(open_leaves))  # often deeper and deeper
        parent = nodes[at]
        left = int(rng.integers(0, parent["count"] + 1))
        parent |= {"feature": int(rng.integers(N_FEATURES)), "left": len(nodes), "right": len(nodes) + 1}
        for size in (left, parent["count"] - left):
            nodes.append({"depth": parent["depth"] + 1, "feature": -1, "left": -1, "right": -1, "count": size})
    feature = np.array([node["feature"] for node in nodes], np.int32)
    threshold = np.where(feature >= 0, np.round(rng.normal(size=len(nodes)), 1), np.nan).astype(np.float32)
    threshold[feature == CATEGORY] = np.nan
    categories = np.where(feature == CATEGORY, rng.integers(0, 2**N_CATEGORIES, len(nodes)), 0)
    count = np.array([node["count"] for node in nodes], np.int64)
    return Forest(
        feature=feature,
        threshold=threshold,
        left=np.array([node["left"] for node in nodes], np.int32),
        right=np.array([node["right"] for node in nodes], np.int32),
        missing_left=(rng.random(len(nodes)) < 0.5) & (feature >= 0),
        value=np.where(feature < 0, rng.normal(size=len(nodes)), 0).astype(np.float32),
        gain=np.zeros(len(nodes)),
        count=count,
        offsets=np.array([0, len(nodes)]),
        n_features=N_FEATURES,
        categories=categories.astype(np.uint32)[:, None],
        category_values=np.arange(N_CATEGORIES, dtype=np.float32),
        category_offsets=np.array([0] * N_FEATURES + [N_CATEGORIES]),
        curvature=(count * rng.uniform(0.1, 1.0)).astype(np.float32),
    )


def random_forest(seed: int, n_trees: int = 2, depth: int = 12, n_leaves: int = 20) -> Forest:
    rng = np.random.default_rng(seed)
    return merge_forests([random_tree(rng, depth, n_leaves) for _ in range(n_trees)], np.ones(n_trees))


def random_documents(seed: int, n: int = 6) -> np.ndarray:
    """Documents with missing values, a constant feature, and categories, some of them unknown."""
    rng = np.random.default_rng([seed, 1])
    features = np.round(rng.normal(size=(n, N_FEATURES)), 1).astype(np.float32)
    features[rng.random(features.shape) < 0.1] = np.nan
    features[:, 0] = 0.5
    features[:, CATEGORY] = rng.integers(0, N_CATEGORIES + 2, n)
    return features


def by_twin(kernel, monkeypatch, explain):
    with monkeypatch.context() as patched:
        patched.setattr(kernels, kernel, getattr(reference, kernel))
        return explain()


@pytest.mark.parametrize("seed", range(100))
def test_contributions_of_random_forests_are_those_of_all_coalitions(seed, monkeypatch):
    forest, features = random_forest(seed, depth=1 + seed % 12), random_documents(seed)
    explained = ExplainedForest.of(forest, "curvature" if seed % 3 == 0 else "documents")
    expected = by_twin("tree_contributions", monkeypatch, lambda: explained.contributions(features))
    for threads in (1, 2, 7):
        found = explained.contributions(features, threads=threads)
        assert np.abs(found - expected).max() <= 1e-10
    assert np.abs(found.sum(axis=1) + explained.base - forest.predict(features)).max() <= 1e-12


@pytest.mark.parametrize("seed", range(12))
def test_contributions_against_a_background_are_those_of_all_coalitions(seed, monkeypatch):
    forest, features = random_forest(seed, depth=8), random_documents(seed)
    background = random_documents(seed + 1000, 5)
    explained = ExplainedForest.of(forest, None)
    expected = by_twin("background_contributions", monkeypatch, lambda: explained.against(features, background))
    found = [explained.against(features, background, threads=threads) for threads in (1, 2, 7)]
    assert all(one.tobytes() == found[0].tobytes() for one in found)
    assert np.abs(found[0] - expected).max() <= 1e-10
    assert np.abs(found[0].sum(axis=1) + forest.predict(background).mean() - forest.predict(features)).max() <= 1e-12


@pytest.mark.parametrize("seed", range(12))
def test_interactions_are_those_of_all_coalitions(seed, monkeypatch):
    forest, features = random_forest(seed, depth=8), random_documents(seed, 9)
    explained = ExplainedForest.of(forest, "documents")
    expected = by_twin("tree_interactions", monkeypatch, lambda: explained.interactions(features))
    found = [explained.interactions(features, threads=threads) for threads in (1, 2, 7)]
    assert all(one.tobytes() == found[0].tobytes() for one in found)
    assert np.abs(found[0] - expected).max() <= 1e-10
    assert np.array_equal(found[0], found[0].transpose(0, 2, 1))
    assert np.abs(found[0].sum(axis=2) - explained.contributions(features)).max() <= 1e-12


def test_the_game_is_that_of_walking_the_tree_with_some_features_known():
    forest, features = random_forest(3, n_trees=1, depth=6, n_leaves=12), random_documents(3)
    cover = forest.count.astype(float)
    players = sorted(set(forest.feature[forest.feature >= 0].tolist()))

    def worth(row: np.ndarray, known: set[int], node: int = 0) -> float:
        feature = int(forest.feature[node])
        if feature < 0:
            return float(forest.value[node])
        left, right = int(forest.left[node]), int(forest.right[node])
        if feature in known:
            alone = replace(forest.take_trees([0]))
            return worth(row, known, left if goes_left(alone, node, row) else right)
        total = cover[left] + cover[right]
        share = cover[left] / total if total else 0.5
        return share * worth(row, known, left) + (1 - share) * worth(row, known, right)

    found = ExplainedForest.of(forest, "documents").contributions(features)
    for row, mine in zip(features, found, strict=True):
        for player in players:
            others = [other for other in players if other != player]
            value = sum(
                (worth(row, {*some, player}) - worth(row, set(some))) / comb(len(others), size) / len(players)
                for size in range(len(players))
                for some in combinations(others, size)
            )
            assert mine[player] == pytest.approx(value, abs=1e-10)


def goes_left(forest: Forest, node: int, values: np.ndarray) -> bool:
    value = values[forest.feature[node]]
    if not np.isnan(forest.threshold[node]):
        return bool(forest.missing_left[node] if np.isnan(value) else value <= forest.threshold[node])
    known = value in range(N_CATEGORIES)
    return bool(forest.categories[node, 0] >> int(value) & 1) if known else bool(forest.missing_left[node])


def test_paths_of_more_features_than_points_at_once():
    n = 40
    features = np.where(np.arange(2 * n + 1) % 2 == 0, np.arange(2 * n + 1) // 2, -1)
    features[-1] = -1
    chain = replace(
        random_forest(0, 1, 1, 2),
        feature=features.astype(np.int32),
        threshold=np.where(features >= 0, 0.0, np.nan).astype(np.float32),
        left=np.where(features >= 0, np.arange(2 * n + 1) + 1, -1).astype(np.int32),
        right=np.where(features >= 0, np.arange(2 * n + 1) + 2, -1).astype(np.int32),
        missing_left=np.zeros(2 * n + 1, np.bool_),
        value=np.where(features < 0, np.arange(2 * n + 1), 0).astype(np.float32),
        gain=np.zeros(2 * n + 1),
        count=np.arange(4 * n, 2 * n - 1, -1),
        curvature=None,
        offsets=np.array([0, 2 * n + 1]),
        n_features=n,
        categories=np.zeros((2 * n + 1, 0), np.uint32),
        category_values=np.empty(0, np.float32),
        category_offsets=np.zeros(n + 1, np.int64),
    )
    documents = np.random.default_rng(0).normal(size=(20, n)).astype(np.float32)
    explained = ExplainedForest.of(chain, "documents")
    found = explained.contributions(documents)
    assert np.abs(found.sum(axis=1) + explained.base - chain.predict(documents)).max() <= 1e-10
    # A path of 40 features: what the last one adds against a background of one document is a coin's game.
    assert np.abs(explained.against(documents, documents[:1])[0]).max() == 0


def test_a_document_of_many_blocks_is_explained_as_it_is_alone():
    forest, features = random_forest(5), random_documents(5, 1000)
    explained = ExplainedForest.of(forest, "documents")
    together = explained.contributions(features, threads=2)
    assert all(
        explained.contributions(features[[row]])[0].tobytes() == together[row].tobytes() for row in (0, 127, 999)
    )


def test_equal_trees_and_cut_branches_keep_covers():
    forest = random_forest(7)
    doubled = merge_forests([forest, forest], np.ones(2))
    merged = merge_equal_shapes(doubled)
    features = random_documents(7)
    for cover in ("documents", "curvature"):
        alone = ExplainedForest.of(forest, cover).contributions(features)
        assert np.abs(ExplainedForest.of(merged, cover).contributions(features) - 2 * alone).max() <= 1e-6
        smaller = ExplainedForest.of(simplified(forest), cover)
        assert (
            np.abs(smaller.contributions(features).sum(axis=1) + smaller.base - forest.predict(features)).max() < 1e-12
        )


def test_covers_that_a_forest_lacks_are_refused():
    forest = random_forest(1)
    assert known_covers(forest) == ("documents", "curvature")
    with pytest.raises(InputError, match=r"does not tell the curvature in its nodes.*it tells documents"):
        ExplainedForest.of(replace(forest, curvature=None), "curvature")
    with pytest.raises(InputError, match=r"how many documents reached its nodes.*it tells curvature"):
        ExplainedForest.of(replace(forest, count=np.zeros_like(forest.count)), "documents")
    with pytest.raises(InputError, match="background sample"):
        ExplainedForest.of(replace(forest, count=np.zeros_like(forest.count), curvature=None), "documents")
    with pytest.raises(UnknownNameError, match="documents"):
        ExplainedForest.of(forest, "document")
    # One forest without it, and the whole has none.
    assert merge_forests([forest, replace(forest, curvature=None)]).curvature is None


def test_a_trained_forest_stores_the_curvature_of_its_nodes(tmp_path):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(400, 3)).astype(np.float32)
    labels = np.clip(np.round(features[:, 0] + 1), 0, 3)
    ranker = rw.MART(n_trees=3, max_leaves=8, min_docs_in_leaf=5).fit(features, labels, group=[200, 200])
    forest = ranker.forest_
    assert forest.curvature is not None
    # The curvature of a squared error is that of its documents alone, the same for each.
    ratio = forest.curvature / forest.count
    assert np.allclose(ratio, ratio[0])
    ranker.save(tmp_path / "model.rw")
    again = rw.load(tmp_path / "model.rw").forest_
    assert again.equals(forest)
