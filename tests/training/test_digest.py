"""A fingerprint tells apart all that training looks at."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import rankwright as rw
from rankwright.training.digest import data_digest


def test_whatever_is_learned_from_changes_it():
    data = rw.RankingDataset.from_arrays(np.eye(4), [2, 0, 1, 0], group=[2, 2])
    labels = data.labels
    assert labels is not None
    others = [
        replace(data, features=data.features + 1),
        replace(data, labels=labels + 1),
        rw.RankingDataset.from_arrays(np.eye(4), [2, 0, 1, 0], group=[1, 3]),
        replace(data, query_weights=np.array([1, 2], np.float32)),
        replace(data, document_weights=np.ones(4, np.float32)),
        data.with_initial_scores(np.zeros(4)),
        data.with_preferences(rw.Preferences([0], [1])),
        data.with_preferences(rw.Preferences([1], [0])),
    ]
    assert len({data_digest(one) for one in [data, *others]}) == 1 + len(others)
    assert data_digest(data) == data_digest(rw.RankingDataset.from_arrays(np.eye(4), [2, 0, 1, 0], group=[2, 2]))


def test_where_one_array_ends_and_the_next_begins_counts():
    data = rw.RankingDataset.from_arrays(np.eye(2), [1, 0], group=[2])
    a, b = np.arange(3), np.arange(3, 5)
    assert data_digest(data, a, b) != data_digest(data, np.arange(2), np.arange(2, 5))
