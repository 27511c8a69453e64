"""Queries, read from files: an id and a text each, and the time at which they were asked where that is known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.errors import FileFormatError, InputError
from rankwright.formats.storage.streams import Paths
from rankwright.text.collections.faults import CollectionFault, CollectionProblems
from rankwright.text.collections.field_kinds import is_blank, missing_number, seconds_of
from rankwright.text.collections.record_files import Record, RecordKind, numbered_columns, records_of, roles_of, text_in

# What columns are usually called; the first found is taken.
NAMES_OF_ROLE = {
    "id": ("id", "qid", "queryid", "topic", "number", "num", "key"),
    "text": ("text", "query", "querytext", "question", "title", "keywords", "q", "search", "searchterm"),
    "time": ("time", "timestamp", "date", "at", "datetime"),
}
QUERIES = RecordKind(
    what="queries",
    formats=("tsv", "csv", "jsonl", "parquet"),
    usual=frozenset(name for names in NAMES_OF_ROLE.values() for name in names),
    unnamed=lambda n_columns: ["text"] if n_columns == 1 else numbered_columns("id", "text")(n_columns),
    fallback="tsv",
)


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """Queries with their texts.

    Attributes
    ----------
    ids : list of str
        The queries' ids, each once.
    texts : list of str
        What was asked.
    times : array of float64, optional
        When it was asked, in seconds since 1970, NaN where that is not known.
    problems : CollectionProblems
        What was wrong when they were read.

    Examples
    --------
    >>> from rankwright.text import Queries
    >>> len(Queries(["1", "2"], ["learning to rank", "boosted trees"]))
    2
    """

    ids: list[str]
    texts: list[str]
    times: Float64Array | None = None
    problems: CollectionProblems = field(default_factory=CollectionProblems)

    def __post_init__(self) -> None:
        if len(self.ids) != len(self.texts) or (self.times is not None and len(self.times) != len(self.ids)):
            raise InputError("queries must have as many texts, and times where they are given, as ids")
        if len(set(self.ids)) < len(self.ids):
            raise InputError("queries must have different ids")

    def __len__(self) -> int:
        return len(self.ids)


def read_queries(
    source: Paths | Iterable[Mapping[str, Any]],
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    strict: bool = False,
) -> Queries:
    r"""Read queries.

    Parameters
    ----------
    source : path, sequence of paths, or sequence of dicts
        The files: TSV, CSV, JSON lines or Parquet, compressed or not. Without a header, the first column has the ids
        and the second the texts; a file of one column has texts, whose ids are their lines.
    format : {"tsv", "csv", "jsonl", "parquet"}, optional
        The format of all files; by default what each of them looks like.
    columns : dict from str to str, optional
        Which columns hold the "id", the "text" and the "time"; others than usual names can be given.
    strict : bool, default False
        Whether the first problem is an error: a query without a text, or an id that came before.

    Returns
    -------
    Queries
        The queries in the order of the files.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from rankwright.text import read_queries
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "queries.tsv").write_text("q1\tlearning to rank\nq2\tboosted trees\n")
    ...     read_queries(Path(folder, "queries.tsv")).texts
    ['learning to rank', 'boosted trees']
    """
    records = records_of(source, QUERIES.with_names(columns), format)
    problems = CollectionProblems(strict)
    found: dict[str, tuple[str, float]] = {}
    roles: dict[str, str] | None = None
    for path, line, record in records.read(problems):
        roles = roles or roles_of(records.name, record, NAMES_OF_ROLE, columns, needed=("text",))
        query = text_in(record, roles["id"]) if "id" in roles else str(line)
        text = text_in(record, roles["text"])
        if not query or not text:
            problems.note(CollectionFault.NO_QUERY, path, line, query)
        elif query in found:
            problems.note(CollectionFault.DUPLICATE_QUERY, path, line, query)
        else:
            found[query] = text, _time_of(record, roles, problems, path, line)
    if not found:
        why = "; ".join(problems.lines()) or "there is none"
        raise FileFormatError(records.name, f"no query could be read: {why}")
    times = np.array([time for _, time in found.values()])
    known_times = None if np.isnan(times).all() else times
    return Queries(list(found), [text for text, _ in found.values()], known_times, problems)


def _time_of(
    record: Record, roles: Mapping[str, str], problems: CollectionProblems, path: str, line: int | None
) -> float:
    value = record.get(roles["time"]) if "time" in roles else None
    if is_blank(value):
        return np.nan
    seconds = seconds_of(value)
    if seconds is None:
        problems.note(CollectionFault.NO_DATE, path, line, str(value))
    return missing_number(seconds)
