"""A table that is shown: as lines of text, as Markdown, or as HTML."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import zip_longest
from typing import TypeAlias

from rankwright.escapes import escaped, escaped_line

GAP = "  "  # between columns


def table_lines(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[str] = (), width: int | None = None
) -> list[str]:
    """The header and the rows of a table; the columns named in `numbers` are aligned right.

    Control characters are shown escaped, so that a row is a row whatever is in its cells. Where the table is wider than
    `width`, columns of text are wrapped between words, the widest first. A word is never cut: a table of words that are
    too long stays wider.
    """
    right = set(numbers)
    cells = [[escaped_line(str(cell)) for cell in row] for row in (columns, *rows)]
    widths = [max(len(row[place]) for row in cells) for place in range(len(columns))]
    if width is not None:
        may_shrink = [place for place, column in enumerate(columns) if column not in right]
        _shrink(widths, cells, may_shrink, width)
    pads = [str.rjust if column in right else str.ljust for column in columns]
    lines = []
    for row in cells:
        wrapped = [_wrapped(cell, widths[place]) for place, cell in enumerate(row)]
        for parts in zip_longest(*wrapped, fillvalue=""):
            aligned = (pad(text, size) for pad, text, size in zip(pads, parts, widths, strict=True))
            lines.append(GAP.join(aligned).rstrip())
    return lines


def _shrink(widths: list[int], cells: Sequence[Sequence[str]], places: Sequence[int], width: int) -> None:
    """Make columns narrower until the table fits, but none narrower than its longest word."""
    least = {place: max((len(word) for row in cells for word in row[place].split()), default=0) for place in places}
    while sum(widths) + len(GAP) * (len(widths) - 1) > width:
        wide = [place for place in places if widths[place] > least[place]]
        if not wide:
            return
        widths[max(wide, key=lambda place: widths[place])] -= 1


def _wrapped(cell: str, width: int) -> list[str]:
    if len(cell) <= width:
        return [cell]
    return textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False) or [""]


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, numbers: Iterable[str] = ()) -> str:
    """A table that Markdown shows as one."""
    right = set(numbers)
    rule = ["---:" if column in right else "---" for column in columns]
    return "\n".join("| " + " | ".join(_escaped(cell) for cell in row) + " |" for row in [columns, rule, *rows])


def _escaped(cell: str) -> str:
    return str(cell).replace("|", "\\|").strip()


@dataclass(frozen=True, slots=True)
class ShownTable:
    """A table with the line above it and the lines below; `numbers` are the columns that are aligned right."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[str] = ()
    notes: Sequence[str] = ()

    def text(self, width: int | None = None) -> str:
        """The table as lines of text, wrapped to a width where one is given."""
        lines = table_lines(self.columns, self.rows, numbers=self.numbers, width=width)
        return "\n".join([escaped(self.title), *lines, *map(escaped, self.notes)])

    def markdown(self) -> str:
        """The table as Markdown."""
        table = markdown_table(self.columns, self.rows, numbers=self.numbers)
        return "\n\n".join(filter(None, [self.title, table, *self.notes]))

    def html(self) -> str:
        """The table as HTML, which notebooks show."""
        right = [column in set(self.numbers) for column in self.columns]
        head = "".join(_cell("th", name, is_right) for name, is_right in zip(self.columns, right, strict=True))
        body = "".join(
            "<tr>" + "".join(_cell("td", cell, is_right) for cell, is_right in zip(row, right, strict=True)) + "</tr>"
            for row in self.rows
        )
        notes = "".join(f"<div>{escape(note)}</div>" for note in self.notes)
        table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
        return f"<div>{escape(self.title)}</div>{table}{notes}"


@dataclass(frozen=True, slots=True)
class ShownTables:
    """Several tables, one below the other, and lines below them all."""

    tables: Sequence[ShownTable]
    notes: Sequence[str] = ()

    def text(self, width: int | None = None) -> str:
        """The tables as lines of text, with a blank line between them."""
        parts = [table.text(width) for table in self.tables]
        return "\n\n".join([*parts, *(["\n".join(map(escaped, self.notes))] if self.notes else [])])

    def markdown(self) -> str:
        """The tables as Markdown."""
        return "\n\n".join([*(table.markdown() for table in self.tables), *self.notes])

    def html(self) -> str:
        """The tables as HTML."""
        notes = "".join(f"<div>{escape(note)}</div>" for note in self.notes)
        return "<br>".join([*(table.html() for table in self.tables), *([notes] if notes else [])])


Showable: TypeAlias = ShownTable | ShownTables


def _cell(tag: str, text: str, is_right: bool) -> str:
    return f'<{tag} style="text-align:{"right" if is_right else "left"}">{escape(str(text).strip())}</{tag}>'


def listed(names: Iterable[str]) -> str:
    """The names in a sentence: a, b and c."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def counted(number: int, one: str, several: str | None = None) -> str:
    """How many there are of a thing, in the singular or the plural: 1 query, 2,000 queries, 0 documents."""
    if number == 1:
        return f"1 {one}"
    regular = f"{one[:-1]}ies" if one.endswith("y") and one[-2:] not in ("ay", "ey", "oy") else f"{one}s"
    return f"{number:,} {regular if several is None else several}"


def short(value: object, digits: int = 4) -> str:
    """A value in few letters: numbers with that many digits."""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)
