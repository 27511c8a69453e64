"""The kernels on text do what their twins do, and read every number to its nearest float."""

from __future__ import annotations

from fractions import Fraction
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from rankwright.kernels import reference
from rankwright.kernels.naive.common import nearest_float32
from rankwright.kernels.shared_codes import LARGEST_FEATURE_INDEX, SvmlightProblem

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


def parse_cells(kernel, text, starts, ends, delimiter, targets, threads):
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
    numbers, spans, problem = parse_cells(reference.parse_cells, text, starts, ends, delimiter, places, 1)
    # What stands behind a problem is unspecified.
    n_good = len(rows) if problem[0] < 0 else int(problem[0])
    for threads in (1, 2, 7):
        mine = parse_cells(_core.parse_cells, text, starts, ends, delimiter, places, threads)
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
            read, _, problem = parse_cells(_core.parse_cells, text, starts, ends, delimiter, np.arange(n_columns), 1)
            assert problem[0] == -1
            np.testing.assert_array_equal(read, numbers[row * n_columns : (row + 1) * n_columns])


compiled = pytest.importorskip("rankwright.kernels._core")


def as_bytes(text: bytes) -> np.ndarray:
    return np.frombuffer(text, np.uint8)


def split(kernels: ModuleType, text: bytes) -> tuple[list[int], int]:
    starts, counts = np.full(len(text) // 2 + 1, -1), np.zeros(2, np.int64)
    kernels.split_lines(as_bytes(text), starts, counts)
    return starts[: counts[0]].tolist(), int(counts[1])


def parse(
    kernels: ModuleType,
    text: bytes,
    *,
    n_columns: int = 5,
    base: int = 1,
    absent: float = 0.0,
    infinity: bool = False,
    threads: int = 1,
) -> dict[str, Any]:
    starts = np.array(split(kernels, text)[0], dtype=np.int64)
    n = len(starts)
    filled: dict[str, Any] = {
        "features": np.full((n, n_columns), -7, np.float32),
        "labels": np.full(n, -7, np.float32),
        "query_spans": np.full(2 * n, -7),
        "starts_query": np.full(n, 7, np.uint8),
        "document_spans": np.full(2 * n, -7),
        "report": np.full(6, -7),
    }
    kernels.parse_svmlight(as_bytes(text), starts, base, absent, infinity, *filled.values(), threads)
    return filled


def value_of(text: bytes, kernels: ModuleType = compiled, infinity: bool = True) -> Any:
    """The one feature of a line, parsed once near the block's beginning and once far from it."""
    line = b"0 1:" + text + b"\n"
    short = parse(kernels, line, infinity=infinity)
    long = parse(kernels, b"# " + b"x" * 40 + b"\n" + line + b"# " + b"x" * 80, infinity=infinity)
    assert short["report"][0] == long["report"][0] == SvmlightProblem.NONE, text
    assert short["features"].view(np.uint32)[0, 0] == long["features"].view(np.uint32)[0, 0], text
    return short["features"][0, 0]


def nearest(text: bytes) -> np.float32:
    """The float32 nearest to the text, ties to even, by exact arithmetic over all candidates."""
    exact = Fraction(text.decode())
    guess = np.float32(float(text)) if abs(exact) < 2**127 else np.float32(2.0**127)
    candidates = {0: guess}
    for step in range(3):
        candidates[-step - 1] = np.nextafter(candidates[-step], np.float32(-np.inf))
        candidates[step + 1] = np.nextafter(candidates[step], np.float32(np.inf))
    worth = {float(value): value for value in candidates.values() if np.isfinite(value)}
    return min(worth.values(), key=lambda value: (abs(Fraction(float(value)) - exact), int(value.view(np.uint32)) & 1))


digits = st.text("0123456789", max_size=24)
decimals = st.builds(
    lambda sign, whole, point, fraction, exponent: sign + whole + point + (fraction if point else "") + exponent,
    st.sampled_from(["", "-", "+"]),
    digits.filter(len),
    st.sampled_from(["", "."]),
    digits,
    st.one_of(st.just(""), st.integers(-60, 36).map(lambda e: f"e{e}"), st.integers(0, 20).map(lambda e: f"E+{e}")),
).map(str.encode)


@given(decimals)
@example(b"0.1")
@example(b"22.076928")
@example(b"9007199254740993")  # 2^53 + 1
@example(b"1.00000005960464477539062500")  # the middle of 1 and the next float32: to even, downwards
@example(b"1.00000005960464477539062501")
@example(b"1.00000005960464477539062499")
@example(b"1.00000017881393432617187500")  # the next middle: to even, upwards
@example(b"16777217")
@example(b"16777217.000000000000000001")
@example(b"1.17549435e-38")
@example(b"1.4e-45")
@example(b"7.1e-46")
@example(b"7.0e-46")
@example(b"123456789012345678901234567890e-20")
@example(b"0." + b"0" * 60 + b"1e60")
def test_a_number_is_thenearest_float32(text):
    if abs(Fraction(text.decode())) >= Fraction(2) ** 127:
        return
    expected = nearest(text)
    found = value_of(text)
    assert found == expected
    assert np.signbit(found) == text.startswith(b"-")
    assert found == nearest_float32(text)


@given(st.integers(0, 2**31 - 2**24), st.sampled_from([-1, 0, 1]), st.integers(1, 40))
def test_numbers_around_the_middle_of_two_float32_go_to_the_right_side(bits, side, zeros):
    low, high = np.array([bits, bits + 1], np.uint32).view(np.float32)
    if not np.isfinite(high):
        return
    middle = (Fraction(float(low)) + Fraction(float(high))) / 2
    number = middle + side * Fraction(float(high) - float(low)) / 10**zeros
    text = decimal_text(number).encode()
    expected = high if side > 0 or (side == 0 and bits % 2 == 1) else low
    assert value_of(text) == expected
    assert nearest_float32(text) == expected


def decimal_text(number: Fraction) -> str:
    """All digits of a number whose denominator has only twos and fives."""
    scale = 0
    while number.denominator != 1:
        number, scale = number * 10, scale + 1
    return f"{number.numerator}e-{scale}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"1", 1.0),
        (b"+1", 1.0),
        (b"-1", -1.0),
        (b"-0", -0.0),
        (b"1.", 1.0),
        (b".5", 0.5),
        (b"-.5", -0.5),
        (b"1e3", 1000.0),
        (b"1.e3", 1000.0),
        (b"1E+3", 1000.0),
        (b"1e-3", np.float32(0.001)),
        (b"000000000000000000000001", 1.0),
        (b"123456789012345", np.float32(123456789012345)),
        (b"1234567890123456", np.float32(1234567890123456)),
        (b"0.00000000000000000000000001", np.float32(1e-26)),
        (b"1e-400", 0.0),
        (b"-1e-400", -0.0),
        (b"1e-99999999999999999999", 0.0),
        (b"0e99999999999999999999", 0.0),
        (b"3.4028235e38", np.finfo(np.float32).max),
        # The middle between the largest number and 2^128: ties go to even, which is infinity.
        (b"340282356779733661637539395458142568448", np.inf),
        (b"340282356779733661637539395458142568447", np.finfo(np.float32).max),
        (b"340282356779733661637539395458142568447.999", np.finfo(np.float32).max),
        (b"1e39", np.inf),
        (b"-1e400", -np.inf),
        (b"1e99999999999999999999", np.inf),
        (b"inf", np.inf),
        (b"-INF", -np.inf),
        (b"+Infinity", np.inf),
        (b"nan", np.nan),
        (b"-nan", np.nan),
        (b"NaN", np.nan),
        (b"NULL", np.nan),
        (b"null", np.nan),
    ],
)
@pytest.mark.parametrize("kernels", [compiled, reference], ids=["compiled", "reference"])
def test_every_spelling_of_a_number(kernels, text, expected):
    found = value_of(text, kernels)
    np.testing.assert_equal(found, np.float32(expected))
    assert np.isnan(expected) or np.signbit(found) == np.signbit(expected)


