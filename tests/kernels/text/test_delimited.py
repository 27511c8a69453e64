"""The compiled kernels for CSV text against their twins, and against themselves with other numbers of threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.kernels import reference

_core = pytest.importorskip("rankwright.kernels._core")

# Everything that means something in CSV, and a little that does not.
TEXT = st.text(st.sampled_from('a7.-+e, \t;"\r\n'), max_size=60)
CELLS = st.one_of(
    TEXT,
    st.floats(width=32).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=12).map(str),
    st.sampled_from(
        ["", "NA", "null", "NaN", "True", "false", "inf", "-Infinity", "1e-50", "1e400", '"1.5"', " 2 ", "+3"]
    ),
)
DELIMITER = st.sampled_from([ord(","), ord("\t"), ord(";")])


def letters(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), np.uint8)


@given(TEXT, DELIMITER, st.integers(0, 9))
def test_lines_end_where_the_twin_says(text, delimiter, most):
    ends = np.full((2, most), -1, np.int64)
    _core.line_ends(letters(text), delimiter, ends[0])
    reference.line_ends(letters(text), delimiter, ends[1])
    assert ends[0].tolist() == ends[1].tolist()


def parse(kernel, text, starts, ends, delimiter, targets, threads):
    n_rows = len(starts)
    numbers = np.zeros(n_rows * int((targets >= 0).sum()), np.float32)
    spans = np.zeros(n_rows * int((targets <= -2).sum()) * 2, np.int64)
    problem = np.zeros(3, np.int64)
    kernel(text, starts, ends, delimiter, targets, numbers, spans, problem, threads)
    return numbers, spans, problem


@given(
    st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=5),
    DELIMITER,
    st.permutations([0, 1, -2]),
)
def test_cells_hold_what_the_twin_says_for_any_threads(rows, delimiter, targets):
    lines = [chr(delimiter).join(row) for row in rows]
    text = letters("".join(lines))
    ends = np.cumsum([len(line.encode()) for line in lines])
    starts = np.concatenate([[0], ends[:-1]])
    places = np.array(targets, np.int64)
    numbers, spans, problem = parse(reference.parse_cells, text, starts, ends, delimiter, places, 1)
    # What stands behind a problem is unspecified.
    n_good = len(rows) if problem[0] < 0 else int(problem[0])
    for threads in (1, 2, 7):
        mine = parse(_core.parse_cells, text, starts, ends, delimiter, places, threads)
        assert mine[2].tolist() == problem.tolist()
        assert mine[0][: 2 * n_good].tobytes() == numbers[: 2 * n_good].tobytes()
        assert mine[1][: 2 * n_good].tolist() == spans[: 2 * n_good].tolist()


@given(st.lists(st.floats(width=32), max_size=30), st.sampled_from([1, 2, 3]), DELIMITER)
def test_written_numbers_are_the_twins_and_read_back(values, n_columns, delimiter):
    n_rows = len(values) // n_columns
    numbers = np.array(values[: n_rows * n_columns], np.float32)
    wanted, wanted_lengths = np.zeros(len(numbers) * 17, np.uint8), np.zeros(n_rows, np.int64)
    reference.format_cells(numbers, n_columns, delimiter, wanted, wanted_lengths, 1)
    for threads in (1, 2, 7):
        text, lengths = np.zeros_like(wanted), np.zeros_like(wanted_lengths)
        _core.format_cells(numbers, n_columns, delimiter, text, lengths, threads)
        assert lengths.tolist() == wanted_lengths.tolist()
        for row, length in enumerate(lengths.tolist()):
            line = slice(row * n_columns * 17, row * n_columns * 17 + length)
            assert text[line].tobytes() == wanted[line].tobytes()
            starts, ends = np.array([line.start + 1]), np.array([line.stop])
            read, _, problem = parse(_core.parse_cells, text, starts, ends, delimiter, np.arange(n_columns), 1)
            assert problem[0] == -1
            np.testing.assert_array_equal(read, numbers[row * n_columns : (row + 1) * n_columns])
