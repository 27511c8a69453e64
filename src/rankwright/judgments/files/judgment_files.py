"""Files of judgments: which format one is in, reading several as one table, and writing a table."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

import numpy as np

from rankwright.arrays import text_ids
from rankwright.errors import FileFormatError, InputError, SettingError, UnknownNameError, require, require_input
from rankwright.formats.file_formats import suffix_of
from rankwright.formats.parquet import write_parquet_columns
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import (
    Paths,
    atomic_text_output,
    compression_of_name,
    input_name,
    is_standard,
    list_of_paths,
    open_input,
)
from rankwright.formats.trec import Qrels, write_qrels
from rankwright.judgments.files.columns import HowToRead
from rankwright.judgments.files.delimited_files import columns_of, read_delimited, read_quepid_book
from rankwright.judgments.files.gathering import Gathering
from rankwright.judgments.files.parquet_files import read_parquet_judgments
from rankwright.judgments.files.text_files import read_json_lines, read_qrels_of, read_quepid_json
from rankwright.judgments.judgment_store import SQLITE_MAGIC, JudgmentStore
from rankwright.judgments.judgment_table import KINDS, Judgments
from rankwright.judgments.ratings import without_repeats

SNIFFED = 1 << 12  # bytes of a file that tell its format
Reader = Callable[[FilePath, Gathering, HowToRead], None]


def read_store(path: FilePath, gathering: Gathering, how: HowToRead) -> None:  # noqa: ARG001
    """Gather all judgments of a store."""
    with JudgmentStore(path, create=False) as store:
        gathering.add_judgments(store.rows(), f"{input_name(path)}, ")


READERS: Mapping[str, Reader] = {
    "csv": read_delimited,
    "jsonl": read_json_lines,
    "parquet": read_parquet_judgments,
    "quepid": read_quepid_book,
    "quepid-json": read_quepid_json,
    "qrels": read_qrels_of,
    "store": read_store,
}
OF_ENDING = {".csv": "csv", ".tsv": "csv", ".jsonl": "jsonl", ".parquet": "parquet", ".pq": "parquet",
             ".qrels": "qrels", ".db": "store", ".sqlite": "store"}  # fmt: skip
WRITTEN = ("csv", "tsv", "jsonl", "parquet", "qrels", "preferences")
COLUMNS = ("query", "document", "rater", "kind", "grade", "other", "preference", "error", "time", "comment")
PREFERENCE_COLUMNS = ("query", "better", "worse", "probability", "votes")


def judgment_format(path: FilePath) -> str:
    """The format that a file's name shows, or else its beginning; of CSV, whether it is a book of Quepid."""
    if is_standard(path) or Path(path).is_fifo():  # what is read to tell the format would be gone
        raise FileFormatError(input_name(path), "name the format of judgments that come from a pipe")
    with open_input(path) as file:
        start = file.read(SNIFFED)
    if start.startswith(SQLITE_MAGIC):
        return "store"
    found = OF_ENDING.get(suffix_of(path)) or _by_beginning(start, path)
    if found == "csv":
        names = [name.strip().lower() for name in columns_of(path)]
        is_book = names[:2] == ["query", "docid"] and not {"rating", "grade", "label", "other"} & set(names)
        return "quepid" if is_book else "csv"
    return found


def _by_beginning(start: bytes, path: FilePath) -> str:
    if start.startswith(b"PAR1"):
        return "parquet"
    text = start.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if '"query_doc_pairs"' in text or (text.startswith("{") and suffix_of(path) == ".json"):
        return "quepid-json"
    if text.startswith("{"):
        return "jsonl"
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    if any(mark in first for mark in (",", ";")) or (first.count("\t") and "quer" in first.lower()):
        return "csv"
    if len(first.split()) == 4:
        return "qrels"
    if not first:
        raise FileFormatError(input_name(path), "is empty; wanted judgments")
    shown = first[:40]
    wanted = "wanted CSV, JSON lines, Parquet, qrels, a book of Quepid or a store"
    raise FileFormatError(input_name(path), f"begins with {shown!r}, which shows no format of judgments; {wanted}")


