from __future__ import annotations

import numpy as np
import pytest

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.features.missing import ROWS_AT_A_TIME, filled, without_missing


def test_what_is_missing_becomes_0_and_the_rest_stays():
    features = np.arange(2.0 * (ROWS_AT_A_TIME + 3), dtype=np.float32).reshape(-1, 2)
    features[-1, 0] = np.nan
    assert np.array_equal(filled(features), np.where(np.isnan(features), np.float32(0), features))
    assert np.isnan(features[-1, 0])  # the caller's own


def test_nothing_is_copied_where_nothing_is_missing():
    data = RankingDataset.from_arrays([[1.0], [2.0]], [0, 1], qid=[1, 1])
    assert filled(data.features) is data.features
    assert without_missing(data) is data


def test_infinite_features_are_refused():
    with pytest.raises(InputError, match="some are infinite"):
        filled(np.array([[np.inf]], np.float32))
