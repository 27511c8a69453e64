"""Leaves fitted together: the error falls to that of least squares, splits stay, and a query's level does not count."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.mart.lambdamart import LambdaMART
from rankwright.trees.forests import refitting as refitting_module
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.refitting import refit_leaves


@pytest.fixture(scope="module")
def data() -> RankingDataset:
    rng = np.random.default_rng(1)
    features = rng.normal(size=(400, 4)).astype(np.float32)
    labels = np.clip(np.rint(features[:, 0] + features[:, 1] * features[:, 2]), 0, 4)
    return RankingDataset.from_arrays(features, labels, group=[20] * 19 + [0, 20])


@pytest.fixture(scope="module")
def target(data) -> np.ndarray:
    return np.asarray(data.features[:, 0] + data.features[:, 1] * data.features[:, 2], np.float64)


@pytest.fixture(scope="module")
def forest(data) -> Forest:
    return LambdaMART(n_trees=4, max_leaves=5, min_docs_in_leaf=5).fit(data).forest_


def error(forest: Forest, data: RankingDataset, target: np.ndarray) -> float:
    missed = target - forest.predict(data.features)
    return float(((missed - data.groups.means(missed)) ** 2).sum())


def test_many_steps_reach_least_squares(forest, data, target):
    leaves = np.flatnonzero(forest.feature < 0)
    columns = (forest.apply(data.features)[:, :, None] == leaves).any(axis=1).astype(np.float64)
    centred = target - data.groups.means(target)
    left = columns - data.groups.means(columns)
    solution = np.linalg.lstsq(left, centred, rcond=None)[0]
    least = float(((left @ solution - centred) ** 2).sum())
    fitted = refit_leaves(forest, data.features, data.groups, target, steps=60)
    assert error(fitted, data, target) == pytest.approx(least, rel=1e-3)


def test_each_step_comes_closer_and_splits_stay(forest, data, target):
    fitted = [refit_leaves(forest, data.features, data.groups, target, steps=steps) for steps in (0, 1, 3, 10)]
    assert fitted[0].equals(forest)
    errors = [error(one, data, target) for one in fitted]
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.8 * errors[0]
    for one in fitted:
        assert np.array_equal(one.feature, forest.feature)
        assert np.array_equal(one.threshold, forest.threshold, equal_nan=True)


def test_a_querys_level_does_not_count(forest, data, target):
    level = np.repeat(np.arange(21.0), data.groups.sizes)
    plain, shifted = (refit_leaves(forest, data.features, data.groups, scores) for scores in (target, target + level))
    assert plain.value == pytest.approx(shifted.value, abs=1e-5)


def test_scores_that_are_reached_already_move_nothing(forest, data):
    same = refit_leaves(forest, data.features, data.groups, forest.predict(data.features))
    assert np.array_equal(same.value, forest.value)


def test_batches_and_threads_change_no_bit(forest, data, target, monkeypatch):
    whole = refit_leaves(forest, data.features, data.groups, target, threads=1)
    monkeypatch.setattr(refitting_module, "BATCH_ROWS", 64)
    assert refit_leaves(forest, data.features, data.groups, target, threads=2).equals(whole)


def test_no_trees_and_no_documents_are_left_as_they_are(forest, data, target):
    none = forest.truncated(0)
    assert refit_leaves(none, data.features, data.groups, target).equals(none)
    nobody = Groups.of_sizes([])
    assert refit_leaves(forest, data.features[:0], nobody, target[:0]).equals(forest)