@pytest.mark.parametrize(
    "text",
    b"|.|+|-|e5|1e|1e+|1e-|1.2.3|1..2|--1|+-1|0x10|1_000|1,5|nane|nul|-null|in|infinit|1f|1:2|\xff|1\x00".split(b"|"),
)
def test_what_is_not_a_number_is_reported(text):
    line = b"0 1:" + text + b"\n"
    for padding in (b"", b"# " + b"x" * 40 + b"\n"):
        reports = [parse(kernels, padding + line)["report"].tolist() for kernels in (compiled, reference)]
        assert reports[0] == reports[1]
        assert reports[0][:4] == [
            SvmlightProblem.VALUE_NOT_A_NUMBER,
            0,
            len(padding) + 2,
            len(padding) + 4 + len(text),
        ]


LABELS = "0 1 2.5 -1 +1 nan NULL inf abc"
QUERIES = "qid:1 qid:1 qid:2 qid: qid:abc"
PAIRS = (
    "1:1 2:0.5 3:1e-3 4:-2 5:7 1:NULL 2:nan 3:inf 3:1e40 0:1 00002:4 6:1 7:0.25 100:3 1:0.123456789012345678 "
    "2:123456789 3:0.000001 4:18446744073709551616"
)
BROKEN = "1:2:3 :1 3: a:1 12345678:1 2147483647:1 2147483648:1 99999999999999999999:1 -1:1 1.5:2 5:é 1:\0"
words = st.sampled_from(f"{LABELS} {QUERIES} {PAIRS} {BROKEN}".encode().split(b" "))
gaps = st.sampled_from([b" ", b" ", b" ", b"  ", b"\t", b"\r", b"\v", b" \f "])
comments = st.sampled_from(
    [b"", b"", b"", b"# text", b"#docid = D1", b"#docid=D2 inc = 1", b" # docid = D-3#x", b"#docid = ", b"#docid", b"#"]
)
line_ends = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b" \n", b"\n\n", b"\n# comment 1:1\n", b"\n \t \n"])
good_lines = st.builds(
    lambda label, query, pairs, gap, comment, end: gap.join([label, query, *pairs]) + comment + end,
    st.sampled_from([b"0", b"1", b"2", b"nan", b"+1", b"0.5"]),
    st.sampled_from([b"qid:1", b"qid:2", b"qid:abc"]),
    st.lists(
        st.tuples(st.integers(1, 12), decimals.filter(lambda text: len(text) < 30)),
        max_size=8,
        unique_by=lambda p: p[0],
    ).map(lambda pairs: [b"%d:%s" % (index, text) for index, text in pairs]),
    gaps,
    comments,
    line_ends,
)
messy_lines = st.builds(
    lambda parts, gap, comment, end: gap.join(parts) + comment + end,
    st.lists(words, max_size=7),
    gaps,
    comments,
    line_ends,
)
texts = st.builds(
    lambda lines, tail: b"".join(lines) + tail,
    st.lists(st.one_of(good_lines, good_lines, good_lines, messy_lines), max_size=12),
    st.sampled_from([b"", b"0", b"0 qid:1 1:1", b"# end", b" ", b"0 qid:1 2:0.25 #docid = last"]),
)


