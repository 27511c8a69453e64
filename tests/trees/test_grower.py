"""What a grown tree must be: the naive one, bit for bit, within every limit it was given."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from rankwright import kernels
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, SettingError
from rankwright.kernels import reference
from rankwright.trees.bins.binned import BinnedDataset, bin_dataset
from rankwright.trees.bins.binning import codes_by_row
from rankwright.trees.forests.forest import Tree
from rankwright.trees.grower import GrowerMemory, GrownTree, grow_tree
from rankwright.trees.params import TreeParams

FREE = TreeParams(max_leaves=12, min_docs_in_leaf=1, min_curvature_in_leaf=0.0, learning_rate=1.0)


def binned(features: Any, **settings: Any) -> BinnedDataset:
    matrix = np.asarray(features, np.float32)
    return bin_dataset(binned_source(matrix), in_key_order=False, **settings)


def noisy(n_docs: int, n_features: int, seed: int, missing: float = 0.1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, gradients that depend on the first of them, and curvatures."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n_docs, n_features)).round(1).astype(np.float32)
    gradient = rng.normal(size=n_docs) + features[:, 0]
    features[rng.random(features.shape) < missing] = np.nan
    return features, gradient.astype(np.float32), rng.random(n_docs).astype(np.float32)


def leaves_of(tree: Tree) -> np.ndarray:
    return np.flatnonzero(tree.feature < 0)


def value_of_rows(grown: GrownTree, n_docs: int) -> np.ndarray:
    scores = np.zeros(n_docs)
    grown.add_to(scores, threads=1)
    return scores


def same(mine: GrownTree, other: GrownTree) -> bool:
    parts = [(getattr(mine.tree, field.name), getattr(other.tree, field.name)) for field in fields(Tree)]
    parts += [(mine.rows, other.rows), (mine.begin, other.begin)]
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in parts)


CASES: dict[str, dict[str, Any]] = {
    "plain": {},
    "no missing values": {"missing": 0.0},
    "more features than a group holds": {"n_features": 19, "n_docs": 150},
    "two-byte codes": {"max_bins": 300, "missing": 0.0, "n_docs": 1000},
    "few bins": {"max_bins": 3},
    "least squares": {"params": replace(FREE, split_gain="least-squares")},
    "limits": {"params": replace(FREE, min_docs_in_leaf=13, min_curvature_in_leaf=8.0, max_depth=3, l2=2.0)},
    "a gain to reach": {"params": replace(FREE, min_gain=25.0)},
    "some rows": {"rows": slice(None, None, 2)},
    "some features": {"features": [0, 2, 3], "n_features": 20},
    "monotone": {"monotone": {0: -1, 1: 1}},
    "monotone least squares": {"monotone": {0: -1}, "params": replace(FREE, split_gain="least-squares")},
    "categories": {"categorical": [1, 3]},
    "categories and bounds": {"categorical": [1], "monotone": {0: 1}},
    "few categories a split": {"categorical": [1, 3], "params": replace(FREE, max_split_categories=2)},
    "many rows": {"n_docs": 9000, "n_features": 2, "params": replace(FREE, max_leaves=25)},
    "many rows and categories": {"n_docs": 9000, "n_features": 2, "categorical": [1]},
    "many rows and bounds": {"n_docs": 9000, "n_features": 2, "monotone": {0: 1}},
    "little memory": {"histogram_memory": 1},
    "many rows and little memory": {"n_docs": 9000, "n_features": 2, "histogram_memory": 1},
}


def grow_case(case: dict[str, Any], seed: int, threads: int) -> GrownTree:
    n_docs, params = case.get("n_docs", 300), case.get("params", FREE)
    features, gradient, curvature = noisy(n_docs, case.get("n_features", 5), seed, case.get("missing", 0.1))
    categorical = case.get("categorical", [])
    for feature in categorical:
        features[:, feature] = np.floor(features[:, feature] * 3)
    numbers = [column + 1 for column in categorical]
    data = binned(features, max_bins=case.get("max_bins", 255), categorical=numbers)
    return grow_tree(
        data,
        gradient,
        curvature,
        params,
        rows=np.arange(n_docs)[case["rows"]] if "rows" in case else None,
        features=case.get("features"),
        monotone=case.get("monotone"),
        seed=seed,
        memory=GrowerMemory(data, params.max_leaves, case["histogram_memory"]) if "histogram_memory" in case else None,
        threads=threads,
    )


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_compiled_tree_is_the_naive_one_for_any_number_of_threads(case, monkeypatch):
    core = pytest.importorskip("rankwright.kernels._core")
    for seed in range(1 if "n_docs" in case else 2):
        for name in ("grow_tree", "quantise_lambdas", "add_leaf_values"):
            monkeypatch.setattr(kernels, name, getattr(reference, name))
        expected = grow_case(case, seed, 1)
        assert expected.tree.n_leaves > 2
        for name in ("grow_tree", "quantise_lambdas", "add_leaf_values"):
            monkeypatch.setattr(kernels, name, getattr(core, name))
        for threads in (1, 2, 7):
            found = grow_case(case, seed, threads)
            assert same(found, expected)
            scores = np.zeros(case.get("n_docs", 300))
            found.add_to(scores, threads=threads)
            assert np.array_equal(scores, value_of_rows(expected, len(scores)))


def test_leaves_share_the_rows_among_them_and_say_their_newton_step():
    features, gradient, curvature = noisy(400, 4, 0)
    params = TreeParams(max_leaves=9, min_docs_in_leaf=10, l2=3.0, learning_rate=0.5)
    grown = grow_tree(binned(features), gradient, curvature, params)
    tree = grown.tree
    assert sorted(grown.rows) == list(range(400))
    for leaf in leaves_of(tree):
        rows = grown.rows[grown.begin[leaf] : grown.begin[leaf] + tree.count[leaf]]
        step = -gradient[rows].sum(dtype=np.float64) / (curvature[rows].sum(dtype=np.float64) + 3.0)
        assert tree.value[leaf] == pytest.approx(0.5 * step, rel=1e-6)
    inner = np.flatnonzero(tree.feature >= 0)
    assert np.array_equal(tree.count[inner], tree.count[tree.left[inner]] + tree.count[tree.right[inner]])
    assert (tree.left[inner] > inner).all()


def test_documents_are_where_thresholds_send_them():
    features, gradient, curvature = noisy(400, 4, 1)
    grown = grow_tree(binned(features, max_bins=20), gradient, curvature, FREE)
    tree = grown.tree
    for node in np.flatnonzero(tree.feature >= 0):
        rows = grown.rows[grown.begin[node] : grown.begin[node] + tree.count[node]]
        values = features[rows, tree.feature[node]]
        left = np.where(np.isnan(values), tree.missing_left[node], values <= tree.threshold[node])
        assert left.sum() == tree.count[tree.left[node]]


def test_the_best_split_is_the_best_of_all_by_true_sums():
    features, gradient, curvature = noisy(200, 3, 2, missing=0.0)
    tree = grow_tree(binned(features), gradient, curvature, replace(FREE, max_leaves=2)).tree
    g, h = gradient.astype(float), curvature.astype(float)

    def gain(left: np.ndarray) -> float:
        return float(sum(g[side].sum() ** 2 / h[side].sum() for side in (left, ~left)) - g.sum() ** 2 / h.sum())

    places = [(feature, value) for feature in range(3) for value in np.unique(features[:, feature])[:-1]]
    best = max(gain(features[:, feature] <= value) for feature, value in places)
    assert gain(features[:, tree.feature[0]] <= tree.threshold[0]) >= 0.99 * best
    assert tree.gain[0] == pytest.approx(best, rel=0.01)


@pytest.mark.parametrize("gain", ["newton", "least-squares"])
@pytest.mark.parametrize("min_docs", [1, 7, 50, 100])
def test_no_leaf_has_fewer_documents_than_allowed(gain, min_docs):
    features, gradient, curvature = noisy(200, 3, 3)
    params = replace(FREE, min_docs_in_leaf=min_docs, split_gain=gain, max_leaves=64)
    tree = grow_tree(binned(features), gradient, curvature, params).tree
    assert tree.count[leaves_of(tree)].min() >= min_docs
    assert tree.n_leaves >= 2


def test_a_leaf_may_have_exactly_as_few_documents_as_allowed():
    features = np.arange(10)[:, None]
    gradient = np.where(np.arange(10) < 4, -1.0, 1.0)
    for min_docs, expected in ((4, 4), (5, 5), (6, 10)):
        params = replace(FREE, max_leaves=2, min_docs_in_leaf=min_docs)
        tree = grow_tree(binned(features), gradient, np.ones(10), params).tree
        assert tree.count[leaves_of(tree)[0]] == expected


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_depth_and_leaves_are_limited(depth):
    features, gradient, curvature = noisy(500, 5, 4)
    tree = grow_tree(binned(features), gradient, curvature, replace(FREE, max_leaves=100, max_depth=depth)).tree
    depth_of = np.zeros(len(tree.feature), int)
    for node in np.flatnonzero(tree.feature >= 0):
        depth_of[[tree.left[node], tree.right[node]]] = depth_of[node] + 1
    assert depth_of.max() == depth
    assert tree.n_leaves == 2**depth
    assert grow_tree(binned(features), gradient, curvature, replace(FREE, max_leaves=2)).tree.n_leaves == 2


def test_the_side_of_missing_values_is_learned():
    values = np.tile(np.array([[0.0], [1.0], [np.nan]]), (20, 1))
    for like, gradient in ((0, [-1.0, 1.0, -1.0]), (1, [-1.0, 1.0, 1.0])):
        tree = grow_tree(binned(values), np.tile(gradient, 20), np.ones(60), replace(FREE, max_leaves=2)).tree
        assert tree.missing_left[0] == (like == 0)
        assert tree.threshold[0] == 0.5
    alone = grow_tree(binned(values), np.tile([-1.0, -1.0, 1.0], 20), np.ones(60), replace(FREE, max_leaves=2)).tree
    assert alone.threshold[0] == np.inf
    assert not alone.missing_left[0]


def test_missing_values_never_seen_go_with_the_greater_part():
    features = np.repeat([[0.0], [1.0]], [30, 10], axis=0)
    for sign in (1.0, -1.0):
        gradient = sign * (features[:, 0] - 0.5)
        assert grow_tree(binned(features), gradient, np.ones(40), FREE).tree.missing_left[0]
    assert not grow_tree(binned(-features), gradient, np.ones(40), FREE).tree.missing_left[0]


@pytest.mark.parametrize("direction", [1, -1])
def test_scores_follow_the_direction_asked_for(direction):
    rng = np.random.default_rng(5)
    features = rng.random((600, 3)).astype(np.float32)
    gradient = np.sin(8 * features[:, 0]) + rng.normal(size=600)
    data = binned(features)
    params = replace(FREE, max_leaves=31, min_docs_in_leaf=5)
    grown = grow_tree(data, gradient, np.ones(600), params, monotone={0: direction})
    free = grow_tree(data, gradient, np.ones(600), params)
    assert 0 in grown.tree.feature
    probes = features[:20].repeat(40, axis=0)
    probes[:, 0] = np.tile(np.linspace(0, 1, 40), 20)
    codes = codes_by_row(bin_dataset(binned_source(probes), data.mapper, in_key_order=False).codes, 3)
    rises = np.diff(score_codes(grown.tree, codes).reshape(20, 40), axis=1)
    assert (direction * rises >= 0).all()
    assert (direction * np.diff(score_codes(free.tree, codes).reshape(20, 40), axis=1) < 0).any()


def binned_source(features: np.ndarray) -> RankingDataset:
    return RankingDataset.from_arrays(features, np.zeros(len(features)), group=[len(features)])


def score_codes(tree: Tree, codes: np.ndarray) -> np.ndarray:
    scores = np.empty(len(codes))
    for row, own in enumerate(codes):
        node = 0
        while tree.feature[node] >= 0:
            node = tree.left[node] if own[tree.feature[node]] <= tree.bin[node] else tree.right[node]
        scores[row] = tree.value[node]
    return scores


def test_categories_are_split_by_what_they_say_not_by_their_number():
    category = np.tile(np.arange(10), 30)
    gradient = np.where(category % 2 == 0, -1.0, 1.0)
    data = binned(category[:, None], categorical=[1])
    tree = grow_tree(data, gradient, np.ones(300), replace(FREE, max_leaves=2)).tree
    assert tree.bin[0] == -1
    assert np.isnan(tree.threshold[0])
    assert tree.categories[0].tolist() == [sum(1 << code for code in range(0, 10, 2))]
    assert tree.value[[1, 2]].tolist() == [1.0, -1.0]


def test_rows_left_out_do_not_matter():
    features, gradient, curvature = noisy(300, 4, 6)
    data, rows = binned(features), np.arange(0, 300, 3)
    grown = grow_tree(data, gradient, curvature, FREE, rows=rows)
    changed = gradient.copy()
    changed[np.setdiff1d(np.arange(300), rows)] = 1e6
    assert same(grown, grow_tree(data, changed, curvature, FREE, rows=rows))
    assert sorted(grown.rows) == rows.tolist()
    assert (value_of_rows(grown, 300)[1::3] == 0).all()


def test_only_the_features_asked_for_are_split_on():
    features, gradient, curvature = noisy(300, 20, 7)
    tree = grow_tree(binned(features), gradient, curvature, FREE, features=[3, 17]).tree
    assert set(tree.feature.tolist()) == {-1, 3, 17}


ONE_LEAF: dict[str, tuple[Any, Any, Any]] = {
    "one row": ([[1.0]], [2.0], [1.0]),
    "a constant feature": ([[1.0]] * 5, [1.0, 2.0, 3.0, -1.0, 0.0], [1.0] * 5),
    "all missing": ([[np.nan]] * 5, [1.0, 2.0, 3.0, -1.0, 0.0], [1.0] * 5),
    "no features": (np.zeros((5, 0)), [1.0, 2.0, 3.0, -1.0, 0.0], [1.0] * 5),
    "no gradient": ([[0.0], [1.0], [2.0]], [0.0] * 3, [1.0] * 3),
    "equal gradients": ([[0.0], [1.0], [2.0]], [0.7] * 3, [0.3] * 3),
    "no curvature": ([[0.0], [1.0], [2.0]], [1.0, 0.0, -1.0], [0.0] * 3),
}


@pytest.mark.parametrize("features, gradient, curvature", ONE_LEAF.values(), ids=ONE_LEAF)  # noqa: PT006
def test_where_there_is_nothing_to_tell_apart_the_tree_is_one_leaf(features, gradient, curvature):
    tree = grow_tree(binned(features), gradient, curvature, FREE).tree
    assert tree.n_leaves == 1
    expected = -np.sum(gradient) / np.sum(curvature) if np.sum(curvature) > 0 else 0.0
    assert tree.value[0] == pytest.approx(expected)


def test_no_rows_at_all_give_a_leaf_that_says_nothing():
    grown = grow_tree(binned(np.zeros((0, 2))), [], [], FREE)
    assert grown.tree.value.tolist() == [0.0]
    assert len(grown.rows) == 0


@pytest.mark.parametrize("n_docs", [8191, 8192, 16_383, 30_000])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_sums_of_the_largest_values_do_not_overflow(n_docs, sign):
    """All documents of one feature's bin have the largest gradient and curvature; the sums are known exactly."""
    features = np.zeros((n_docs, 2), np.float32)
    features[: n_docs // 3, 1] = 1.0
    gradient = np.full(n_docs, sign * 5.0, np.float32)
    gradient[: n_docs // 3] *= -1.0
    tree = grow_tree(binned(features), gradient, np.full(n_docs, 0.5), replace(FREE, max_leaves=2)).tree
    n_first, n_rest = n_docs // 3, n_docs - n_docs // 3
    assert tree.count.tolist() == [n_docs, n_rest, n_first]
    assert tree.value.tolist() == [0.0, -sign * 10.0, sign * 10.0]
    assert tree.gain[0] == pytest.approx(50.0 * n_docs - (5.0 * (n_rest - n_first)) ** 2 / (0.5 * n_docs))


def test_memory_is_kept_from_tree_to_tree():
    features, gradient, curvature = noisy(300, 4, 8)
    data = binned(features)
    memory = GrowerMemory(data, 12)
    first = grow_tree(data, gradient, curvature, FREE, memory=memory)
    other = grow_tree(data, -gradient[::-1], curvature, FREE, memory=memory)
    assert not same(first, other)
    assert same(first, grow_tree(data, gradient, curvature, FREE, memory=memory))


def test_what_does_not_fit_is_refused():
    data = binned(np.zeros((3, 2)), categorical=[2])
    ones = np.ones(3)
    for gradient, curvature in (([0, np.nan, 0], ones), ([0, np.inf, 0], ones), (ones, [1, -1, 1])):
        with pytest.raises(InputError, match=r"must be finite, and .* but document 1 of the tree has"):
            grow_tree(data, gradient, curvature, FREE)
    with pytest.raises(InputError, match="rows must be different ones from 0 to 2"):
        grow_tree(data, ones, ones, FREE, rows=[3])
    with pytest.raises(InputError, match="features must be from 0 to 1"):
        grow_tree(data, ones, ones, FREE, features=[2])
    with pytest.raises(SettingError, match="got 5"):
        grow_tree(data, ones, ones, FREE, monotone={5: 1})
    with pytest.raises(SettingError, match="feature 2 is categorical"):
        grow_tree(data, ones, ones, FREE, monotone={1: 1})


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("max_leaves", 1),
        ("max_depth", 0),
        ("min_docs_in_leaf", 0),
        ("min_curvature_in_leaf", -1.0),
        ("l2", float("nan")),
        ("min_gain", -1.0),
        ("split_gain", "gini"),
        ("learning_rate", 0.0),
        ("category_smoothing", -1.0),
        ("max_split_categories", 0),
    ],
)
def test_settings_cannot_hold_nonsense(setting, value):
    with pytest.raises(SettingError, match=setting):
        TreeParams(**{setting: value})