def read_judgments(
    paths: Paths | Mapping[str, FilePath],
    *,
    format: str | None = None,
    scale: tuple[float, float] | None = None,
    models: Sequence[str] = (),
    columns: Mapping[str, str] | None = None,
    threads: int | None = None,
) -> Judgments:
    r"""Read judgments from files.

    docs/judgments.md describes the formats: CSV and TSV, JSON lines, Parquet, books that Quepid exports, TREC's qrels,
    and stores.

    Parameters
    ----------
    paths : path, sequence of paths, or mapping from str to path
        The files, compressed or not. Where a file does not say who judged, as qrels do not, the rater is called as in
        the mapping, or else by the file's name without its ending.
    format : {"csv", "jsonl", "parquet", "quepid", "quepid-json", "qrels", "store"}, optional
        The format of all files; by default what each of them looks like.
    scale : tuple of two floats, optional
        The lowest and the highest grade. Others are left out, and counted in `problems`.
    models : sequence of str, optional
        The raters that are language models, where no column says so.
    columns : mapping from str to str, optional
        The names of columns that have unusual names, by what they hold: `{"grade": "median"}`.
    threads : int, optional
        How many threads look ids up. It never changes the result.

    Returns
    -------
    Judgments
        The judgments of all files, in an order that depends on their content alone.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "judged.csv")
    ...     _ = path.write_text("query,document,rater,grade\nq1,d1,ann,2\nq1,d1,bob,1\n")
    ...     rw.judgments.read_judgments(path)
    Judgments(2 judgments of 1 document of 1 query by 2 raters)
    """
    if format is not None and format not in READERS:
        raise UnknownNameError("format of judgments", format, known=READERS)
    if scale is not None:
        require(scale[0] < scale[1], f"a scale goes from a lower to a higher grade, got {scale[0]:g} to {scale[1]:g}")
    named = _named(paths)
    require(bool(named), "judgments need a file")
    gathering = Gathering(scale, threads)
    for rater, path in named:
        how = HowToRead(rater, frozenset(models), columns or {})
        try:
            READERS[format or judgment_format(path)](path, gathering, how)
        except InputError as error:
            raise FileFormatError(input_name(path), error.message) from None
    _note_models(gathering, models)
    try:
        return gathering.table()
    except InputError as error:
        raise FileFormatError(", ".join(input_name(path) for _, path in named), error.message) from None


def _named(paths: Paths | Mapping[str, FilePath]) -> list[tuple[str, Any]]:
    if isinstance(paths, Mapping):
        return list(paths.items())
    files = list_of_paths(paths)
    return [(_stem(path), path) for path in files]


def _stem(path: str) -> str:
    plain = PurePath(path).with_suffix("") if compression_of_name(path) else PurePath(path)
    return plain.stem or "unknown"


def _note_models(gathering: Gathering, models: Sequence[str]) -> None:
    for name in models:
        n_before = len(gathering.raters)
        rater = int(gathering.raters.of_texts([name])[0])
        if rater >= n_before:
            raise InputError(f"rater {name!r} is named as a model, and has no judgment")
        gathering.name_kind(rater, KINDS.index("model"))