@given(texts, st.integers(0, 8), st.sampled_from([0, 1]), st.booleans())
def test_the_parser_equals_its_twin_on_messy_text(text, n_columns, base, infinity):
    assert split(compiled, text) == split(reference, text)
    expected = parse(reference, text, n_columns=n_columns, base=base, infinity=infinity)
    for threads in (1, 2, 7):
        found = parse(compiled, text, n_columns=n_columns, base=base, infinity=infinity, threads=threads)
        if expected["report"][0] != SvmlightProblem.NONE:
            assert found["report"][:4].tolist() == expected["report"][:4].tolist()
            continue
        for name, values in expected.items():
            np.testing.assert_array_equal(found[name], values, err_msg=name)
            assert np.array_equal(np.signbit(found[name]), np.signbit(values)) or name != "features"


@given(st.binary(max_size=300))
def test_any_bytes_are_survived(noise):
    for text in (noise, b"1 qid:3 1:2 2:0.5 " + noise, b"1 qid:3 1:" + noise + b"\n1 qid:3 2:1 # x"):
        assert split(compiled, text) == split(reference, text)
        found, expected = (parse(kernels, text)["report"][:4].tolist() for kernels in (compiled, reference))
        assert found == expected


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_first_of_many_problems_is_reported(threads):
    lines = [b"1 qid:1 1:%d\n" % i for i in range(1000)]
    lines[400] = b"1 qid:1 1:x\n"
    lines[700] = lines[999] = b"-1 qid:1\n"
    text = b"".join(lines)
    start = len(b"".join(lines[:400]))
    report = parse(compiled, text, threads=threads)["report"]
    assert report[:4].tolist() == [SvmlightProblem.VALUE_NOT_A_NUMBER, 400, start + 8, start + 11]


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_widest_index_is_that_of_the_first_row_that_has_it(threads):
    lines = [b"1 qid:1 %d:1\n" % (9 if i in (300, 301, 900) else 1 + i % 8) for i in range(1000)]
    report = parse(compiled, b"".join(lines), threads=threads)["report"]
    assert report[4:].tolist() == [9, 300]
    assert parse(reference, b"".join(lines))["report"].tolist() == report.tolist()


