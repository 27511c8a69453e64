from __future__ import annotations

import numpy as np
import pytest

from rankwright import synthetic
from rankwright.errors import SettingError


def test_shape_and_labels_are_those_of_the_benchmark():
    data = synthetic.topic_distillation(seed=2)
    assert data.labels is not None
    assert (data.n_queries, data.n_features) == (75, 64)
    assert data.n_docs / 75 == pytest.approx(989, rel=0.01)  # Ganjisaffar's figure for TD2004
    assert data.groups.sizes.max() == 1000
    assert set(data.labels.tolist()) == {0.0, 1.0}
    assert data.labels.mean() == pytest.approx(0.01, abs=0.003)
    assert min(data.labels[rows].sum() for rows in data.groups.slices()) >= 1


def test_the_older_version_is_a_part_of_the_newer():
    newer, older = (synthetic.topic_distillation(4, docs_per_query=100, n_features=n) for n in (64, 44))
    assert older.n_features == 44
    places = [newer.names.index(name) for name in older.names]
    assert np.array_equal(newer.features[:, places], older.features)
    assert newer.labels is not None
    assert older.labels is not None
    assert np.array_equal(newer.labels, older.labels)


def test_other_numbers_of_features_are_refused():
    with pytest.raises(SettingError, match="n_features must be 64 or 44, got 46"):
        synthetic.topic_distillation(n_features=46)