def write_judgments(judgments: Judgments, path: FilePath, *, format: str | None = None) -> None:
    """Write judgments to a file, which appears whole or not at all.

    Parameters
    ----------
    judgments : Judgments
        What to write.
    path : path
        Where to write it; names that end in .gz or .zst are compressed.
    format : {"csv", "tsv", "jsonl", "parquet", "qrels", "preferences"}, optional
        The format; by default what the ending says. Qrels have one grade for each document of a query, so that they
        can hold one rater, or labels that `combine` made. Preferences are a CSV with one row for each pair of
        documents, and the share of the votes for the better one.
    """
    kind = format or OF_ENDING.get(suffix_of(path)) or ""
    kind = "tsv" if format is None and suffix_of(path) == ".tsv" else kind
    if kind not in WRITTEN:
        if format is not None:
            raise UnknownNameError("format to write judgments in", format, known=WRITTEN)
        raise SettingError(
            f"the ending of {os.fspath(path)!r} names no format; wanted .csv, .tsv, .jsonl, .parquet or .qrels"
        )
    if kind == "qrels":
        write_qrels(qrels_of_judgments(judgments), path)
    elif kind == "preferences":
        require_input(not judgments.is_grade.all(), "there are no preferences to write, only grades")
        _write_rows(path, PREFERENCE_COLUMNS, preference_rows(judgments), ",")
    elif kind == "jsonl":
        with atomic_text_output(path) as file:
            for row in _cells(judgments):
                known = {name: cell for name, cell in zip(COLUMNS, row, strict=True) if cell not in (None, "")}
                file.write(json.dumps(known, ensure_ascii=False) + "\n")
    elif kind == "parquet":
        columns = zip(*_cells(judgments), strict=True)
        write_parquet_columns(dict(zip(COLUMNS, map(list, columns), strict=True)), path)
    else:
        _write_rows(path, COLUMNS, _cells(judgments), "\t" if kind == "tsv" else ",")


def _write_rows(path: FilePath, names: Sequence[str], rows: Iterator[list[Any]], delimiter: str) -> None:
    with atomic_text_output(path) as file:
        writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(["" if cell is None else cell for cell in row] for row in rows)


def _cells(judgments: Judgments) -> Iterator[list[Any]]:
    for one in judgments.rows():
        preference = None if one.other is None else one.preference
        yield [one.query, one.document, one.rater, one.kind, one.grade, one.other, preference, one.error, one.time,
               one.comment]  # fmt: skip


def qrels_of_judgments(judgments: Judgments) -> Qrels:
    """The grades as TREC judgments; each document of a query may have one, the last that its rater gave."""
    graded, repeats = without_repeats(judgments)
    if not len(graded):
        raise InputError(f"there are no grades: {(repeats.told or ['only preferences'])[-1]}")
    keys = graded.pair_keys
    again = np.flatnonzero(keys[1:] == keys[:-1])
    queries, documents = text_ids(graded.query_ids[graded.queries]), text_ids(graded.document_ids[graded.documents])
    if len(again):
        row = int(again[0])
        told = f"document {documents[row]!r} of query {queries[row]!r} has several grades, and one is wanted here"
        raise InputError(f"{told}: combine them into labels first (judgments combine), or take those of one rater")
    return Qrels(queries, documents, graded.values)


def preference_rows(judgments: Judgments) -> Iterator[list[Any]]:
    """For each pair of documents that raters compared: the query, the better one, the other, its share, the votes."""
    told = judgments.preferred()
    first, second = np.minimum(told.documents, told.others), np.maximum(told.documents, told.others)
    for_first = np.where(told.documents == first, told.values, 1 - told.values).astype(np.float64)
    order = np.lexsort((second, first, told.queries))
    pairs = np.stack([told.queries, first, second], axis=1)[order]
    if not len(pairs):
        return
    starts = np.flatnonzero(np.concatenate([[True], (pairs[1:] != pairs[:-1]).any(axis=1)]))
    votes = np.diff(np.concatenate([starts, [len(pairs)]]))
    shares = np.add.reduceat(for_first[order], starts) / votes
    queries, documents = text_ids(told.query_ids).tolist(), text_ids(told.document_ids).tolist()
    for (query, one, other), share, count in zip(pairs[starts].tolist(), shares.tolist(), votes.tolist(), strict=True):
        better, worse = (one, other) if share >= 0.5 else (other, one)
        yield [queries[query], documents[better], documents[worse], max(share, 1 - share), count]
