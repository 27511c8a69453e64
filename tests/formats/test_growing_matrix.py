"""A matrix put together from pieces is the matrix written at once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.formats.growing_matrix import GrowingMatrix

BLOCKS = st.tuples(st.integers(0, 20), st.integers(0, 4), st.one_of(st.just(0.0), st.floats(1, 60)), st.booleans())


@given(st.lists(BLOCKS, max_size=10), st.integers(0, 1000))
def test_blocks_of_any_size_and_width_make_one_matrix(blocks, n_bytes):
    growing, expected, width, value = GrowingMatrix(n_bytes), [], 0, 0
    for n_rows, more_columns, bytes_per_row, in_place in blocks:
        width += more_columns
        growing.room(n_rows, width, bytes_per_row)  # room that is not kept, as when a block is parsed again
        room = growing.room(n_rows, width, bytes_per_row) if in_place else np.empty((n_rows, width), np.float32)
        assert room.shape == (n_rows, width)
        room[:] = np.arange(value, value + n_rows)[:, None]
        growing.keep(room)
        expected.append(np.pad(room, ((0, 0), (0, 50 - width)), constant_values=-1))
        value += n_rows
    matrix = growing.finish(-1)
    assert growing.n_rows == len(matrix) == value
    assert matrix.flags.c_contiguous
    np.testing.assert_array_equal(matrix, np.concatenate([np.empty((0, 50)), *expected])[:, :width])


@pytest.mark.parametrize("n_bytes", [100, 30])
def test_rows_that_were_foreseen_are_not_copied(n_bytes):
    growing = GrowingMatrix(n_bytes)
    first = growing.room(10, 3, 1.0)
    growing.keep(first)
    growing.keep(growing.room(20, 3, 0))
    assert np.shares_memory(growing.finish(0.0), first)
