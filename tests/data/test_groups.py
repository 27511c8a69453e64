from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.arrays import as_ids
from rankwright.data.groups import Groups, group_rows
from rankwright.errors import InputError

query_ids = st.lists(st.integers(0, 5), max_size=30)


def test_sizes_become_offsets():
    groups = Groups.of_sizes([2, 0, 3])
    assert groups.offsets.tolist() == [0, 2, 2, 5]
    assert (groups.n_queries, groups.n_docs) == (3, 5)
    assert list(groups.slices()) == [slice(0, 2), slice(2, 2), slice(2, 5)]
    assert groups.query_of_row.tolist() == [0, 0, 2, 2, 2]


@pytest.mark.parametrize("offsets", [[], [1, 2], [0, 3, 2]])
def test_offsets_that_make_no_sense_are_refused(offsets):
    with pytest.raises(InputError, match="offsets must"):
        Groups(np.array(offsets, dtype=np.int64))


def test_a_negative_size_is_refused():
    with pytest.raises(InputError, match="group sizes must not be negative, got -1"):
        Groups.of_sizes([2, -1])


@given(st.lists(st.integers(0, 4), min_size=1, max_size=8), st.data())
def test_rows_of_queries_are_their_slices(sizes, data):
    groups = Groups.of_sizes(sizes)
    chosen = data.draw(st.lists(st.integers(0, len(sizes) - 1), max_size=6))
    slices = list(groups.slices())
    expected = [row for query in chosen for row in range(slices[query].start, slices[query].stop)]
    assert groups.rows_of(np.array(chosen, dtype=np.int64)).tolist() == expected


@given(query_ids, st.booleans())
def test_grouping_brings_rows_together_and_keeps_their_order(ids, as_text):
    qid = as_ids([f"q{number}" for number in ids] if as_text else np.array(ids, dtype=np.int64), name="qid")
    grouping = group_rows(qid)
    order = np.arange(len(ids)) if grouping.order is None else grouping.order
    assert sorted(order.tolist()) == list(range(len(ids)))
    assert np.repeat(grouping.query_ids, grouping.groups.sizes).tolist() == qid[order].tolist()
    assert grouping.query_ids.tolist() == list(dict.fromkeys(qid.tolist()))  # first come, first placed
    for rows in grouping.groups.slices():
        assert order[rows].tolist() == sorted(order[rows].tolist())


def test_rows_that_are_together_are_not_moved():
    assert group_rows(np.array([7, 7, 3, 5, 5])).order is None
    assert group_rows(np.array([7, 3, 7])).order is not None


def test_means_are_those_of_each_query():
    groups = Groups.of_sizes([2, 0, 3])
    assert groups.means(np.array([1.0, 3.0, 4.0, 5.0, 9.0])).tolist() == [2.0, 2.0, 6.0, 6.0, 6.0]
    table = np.array([[1.0, 0.0], [3.0, 2.0], [0.0, 3.0], [0.0, 3.0], [3.0, 0.0]])
    assert groups.means(table).tolist() == [[2.0, 1.0]] * 2 + [[1.0, 2.0]] * 3
    assert Groups.of_sizes([0]).means(np.empty((0, 2))).shape == (0, 2)
