"""Judgments: the grade of each document that was judged for a query, from qrels, tables or a click log."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, cast

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray, text_ids
from rankwright.clicks.logs.click_log import ClickLog
from rankwright.clicks.logs.log_files import looks_like_log, read_log
from rankwright.errors import FileFormatError, InputError
from rankwright.formats.file_formats import suffix_of
from rankwright.formats.storage.places import is_file
from rankwright.formats.storage.streams import Paths, is_standard, open_input
from rankwright.text.collections.faults import CollectionFault, CollectionProblems
from rankwright.text.collections.field_kinds import is_blank, missing_number, number_of, seconds_of
from rankwright.text.collections.queries import Queries
from rankwright.text.collections.record_files import (
    FORMAT_OF_SUFFIX,
    QRELS,
    Record,
    RecordKind,
    records_of,
    roles_of,
    text_in,
)

CLICKS = "clicks"
NAMES_OF_ROLE = {
    "query": ("query", "qid", "queryid", "topic", "q"),
    "document": ("document", "docid", "documentid", "doc", "corpusid", "docno", "pid", "product", "item", "url", "id"),
    "grade": ("grade", "label", "relevance", "rating", "judgment", "judgement", "score", "rel", "overall", "median"),
    "time": ("time", "timestamp", "date", "at"),
}
NAMES_OF_COUNT = {3: ("query", "document", "grade"), 4: ("query", "iteration", "document", "grade")}
MOST_GRADE = 1e6  # gains grow as powers of 2, and nobody grades like this
SNIFFED = 1 << 12  # bytes that tell a log from other files


def _unnamed(n_columns: int) -> Sequence[str]:
    return NAMES_OF_COUNT.get(n_columns, [f"column {place}" for place in range(1, n_columns + 1)])


JUDGMENTS = RecordKind(
    what="judgments",
    formats=(QRELS, "csv", "tsv", "jsonl", "parquet", CLICKS),
    usual=frozenset(name for names in NAMES_OF_ROLE.values() for name in names),
    unnamed=_unnamed,
    fallback=QRELS,
)


@dataclass(frozen=True, slots=True, eq=False)
class JudgedPairs:
    """Grades of pairs of a query and a document, each pair once.

    Attributes
    ----------
    query_ids, document_ids : list of str
        The pairs.
    grades : array of float32
        The grade of each pair, 0 or more; of a click log, the share of the times it was shown that it was clicked.
    times : array of float64, optional
        When each was judged, in seconds since 1970, NaN where that is not known.
    positions : array of int64, optional
        Of a click log: the position at which a document was shown, from 0, the nearest where it was shown at several.
    problems : CollectionProblems
        What was wrong when they were read.

    Examples
    --------
    >>> from rankwright.text import JudgedPairs
    >>> JudgedPairs(["q1", "q1"], ["d1", "d2"], [2, 0]).grades.tolist()
    [2.0, 0.0]
    """

    query_ids: list[str]
    document_ids: list[str]
    grades: Float32Array
    times: Float64Array | None = None
    positions: IntArray | None = None
    problems: CollectionProblems = field(default_factory=CollectionProblems)

    def __post_init__(self) -> None:
        object.__setattr__(self, "grades", np.asarray(self.grades, np.float32))
        parts = (self.document_ids, self.grades, self.times, self.positions)
        if any(part is not None and len(part) != len(self.query_ids) for part in parts):
            raise InputError("judgments must have as many documents and grades as queries")
        if not (np.isfinite(self.grades) & (self.grades >= 0)).all():
            raise InputError("grades must be numbers of 0 or more")

    def __len__(self) -> int:
        return len(self.query_ids)

    def take(self, kept: BoolArray) -> JudgedPairs:
        """The judgments where the mask is true."""
        rows = np.flatnonzero(kept)
        times = None if self.times is None else self.times[rows]
        positions = None if self.positions is None else self.positions[rows]
        queries = [self.query_ids[row] for row in rows.tolist()]
        documents = [self.document_ids[row] for row in rows.tolist()]
        return JudgedPairs(queries, documents, self.grades[rows], times, positions, self.problems)

    def of_known(self, queries: Queries, is_known: Callable[[list[str]], BoolArray], source: str) -> JudgedPairs:
        """The judgments of these queries and of documents that are known; others are counted, or refused if strict.

        A query of a judgment may be named by its text where no id is like it, as in most click logs. `source` is what
        messages call the judgments.
        """
        named = self._with_ids(queries)
        mine = set(queries.ids)
        asked = np.array([query in mine for query in named.query_ids], np.bool_)
        known = is_known(named.document_ids) if len(named) else asked
        for fault, ids, wrong in (
            (CollectionFault.UNKNOWN_QUERY, named.query_ids, ~asked),
            (CollectionFault.UNKNOWN_DOCUMENT, named.document_ids, asked & ~known),
        ):
            if wrong.any():
                self.problems.note(fault, source, None, ids[int(np.argmax(wrong))], int(wrong.sum()))
        return named.take(asked & known)

    def _with_ids(self, queries: Queries) -> JudgedPairs:
        ids = set(queries.ids)
        if not any(query not in ids for query in self.query_ids):
            return self
        id_of_text = {text.casefold(): name for name, text in zip(queries.ids, queries.texts, strict=True)}
        named = [query if query in ids else id_of_text.get(query.casefold(), query) for query in self.query_ids]
        return JudgedPairs(named, self.document_ids, self.grades, self.times, self.positions, self.problems)


def read_judgments(
    source: Paths | Iterable[Mapping[str, Any]],
    *,
    format: str | None = None,
    columns: Mapping[str, str] | None = None,
    strict: bool = False,
) -> JudgedPairs:
    r"""Read judgments.

    Parameters
    ----------
    source : path, sequence of paths, or sequence of dicts
        The files: TREC qrels, a table (CSV, TSV, JSON lines, Parquet) with a column for the query, the document and
        the grade, or a click log; compressed or not.
    format : {"qrels", "csv", "tsv", "jsonl", "parquet", "clicks"}, optional
        The format of all files; by default what each of them looks like.
    columns : dict from str to str, optional
        Which columns hold the "query", the "document", the "grade" and the "time"; others than usual names can be
        given.
    strict : bool, default False
        Whether the first problem is an error: a judgment without a grade, or a pair that was judged before. Otherwise
        problems are counted, and the mean of several grades of a pair is taken.

    Returns
    -------
    JudgedPairs
        The judgments in the order of the files; grades below 0 count as 0, as in trec_eval.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from rankwright.text import read_judgments
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "qrels").write_text("q1 0 d7 2\nq1 0 d9 0\n")
    ...     read_judgments(Path(folder, "qrels")).document_ids
    ['d7', 'd9']
    """
    if format == CLICKS or (format is None and is_click_log(source)):
        return judged_by_clicks(read_log(cast(Paths, source), strict=strict))
    records = records_of(source, JUDGMENTS.with_names(columns), format)
    problems = CollectionProblems(strict)
    gathered = _GatheredGrades(problems)
    roles: dict[str, str] | None = None
    for path, line, record in records.read(problems):
        roles = roles or roles_of(records.name, record, NAMES_OF_ROLE, columns, needed=("query", "document", "grade"))
        gathered.add(path, line, record, roles)
    if not gathered.pairs:
        why = "; ".join(problems.lines()) or "there is none"
        raise FileFormatError(records.name, f"no judgment could be read: {why}")
    return gathered.judged()


@dataclass(slots=True, eq=False)
class _GatheredGrades:
    """Judgments gathered one by one: of each pair the sum of its grades, how many there are, and the latest time."""

    problems: CollectionProblems
    pairs: dict[tuple[str, str], tuple[float, int, float]] = field(default_factory=dict)

    def add(self, path: str, line: int | None, record: Record, roles: Mapping[str, str]) -> None:
        pair = text_in(record, roles["query"]), text_in(record, roles["document"])
        grade = number_of(record.get(roles["grade"]))
        if not all(pair) or grade is None or grade > MOST_GRADE:
            self.problems.note(CollectionFault.NO_GRADE, path, line, " ".join(pair))
            return
        time = self._time(path, line, record.get(roles["time"]) if "time" in roles else None)
        before, n_before, earlier = self.pairs.get(pair, (0.0, 0, np.nan))
        if n_before:
            self.problems.note(CollectionFault.DUPLICATE_GRADE, path, line, " ".join(pair))
        self.pairs[pair] = before + max(grade, 0.0), n_before + 1, float(np.fmax(earlier, time))

    def _time(self, path: str, line: int | None, value: Any) -> float:
        seconds = seconds_of(value)
        if seconds is None and not is_blank(value):
            self.problems.note(CollectionFault.NO_DATE, path, line, str(value))
        return missing_number(seconds)

    def judged(self) -> JudgedPairs:
        sums, counts, times = map(np.array, zip(*self.pairs.values(), strict=True))
        queries, documents = zip(*self.pairs, strict=True)
        known_times = None if np.isnan(times).all() else times
        return JudgedPairs(list(queries), list(documents), sums / counts, known_times, problems=self.problems)


def is_click_log(source: object) -> bool:
    """Whether judgments are a click log: lists that were shown, and what was clicked."""
    if not isinstance(source, str | PathLike) or is_standard(source) or not is_file(source):
        return False
    if FORMAT_OF_SUFFIX.get(suffix_of(source)) != "jsonl":
        return looks_like_log(source)
    with open_input(source) as file:
        return b'"shown"' in file.read(SNIFFED).partition(b"\n")[0]


def judged_by_clicks(log: ClickLog) -> JudgedPairs:
    """The click rate of each document for each query of a log, with the position at which it was shown.

    Rates follow positions, too: positions are kept so that training can free the rates from them.
    """
    list_of_row = log.list_of_row
    weight = log.list_counts[list_of_row]
    key = log.queries[list_of_row].astype(np.int64) << 32 | log.documents.astype(np.int64)
    distinct, place = np.unique(key, return_inverse=True)
    shown = np.bincount(place, weight)
    rates = np.bincount(place, weight * log.clicked) / shown
    ranks = np.rint(np.bincount(place, weight * log.ranks) / shown).astype(np.int64)
    queries = text_ids(log.query_ids)[distinct >> 32].tolist()
    documents = text_ids(log.document_ids)[distinct & 0xFFFFFFFF].tolist()
    return JudgedPairs(queries, documents, rates.astype(np.float32), positions=ranks)
