"""TREC's two text files: qrels, what the judges said, and runs, what a system ranked.

    qrels   query  iteration  document  label
    run     query  Q0         document  rank   score  tag

Fields are parted by any number of blanks and tabs. A line whose first sign is `#` is a comment; a `#` further on is
not, for document ids hold them. Ids are strings, even where they look like numbers: trec_eval breaks ties by them.
The iteration, `Q0`, the rank, the tag and whatever follows it are not kept: trec_eval does not look at them either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float32Array, Float64Array, IdArray, as_ids, as_scores, as_vector
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import group_rows
from rankwright.data.ids import text_ids
from rankwright.errors import FileFormatError, InputError
from rankwright.formats.lines import number_in, numbered_fields
from rankwright.formats.sources import FilePath, atomic_text_output, input_name

QRELS_LINE = "query, iteration, document, label"
RUN_LINE = "query, Q0, document, rank, score, tag"


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Qrels:
    """What the judges said: labels of documents, which may be negative, one a line."""

    query_ids: IdArray
    document_ids: IdArray
    labels: Float32Array

    def __init__(self, query_ids: ArrayLike, document_ids: ArrayLike, labels: ArrayLike) -> None:
        _set_ids(self, query_ids, document_ids)
        checked = as_vector(labels, name="labels", dtype=np.float32, length=len(self.query_ids))
        object.__setattr__(self, "labels", checked)

    def __len__(self) -> int:
        return len(self.query_ids)


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Run:
    """What a system found: scores of documents, one a line; a query's documents are ranked by them."""

    query_ids: IdArray
    document_ids: IdArray
    scores: Float64Array

    def __init__(self, query_ids: ArrayLike, document_ids: ArrayLike, scores: ArrayLike) -> None:
        _set_ids(self, query_ids, document_ids)
        object.__setattr__(self, "scores", as_scores(scores, length=len(self.query_ids)))

    def __len__(self) -> int:
        return len(self.query_ids)


def read_qrels(path: FilePath) -> Qrels:
    """The judgments of a TREC qrels file."""
    return Qrels(*_read(path, QRELS_LINE, n_fields=4, value_at=3, value="a label"))


def read_run(path: FilePath) -> Run:
    """The scores of a TREC run file."""
    return Run(*_read(path, RUN_LINE, n_fields=6, value_at=4, value="a score"))


def write_qrels(qrels: Qrels | Iterable[Qrels], path: FilePath) -> None:
    """Write judgments, or chunks of them, as a TREC qrels file, in their order."""
    with atomic_text_output(path) as file:
        for chunk in [qrels] if isinstance(qrels, Qrels) else qrels:
            for query, document, label in zip(*_writable_ids(chunk), chunk.labels, strict=True):
                file.write(f"{query} 0 {document} {str(label).removesuffix('.0')}\n")


def write_run(run: Run | Iterable[Run], path: FilePath, *, tag: str = "rankwright") -> None:
    """Write scores, or chunks of them, as a TREC run file: query by query, highest score first, ranks from 1."""
    if len(tag.split()) != 1:
        raise InputError(f"a run's tag must be one word, got {tag!r}")
    with atomic_text_output(path) as file:
        for chunk in [run] if isinstance(run, Run) else run:
            file.writelines(_run_lines(chunk, tag))


def _run_lines(run: Run, tag: str) -> Iterator[str]:
    grouping = group_rows(run.query_ids)
    order = np.arange(len(run)) if grouping.order is None else grouping.order
    rows = order[np.lexsort((-run.scores[order], grouping.groups.query_of_row))]
    ranks = np.arange(1, len(run) + 1) - np.repeat(grouping.groups.offsets[:-1], grouping.groups.sizes)
    queries, documents = _writable_ids(run)
    for row, rank, score in zip(rows.tolist(), ranks.tolist(), run.scores[rows].tolist(), strict=True):
        yield f"{queries[row]} Q0 {documents[row]} {rank} {score!r} {tag}\n"


def qrels_of(data: RankingDataset, first_row: int = 0) -> Qrels:
    """The judgments of a dataset; unjudged documents are left out, as in qrels they are.

    Documents without ids are called by the numbers of their rows in the caller's data, from `first_row`.
    """
    if data.labels is None:
        raise InputError("a dataset without labels holds no judgments")
    labels = data.in_source_order(data.labels)
    judged = np.flatnonzero(~np.isnan(labels))
    queries, documents = _ids_of(data, first_row)
    return Qrels(queries[judged], documents[judged], labels[judged])


def run_of(data: RankingDataset, scores: ArrayLike, first_row: int = 0) -> Run:
    """The run that gives each document its score; scores stand in the order of the caller's data.

    Documents without ids are called as in `qrels_of`.
    """
    return Run(*_ids_of(data, first_row), as_scores(scores, length=data.n_docs))


def _read(path: FilePath, line: str, *, n_fields: int, value_at: int, value: str) -> tuple[Any, Any, Any]:
    queries: list[str] = []
    documents: list[str] = []
    values: list[float] = []
    numbers: list[int] = []
    for number, fields in numbered_fields(path, line, n_fields):
        queries.append(fields[0])
        documents.append(fields[2])
        values.append(number_in(fields[value_at], value, path, number))
        numbers.append(number)
    repeated = _repeated(np.array(queries, np.dtypes.StringDType()), documents)
    if repeated is not None:
        row, first = repeated
        problem = f"document {documents[row]} of query {queries[row]} stood in line {numbers[first]} already"
        raise FileFormatError(input_name(path), f"{problem}; wanted each once in a query", numbers[row])
    return queries, documents, values


def _repeated(queries: IdArray, documents: Sequence[str]) -> tuple[int, int] | None:
    """The first row, and the row before it, in which a document stands twice in a query."""
    grouping = group_rows(queries)
    rows = np.arange(len(queries)) if grouping.order is None else grouping.order
    for query in grouping.groups.slices():
        first_row_of: dict[str, int] = {}
        for row in rows[query].tolist():
            first = first_row_of.setdefault(documents[row], row)
            if first != row:
                return row, first
    return None


def _set_ids(table: Qrels | Run, query_ids: ArrayLike, document_ids: ArrayLike) -> None:
    queries = as_ids(query_ids, name="query_ids")
    documents = as_ids(document_ids, name="document_ids", length=len(queries))
    object.__setattr__(table, "query_ids", text_ids(queries))
    object.__setattr__(table, "document_ids", text_ids(documents))


def _ids_of(data: RankingDataset, first_row: int) -> tuple[IdArray, IdArray]:
    if data.document_ids is None:
        return data.in_source_order(data.qid), np.arange(first_row, first_row + data.n_docs)
    return data.in_source_order(data.qid), data.in_source_order(data.document_ids)


def _writable_ids(table: Qrels | Run) -> tuple[list[str], list[str]]:
    """The query and document ids as lists of strings that the format can hold."""
    queries, documents = table.query_ids.tolist(), table.document_ids.tolist()
    for name in (*queries, *documents):
        if len(name.split()) != 1 or name != name.strip():
            raise InputError(f"TREC files cannot hold the id {name!r}: wanted one without blanks, and not empty")
    commented = [name for name in queries if name.startswith("#")]
    if commented:
        raise InputError(f"TREC files cannot hold the query id {commented[0]!r}: the line would be a comment")
    repeated = _repeated(table.query_ids, documents)
    if repeated is not None:
        row = repeated[0]
        raise InputError(f"document {documents[row]} of query {queries[row]} stands there twice; wanted each once")
    return queries, documents
