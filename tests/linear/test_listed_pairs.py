"""RankSVM on preferences: the same as on labels where they say the same, and pulled both ways where votes differ."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.data.preferences import pairs_from_labels
from rankwright.errors import RankwrightError
from rankwright.linear.ranksvm import listed_pairs


@pytest.mark.parametrize("settings", [{}, {"per_query": True}, {"kernel": "rbf", "landmarks": 20}])
def test_pairs_of_labels_give_what_labels_give(small_data, settings):
    pairs = pairs_from_labels(small_data.labels, small_data.groups)
    listed = rw.RankingDataset.from_arrays(small_data.features, qid=small_data.qid, preferences=pairs)
    by_labels = rw.RankSVM(**settings).fit(small_data).predict(small_data)
    np.testing.assert_allclose(rw.RankSVM(**settings).fit(listed).predict(listed), by_labels, rtol=1e-3, atol=1e-4)


def test_slopes_are_those_of_the_cost(small_data):
    pairs = pairs_from_labels(small_data.labels, small_data.groups, certainty=0.7)
    data = rw.RankingDataset.from_arrays(small_data.features, qid=small_data.qid, preferences=pairs)
    cost, rng = listed_pairs(data, 0.3, per_query=False), np.random.default_rng(0)
    scores, direction = rng.normal(size=data.n_docs), rng.normal(size=data.n_docs)
    step = 1e-6
    before, after = (cost.evaluate(scores + sign * step * direction) for sign in (-1, 1))
    slope = (after[0] - before[0]) / (2 * step)
    assert cost.evaluate(scores)[1] @ direction == pytest.approx(slope, rel=1e-5)
    np.testing.assert_allclose(cost.curve(scores, direction), (after[1] - before[1]) / (2 * step), rtol=1e-3, atol=1e-3)


def test_equal_votes_ask_for_equal_scores():
    pairs = rw.Preferences(np.array([0]), np.array([1]), np.array([0.5]))
    data = rw.RankingDataset.from_arrays([[0.0], [1.0]], qid=[1, 1], preferences=pairs)
    scores = rw.RankSVM(scaling=None).fit(data).predict(data)
    assert scores[0] == pytest.approx(scores[1])
    with pytest.raises(RankwrightError, match="position_weights look at labels"):
        rw.RankSVM(position_weights=True).fit(data)
