"""Lists that tell two documents apart, and unjudged documents taken for irrelevant."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.data.groups import Groups
from rankwright.data.judged import call_irrelevant, tells_apart
from rankwright.errors import SettingError

NAN = float("nan")


@pytest.fixture
def half_judged():
    labels = np.tile([2.0, np.nan], 100)
    return rw.RankingDataset.from_arrays(np.zeros((200, 1)), labels, group=[50] * 4)


def test_a_share_of_the_unjudged_becomes_irrelevant_and_nothing_else_changes(half_judged):
    labels = call_irrelevant(half_judged, 0.25, seed=3).labels
    again = call_irrelevant(half_judged, 0.25, seed=3).labels
    assert labels is not None
    assert again is not None
    assert (labels == 0).sum() == 25
    assert np.isnan(labels).sum() == 75
    assert (labels[::2] == 2).all()
    assert np.array_equal(labels, again, equal_nan=True)


def test_none_leaves_the_data_as_it_is(half_judged):
    assert call_irrelevant(half_judged, None) is half_judged


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_lies_between_0_and_1(half_judged, share):
    with pytest.raises(SettingError, match="between 0 and 1"):
        call_irrelevant(half_judged, share)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [([0, 1], True), ([2, 2, 2], False), ([1], False), ([NAN, 1, 1], False), ([NAN, 1, 0], True), ([NAN, NAN], False)],
)
def test_a_list_tells_apart_where_two_judged_labels_differ(labels, expected):
    between = [3.0, 3.0]  # a flat list before and after does not change what is said of this one
    sizes = [2, len(labels), 2]
    found = tells_apart(np.array([*between, *labels, *between], np.float32), Groups.of_sizes(sizes))
    assert found.tolist() == [False, expected, False]


def test_no_lists():
    assert tells_apart(np.empty(0, np.float32), Groups.of_sizes([])).tolist() == []