def test_an_index_is_read_up_to_the_largest_and_no_further():
    largest = b"1 %d:1\n" % LARGEST_FEATURE_INDEX
    assert parse(compiled, largest)["report"].tolist() == [0, 0, 0, 0, LARGEST_FEATURE_INDEX, 0]
    beyond = parse(compiled, b"1 %d:1\n" % (LARGEST_FEATURE_INDEX + 1))
    assert beyond["report"][0] == SvmlightProblem.INDEX_TOO_LARGE


@pytest.mark.parametrize("repeat", [b"2:1 2:3", b"3:1 1:2 3:4", b"5:1 4:1 1:1 2:1 3:1 4:2", b"9:1 9:2"])
def test_a_repeated_index_is_found_wherever_it_stands(repeat):
    text = b"1 qid:1 " + repeat + b" 7:1\n"
    report = parse(compiled, text)["report"][:4].tolist()
    assert report == parse(reference, text)["report"][:4].tolist()
    last = repeat.split()[-1]
    place = 8 + len(repeat) - len(last)
    assert report == [SvmlightProblem.INDEX_REPEATED, 0, place, place + len(last)]


def format_rows(kernels: ModuleType, features: np.ndarray, **changes: Any) -> Any:
    n_rows, n_columns = features.shape
    settings: dict[str, Any] = {
        "labels": np.arange(n_rows, dtype=np.float32),
        "query_of_row": np.arange(n_rows) // 2,
        "query_text": as_bytes(b"".join(b"q%d" % (query % 10) for query in range(n_rows))),
        "query_offsets": 2 * np.arange(n_rows + 1),
        "document_text": as_bytes(b"d" * (n_rows // 2)),
        "document_offsets": np.arange(n_rows + 1) // 2,
        "index_base": 1,
        "omit": 0,
        "mark_width": False,
        "text": np.zeros((n_rows, 100 + 30 * n_columns), np.uint8),
        "length": np.zeros(1, np.int64),
        "threads": 1,
    } | changes
    kernels.format_svmlight(features, **settings)
    return settings["text"].reshape(-1)[: settings["length"][0]].tobytes()


all_floats = st.one_of(
    st.floats(width=32), st.integers(-20_000_000, 20_000_000).map(float), st.floats(-2, 2, width=32), st.just(-0.0)
)


@given(
    st.lists(st.tuples(all_floats, all_floats, all_floats), max_size=40),
    st.sampled_from([0, 1, 2]),
    st.booleans(),
    st.sampled_from([0, 1]),
)
@example([(1e9, 999999999.0, 1e-5), (np.float32(1e9) - 64, 123456792.0, -9.9e-6)], 0, False, 1)
@example([(-1.17549435e-38, 3.4028235e38, -1.4e-45), (-0.000012345679, 8388607.5, np.inf)], 0, False, 1)
def test_the_formatter_equals_its_twin_and_reads_back_to_the_same_bits(rows, omit, mark_width, base):
    features = np.array(rows, np.float32).reshape(-1, 3)
    settings = {"omit": omit, "mark_width": mark_width, "index_base": base}
    expected = format_rows(reference, features, **settings)
    for threads in (1, 2, 7):
        assert format_rows(compiled, features, threads=threads, **settings) == expected
    absent = float("nan") if omit == 2 else 0.0
    back = parse(compiled, expected, n_columns=3, base=base, absent=absent, infinity=True)
    np.testing.assert_array_equal(back["features"], features)
    assert np.array_equal(np.signbit(back["features"]), np.signbit(features)) or np.isnan(features).any()


def test_a_number_has_the_fewest_digits_that_read_back():
    values = np.array([0.1, 0.3, 1 / 3, 1e-5, 1e-6, 1e10, 5e8, 16777216, 2.5, -0.0], np.float32)
    line = format_rows(compiled, values.reshape(1, -1)).split()[2:]
    numbers = [word.split(b":")[1].decode() for word in line]
    assert numbers == ["0.1", "0.3", "0.33333334", "0.00001", "1e-06", "1e+10", "500000000", "16777216", "2.5", "-0"]


def test_a_line_that_may_not_fit_is_refused_by_the_kernel():
    with pytest.raises(ValueError, match="more bytes"):
        format_rows(compiled, np.zeros((2, 3), np.float32), text=np.zeros((2, 60), np.uint8))
