"""TREC's two text files: qrels, the judgments, and runs, what a system ranked.

    qrels   query  iteration  document  label
    run     query  Q0         document  rank   score  tag

Fields are separated by any number of blanks and tabs. A line that begins with `#` is a comment; a `#` further on is
not, because document ids may contain one. Ids are strings, even where they look like numbers: trec_eval breaks ties by
them. The iteration, `Q0`, the rank, the tag and what follows it are not kept: trec_eval does not look at them either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float32Array, Float64Array, IdArray, as_ids, as_scores, as_vector, text_ids
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import group_rows
from rankwright.errors import FileFormatError, InputError, require_input, require_type
from rankwright.formats.lines import number_in, numbered_fields
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import atomic_text_output, input_name

QRELS_LINE = "query, iteration, document, label"
SUBTOPIC_LINE = "query, subtopic, document, label"
RUN_LINE = "query, Q0, document, rank, score, tag"


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Qrels:
    """Judgments: the label of each document that was judged for a query.

    Parameters
    ----------
    query_ids : array-like of str or int
        The query of each line.
    document_ids : array-like of str or int
        The document of each line.
    labels : array-like of float
        The label of each line; labels may be negative.
    subtopics : array-like of str or int, optional
        The subtopic of the query that each line judges the document for; a document may then have several lines.

    Notes
    -----
    Ids are kept as strings, because trec_eval breaks ties by comparing them as text.

    Examples
    --------
    >>> import rankwright as rw
    >>> qrels = rw.Qrels(["q1", "q1"], ["d1", "d2"], [2, 0])
    >>> len(qrels), qrels.labels.tolist()
    (2, [2.0, 0.0])
    """

    query_ids: IdArray
    document_ids: IdArray
    labels: Float32Array
    subtopics: IdArray | None

    def __init__(
        self, query_ids: ArrayLike, document_ids: ArrayLike, labels: ArrayLike, subtopics: ArrayLike | None = None
    ) -> None:
        _set_ids(self, query_ids=query_ids, document_ids=document_ids, subtopics=subtopics)
        checked = as_vector(labels, name="labels", dtype=np.float32, length=len(self.query_ids))
        object.__setattr__(self, "labels", checked)

    def __len__(self) -> int:
        return len(self.query_ids)


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Run:
    """What a system found: the score of each document that it returned for a query.

    Parameters
    ----------
    query_ids : array-like of str or int
        The query of each line.
    document_ids : array-like of str or int
        The document of each line.
    scores : array-like of float
        The score of each line; the documents of a query are ranked by them, highest first.

    Notes
    -----
    Ids are kept as strings, because trec_eval breaks ties by comparing them as text.

    Examples
    --------
    >>> import rankwright as rw
    >>> run = rw.Run(["q1", "q1"], ["d1", "d2"], [0.3, 0.7])
    >>> rw.evaluate_run(run, rw.Qrels(["q1", "q1"], ["d1", "d2"], [0, 1]), ["mrr"])["mrr"].mean
    1.0
    """

    query_ids: IdArray
    document_ids: IdArray
    scores: Float64Array

    def __init__(self, query_ids: ArrayLike, document_ids: ArrayLike, scores: ArrayLike) -> None:
        _set_ids(self, query_ids=query_ids, document_ids=document_ids)
        object.__setattr__(self, "scores", as_scores(scores, length=len(self.query_ids)))

    def __len__(self) -> int:
        return len(self.query_ids)


def read_qrels(path: FilePath, *, subtopics: bool = False) -> Qrels:
    r"""Read a TREC qrels file.

    Parameters
    ----------
    path : str or path-like
        The file, compressed or not; `-` is standard input.
    subtopics : bool, default False
        Whether the second column names the subtopic that a line judges a document for, as in TREC's diversity tasks.

    Returns
    -------
    Qrels
        The judgments.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "qrels").write_text("301 0 d7 1\n301 0 d9 0\n")
    ...     rw.read_qrels(Path(folder, "qrels")).document_ids.tolist()
    ['d7', 'd9']
    """
    if subtopics:
        lines = numbered_fields(path, SUBTOPIC_LINE, 4)
        rows = [(line[0], line[2], number_in(line[3], "a label", path, number), line[1]) for number, line in lines]
        return Qrels(*zip(*rows, strict=True))
    return Qrels(*_read(path, QRELS_LINE, n_fields=4, value_at=3, value="a label"))


def read_run(path: FilePath) -> Run:
    r"""Read a TREC run file.

    Parameters
    ----------
    path : str or path-like
        The file, compressed or not; `-` is standard input.

    Returns
    -------
    Run
        The scores. The ranks in the file are not used.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "run").write_text("301 Q0 d7 1 0.9 mine\n301 Q0 d9 2 0.4 mine\n")
    ...     rw.read_run(Path(folder, "run")).scores.tolist()
    [0.9, 0.4]
    """
    return Run(*_read(path, RUN_LINE, n_fields=6, value_at=4, value="a score"))


def write_qrels(qrels: Qrels | Iterable[Qrels], path: FilePath) -> None:
    r"""Write judgments as a TREC qrels file.

    Parameters
    ----------
    qrels : Qrels or iterable of Qrels
        The judgments, or chunks of them; lines are written in their order.
    path : str or path-like
        Where to write; `-` is standard output. Names that end in .gz or .zst are compressed.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     rw.write_qrels(rw.Qrels(["q1"], ["d1"], [2]), Path(folder, "qrels"))
    ...     Path(folder, "qrels").read_text()
    'q1 0 d1 2\n'
    """
    with atomic_text_output(path) as file:
        require_type(qrels, (Qrels, Iterable), "qrels", "Qrels")
        for chunk in [qrels] if isinstance(qrels, Qrels) else qrels:
            require_type(chunk, Qrels, "qrels", "Qrels")
            for query, document, label in zip(*_writable_ids(chunk), chunk.labels, strict=True):
                file.write(f"{query} 0 {document} {str(label).removesuffix('.0')}\n")


def write_run(run: Run | Iterable[Run], path: FilePath, *, tag: str = "rankwright") -> None:
    """Write scores as a TREC run file: query by query, highest score first, ranks from 1.

    Parameters
    ----------
    run : Run or iterable of Run
        The scores, or chunks of whole queries of them.
    path : str or path-like
        Where to write; `-` is standard output. Names that end in .gz or .zst are compressed.
    tag : str, default "rankwright"
        The name of the system, one word, at the end of each line.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     rw.write_run(rw.Run(["q1", "q1"], ["d1", "d2"], [0.25, 0.5]), Path(folder, "run"), tag="mine")
    ...     Path(folder, "run").read_text().splitlines()
    ['q1 Q0 d2 1 0.5 mine', 'q1 Q0 d1 2 0.25 mine']
    """
    require_input(len(tag.split()) == 1, f"a run's tag must be one word, got {tag!r}")
    with atomic_text_output(path) as file:
        require_type(run, (Run, Iterable), "run", "a Run")
        for chunk in [run] if isinstance(run, Run) else run:
            require_type(chunk, Run, "run", "a Run")
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
    """The judgments of a dataset; documents that were not judged are left out.

    Documents without ids are named by the numbers of their rows in the caller's data, from `first_row`.
    """
    if data.labels is None:
        raise InputError("a dataset without labels holds no judgments")
    labels = data.in_source_order(data.labels)
    judged = np.flatnonzero(~np.isnan(labels))
    queries, documents = _ids_of(data, first_row)
    return Qrels(queries[judged], documents[judged], labels[judged])


def run_of(data: RankingDataset, scores: ArrayLike, first_row: int = 0) -> Run:
    """The run that gives each document its score; scores are in the order of the caller's data.

    Documents without ids are named as in `qrels_of`.
    """
    return Run(*_ids_of(data, first_row), as_scores(scores, length=data.n_docs))


def _read(path: FilePath, line: str, *, n_fields: int, value_at: int, value: str) -> tuple[Any, Any, Any]:
    rows = [
        (fields[0], fields[2], number_in(fields[value_at], value, path, number), number)
        for number, fields in numbered_fields(path, line, n_fields)
    ]
    queries, documents, values, numbers = zip(*rows, strict=True)
    repeated = _repeated(np.array(queries, np.dtypes.StringDType()), documents)
    if repeated is not None:
        row, first = repeated
        problem = f"document {documents[row]} of query {queries[row]} stood in line {numbers[first]} already"
        raise FileFormatError(input_name(path), f"{problem}; wanted each once in a query", numbers[row])
    return queries, documents, values


def _repeated(queries: IdArray, documents: Sequence[str]) -> tuple[int, int] | None:
    """The first row that repeats a document of its query, and the row that it repeats."""
    grouping = group_rows(queries)
    rows = np.arange(len(queries)) if grouping.order is None else grouping.order
    for query in grouping.groups.slices():
        first_row_of: dict[str, int] = {}
        for row in rows[query].tolist():
            first = first_row_of.setdefault(documents[row], row)
            if first != row:
                return row, first
    return None


def _set_ids(table: Qrels | Run, **given: ArrayLike | None) -> None:
    """Set columns of ids, which are checked to be of equal length and kept as strings."""
    length = None
    for name, ids in given.items():
        checked = None if ids is None else text_ids(as_ids(ids, name=name, length=length))
        length = length if checked is None else len(checked)
        object.__setattr__(table, name, checked)


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
        raise InputError(f"document {documents[row]} of query {queries[row]} appears twice; wanted each once")
    return queries, documents
