"""Lines of text, and their fields, separated by blanks and tabs (TREC files, pairs, weights) or as in CSV."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from math import isnan, nan
from typing import AnyStr

from rankwright.container.file import is_container
from rankwright.errors import FileFormatError, comma_hint
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import LONGEST_LINE, input_name, is_standard, open_input
from rankwright.tables.text import counted

LONGEST_COUNT = 12  # digits: nothing here is counted in trillions, and sums of such numbers stay within 64 bits
LONGEST_QUOTE = 40  # characters of the found text that an error shows


def numbered_fields(path: FilePath, wanted: str, least: int) -> Iterator[tuple[int, list[str]]]:
    """The number and the fields of each line that is neither blank nor a comment (a line that begins with `#`).

    A line must have `least` fields; `wanted` says in errors what they are.
    """
    n_found = 0
    for number, line in enumerate(text_lines(path), start=1):
        fields = line.split()
        if not fields or fields[0].startswith("#"):
            continue
        if len(fields) < least:
            raise FileFormatError(input_name(path), f"found {counted(len(fields), 'field')}, wanted {wanted}", number)
        n_found += 1
        yield number, fields
    if n_found == 0:
        raise FileFormatError(input_name(path), f"holds no line of {wanted}")


def number_in(field: str, what: str, path: FilePath, line: int) -> float:
    """The number in a field; NaN is not accepted as one."""
    try:
        number = float(field)
    except ValueError:
        number = nan
    if isnan(number):
        problem = f"{what} must be a number, found {field[:LONGEST_QUOTE]!r}{comma_hint(field)}"
        raise FileFormatError(input_name(path), problem, line)
    return number


def is_count(text: str) -> bool:
    """Whether the text is a whole number, 0 or more, that can count something: with 12 digits at most."""
    return text.isdecimal() and len(text) <= LONGEST_COUNT


def text_lines(path: FilePath) -> list[str]:
    """The lines of a text file, compressed or not, or of standard input: read at once, so that no file stays open."""
    name = input_name(path)
    if not is_standard(path) and is_container(path):
        raise FileFormatError(name, "is a model file; wanted text. Is it the value of another option, such as --model?")
    lines = []
    with open_input(path) as file:
        for number, line in enumerate(bounded_lines(file.readline, name), start=1):
            if b"\0" in line:
                raise FileFormatError(name, "is a binary file; wanted text", number)
            try:
                lines.append(line.decode("utf-8-sig" if number == 1 else "utf-8"))
            except UnicodeDecodeError as error:
                raise FileFormatError(name, f"is not UTF-8 text: {error.reason}", number) from None
    return lines


def bounded_lines(readline: Callable[[int], AnyStr], name: str, longest: int = LONGEST_LINE) -> Iterator[AnyStr]:
    """The lines of an open file, none of them longer: a small compressed file may hold an endless line."""
    number = 0
    while line := readline(longest):
        number += 1
        if len(line) == longest:
            raise FileFormatError(name, f"the line has more than {longest >> 20} MiB; wanted lines of text", number)
        yield line


def csv_rows(
    lines: Iterable[str], delimiter: str, name: str, *, lines_before: int = 0
) -> Iterator[tuple[int, list[str]]]:
    """The cells of each row, and the number of the line on which the row ends."""
    rows = csv.reader(lines, delimiter=delimiter)
    try:
        for cells in rows:
            yield lines_before + rows.line_num, cells
    except csv.Error as error:
        problem = f"cannot be read as CSV: {error}"
        if "field limit" in str(error):
            problem = f"a cell has more than {csv.field_size_limit():,} characters; is a quote not closed?"
        raise FileFormatError(name, problem, lines_before + rows.line_num) from None
