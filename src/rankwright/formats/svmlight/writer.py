"""Datasets written as SVMlight text, a batch of rows at a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from rankwright import kernels
from rankwright.arrays import IdArray, IntArray, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, require, require_input
from rankwright.formats.pipeline import numbered_chunks
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import ByteArray, atomic_output
from rankwright.formats.svmlight.reader import Absent
from rankwright.kernels.shared_codes import Omit

BATCH_SIZE = 8 << 20  # bytes of text formatted at a time, at most
LONGEST_NUMBER = 16  # characters of a float32
LINE_OVERHEAD = 64  # more than label, marks and newline take
OMIT_OF_ABSENT = {"zero": Omit.ZERO, "missing": Omit.MISSING}
# What the format has no place for.
PARTS_LEFT_OUT = ("feature_names", "preferences", "query_weights", "document_weights", "positions", "propensities")
NO_PLACE = {part: part.replace("_", " ") for part in PARTS_LEFT_OUT}
NO_PLACE |= {"side": "side columns", "categories": "the texts of categories (their codes are there)"}
# What the reader would take for the end of an id.
NOT_IN_QUERY_ID = re.compile(r"[ \t\n\v\f\r\0#]")
NOT_IN_DOCUMENT_ID = re.compile(r"[ \t\n\v\f\r\0]")


@dataclass(frozen=True, slots=True)
class _Texts:
    """Texts one after the other: text i is bytes `offsets[i]` to `offsets[i + 1]`."""

    text: ByteArray
    offsets: IntArray

    @property
    def longest(self) -> int:
        return int(np.diff(self.offsets).max(initial=0))


def _lines(
    data: RankingDataset, index_base: int, omit: Omit, threads: int, *, first_query: int, mark_width: bool
) -> Iterator[memoryview]:
    """The lines of a dataset, in batches, in the order that its rows had in their source.

    Queries without ids are numbered from `first_query`. `mark_width` writes the last feature of the first row even
    where it could be left out, so that a reader finds the width. A batch may be used until the next is asked for.
    """
    queries = _query_texts(data, first_query)
    documents = np.zeros(data.n_docs, np.dtypes.StringDType()) if data.document_ids is None else data.document_ids
    labels = np.full(data.n_docs, np.nan, np.float32) if data.labels is None else data.labels
    query_of_row = data.groups.query_of_row
    for rows in _batches(data, queries):
        document_texts = _texts(documents[rows], "document id", NOT_IN_DOCUMENT_ID)
        capacity = _longest_line(data.n_features, queries) + document_texts.longest
        text, length = np.empty((len(rows), capacity), np.uint8), np.zeros(1, np.int64)
        features = np.ascontiguousarray(data.features[rows])
        columns = features, labels[rows], query_of_row[rows], queries.text, queries.offsets
        ids, ends = document_texts.text, document_texts.offsets
        kernels.format_svmlight(*columns, ids, ends, index_base, int(omit), mark_width, text, length, threads)
        mark_width = False
        yield text.reshape(-1).data[: int(length[0])]


def _batches(data: RankingDataset, queries: _Texts) -> Iterator[IntArray]:
    """Rows in the order they had in their source, as many at a time as `BATCH_SIZE` holds."""
    order = np.arange(data.n_docs) if data.source_rows is None else np.argsort(data.source_rows)
    n_at_once = max(1, BATCH_SIZE // _longest_line(data.n_features, queries))
    for start in range(0, data.n_docs, n_at_once):
        yield order[start : start + n_at_once]


def _longest_line(n_features: int, queries: _Texts) -> int:
    longest_pair = len(f" {n_features}:") + LONGEST_NUMBER
    return LINE_OVERHEAD + n_features * longest_pair + queries.longest


def _query_texts(data: RankingDataset, first_query: int) -> _Texts:
    ids = np.arange(first_query, first_query + data.n_queries) if data.query_ids is None else data.query_ids
    require_input(len(np.unique(ids)) == len(ids), "two queries have the same id; SVMlight text would make one of them")
    texts = _texts(ids, "query id", NOT_IN_QUERY_ID)
    if data.n_queries and np.diff(texts.offsets).min() == 0:
        raise InputError("a query id is empty; SVMlight text needs one for each query")
    return texts


def _texts(ids: IdArray, name: str, forbidden: re.Pattern[str]) -> _Texts:
    texts = [str(value) for value in ids.tolist()]
    if forbidden.search("".join(texts)):
        bad = next(text for text in texts if forbidden.search(text))
        raise InputError(f"{name} {bad!r} has a character that SVMlight text cannot hold in it")
    try:
        encoded = [text.encode() for text in texts]
    except UnicodeEncodeError as error:
        raise InputError(f"{name} {error.object!r} is not valid Unicode text") from None
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in encoded], dtype=np.int64)])
    return _Texts(np.frombuffer(b"".join(encoded), np.uint8), offsets)


def write_svmlight(
    data: RankingDataset | Iterable[RankingDataset],
    path: FilePath,
    *,
    absent: Absent | None = None,
    index_base: int = 1,
    threads: int | None = None,
) -> None:
    r"""Write a dataset as SVMlight text; `read_svmlight` gives back the same numbers, bit by bit.

    Rows are written in the order they had in the data they came from. Queries without ids get numbers from 0. The
    format has no place for feature names, preferences, weights and positions: they are left out, and the log says so.
    The file appears complete or not at all.

    Parameters
    ----------
    data : RankingDataset or iterable of RankingDataset
        The dataset, or its chunks one after another.
    path : str or path-like
        Where to write; `-` is standard output. Names that end in .gz or .zst are compressed.
    absent : {"zero", "missing"}, optional
        Which features to leave out to make the file smaller: zeros, or missing values. Read the file with the same
        `absent`. The default writes every feature.
    index_base : {0, 1}, default 1
        The number of the first feature.
    threads : int, optional
        The number of threads; the default is `OMP_NUM_THREADS`, or else every core.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> data = rw.RankingDataset.from_arrays([[0.5, 0.0]], [2], qid=["a"])
    >>> with TemporaryDirectory() as folder:
    ...     rw.write_svmlight(data, Path(folder, "data.txt"), absent="zero")
    ...     Path(folder, "data.txt").read_text()
    '2 qid:a 1:0.5 2:0\n'
    """
    require(absent in (None, *OMIT_OF_ABSENT), f"absent must be 'zero', 'missing' or None, got {absent!r}")
    require(index_base in (0, 1), f"index_base must be 0 or 1, got {index_base!r}")
    style = index_base, OMIT_OF_ABSENT[absent] if absent else Omit.NOTHING, thread_count(threads)
    with atomic_output(path) as output:
        for chunk, n_queries in numbered_chunks(data, path, "SVMlight text", NO_PLACE):
            for lines in _lines(chunk, *style, first_query=n_queries, mark_width=n_queries == 0):
                output.write(lines)
