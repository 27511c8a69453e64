"""Logs read from files, whole or block by block, and written to files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from rankwright.arrays import IdArray, text_ids, thread_count
from rankwright.clicks.logs.click_log import ClickLog, in_order_of_ids, without_repeats
from rankwright.clicks.logs.log_blocks import LogBlock, Naming, Problems
from rankwright.clicks.logs.parquet_logs import is_log, parquet_blocks
from rankwright.clicks.logs.text_logs import LIST_COLUMNS, LONG_COLUMNS, text_blocks
from rankwright.errors import FileFormatError, UnknownNameError, require
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import (
    Paths,
    atomic_text_output,
    input_name,
    is_standard,
    list_of_paths,
    open_input,
)

LISTS_APART = 1 << 19  # that are read before equal ones are merged
SNIFFED = 1 << 12  # bytes of a file that tell its format
FORMATS = ("jsonl", "csv", "parquet", "yandex")
# What lists count as where other files of a log tell more.
UNKNOWN: dict[str, np.generic] = {
    "counts": np.int64(1),
    "first_ranks": np.int32(0),
    "propensities": np.float32(np.nan),
    "policies": np.int32(0),
}


class LogFile:
    """Files of a log that are read block by block, as often as wanted; `naming` knows the ids seen so far.

    Parameters
    ----------
    paths : path or sequence of paths
        The files, which together are one log. A folder stands for the Parquet files in it.
    format : {"jsonl", "csv", "parquet", "yandex"}, optional
        The format of all files; by default what each of them looks like.
    strict : bool, default False
        Whether an event that cannot be read is an error. Otherwise it is counted in `problems` and left out.
    threads : int, optional
        How many threads look ids up. It never changes the result.

    Attributes
    ----------
    problems : dict from str to int
        What was wrong in the last reading, and how often.
    """

    def __init__(
        self, paths: Paths, *, format: str | None = None, strict: bool = False, threads: int | None = None
    ) -> None:
        if format is not None and format not in FORMATS:
            raise UnknownNameError("format of a log", format, known=FORMATS)
        self.paths = [file for path in list_of_paths(paths) for file in _files_at(path)]
        self.format, self.strict = format, strict
        require(bool(self.paths), "a log needs a file")
        self.naming = Naming(thread_count(threads), ", ".join(map(input_name, self.paths)))
        self.problems: dict[str, int] = {}
        self.first_problems: dict[str, str] = {}

    def blocks(self) -> Iterator[LogBlock]:
        """The lists, some at a time.

        Yields
        ------
        LogBlock
            Lists with ids as numbers of `naming`, the same in every reading.
        """
        n_lists = 0
        for block in self._read():
            n_lists += len(block.queries)
            yield block
        if not n_lists:
            found = [f"{problem} ({self.first_problems[problem]})" for problem in self.problems]
            why = "; ".join(found) or "it is empty"
            raise FileFormatError(", ".join(map(input_name, self.paths)), f"no list could be read: {why}")

    def _read(self) -> Iterator[LogBlock]:
        self.problems, self.first_problems = {}, {}
        for path in self.paths:
            problems = Problems(input_name(path), self.strict)
            format = self.format or log_format(path)
            if format == "parquet":
                yield from parquet_blocks(path, self.naming, problems)
            else:
                yield from text_blocks(path, format, self.naming, problems)
            for problem, count in problems.counts.items():
                self.problems[problem] = self.problems.get(problem, 0) + count
                self.first_problems.setdefault(problem, f"{problems.path}, {problems.first[problem]}")


def _files_at(path: str) -> list[str]:
    """The file at a path, or the Parquet files in a folder, as servers write them, the oldest first."""
    if is_standard(path) or not Path(path).is_dir():
        return [path]
    found = sorted(map(str, Path(path).glob("*.parquet")))
    if not found:
        raise FileFormatError(path, "is a folder without Parquet files")
    return found


def log_format(path: FilePath) -> str:
    """The format that a log's name shows, or else its beginning."""
    name = PurePath(os.fspath(path)).name.lower()
    for ending, format in ((".jsonl", "jsonl"), (".csv", "csv"), (".tsv", "csv"), (".parquet", "parquet")):
        if ending in name:
            return format
    if is_standard(path):
        raise FileFormatError(input_name(path), "name the format of a log that comes from standard input")
    with open_input(path) as file:
        start = file.read(SNIFFED)
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.lstrip()[:1] == b"{":
        return "jsonl"
    first = start.split(b"\n", 1)[0]
    if b"\t" in first and b" :" in first:
        return "yandex"
    if b"query" in first:
        return "csv"
    raise FileFormatError(input_name(path), f"is no click log that is known: wanted {', '.join(FORMATS)}")


def looks_like_log(path: FilePath) -> bool:
    """Whether a file is a click log rather than a file of documents."""
    if is_standard(path):
        return False
    name = PurePath(os.fspath(path)).name.lower()
    if ".jsonl" in name:
        return True
    if ".parquet" in name:
        return is_log(os.fspath(path))
    with open_input(path) as file:
        first = file.read(SNIFFED).split(b"\n", 1)[0]
    cells = {cell.strip().decode("utf-8", "replace") for cell in first.replace(b"\t", b",").split(b",")}
    return cells >= {*LIST_COLUMNS} or cells >= {*LONG_COLUMNS} or (b"\t" in first and b" :" in first)


