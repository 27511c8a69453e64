"""Finished parts of long measurements: files of results, taken to another machine as one compressed file."""

from __future__ import annotations

import tarfile
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path


def take_record(record: Path, folder: Path) -> None:
    """Add what the record has to the results that are kept here."""
    if record.exists():
        with tarfile.open(record) as kept:
            lacking = [one for one in kept.getmembers() if not (folder / one.name).exists()]
            kept.extractall(folder, lacking, filter="data")


def leave_record(record: Path, folder: Path, paths: Iterable[Path]) -> None:
    """Write these results to the record, as files that hold neither a day nor an owner."""
    unfinished = record.with_suffix(".part")
    with tarfile.open(unfinished, "w:xz") as kept:
        for path in sorted(paths):
            content = path.read_bytes()
            member = tarfile.TarInfo(str(path.relative_to(folder)))
            member.size = len(content)
            kept.addfile(member, BytesIO(content))
    unfinished.replace(record)
