"""The small file that says what an index is: its fields, its analyser, and the files of its segments.

It is replaced in one step, so that a folder always holds the old index or the new one. What it does not name belongs to
nobody, and the next build removes it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xxhash import xxh3_128_hexdigest

from rankwright.container.checks import file_faults, read_field, read_integer, read_list
from rankwright.container.file import read_container, write_container
from rankwright.errors import ContainerError, InputError, require_input
from rankwright.text.analysis import Analyser, Tokeniser
from rankwright.text.collections.decoding import whole_characters
from rankwright.text.collections.field_kinds import KINDS, Field
from rankwright.text.index.array_files import ArrayFolder, StoredArray
from rankwright.text.index.layout import MOST_DOCUMENTS, IndexLayout

MANIFEST = "index.rw"
KIND = "text index"
VERSION = 1  # of the files of segments
SEGMENT_PREFIX = "segment-"


@dataclass(frozen=True, slots=True)
class SegmentRecord:
    """A segment's folder, how many documents it has, and its files."""

    name: str
    n_documents: int
    arrays: Mapping[str, StoredArray]

    @classmethod
    def of_folder(cls, folder: ArrayFolder) -> SegmentRecord:
        """The record of a folder that was just written; its name is made from what its files hold."""
        told = "\n".join(f"{name} {array.checksum}" for name, array in sorted(folder.records.items()))
        n_documents = folder.records["id_starts"].length - 1
        return cls(
            SEGMENT_PREFIX + xxh3_128_hexdigest(told.encode()), n_documents, dict(sorted(folder.records.items()))
        )

    def to_dict(self) -> dict[str, Any]:
        """The record as JSON holds it."""
        arrays = {name: array.to_dict() for name, array in self.arrays.items()}
        return {"name": self.name, "documents": self.n_documents, "arrays": arrays}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> SegmentRecord:
        """The record that `to_dict` gave."""
        name = read_field(stored, "name", str)
        is_name = name.startswith(SEGMENT_PREFIX) and name.removeprefix(SEGMENT_PREFIX).isalnum()
        require_input(is_name, f"a segment cannot be called {name!r}")
        arrays = read_field(stored, "arrays", dict)
        for one in arrays:
            require_input(Path(one).name == one and not one.startswith("."), f"an array cannot be called {one!r}")
        records = {one: StoredArray.from_dict(read_field(arrays, one, dict)) for one in arrays}
        return cls(name, read_integer(stored, "documents", most=MOST_DOCUMENTS), records)


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index is."""

    layout: IndexLayout
    analyser: Analyser
    segments: tuple[SegmentRecord, ...]

    @property
    def fingerprint(self) -> str:
        """A text that changes with the documents, the fields and the analyser."""
        names = [field.name + "\0" + field.kind for field in self.layout.fields]
        told = "\n".join([self.analyser.fingerprint, *names, *(segment.name for segment in self.segments)])
        return xxh3_128_hexdigest(told.encode())

    def write(self, folder: Path) -> None:
        """Make this the manifest of the folder, in one step."""
        header = {
            "layout": VERSION,
            "analyser": self.analyser.to_dict(),
            "fields": [[field.name, field.kind] for field in self.layout.fields],
            "segments": [segment.to_dict() for segment in self.segments],
        }
        write_container(folder / MANIFEST, KIND, header, {})


def is_index(path: str | os.PathLike[str]) -> bool:
    """Whether the folder at `path` is meant to be an index."""
    return (Path(path) / MANIFEST).is_file()


def read_manifest(path: str | os.PathLike[str], tokeniser: Tokeniser | None = None) -> Manifest:
    """What the index at `path` is, after a check of every byte of the manifest."""
    if not is_index(path):
        told = "is not there" if not Path(path).exists() else f"is no index: it has no file {MANIFEST}"
        raise InputError(f"{os.fspath(path)} {told}; `rankwright index DOCUMENTS --out INDEX` makes one")
    file = Path(path) / MANIFEST
    container = read_container(file, KIND)
    found = container.header.get("layout")
    if found != VERSION:
        told = f"the index is of version {found}; this release reads version {VERSION}: index the documents again"
        raise ContainerError(os.fspath(file), told)
    with file_faults(file, "index"):
        return _restored(container.header, tokeniser)


def _restored(header: Mapping[str, Any], tokeniser: Tokeniser | None) -> Manifest:
    fields = []
    for pair in read_list(header, "fields", list):
        fits = len(pair) == 2 and all(isinstance(part, str) for part in pair) and pair[1] in KINDS
        require_input(fits, f"a field must be a name and a kind, got {pair!r}")
        require_input(whole_characters(pair[0]) == pair[0], f"a field cannot be called {pair[0]!r}")
        fields.append(Field(*pair))
    require_input(len({field.name for field in fields}) == len(fields), "two fields have the same name")
    analyser = Analyser.from_dict(read_field(header, "analyser", dict), tokeniser)
    segments = tuple(SegmentRecord.from_dict(one) for one in read_list(header, "segments", dict))
    require_input(len({one.name for one in segments}) == len(segments), "two segments have the same name")
    n_documents = sum(segment.n_documents for segment in segments)
    fits = 0 < n_documents <= MOST_DOCUMENTS
    require_input(fits, f"an index has 1 to {MOST_DOCUMENTS:,} documents, and this one {n_documents:,}")
    return Manifest(IndexLayout(tuple(fields)), analyser, segments)
