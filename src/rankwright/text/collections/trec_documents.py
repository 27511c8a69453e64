"""TREC's files of documents: SGML with many documents in a file.

    <DOC>
    <DOCNO> WSJ870324-0001 </DOCNO>
    <HL> John Blair Is Near Accord </HL>
    <DD> 03/24/87 </DD>
    <TEXT> … </TEXT>
    </DOC>

Collections differ in their tags. What stands in tags of headlines is the title, in `URL` or in the first line of
`DOCHDR` the URL, in `DATE` the date. The body is what stands in `TEXT` or `BODY`, several times perhaps, or where there
is neither, everything else. Tags within are dropped, and entities read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rankwright.errors import FileFormatError
from rankwright.formats.lines import bounded_lines
from rankwright.formats.storage.streams import input_name, open_input
from rankwright.text.collections.decoding import decoded
from rankwright.text.collections.faults import CollectionFault, CollectionProblems
from rankwright.text.collections.markup import pieces, plain_text

LONGEST_DOCUMENT = 64 << 20  # bytes: a longer one has no end
HEADER, UNUSED = "header", "unused"
TAGS_OF = {
    "id": ("docno",),
    "title": ("title", "headline", "head", "hl", "ti", "h3"),
    "url": ("url",),
    "date": ("date", "date1", "dd"),
    "body": ("text", "body"),
    HEADER: ("dochdr",),
    UNUSED: ("docid", "docoldno", "fileid"),
}
FIELD_OF_TAG = {tag: field for field, tags in TAGS_OF.items() for tag in tags}
START, END = re.compile(rb"<doc>", re.IGNORECASE), re.compile(rb"</doc>", re.IGNORECASE)


def trec_records(path: str, problems: CollectionProblems) -> Iterator[tuple[int, dict[str, Any]]]:
    """The documents of a file, with the lines at which they begin."""
    for line, content in _documents(path, problems):
        yield line, _record(decoded(content, problems, path, line))


def _documents(path: str, problems: CollectionProblems) -> Iterator[tuple[int, bytes]]:
    """What stands between `<DOC>` and `</DOC>`, each time."""
    parts: list[bytes] | None = None
    first, size = 0, 0
    with open_input(path) as file:
        for number, line in enumerate(bounded_lines(file.readline, input_name(path)), start=1):
            rest = line
            while rest:
                if parts is None:
                    start = START.search(rest)
                    if start is None:
                        break
                    parts, first, size, rest = [], number, 0, rest[start.end() :]
                end = END.search(rest)
                parts.append(rest if end is None else rest[: end.start()])
                size += len(parts[-1])
                if size > LONGEST_DOCUMENT:
                    problem = f"the document has more than {LONGEST_DOCUMENT >> 20} MiB; is </DOC> missing?"
                    raise FileFormatError(input_name(path), problem, first)
                if end is None:
                    break
                yield first, b"".join(parts)
                parts, rest = None, rest[end.end() :]
    if parts is not None:
        problems.note(CollectionFault.NO_END, path, first)


def _record(text: str) -> dict[str, Any]:
    texts: dict[str, list[str]] = {"": []}
    for tag, piece in pieces(text, FIELD_OF_TAG):
        texts.setdefault(FIELD_OF_TAG.get(tag, ""), []).append(piece)
    found = {name: plain_text(texts.get(name, [])) for name in ("id", "title", "url", "date", "body")}
    found["url"] = found["url"] or next(iter(plain_text(texts.get(HEADER, [])).split()), "")
    found["body"] = found["body"] or plain_text(texts[""])
    return {name: value for name, value in found.items() if value or name in ("id", "title", "body")}
