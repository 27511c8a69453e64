"""The largest tree that may be asked for can be grown, kept and scored with; a larger one is refused at once."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.catalog.rankers import ranker_named
from rankwright.errors import SettingError
from rankwright.trees.params import MAX_LEAVES, TreeParams

SIDE = 260  # the documents stand on a square grid, with a few more of them than a tree may have leaves


@pytest.mark.parametrize("name", ["lambdamart", "mart", "bl-mart", "bagboo"])
def test_more_leaves_than_scoring_can_number_are_refused_before_training(name):
    ranker = ranker_named(name)().set_params(max_leaves=MAX_LEAVES + 1)
    data = rw.synthetic.web_search(n_queries=20, seed=0)
    with pytest.raises(SettingError, match=f"max_leaves must be between 2 and {MAX_LEAVES:,}, got {MAX_LEAVES + 1}"):
        ranker.fit(data)


def test_one_tree_has_the_same_limit():
    assert TreeParams(max_leaves=MAX_LEAVES).max_leaves == MAX_LEAVES
    with pytest.raises(SettingError, match=f"max_leaves must be 2 to {MAX_LEAVES}, got {MAX_LEAVES + 1}"):
        TreeParams(max_leaves=MAX_LEAVES + 1)


@pytest.mark.parametrize("n_leaves", [256, 257, 4096, pytest.param(MAX_LEAVES, marks=pytest.mark.slow)])
def test_trees_up_to_the_limit_train_save_load_and_score(n_leaves, tmp_path):
    place = np.arange(SIDE * SIDE)
    features = np.stack([place // SIDE, place % SIDE], axis=1).astype(np.float32)
    labels = np.random.default_rng(0).random(len(place)).astype(np.float32)
    ranker = rw.MART(
        n_trees=1,
        max_leaves=n_leaves,
        min_docs_in_leaf=1,
        max_bins=SIDE,
        learning_rate=1.0,
        query_fraction=1.0,
        feature_fraction=1.0,
    )
    ranker.fit(features, labels, qid=place // SIDE)
    assert np.count_nonzero(ranker.forest_.feature < 0) == n_leaves
    scores = ranker.predict(features)
    assert len(np.unique(scores)) > 0.9 * n_leaves
    ranker.save(tmp_path / "model.rw")
    np.testing.assert_array_equal(rw.load(tmp_path / "model.rw").predict(features), scores)
