from __future__ import annotations

from math import exp

import numpy as np
import pytest

from rankwright.data.groups import Groups
from rankwright.data.preferences import Preferences, pairs_from_labels, tells_apart
from rankwright.errors import InputError, SettingError

LABELS = np.array([1, 3, np.nan, 1, 0, 2], np.float32)
GROUPS = Groups.of_sizes([4, 2])
NAN = float("nan")


def test_one_probability_and_weight_stand_for_every_pair():
    pairs = Preferences([0, 1], [1, 2], probability=0.75)
    assert pairs.probability.tolist() == [0.75, 0.75]
    assert pairs.weight.tolist() == [1.0, 1.0]
    assert len(pairs) == 2


@pytest.mark.parametrize("probability", [-0.1, 1.1, np.nan])
def test_a_probability_lies_between_0_and_1(probability):
    with pytest.raises(InputError, match="between 0 and 1"):
        Preferences([0], [1], probability=probability)


@pytest.mark.parametrize("weight", [-1.0, np.inf, np.nan])
def test_a_weight_is_finite_and_not_negative(weight):
    with pytest.raises(InputError, match="weight must be 0 or more"):
        Preferences([0], [1], weight=weight)


def test_a_row_is_not_preferred_to_itself():
    with pytest.raises(InputError, match="preference 1 joins a row to itself"):
        Preferences([0, 1], [1, 1]).check(Groups.of_sizes([2]))


def test_pairs_of_rows_that_are_gone_go_too():
    moved = Preferences([0, 2], [1, 1], weight=[1.0, 2.0]).moved(np.array([-1, 0, 1]))
    assert (moved.better.tolist(), moved.worse.tolist(), moved.weight.tolist()) == ([1], [0], [2.0])


def told(pairs):
    return {(int(a), int(b)): float(p) for a, b, p in zip(pairs.better, pairs.worse, pairs.probability, strict=True)}


def test_pairs_are_the_judged_documents_of_different_labels():
    assert told(pairs_from_labels(LABELS, GROUPS)) == {(1, 0): 1, (1, 3): 1, (5, 4): 1}


def test_ties_join_in_with_the_target_that_the_first_ranks_higher():
    assert told(pairs_from_labels(LABELS, GROUPS, ties=0.25)) == {(1, 0): 1, (1, 3): 1, (5, 4): 1, (0, 3): 0.25}


def test_soft_targets_follow_the_label_difference():
    found = told(pairs_from_labels(LABELS, GROUPS, certainty=0.5))
    assert found == pytest.approx({pair: 1 / (1 + exp(-0.5 * 2)) for pair in [(1, 0), (1, 3), (5, 4)]})


def test_a_target_is_a_probability():
    with pytest.raises(SettingError, match="ties must be a probability"):
        pairs_from_labels(LABELS, GROUPS, ties=1.5)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([0, 1], True),
        ([2, 2, 2], False),
        ([1], False),
        ([np.nan, 1, 1], False),
        ([np.nan, 1, 0], True),
        ([np.nan, np.nan], False),
    ],
)
def test_a_list_tells_apart_where_two_judged_labels_differ(labels, expected):
    between = [3.0, 3.0]  # a flat list before and after does not change what is said of this one
    sizes = [2, len(labels), 2]
    found = tells_apart(np.array([*between, *labels, *between], np.float32), Groups.of_sizes(sizes))
    assert found.tolist() == [False, expected, False]


def test_where_there_are_no_lists_none_tells_apart():
    assert tells_apart(np.empty(0, np.float32), Groups.of_sizes([])).tolist() == []
