"""Texts of strangers on a terminal: what would move the cursor, change colours or hide words is shown, not obeyed."""

from __future__ import annotations

import re

# Control characters, of which ESC begins a terminal's commands; marks that nobody sees, turn the direction of text or
# end a line; and halves of characters, which cannot be printed and stand for bytes of file names that are not UTF-8.
_COMMANDS = r"\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ud800-\udfff\ufeff"
_IN_TEXT, _IN_LINE = re.compile(f"[{_COMMANDS}]"), re.compile(f"[\n{_COMMANDS}]")


def escaped(text: str) -> str:
    r"""The text with control characters as Python writes them, such as `\x1b`; line ends stay.

    >>> print(escaped("a\x1b[31mb"))
    a\x1b[31mb
    """
    return _IN_TEXT.sub(_as_written, text)


def escaped_line(text: str) -> str:
    r"""The same for what must stay on one line, such as a name in a table: line ends become `\n`."""
    return _IN_LINE.sub(_as_written, text)


def _as_written(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode("ascii")
