from __future__ import annotations

from math import exp

import numpy as np
import pytest

from rankwright.data.groups import Groups
from rankwright.data.label_pairs import pairs_from_labels
from rankwright.errors import SettingError

LABELS = np.array([1, 3, np.nan, 1, 0, 2], np.float32)
GROUPS = Groups.of_sizes([4, 2])


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
