"""Which lists tell two documents apart."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.data.flat_lists import tells_apart
from rankwright.data.groups import Groups

NAN = float("nan")


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
