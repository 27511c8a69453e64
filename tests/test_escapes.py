"""Texts of strangers cannot command a terminal."""

from __future__ import annotations

import unicodedata

import pytest

from rankwright.escapes import escaped, escaped_line
from rankwright.tables.text import ShownTable, table_lines

COMMANDS = [
    "\x1b[31m",
    "\x1b]0;title\x07",
    "\r",
    "\x08",
    "\x7f",
    "\x9b2J",
    "\x00",
    "\u202e",
    "\u2066",
    "\u2028",
    "\udcff",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_are_shown_and_not_obeyed(command):
    shown = escaped(f"a{command}b")
    assert shown.startswith("a\\")
    assert shown.endswith("b")
    assert shown.isprintable()
    assert escaped(shown) == shown


def test_every_control_character_is_escaped_but_line_ends_in_texts():
    controls = "".join(map(chr, (code for code in range(0x110000) if unicodedata.category(chr(code)) in ("Cc", "Cs"))))
    assert escaped_line(controls).isprintable()
    assert [letter for letter in escaped(controls) if not letter.isprintable()] == ["\n"]


@pytest.mark.parametrize("text", ["plain", "שלום", "👩‍🔬 emoji", "naïve café", "a\\b", "tab-free text"])
def test_other_texts_stay_as_they_are(text):
    assert escaped(text) == escaped_line(text) == text


def test_a_cell_cannot_begin_another_row_or_change_colours():
    lines = table_lines(["name", "value"], [["a\nforged", "2"], ["b\x1b[31m", "3"]])
    assert lines == ["name       value", "a\\nforged  2", "b\\x1b[31m  3"]
    shown = ShownTable("of \x1b[2J", ["name"], [["x\x07"]], notes=["note\x1b"])
    assert shown.text() == "of \\x1b[2J\nname\nx\\x07\nnote\\x1b"
