"""Bytes of strangers turned into text."""

from __future__ import annotations

from codecs import BOM_UTF16_BE, BOM_UTF16_LE

from rankwright.text.collections.faults import CollectionFault, CollectionProblems

WIDE_MARKS = (BOM_UTF16_LE, BOM_UTF16_BE)


def decoded(content: bytes, problems: CollectionProblems, path: str, line: int | None = None) -> str:
    """The text of bytes that should be UTF-8; other bytes are read as Windows-1252, as browsers do, and counted."""
    if content.startswith(WIDE_MARKS):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        problems.note(CollectionFault.ENCODING, path, line, repr(content[error.start : error.start + 8])[1:])
        return content.decode("cp1252", "replace")


def whole_characters(text: str) -> str:
    """The text without halves of characters, which no file in UTF-8 can hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
