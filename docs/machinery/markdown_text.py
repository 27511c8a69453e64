"""Texts of docstrings and helps made safe for Markdown."""

from __future__ import annotations

import re
from html import escape

CODE = re.compile(r"(`[^`]*`)")


def safe(text: str) -> str:
    """The text with what looks like HTML escaped, and code left as it is."""
    return "".join(part if part.startswith("`") else escape(part, quote=False) for part in CODE.split(text))


def one_line(text: str) -> str:
    """The text on one line, safe in a cell of a table too."""
    return safe(" ".join(text.split())).replace("|", "\\|")
