"""A matrix put together from pieces is the matrix written at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.formats.svmlight.growing_matrix import GrowingMatrix


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 4), st.integers(-5, 60)), max_size=10))
def test_pieces_of_any_size_and_width_make_one_matrix(pieces):
    growing, expected, width, value = GrowingMatrix(), [], 0, 0
    for n_rows, more_columns, expected_rows in pieces:
        width += more_columns
        growing.room(n_rows, width, expected_rows)  # room that is not kept, as when a block is parsed again
        room = growing.room(n_rows, width, expected_rows)
        assert room.shape == (n_rows, width)
        room[:] = np.arange(value, value + n_rows)[:, None]
        growing.keep(n_rows)
        expected.append(np.pad(room, ((0, 0), (0, 50 - width)), constant_values=-1))
        value += n_rows
    matrix = growing.finish(width, -1)
    assert growing.n_rows == len(matrix) == value
    assert matrix.flags.c_contiguous
    np.testing.assert_array_equal(matrix, np.concatenate([np.empty((0, 50)), *expected])[:, :width])


@pytest.mark.parametrize("expected_rows", [100, 30])
def test_rows_that_were_foreseen_are_not_copied(expected_rows):
    growing = GrowingMatrix()
    first = growing.room(10, 3, expected_rows)
    growing.keep(10)
    growing.room(20, 3, 0)
    growing.keep(20)
    assert np.shares_memory(growing.finish(3, 0.0), first)
