"""Folders of text files, a document each.

A document's id is the path of its file within the folder, its title the name of the file or what a page's `<title>`
says, its body the text of the file; of HTML what is to be read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from rankwright.errors import FileFormatError
from rankwright.formats.storage.places import is_address, opened
from rankwright.formats.storage.streams import BINARY_CHECK, open_input
from rankwright.text.collections.decoding import WIDE_MARKS, decoded
from rankwright.text.collections.faults import CollectionFault, CollectionProblems
from rankwright.text.collections.markup import pieces, plain_text

LARGEST_FILE = 64 << 20  # bytes of a document
PAGE_ENDINGS = (".html", ".htm", ".xhtml")
PAGE_TITLE = "title"


def folder_records(folder: str, problems: CollectionProblems) -> Iterator[tuple[None, dict[str, Any]]]:
    """The texts in a folder and the folders within, in the order of their paths."""
    for path in files_below(folder):
        content = _content(path)
        if b"\0" in content[:BINARY_CHECK] and not content.startswith(WIDE_MARKS):
            problems.note(CollectionFault.BINARY, path)
            continue
        name = Path(path).relative_to(folder).as_posix()
        yield None, _record(name, decoded(content, problems, path))


def files_below(folder: str) -> list[str]:
    """The files in a folder and the folders within that are not hidden, in the order of their paths."""
    if is_address(folder):
        raise FileFormatError(folder, "is a folder elsewhere; wanted one of this machine, or a file")
    found: list[str] = []
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        found += [str(Path(place, name)) for name in names if not name.startswith(".")]
    return sorted(found, key=lambda path: Path(path).relative_to(folder).as_posix())


def _content(path: str) -> bytes:
    opened(path).close()  # what the system says of a file that cannot be opened names the file
    with open_input(path) as file:
        content = file.read(LARGEST_FILE + 1)
    if len(content) > LARGEST_FILE:
        raise FileFormatError(path, f"has more than {LARGEST_FILE >> 20} MiB; wanted the text of one document")
    return content


def _record(name: str, text: str) -> dict[str, Any]:
    path = PurePosixPath(name)
    if path.suffix.lower() not in PAGE_ENDINGS:
        return {"id": name, "title": path.stem, "body": text}
    found = list(pieces(text, (PAGE_TITLE,)))
    title = plain_text([piece for tag, piece in found if tag == PAGE_TITLE])
    return {"id": name, "title": title or path.stem, "body": plain_text([piece for tag, piece in found if not tag])}
