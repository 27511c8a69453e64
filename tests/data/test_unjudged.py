from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.data.unjudged import judge_some
from rankwright.errors import SettingError


@pytest.fixture
def half_judged():
    labels = np.tile([2.0, np.nan], 100)
    return rw.RankingDataset.from_arrays(np.zeros((200, 1)), labels, group=[50] * 4)


def test_a_share_of_the_unjudged_becomes_irrelevant_and_nothing_else_changes(half_judged):
    labels = judge_some(half_judged, 0.25, seed=3).labels
    again = judge_some(half_judged, 0.25, seed=3).labels
    assert labels is not None
    assert again is not None
    assert (labels == 0).sum() == 25
    assert np.isnan(labels).sum() == 75
    assert (labels[::2] == 2).all()
    assert np.array_equal(labels, again, equal_nan=True)


def test_none_leaves_the_data_as_it_is(half_judged):
    assert judge_some(half_judged, None) is half_judged


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_lies_between_0_and_1(half_judged, share):
    with pytest.raises(SettingError, match="between 0 and 1"):
        judge_some(half_judged, share)
