"""Judgments in texts that are read value by value: JSON lines, Quepid's books as JSON, and TREC's qrels."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from math import isfinite
from typing import Any

from rankwright.errors import FileFormatError, InputError
from rankwright.formats.lines import bounded_lines, number_in, numbered_fields
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import input_name, open_input
from rankwright.formats.trec import QRELS_LINE
from rankwright.judgments.files.columns import HowToRead
from rankwright.judgments.files.delimited_files import seconds_of
from rankwright.judgments.files.gathering import ROWS_AT_A_TIME, Gathering, RowFault
from rankwright.judgments.judgment_table import KINDS, Judgment

LONGEST_BOOK = 1 << 28  # bytes
SHORT = 60  # characters of a faulty line that are shown
PlacedJudgment = tuple[str, Judgment]  # with where it stands


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
) -> Iterator[PlacedJudgment]:
    roles: dict[str, str] = {}
    keys: set[str] = set()
    for place, found in objects:
        if not found.keys() <= keys:  # names that no object had before
            keys |= found.keys()
            roles = how.roles_of(sorted(keys), file)
        made = _judgment({role: found.get(name) for role, name in roles.items()}, place, gathering, how)
        if made is not None:
            yield place, made


def _judgment(parts: Mapping[str, Any], place: str, gathering: Gathering, how: HowToRead) -> Judgment | None:
    """The judgment of an object; None where it cannot be used, which is noted."""
    query, document, other = (_id(parts.get(role), role, place) for role in ("query", "document", "other"))
    rater = _id(parts["rater"], "rater", place) if "rater" in parts else how.rater
    absent = {RowFault.NO_QUERY: query, RowFault.NO_DOCUMENT: document, RowFault.NO_RATER: rater}
    for fault, text in absent.items():
        if text == "":
            gathering.note(fault, place)
            return None
    numbers = {role: _number(parts.get(role), role, place) for role in ("grade", "preference", "error")}
    time = parts.get("time")
    if other == "" and numbers["grade"] is None:
        gathering.note(RowFault.NO_GRADE, place)
        return None
    try:
        return Judgment(
            query,
            document,
            rater,
            None if other else numbers["grade"],
            _text(parts.get("kind")).lower() or (KINDS[1] if rater in how.models else KINDS[0]),
            other or None,
            1.0 if numbers["preference"] is None else numbers["preference"],
            numbers["error"],
            None if time is None or time == "" else seconds_of(str(time), place),
            _text(parts.get("comment")),
        )
    except InputError as error:
        raise FileFormatError(place, str(error)) from None


def _id(value: Any, role: str, place: str) -> str:
    """An id, which is a text or a whole number, as text."""
    if isinstance(value, list | dict | bool | float):
        raise FileFormatError(place, f"{role} must be a text or a whole number, found {str(value)[:SHORT]!r}")
    return _text(value)


def _text(value: Any) -> str:
    """Something as text; lone halves of characters, which JSON may hold, become marks."""
    return "" if value is None else str(value).encode("utf-8", "replace").decode()


def _number(value: Any, role: str, place: str) -> float | None:
    if value is None or value == "":
        return None
    try:
        return float(str(value) if isinstance(value, bool) else value)
    except (TypeError, ValueError, OverflowError):
        found = str(value)[:SHORT]
        raise FileFormatError(place, f"{role} must be a number, found {found!r}") from None


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


def _of_book(judged: list[Any], file: str, gathering: Gathering, how: HowToRead) -> Iterator[PlacedJudgment]:
    for number, (query, document, one) in enumerate(judged, start=1):
        place = f"{file}, judgement {number}"
        if not isinstance(one, dict):
            raise FileFormatError(place, "is no object")
        if one.get("unrateable") or one.get("judge_later"):
            gathering.note(RowFault.UNRATEABLE, place)
            continue
        rater = _text(one.get("user_email")) or "unknown"
        parts = {"query": query, "document": document, "rater": rater, "grade": one.get("rating")}
        made = _judgment(parts | {"comment": one.get("explanation")}, place, gathering, how)
        if made is not None:
            yield place, made


def read_qrels_of(path: FilePath, gathering: Gathering, how: HowToRead) -> None:
    """Gather the judgments of TREC qrels, all by one rater, which may be a run of a model."""
    kind = KINDS[1] if how.rater in how.models else KINDS[0]
    _gather(_of_qrels(path, how.rater, kind), gathering)


def _of_qrels(path: FilePath, rater: str, kind: str) -> Iterator[PlacedJudgment]:
    file = input_name(path)
    for line, fields in numbered_fields(path, QRELS_LINE, 4):
        query, _, document, text = fields[:4]
        label = number_in(text, "a label", path, line)
        if not isfinite(label):
            raise FileFormatError(file, "a label must be a finite number", line)
        yield f"{file}:{line}", Judgment(query, document, rater, label, kind)


def _gather(judgments: Iterator[PlacedJudgment], gathering: Gathering) -> None:
    while chunk := list(islice(judgments, ROWS_AT_A_TIME)):
        places, made = zip(*chunk, strict=True)
        gathering.add(gathering.block_of(made), places.__getitem__)
