"""Training that starts from scores the caller gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.trees.bins.binned import bin_dataset
from rankwright.trees.bins.fingerprints import binned_digest

SMALL: dict[str, Any] = {"max_leaves": 5, "min_docs_in_leaf": 3}
KINDS = [rw.LambdaMART, rw.MART]


@pytest.fixture
def rows(small_data: RankingDataset):
    order = np.random.default_rng(4).permutation(small_data.n_docs)
    assert small_data.labels is not None
    return small_data.features[order], small_data.labels[order], small_data.qid[order]


@pytest.fixture
def given(rows):
    return np.random.default_rng(5).normal(size=len(rows[1]))


def test_the_mean_label_is_where_mart_starts_by_itself(rows):
    X, y, qid = rows
    plain = rw.MART(n_trees=4, **SMALL).fit(X, y, qid=qid)
    given = rw.MART(n_trees=4, **SMALL).fit(X, y, qid=qid, initial_scores=np.full(len(y), plain.base_score_))
    assert plain.forest_.equals(given.forest_)
    assert given.base_score_ == 0


@pytest.mark.parametrize(("kind", "start_of"), [(rw.LambdaMART, lambda y: 50 * y), (rw.MART, lambda y: y)])
def test_where_the_start_is_right_nothing_is_learned(kind, start_of, rows):
    X, y, qid = rows
    ranker = kind(n_trees=4, **SMALL).fit(X, y, qid=qid, initial_scores=start_of(y))
    assert np.abs(ranker.predict(X)).max() < 1e-6


@pytest.mark.parametrize("kind", KINDS)
def test_they_go_with_their_rows(kind, rows, given):
    X, y, qid = rows
    arrays = kind(n_trees=4, **SMALL).fit(X, y, qid=qid, initial_scores=given)
    data = RankingDataset.from_arrays(X, y, qid=qid, initial_scores=given)
    dataset = kind(n_trees=4, **SMALL).fit(data)
    later = kind(n_trees=4, **SMALL).fit(RankingDataset.from_arrays(X, y, qid=qid).with_initial_scores(given))
    assert arrays.forest_.equals(dataset.forest_)
    assert arrays.forest_.equals(later.forest_)
    assert not arrays.forest_.equals(kind(n_trees=4, **SMALL).fit(X, y, qid=qid).forest_)
    queries = [3, 1]
    taken = data.take_queries(queries)
    assert data.initial_scores is not None
    assert taken.initial_scores is not None
    assert np.array_equal(taken.initial_scores, data.initial_scores[data.groups.rows_of(np.array(queries))])


@pytest.mark.parametrize("kind", KINDS)
def test_they_are_no_part_of_the_model(kind, rows, given, tmp_path):
    X, y, qid = rows
    ranker = kind(n_trees=4, **SMALL).fit(X, y, qid=qid, initial_scores=given)
    ranker.save(tmp_path / "model.rw")
    assert np.array_equal(ranker.predict(X), ranker.forest_.predict(X))
    data = RankingDataset.from_arrays(X, y, qid=qid, initial_scores=given)
    assert np.array_equal(rw.load(tmp_path / "model.rw").predict(data), ranker.predict(X))
    assert np.array_equal(ranker.predict_from_start(data), ranker.predict(X) + given)


def test_a_constant_start_changes_nothing_for_a_pairwise_objective(rows):
    X, y, qid = rows
    plain = rw.LambdaMART(n_trees=4, **SMALL).fit(X, y, qid=qid)
    lifted = rw.LambdaMART(n_trees=4, **SMALL).fit(X, y, qid=qid, initial_scores=np.full(len(y), 2.0))
    assert plain.forest_.equals(lifted.forest_)


@pytest.mark.parametrize("kind", KINDS)
def test_validation_starts_from_its_own(kind, rows, given):
    X, y, qid = rows
    ranker = kind(n_trees=6, **SMALL).fit(X, y, qid=qid, initial_scores=given, valid=(X, y, qid, given))
    data = RankingDataset.from_arrays(X, y, qid=qid, initial_scores=given)
    assert ranker.score(data) == pytest.approx(ranker.history_.best_value, abs=1e-12)
    with pytest.raises(InputError, match="training data has initial scores and the validation data has none"):
        kind(n_trees=2, **SMALL).fit(X, y, qid=qid, initial_scores=given, valid=(X, y, qid))
    with pytest.raises(InputError, match="validation data has initial scores and the training data has none"):
        kind(n_trees=2, **SMALL).fit(X, y, qid=qid, valid=(X, y, qid, given))


def test_they_are_part_of_the_datas_digest(rows, given):
    X, y, qid = rows
    data = RankingDataset.from_arrays(X, y, qid=qid)
    starts = (None, given, given + 1)
    assert len({binned_digest(bin_dataset(data.with_initial_scores(start))) for start in starts}) == len(starts)


def test_a_checkpoint_from_another_start_is_refused(rows, given, tmp_path):
    X, y, qid = rows
    rw.LambdaMART(n_trees=2, **SMALL).fit(X, y, qid=qid, initial_scores=given, checkpoint=tmp_path)
    with pytest.raises(InputError, match="checkpoint of another run: training data differ"):
        rw.LambdaMART(n_trees=2, **SMALL).fit(X, y, qid=qid, checkpoint=tmp_path)


def test_warm_start_and_checkpoints_give_the_same_model(rows, given, tmp_path):
    X, y, qid = rows
    whole = rw.LambdaMART(n_trees=7, **SMALL).fit(X, y, qid=qid, initial_scores=given)
    warm = rw.LambdaMART(n_trees=3, warm_start=True, **SMALL).fit(X, y, qid=qid, initial_scores=given)
    warm.set_params(n_trees=7).fit(X, y, qid=qid, initial_scores=given)
    rw.LambdaMART(n_trees=3, **SMALL).fit(X, y, qid=qid, initial_scores=given, checkpoint=tmp_path)
    resumed = rw.LambdaMART(n_trees=7, **SMALL).fit(X, y, qid=qid, initial_scores=given, checkpoint=tmp_path)
    assert whole.forest_.equals(warm.forest_)
    assert whole.forest_.equals(resumed.forest_)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ([1.0], "initial_scores must have .* values, got 1"),
        (np.nan, "initial_scores must be finite, but row 0 has nan"),
        ("text", "initial_scores must hold numbers"),
    ],
)
def test_wrong_ones_are_refused(rows, bad, message):
    X, y, qid = rows
    scores = bad if isinstance(bad, list) else [bad] * len(y)
    with pytest.raises(InputError, match=message):
        rw.LambdaMART(n_trees=1).fit(X, y, qid=qid, initial_scores=scores)
    if not isinstance(bad, list):
        with pytest.raises(InputError, match=message):
            RankingDataset.from_arrays(X, y, qid=qid).with_initial_scores(scores)
