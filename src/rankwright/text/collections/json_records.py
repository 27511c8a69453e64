"""Records as JSON lines: an object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from rankwright.errors import FileFormatError
from rankwright.formats.lines import bounded_lines
from rankwright.formats.storage.streams import input_name, open_input
from rankwright.text.collections.decoding import WIDE_MARKS, decoded, whole_characters
from rankwright.text.collections.faults import CollectionFault, CollectionProblems


def json_records(path: str, problems: CollectionProblems) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file, with their lines; lines that hold no object are counted."""
    with open_input(path) as file:
        for number, line in enumerate(bounded_lines(file.readline, input_name(path)), start=1):
            if number == 1:
                _check_start(line, path)
            if line.strip():
                record = _object_in(line, problems, path, number)
                if record is None:
                    problems.note(CollectionFault.NO_RECORD, path, number, decoded_start(line))
                else:
                    yield number, record


def _check_start(line: bytes, path: str) -> None:
    if line.startswith(WIDE_MARKS):
        raise FileFormatError(input_name(path), "is UTF-16 text; wanted UTF-8", 1)
    if line.lstrip()[:1] == b"[":
        problem = "begins with a list; wanted JSON lines, an object a line (`jq -c '.[]'` turns a list into lines)"
        raise FileFormatError(input_name(path), problem, 1)


def _object_in(line: bytes, problems: CollectionProblems, path: str, number: int) -> dict[str, Any] | None:
    text = decoded(line, problems, path, number)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    if "\\ud" in text or "\\uD" in text:
        return _whole(found, problems, path, number)
    return found


def _whole(found: dict[str, Any], problems: CollectionProblems, path: str, number: int) -> dict[str, Any]:
    """The object without halves of characters; they come only from escapes."""
    made = {_whole_value(name): _whole_value(value) for name, value in found.items()}
    if made != found:
        problems.note(CollectionFault.HALF_CHARACTER, path, number)
    return made


def _whole_value(value: Any) -> Any:
    if isinstance(value, list):
        return [_whole_value(one) for one in value]
    return whole_characters(value) if isinstance(value, str) else value


def decoded_start(line: bytes) -> str:
    """What a message shows of a line."""
    return line[:80].decode("utf-8", "replace").strip()
