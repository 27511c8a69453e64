"""Features are read from JSON as the twin reads them, whatever the text; and a right text gives the right numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankwright.kernels import reference
from rankwright.kernels.shared_codes import JsonProblem, JsonShape

_core = pytest.importorskip("rankwright.kernels._core")

NAMES = ("a", "b\u00e9", "10")
NUMBERS = st.one_of(
    st.floats(width=32, allow_nan=False, allow_infinity=False),
    st.floats(allow_nan=False, allow_infinity=False, min_value=-1e30, max_value=1e30),
    st.integers(-(10**20), 10**20),
    st.none(),
)
# Pieces of such texts, right and wrong, in any order.
PIECES = st.lists(
    st.sampled_from(
        [
            *'{}[],: \n"\\\x00',
            *('"rows"', '"columns"', '"documents"', '"a"', '"b\u00e9"', '"10"', '"x"', '"\\u0061"'),
            *("1", "-", "0", "01", "1.", ".5", "-0.25", "1e5", "1e+", "1E400", "null", "nul", "true"),
            *("12345678901234567890", "0.1234567890123456789", "[1,2,3]"),
            *('{"a":1,"b\u00e9":2,"10":3}', '{"rows":[', '"a":[1'),
        ]
    ),
    max_size=30,
)


def read(kernel, text: bytes, names=NAMES, n_rows=9):
    joined = [name.encode() for name in names]
    offsets = np.cumsum([0, *map(len, joined)])
    features = np.full((n_rows, len(names)), -1.0, np.float32)
    report = np.full(9, -1, np.int64)
    order = np.array(sorted(range(len(names)), key=lambda place: joined[place]), np.int64)
    letters = np.frombuffer(text, np.uint8), np.frombuffer(b"".join(joined), np.uint8)
    kernel.parse_json_features(*letters, offsets, order, features, report)
    return features, report.tolist()


def assert_as_the_twin(text: bytes, **how):
    features, report = read(_core, text, **how)
    wanted, told = read(reference, text, **how)
    assert report == told
    rows = slice(report[2]) if report[0] == JsonProblem.NONE else slice(0)
    assert features[rows].tobytes() == wanted[rows].tobytes()


@given(PIECES.map("".join))
@example('{"a":{"b":["]"]},"rows":[[1,2,3],[4,null,-6e-1]],"x":1}')
@example('{"columns":{"10":[1,2],"a":[3,4],"b\u00e9":[5]}}')
@example('{"documents":[{"a":1,"a":2}]}')
@example('{"x":[1,\x00]}')
@example('{"rows":[[' + ",".join(["1"] * 4) + "]]}")
@example('{"rows":' + str([[1, 2, 3]] * 10) + "}")
def test_any_text_is_read_as_the_twin_reads_it(text):
    assert_as_the_twin(text.encode())


@given(st.lists(st.lists(NUMBERS, min_size=3, max_size=3), max_size=6), st.permutations(range(3)), st.booleans())
def test_the_three_shapes_are_the_same_numbers(rows, order, spaced):
    wanted = np.array([[np.nan if one is None else one for one in row] for row in rows], np.float64).reshape(-1, 3)
    shapes = {
        "rows": rows,
        "columns": {NAMES[place]: [row[place] for row in rows] for place in order},
        "documents": [{NAMES[place]: row[place] for place in order} for row in rows],
    }
    for shape, value in shapes.items():
        separators = None if spaced else (",", ":")
        text = json.dumps({"first": {"rows": 1}, shape: value, "last": 2}, separators=separators, ensure_ascii=False)
        found, report = read(_core, text.encode())
        assert report[:3] == [JsonProblem.NONE, JsonShape[shape.upper()], len(rows)]
        assert json.loads(text.encode()[report[3] : report[4]]) == value
        assert_as_the_twin(text.encode())
        assert np.allclose(found[: len(rows)], wanted, rtol=1e-7, atol=1e-45, equal_nan=True)


PROBLEMS = {
    '{"rows": [[1, 2]]}': (JsonProblem.WRONG_WIDTH, 0, 2),
    '{"rows": [[1, 2, 3], [1, 2, 3, 4]]}': (JsonProblem.WRONG_WIDTH, 1, 4),
    '{"rows": [[1, 2, "3"]]}': (JsonProblem.NOT_A_NUMBER, 0, 2),
    '{"rows": [[1, 2, NaN]]}': (JsonProblem.NOT_A_NUMBER, 0, 2),
    '{"rows": [[1, 2, 1e39]]}': (JsonProblem.NUMBER_TOO_LARGE, 0, 2),
    '{"rows": [[1, 2, 03]]}': (JsonProblem.NOT_A_NUMBER, 0, 2),
    '{"documents": [{"a": 1, "10": 2}]}': (JsonProblem.MISSING_FEATURE, 0, 1),
    '{"documents": [{"a": 1, "c": 2}]}': (JsonProblem.UNKNOWN_FEATURE, 0, 0),
    '{"documents": [{"a": 1, "a": 2}]}': (JsonProblem.REPEATED_FEATURE, 0, 0),
    '{"columns": {"a": [1, 2], "10": [1]}}': (JsonProblem.UNEVEN_COLUMNS, 1, 2),
    '{"columns": {"a": [1, 2]}}': (JsonProblem.MISSING_FEATURE, 0, 1),
    '{"documents": [{"\\u0061": 1}]}': (JsonProblem.ESCAPED_NAME, 0, 0),
    '{"rows": [[1, 2, 3]': (JsonProblem.NOT_JSON, 0, 0),
}  # fmt: skip


@pytest.mark.parametrize("text", PROBLEMS)
def test_what_is_wrong_is_told_with_its_place(text):
    _, report = read(_core, text.encode())
    assert (report[0], report[5], report[6]) == PROBLEMS[text]


def test_an_object_without_features_has_no_shape():
    assert read(_core, b'{"model": "a", "row": [[1]]}')[1][:3] == [JsonProblem.NONE, JsonShape.NONE, 0]
