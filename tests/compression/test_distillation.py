"""Distillation: the teacher's posteriors are the targets, on documents made up beside those of the data."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.compression.distillation import StudentForest, StudentParams, posterior_cost, resampled_lists, taught
from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import pairs_from_labels
from rankwright.errors import SettingError
from rankwright.objectives.families import ranknet


@pytest.fixture(scope="module")
def data() -> RankingDataset:
    """Twenty queries of twelve documents; the last feature never changes."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(240, 5)).astype(np.float32)
    features[:, 4] = 1.0
    labels = np.clip(np.rint(features[:, 0] + features[:, 1] * features[:, 2]), 0, 4)
    return RankingDataset.from_arrays(features, labels, group=[12] * 20)


@pytest.fixture(scope="module")
def teacher(data) -> rw.LambdaMART:
    return rw.LambdaMART(n_trees=20, max_leaves=7, min_docs_in_leaf=5).fit(data)


def test_targets_are_the_teachers_posteriors_weighed_by_its_ranks(teacher, data):
    lesson = taught(teacher, data, synthetic=0)
    scores = teacher.predict(data)
    ranks = rw.rank(scores, data.groups).ranks()
    weights = (1 / np.log2(ranks + 2)).astype(np.float32)
    assert lesson.document_weights == pytest.approx(weights)
    rng = np.random.default_rng(0)
    guess = rng.normal(size=data.n_docs)
    found = posterior_cost().bind(lesson, dtype=np.float64)(guess)
    # The same cost, each pair written out with its probability.
    pairs = pairs_from_labels((scores - scores.min()).astype(np.float32), data.groups, ties=0.5, certainty=1.0)
    gap = scores[pairs.better] - scores[pairs.worse]
    assert pairs.probability == pytest.approx(1 / (1 + np.exp(-gap)), abs=1e-5)
    written = RankingDataset(
        features=data.features, labels=None, groups=data.groups, preferences=pairs, document_weights=weights
    )
    expected = ranknet().bind(written, dtype=np.float64)(guess)
    assert found.gradient == pytest.approx(expected.gradient, abs=1e-4)
    assert found.cost == pytest.approx(expected.cost, rel=1e-5)


def test_the_cost_is_least_at_the_teachers_own_scores(teacher, data):
    lesson = taught(teacher, data, synthetic=1)
    forces = posterior_cost().bind(lesson, dtype=np.float64)
    labels = np.asarray(lesson.labels)
    assert np.abs(forces(labels).gradient).max() < 1e-4
    shifted = forces(labels + np.random.default_rng(0).normal(scale=0.1, size=len(labels)))
    assert (shifted.cost > forces(labels).cost).all()


@pytest.mark.parametrize("synthetic", [0, 1, 3])
def test_a_lesson_has_the_data_and_as_many_made_up_lists_as_asked_for(teacher, data, synthetic):
    lesson = taught(teacher, data, synthetic=synthetic)
    assert lesson.groups.sizes.tolist() == data.groups.sizes.tolist() * (1 + synthetic)
    assert np.array_equal(lesson.features[: data.n_docs], data.features)
    scores = teacher.predict(lesson)
    assert lesson.labels == pytest.approx(scores - scores.min(), abs=1e-5)


def test_made_up_documents_have_values_of_the_data_and_most_of_them_their_own(data):
    features = data.features.copy()
    features[::7, 3] = np.nan
    gappy = RankingDataset(features=features, labels=None, groups=data.groups)
    made_up = resampled_lists(gappy, mixed=0.2, seed=1)
    for column in range(data.n_features):
        assert set(np.nan_to_num(made_up.features[:, column], nan=-1)) <= set(
            np.nan_to_num(features[:, column], nan=-1)
        )
    varies = np.flatnonzero(np.ptp(data.features, axis=0) > 0)
    same = np.isclose(made_up.features[:, varies], features[:, varies], equal_nan=True).mean()
    assert 0.8 <= same < 1
    assert made_up.labels is None


def test_nothing_mixed_is_the_data_and_the_same_seed_the_same_lists(data):
    assert np.array_equal(resampled_lists(data, mixed=0.0).features, data.features)
    first, again, other = (resampled_lists(data, seed=seed).features for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    with pytest.raises(SettingError, match="between 0 and 1"):
        resampled_lists(data, mixed=1.5)


def test_a_larger_student_comes_closer_and_its_first_trees_are_the_smaller_one(teacher, data):
    lesson = taught(teacher, data, synthetic=1)
    student = StudentForest(lesson, StudentParams(), max_leaves=15)
    small, large = student.of_size(3), student.of_size(30)
    assert large.truncated(3).equals(small)
    assert student.of_size(3).equals(small)
    target = teacher.predict(data)
    near = [np.corrcoef(forest.predict(data.features), target)[0, 1] for forest in (small, large)]
    assert near[0] < near[1]
    assert near[1] > 0.95


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(SettingError, match="synthetic must be 0 or more"):
        StudentParams(synthetic=-1)
    with pytest.raises(SettingError, match="one net or more"):
        StudentParams(hidden=())
