"""Text out of SGML and HTML, in time that grows with its length whatever it holds."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from html import unescape
from string import ascii_lowercase, ascii_uppercase

# Possessive repeats never look back, so that a tag that does not end is read once.
TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9_-]*+)[^<>]*+>|<![^<>]*+>")
UNREAD = (("<!--", "-->"), ("<script", "</script>"), ("<style", "</style>"))  # what is not to be read, and its end
BLANKS = re.compile(r"\s+")
LOWER = str.maketrans(ascii_uppercase, ascii_lowercase)  # keeps lengths, which `lower` does not


def pieces(markup: str, names: Collection[str]) -> Iterator[tuple[str, str]]:
    """The texts between tags, each with the outermost of the named tags that it stands in, "" where it is in none."""
    inside, place = "", 0
    text = _without_unread(markup)
    for tag in TAG.finditer(text):
        yield inside, text[place : tag.start()]
        place = tag.end()
        name = (tag[2] or "").translate(LOWER)
        if inside == "" and not tag[1] and name in names:
            inside = name
        elif name == inside and tag[1]:
            inside = ""
    yield inside, text[place:]


def plain_text(texts: Iterator[str] | list[str]) -> str:
    """These pieces of text as one, with entities read and blanks made one."""
    return BLANKS.sub(" ", unescape(" ".join(texts))).strip()


def _without_unread(markup: str) -> str:
    for start, end in UNREAD:
        folded, kept, place = markup.translate(LOWER), [], 0
        while (first := folded.find(start, place)) >= 0 and (last := folded.find(end, first)) >= 0:
            kept.append(markup[place:first])
            place = last + len(end)
        markup = "".join([*kept, markup[place:]]) if kept else markup
    return markup
