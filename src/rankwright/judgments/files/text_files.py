"""Judgments in texts that are read value by value: JSON lines, Quepid's books as JSON, and TREC's qrels."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from rankwright.errors import FileFormatError, InputError
from rankwright.formats.lines import bounded_lines, number_in, numbered_fields
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import input_name, open_input
from rankwright.formats.trec import QRELS_LINE
from rankwright.judgments.files.columns import HowToRead
from rankwright.judgments.files.delimited_files import seconds_of
from rankwright.judgments.files.gathering import ROWS_AT_A_TIME, Gathering, JudgmentFault
from rankwright.judgments.judgment_table import KINDS, Judgment

LONGEST_BOOK = 1 << 28  # bytes
SHORT = 60  # characters of a faulty line that are shown


def read_json_lines(path: FilePath, gathering: Gathering, how: HowToRead) -> None:
    """Gather the judgments of a file with a JSON object on each line."""
    file = input_name(path)
    _gather(_judgments_of(_objects(path), file, gathering, how), gathering)


def _objects(path: FilePath) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each object with its place."""
    file = input_name(path)
    with open_input(path) as stream:
        for number, line in enumerate(bounded_lines(stream.readline, file), start=1):
            if not line.strip():
                continue
            try:
                found = json.loads(line)
            except (ValueError, RecursionError):
                found = None
            if not isinstance(found, dict):
                shown = line.decode("utf-8", "replace").strip()[:SHORT]
                raise FileFormatError(file, f"is no JSON object: {shown!r}", number)
            yield f"{file}:{number}", found


def _judgments_of(
    objects: Iterator[tuple[str, dict[str, Any]]], file: str, gathering: Gathering, how: HowToRead
) -> Iterator[Judgment]:
    roles: dict[str, str] = {}
    keys: set[str] = set()
    for place, found in objects:
        if not found.keys() <= keys:  # names that no object had before
            keys |= found.keys()
            roles = how.roles_of(sorted(keys), file)
        made = _judgment({role: found.get(name) for role, name in roles.items()}, place, file, gathering, how)
        if made is not None:
            yield made


def _judgment(parts: Mapping[str, Any], place: str, file: str, gathering: Gathering, how: HowToRead) -> Judgment | None:
    """The judgment of an object; None where it cannot be used, which is noted."""
    rater = how.rater if "rater" not in parts else _text(parts["rater"])
    absent = {
        JudgmentFault.NO_QUERY: parts["query"],
        JudgmentFault.NO_DOCUMENT: parts["document"],
        JudgmentFault.NO_RATER: rater,
    }
    for fault, value in absent.items():
        if _text(value) == "":
            gathering.note(fault, place)
            return None
    numbers = {role: _number(parts.get(role), role, place, file) for role in ("grade", "preference", "error")}
    other, time = _text(parts.get("other")) or None, parts.get("time")
    if other is None and numbers["grade"] is None:
        gathering.note(JudgmentFault.NO_GRADE, place)
        return None
    try:
        return Judgment(
            _text(parts["query"]),
            _text(parts["document"]),
            rater,
            numbers["grade"] if other is None else None,
            _text(parts.get("kind")).lower() or (KINDS[1] if rater in how.models else KINDS[0]),
            other,
            1.0 if numbers["preference"] is None else numbers["preference"],
            numbers["error"],
            None if time is None or time == "" else seconds_of(str(time), file, place),
            _text(parts.get("comment")),
        )
    except InputError as error:
        raise FileFormatError(file, f"{place}: {error}") from None


def _text(value: Any) -> str:
    """An id as text; lone halves of characters, which JSON may hold, become marks."""
    return "" if value is None else str(value).encode("utf-8", "replace").decode()


def _number(value: Any, role: str, place: str, file: str) -> float | None:
    if value is None or value == "":
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        found = str(value)[:SHORT]
        raise FileFormatError(file, f"{place}: {role} must be a number, found {found!r}") from None


def read_quepid_json(path: FilePath, gathering: Gathering, how: HowToRead) -> None:
    """Gather the judgments of a book that Quepid wrote as JSON."""
    file = input_name(path)
    with open_input(path) as stream:
        content = stream.read(LONGEST_BOOK)
    try:
        pairs = json.loads(content)["query_doc_pairs"]
        judged = [(pair["query_text"], pair["doc_id"], one) for pair in pairs for one in pair.get("judgements") or ()]
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        wanted = "query_doc_pairs, each with query_text, doc_id and judgements"
        raise FileFormatError(file, f"is no book of Quepid: wanted an object with {wanted}") from None
    _gather(_of_book(judged, file, gathering, how), gathering)


def _of_book(judged: list[Any], file: str, gathering: Gathering, how: HowToRead) -> Iterator[Judgment]:
    for number, (query, document, one) in enumerate(judged, start=1):
        place = f"{file}, judgement {number}"
        if not isinstance(one, dict):
            raise FileFormatError(file, f"{place} is no object")
        if one.get("unrateable") or one.get("judge_later"):
            gathering.note(JudgmentFault.UNRATEABLE, place)
            continue
        rater = _text(one.get("user_email")) or "unknown"
        parts = {"query": query, "document": document, "rater": rater, "grade": one.get("rating")}
        made = _judgment(parts | {"comment": one.get("explanation")}, place, file, gathering, how)
        if made is not None:
            yield made


def read_qrels_of(path: FilePath, gathering: Gathering, how: HowToRead) -> None:
    """Gather the judgments of TREC qrels, all by one rater, which may be a run of a model."""
    kind = KINDS[1] if how.rater in how.models else KINDS[0]
    lines = numbered_fields(path, QRELS_LINE, 4)
    _gather(
        (Judgment(one[0], one[2], how.rater, _finite(number_in(one[3], "a label", path, number), path, number), kind)
         for number, one in lines),
        gathering,
    )  # fmt: skip


def _finite(number: float, path: FilePath, line: int) -> float:
    if number in (float("inf"), -float("inf")):
        raise FileFormatError(input_name(path), "a label must be a finite number", line)
    return number


def _gather(judgments: Iterator[Judgment], gathering: Gathering) -> None:
    n_before = 0
    while chunk := list(islice(judgments, ROWS_AT_A_TIME)):
        gathering.add(gathering.block_of(chunk), lambda row, first=n_before: f"judgment {first + row + 1}")
        n_before += len(chunk)
