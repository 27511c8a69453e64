"""Twins of the kernels that read and write SVMlight text."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float32Array, IntArray
from rankwright.kernels.codes import LARGEST_FEATURE_INDEX, Omit
from rankwright.kernels.codes import SvmlightProblem as Problem
from rankwright.kernels.naive.text.decimal import NUMBER, nearest_float32, number_text

ByteArray = NDArray[np.uint8]

WORD = re.compile(rb"[^ \t\r\v\f]+")
DOCUMENT_ID = re.compile(rb"#[ \t\r\v\f]*docid[ \t\r\v\f]*=[ \t\r\v\f]*([^ \t\r\v\f]+)")


class _LineError(Exception):
    def __init__(self, problem: Problem, word: re.Match[bytes]) -> None:
        self.problem, self.word = problem, word


def split_lines(block: ByteArray, starts: IntArray, counts: IntArray) -> None:
    """Fill `starts` with the place of the first word of each line that is neither blank nor only a comment.

    `counts` gets the number of those lines and the number of newlines.
    """
    text = block.tobytes()
    counts[:] = 0, text.count(b"\n")
    place = 0
    for line in text.split(b"\n"):
        first = WORD.search(line)
        if first and not first[0].startswith(b"#"):
            starts[counts[0]] = place + first.start()
            counts[0] += 1
        place += len(line) + 1


def parse_svmlight(
    block: ByteArray,
    starts: IntArray,
    index_base: int,
    absent: float,
    allow_infinity: bool,
    features: Float32Array,
    labels: Float32Array,
    query_spans: IntArray,
    starts_query: ByteArray,
    document_spans: IntArray,
    report: IntArray,
    threads: int,
) -> None:
    """Parse the lines that begin at `starts` into a row each.

    A span is a begin and an end in the block, 0 and 0 where there is nothing. `report` gets the first problem, its
    row, its word's begin and end, then the largest index and the first row that has it. Values beyond the features'
    columns are dropped: the caller sees the largest index, widens the matrix and parses again.
    """
    text = block.tobytes()
    report[:] = Problem.NONE, 0, 0, 0, index_base - 1, 0
    query_spans[:] = document_spans[:] = 0
    for row, start in enumerate(starts.tolist()):
        end = text.find(b"\n", start)
        line = text[start : len(text) if end < 0 else end]
        body, mark, _ = line.partition(b"#")
        words = list(WORD.finditer(body))
        try:
            labels[row] = _label(words[0])
            pairs = words[1:]
            if pairs and pairs[0][0].startswith(b"qid:"):
                query_spans[2 * row : 2 * row + 2] = start + _query_id_begin(pairs[0]), start + pairs[0].end()
                pairs = pairs[1:]
            features[row] = absent
            for index, value in _pairs(pairs, index_base, allow_infinity):
                if index > report[4]:
                    report[4:] = index, row
                if index - index_base < features.shape[1]:
                    features[row, index - index_base] = value
        except _LineError as error:
            report[:4] = error.problem, row, start + error.word.start(), start + error.word.end()
            return
        if document := DOCUMENT_ID.match(line, len(body)) if mark else None:
            document_spans[2 * row : 2 * row + 2] = start + document.start(1), start + document.end(1)
    ids = [text[begin:end] for begin, end in query_spans.reshape(-1, 2).tolist()]
    starts_query[:] = [row == 0 or ids[row] != ids[row - 1] for row in range(len(ids))]


def _label(word: re.Match[bytes]) -> np.float32:
    if not NUMBER.fullmatch(word[0]):
        raise _LineError(Problem.LABEL_NOT_A_NUMBER, word)
    label = nearest_float32(word[0])
    if label < 0 or math.isinf(label):
        raise _LineError(Problem.LABEL_OUT_OF_RANGE, word)
    return label


def _query_id_begin(word: re.Match[bytes]) -> int:
    if word[0] == b"qid:":
        raise _LineError(Problem.QUERY_ID_EMPTY, word)
    return word.start() + len(b"qid:")


def _pairs(words: list[re.Match[bytes]], index_base: int, allow_infinity: bool) -> Iterator[tuple[int, np.float32]]:
    seen = set()
    for word in words:
        index_text, colon, value_text = word[0].partition(b":")
        if not colon:
            raise _LineError(Problem.PAIR_WITHOUT_COLON, word)
        if not index_text.isdigit():
            raise _LineError(Problem.INDEX_NOT_A_NUMBER, word)
        index = int(index_text)
        if index > LARGEST_FEATURE_INDEX:
            raise _LineError(Problem.INDEX_TOO_LARGE, word)
        if index < index_base:
            raise _LineError(Problem.INDEX_BELOW_BASE, word)
        if not NUMBER.fullmatch(value_text):
            raise _LineError(Problem.VALUE_NOT_A_NUMBER, word)
        value = nearest_float32(value_text)
        if math.isinf(value) and not allow_infinity:
            raise _LineError(Problem.VALUE_INFINITE, word)
        if index in seen:
            raise _LineError(Problem.INDEX_REPEATED, word)
        seen.add(index)
        yield index, value


def format_svmlight(
    features: Float32Array,
    labels: Float32Array,
    query_of_row: IntArray,
    query_text: ByteArray,
    query_offsets: IntArray,
    document_text: ByteArray,
    document_offsets: IntArray,
    index_base: int,
    omit: int,
    mark_width: bool,
    text: ByteArray,
    length: IntArray,
    threads: int,
) -> None:
    """Fill the beginning of `text` with a line per row and `length[0]` with the bytes of all lines.

    Document ids are texts one after the other, a row each, and query ids likewise, found through `query_of_row`.
    `mark_width` writes the last column of the first row even where it could be left out.
    """
    query_ids, document_ids = _texts(query_text, query_offsets), _texts(document_text, document_offsets)
    lines = []
    for row, values in enumerate(features):
        words = [number_text(labels[row]), f"qid:{query_ids[query_of_row[row]]}"]
        for column, value in enumerate(values):
            marks_width = mark_width and row == 0 and column == features.shape[1] - 1
            if marks_width or not _is_omitted(value, omit):
                words.append(f"{column + index_base}:{number_text(value)}")
        if document_ids[row]:
            words.append(f"#docid = {document_ids[row]}")
        lines.append(" ".join(words) + "\n")
    written = "".join(lines).encode()
    text.reshape(-1)[: len(written)] = np.frombuffer(written, np.uint8)
    length[0] = len(written)


def _texts(joined: ByteArray, offsets: IntArray) -> list[str]:
    text = joined.tobytes()
    return [text[begin:end].decode() for begin, end in pairwise(offsets)]


def _is_omitted(value: Any, omit: int) -> bool:
    if omit == Omit.ZERO:
        return bool(value == 0 and not np.signbit(value))
    return omit == Omit.MISSING and bool(np.isnan(value))