def read_log(
    path: Paths, *, format: str | None = None, strict: bool = False, merge: bool = False, threads: int | None = None
) -> ClickLog:
    """Read a click log.

    docs/clicks.md describes the formats: JSON lines, CSV, Parquet and Yandex's blocks.

    Parameters
    ----------
    path : path or sequence of paths
        The file or files, compressed or not. A folder stands for the Parquet files in it, such as a server's segments.
    format : {"jsonl", "csv", "parquet", "yandex"}, optional
        The format; by default what a file looks like.
    strict : bool, default False
        Whether the first event that cannot be read is an error. Otherwise such events are counted in
        `ClickLog.problems` and left out.
    merge : bool, default False
        Whether equal lists are merged while reading, which keeps large logs small. Propensities and policies are then
        left out, and so are pages after the first.
    threads : int, optional
        How many threads look ids up and merge lists. It never changes the result.

    Returns
    -------
    ClickLog
        The log.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "log.jsonl")
    ...     _ = path.write_text('{"query": "q", "shown": ["a", "b"], "clicks": [2]}')
    ...     rw.clicks.read_log(path)
    ClickLog(1 query, 1 list, 2 shown documents, 1 clicked)
    """
    return whole_log(LogFile(path, format=format, strict=strict, threads=threads), merge=merge, threads=threads)


def whole_log(file: LogFile, *, merge: bool = False, threads: int | None = None) -> ClickLog:
    """All lists of the files as one log; see `read_log`."""
    parts: list[ClickLog] = []
    n_merged, n_threads = 0, thread_count(threads)
    for block in file.blocks():
        parts.append(_raw_log(block, file))
        if merge and sum(len(part.queries) for part in parts) > max(2 * n_merged, n_merged + LISTS_APART):
            parts = [without_repeats(joined(parts, file), threads=n_threads)]
            n_merged = len(parts[0].queries)
    log = in_order_of_ids(joined(parts, file))
    return log.merged(threads=threads) if merge else log


def lists_of_queries(file: LogFile, query_ids: IdArray) -> ClickLog:
    """The lists of some queries alone; ids that the log does not have are left out."""
    wanted = set(text_ids(query_ids).tolist())
    parts: list[ClickLog] = []
    is_wanted = np.empty(0, np.bool_)
    for block in file.blocks():
        if len(is_wanted) < len(file.naming.queries):  # the block brought new ids
            names = text_ids(file.naming.queries.ids()).tolist()
            is_wanted = np.fromiter((name in wanted for name in names), np.bool_, len(names))
        parts.append(_raw_log(block, file).take(is_wanted[block.queries]))
    return in_order_of_ids(joined(parts, file))


def _raw_log(block: LogBlock, file: LogFile) -> ClickLog:
    """A block as a log whose ids are placeholders: only their number is right."""
    naming = file.naming
    query_ids, document_ids = (np.empty(len(codes), np.int8) for codes in (naming.queries, naming.documents))
    return ClickLog(**vars(block), query_ids=query_ids, document_ids=document_ids)


def joined(parts: list[ClickLog], file: LogFile) -> ClickLog:
    """The lists of all parts as one log, under the ids of the file."""

    def column(name: str, default: np.generic | None = None) -> np.ndarray | None:
        values = [getattr(part, name) for part in parts]
        if all(value is None for value in values):
            return None
        lengths = [len(part.documents if name == "propensities" else part.queries) for part in parts]
        filled = [np.full(n, default) if one is None else one for one, n in zip(values, lengths, strict=True)]
        return np.concatenate(filled)

    columns: dict[str, Any] = {name: column(name) for name in ("queries", "documents", "clicked")}
    columns |= {name: column(name, default) for name, default in UNKNOWN.items()}
    naming = file.naming
    return ClickLog(
        **columns,
        offsets=np.concatenate([np.zeros(1, np.int64), *(np.diff(part.offsets) for part in parts)]).cumsum(),
        query_ids=naming.queries.ids(),
        document_ids=naming.documents.ids(),
        policy_ids=naming.policies.ids() if len(naming.policies) else None,
        problems=dict(file.problems),
    )


def write_log(log: ClickLog, path: FilePath) -> None:
    """Write a click log as JSON lines, which `read_log` and the commands read.

    Parameters
    ----------
    log : ClickLog
        The log; a list that counts several times is written as often.
    path : path
        Where to write it, compressed if it ends in `.gz` or `.zst`. An existing file is replaced in one step.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> log = rw.clicks.ClickLog.from_lists(["q"], [["a", "b"]], [[2]])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "log.jsonl")
    ...     rw.clicks.write_log(log, path)
    ...     path.read_text()
    '{"query": "q", "shown": ["a", "b"], "clicks": [2]}\\n'
    """
    with atomic_text_output(path) as file:
        for event, times in _events(log):
            file.write((json.dumps(event, ensure_ascii=False) + "\n") * times)


def _events(log: ClickLog) -> Iterator[tuple[dict[str, Any], int]]:
    """The event of each list, and how often it was seen."""
    for number, times in enumerate(log.list_counts.tolist()):
        rows = slice(log.offsets[number], log.offsets[number + 1])
        event: dict[str, Any] = {
            "query": log.query_ids[log.queries[number]],
            "shown": log.document_ids[log.documents[rows]].tolist(),
            "clicks": (np.flatnonzero(log.clicked[rows]) + 1).tolist(),
        }
        if isinstance(event["query"], np.integer):
            event["query"] = int(event["query"])
        if log.first_ranks is not None and log.first_ranks[number]:
            event["first"] = int(log.first_ranks[number]) + 1
        if log.propensities is not None and not np.isnan(log.propensities[rows]).all():
            event["propensity"] = log.propensities[rows].tolist()
        if log.policies is not None and log.policy_ids is not None:
            event["policy"] = str(log.policy_ids[log.policies[number]])
        yield event, times
