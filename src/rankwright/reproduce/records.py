"""Records: the finished parts of an experiment in one small file, so that a run goes on over days and machines.

A record is JSON lines, compressed: first what the results depend on (size, seed, data), then a line for each part.
Numbers have few digits, and an experiment may put the results of several parts into one, where sums are all it needs.
"""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rankwright.container.atomic import atomic_file
from rankwright.errors import FileFormatError, InputError
from rankwright.reproduce.experiment import FULL, Setup

DIGITS = 5  # behind the point
ENDING = ".jsonl.xz"


def record_path(folder: Path, experiment: str, setup: Setup) -> Path:
    """Where a folder has the record of an experiment."""
    names = [source.name for source in setup.given] or ["synthetic"]
    if setup.size != FULL:
        names.append(setup.size)
    return folder / f"{'-'.join([experiment, *names]).replace(' ', '_')}{ENDING}"


def read_record(path: Path, setup: Setup) -> dict[str, dict[str, Any]]:
    """The documents of a record by the keys of their parts; none where there is no record."""
    if not path.exists():
        return {}
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            told, *lines = (json.loads(line) for line in file)
            found = {line.pop("key"): line for line in lines}
    except (ValueError, KeyError, AttributeError, EOFError, lzma.LZMAError):
        raise FileFormatError(str(path), "is not a record of finished parts, or is damaged") from None
    if told != setup.to_dict():
        raise InputError(f"{path} is the record of another size, seed or data: choose another --record")
    return found


def write_record(path: Path, setup: Setup, documents: Mapping[str, Mapping[str, Any]]) -> None:
    """Write a record, whole or not at all; the same documents give the same bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = [setup.to_dict(), *({"key": key, **rounded(one, DIGITS)} for key, one in sorted(documents.items()))]
    text = "".join(json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n" for line in lines)
    with atomic_file(path) as file:
        file.write(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))


def rounded(value: Any, digits: int) -> Any:
    """The same with few digits behind the point."""
    if isinstance(value, dict):
        return {name: rounded(one, digits) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one, digits) for one in value]
    return round(value, digits) if isinstance(value, float) else value
