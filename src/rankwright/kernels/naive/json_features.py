"""Twin of the kernel that reads documents' features from JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isinf, nan

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float32Array, IntArray
from rankwright.kernels.naive.common import nearest_float32, texts_of
from rankwright.kernels.shared_codes import JsonProblem as Problem
from rankwright.kernels.shared_codes import JsonShape

BLANKS = re.compile(rb"[ \n\r\t]*")
NAME = re.compile(rb'"((?:[^"\\\x00-\x1f]|\\[\s\S])*)"')
TOKEN = re.compile(rb"[^,\]}\x00-\x20]*")
NUMBER = re.compile(rb"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")
WORD = re.compile(rb'[^,\]}\x00-\x20:"\[{]+')  # of a value that is skipped
SHAPE_OF = {b"rows": JsonShape.ROWS, b"columns": JsonShape.COLUMNS, b"documents": JsonShape.DOCUMENTS}


def parse_json_features(
    text: NDArray[np.uint8],
    names: NDArray[np.uint8],
    name_offsets: IntArray,
    sorted_names: IntArray,
    features: Float32Array,
    report: IntArray,
) -> None:
    """Read the features of documents from the first member of a JSON object that is rows, columns or documents.

    `report` is the problem, the shape, the number of rows, where the member's value begins and ends, and the row, the
    column and the place of the problem.
    """
    reader = _FeatureReader(text.tobytes(), texts_of(names, name_offsets), features)
    try:
        reader.read_object()
        problem = (Problem.NONE, 0, 0, 0, 0)
    except _WrongFeatures as error:
        problem = error.problem
        reader.value_end = reader.value_begin if reader.shape else 0
    report[:] = problem[0], reader.shape, reader.n_rows, reader.value_begin, reader.value_end, *problem[1:]


class _WrongFeatures(Exception):
    def __init__(self, kind: Problem, row: int, column: int, begin: int, end: int) -> None:
        super().__init__(kind)
        self.problem = (kind, row, column, begin, end)


class _FeatureReader:
    """What was read so far; `at` is the place of the next letter."""

    def __init__(self, text: bytes, names: list[bytes], features: Float32Array) -> None:
        self.text, self.names, self.features = text, names, features
        self.at = self.n_rows = self.value_begin = self.value_end = 0
        self.shape = JsonShape.NONE

    def fail(self, kind: Problem, row: int = 0, column: int = 0, span: tuple[int, int] | None = None) -> None:
        raise _WrongFeatures(kind, row, column, *(span or (self.at, self.at)))

    def peeks(self, letter: bytes) -> bool:
        self.at = _end_of(BLANKS, self.text, self.at)
        return self.text[self.at : self.at + 1] == letter

    def takes(self, letter: bytes) -> bool:
        found = self.peeks(letter)
        self.at += found
        return found

    def take(self, letter: bytes) -> None:
        if not self.takes(letter):
            self.fail(Problem.NOT_JSON)

    def name(self) -> tuple[bytes, tuple[int, int]]:
        self.peeks(b'"')
        found = NAME.match(self.text, self.at)
        if found is None:
            self._stop_in_name()
        assert found is not None
        self.at = found.end()
        return found[1], found.span(1)

    def _stop_in_name(self) -> None:
        """Fail where a name goes wrong: at its first letter, a control letter, or the end of the text."""
        self.take(b'"')
        while self.at < len(self.text) and self.text[self.at] >= 0x20:
            self.at += 2 if self.text[self.at] == ord("\\") else 1
        self.at = min(self.at, len(self.text))
        self.fail(Problem.NOT_JSON)

    def read_object(self) -> None:
        self.take(b"{")
        if self.peeks(b"}"):
            return
        while True:
            name, _ = self.name()
            self.take(b":")
            self.peeks(b"")
            self.value_begin = self.at
            if name in SHAPE_OF:
                self.shape = SHAPE_OF[name]
                {1: self.read_rows, 2: self.read_columns, 3: self.read_documents}[self.shape]()
                self.value_end = self.at
                return
            self.skip_value()
            if not self.takes(b","):
                self.value_begin = 0
                return

    def skip_value(self) -> None:
        depth = 0
        while True:
            if self.peeks(b'"'):
                self.name()
            elif self.takes(b"[") or self.takes(b"{"):
                depth += 1
            elif self.peeks(b"]") or self.peeks(b"}"):
                depth -= 1
                if depth < 0:
                    self.fail(Problem.NOT_JSON)
                self.at += 1
            elif depth and (self.takes(b",") or self.takes(b":")):
                pass
            else:
                end = _end_of(WORD, self.text, self.at)
                if end == self.at:
                    self.fail(Problem.NOT_JSON)
                self.at = end
            if depth == 0:
                return

    def number(self, row: int, column: int) -> float:
        self.peeks(b"")
        span = self.at, _end_of(TOKEN, self.text, self.at)
        self.at = span[1]
        token = self.text[slice(*span)]
        if token == b"null":
            return nan
        if not NUMBER.fullmatch(token):
            self.fail(Problem.NOT_A_NUMBER, row, column, span)
        value = nearest_float32(token)
        if isinf(value):
            self.fail(Problem.NUMBER_TOO_LARGE, row, column, span)
        return float(value)

    def read_rows(self) -> None:
        for row in self._items(b"[", b"]"):
            self.fail_without_room(row)
            column = -1
            for column in self._items(b"[", b"]"):
                if column == len(self.names):
                    self.fail(Problem.WRONG_WIDTH, row, column + 1)
                self.features[row, column] = self.number(row, column)
            if column + 1 != len(self.names):
                self.fail(Problem.WRONG_WIDTH, row, column + 1)
            self.n_rows = row + 1

    def read_columns(self) -> None:
        seen: set[int] = set()
        for place in self._items(b"{", b"}"):
            column = self.feature(0, seen)
            self.take(b":")
            row = -1
            for row in self._items(b"[", b"]"):
                if place and row == self.n_rows:
                    self.fail(Problem.UNEVEN_COLUMNS, row + 1, column)
                self.fail_without_room(row, column)
                self.features[row, column] = self.number(row, column)
            if place and row + 1 != self.n_rows:
                self.fail(Problem.UNEVEN_COLUMNS, row + 1, column)
            self.n_rows = row + 1
        self.fail_unless_all(0, seen)

    def read_documents(self) -> None:
        for row in self._items(b"[", b"]"):
            self.fail_without_room(row)
            seen: set[int] = set()
            for _ in self._items(b"{", b"}"):
                column = self.feature(row, seen)
                self.take(b":")
                self.features[row, column] = self.number(row, column)
            self.fail_unless_all(row, seen)
            self.n_rows = row + 1

    def _items(self, opening: bytes, closing: bytes) -> Iterator[int]:
        """Counts the items between brackets; whoever asks reads one each time."""
        self.take(opening)
        if self.takes(closing):
            return
        place = 0
        while True:
            yield place
            place += 1
            if not self.takes(b","):
                self.take(closing)
                return

    def feature(self, row: int, seen: set[int]) -> int:
        """The feature that is named next, which must be none of those seen."""
        name, span = self.name()
        if b"\\" in name:
            self.fail(Problem.ESCAPED_NAME, row, 0, span)
        if name not in self.names:
            self.fail(Problem.UNKNOWN_FEATURE, row, 0, span)
        column = self.names.index(name)
        if column in seen:
            self.fail(Problem.REPEATED_FEATURE, row, column, span)
        seen.add(column)
        return column

    def fail_unless_all(self, row: int, seen: set[int]) -> None:
        missing = [column for column in range(len(self.names)) if column not in seen]
        if missing:
            self.fail(Problem.MISSING_FEATURE, row, missing[0])

    def fail_without_room(self, row: int, column: int = 0) -> None:
        if row == len(self.features):
            self.fail(Problem.TOO_MANY_ROWS, row, column)


def _end_of(pattern: re.Pattern[bytes], text: bytes, at: int) -> int:
    found = pattern.match(text, at)
    return at if found is None else found.end()
