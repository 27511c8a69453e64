"""Parsed rows on their way to a dataset, and where their queries begin and end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rankwright.arrays import Float32Array, IdArray, IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.data.ids import join_ids
from rankwright.errors import InputError

NO_FEATURES: Float32Array = np.empty((0, 0), np.float32)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows next to each other in a file, and the runs of equal query ids that they fall into."""

    features: Float32Array
    labels: Float32Array
    document_ids: IdArray | None  # None where no row has one
    run_ids: IdArray | None  # None where the lines have no qid
    run_sizes: IntArray

    def __len__(self) -> int:
        return len(self.labels)

    def without_features(self) -> Rows:
        """The rows without their features, which stay with whoever gave the memory for them."""
        return replace(self, features=NO_FEATURES)

    def without_last_run(self) -> Rows:
        """The rows of all runs but the last."""
        return self._part(slice(0, len(self) - int(self.run_sizes[-1])), slice(0, -1))

    def last_run(self) -> Rows:
        """The rows of the last run."""
        return self._part(slice(len(self) - int(self.run_sizes[-1]), None), slice(-1, None))

    def _part(self, rows: slice, runs: slice) -> Rows:
        return Rows(
            self.features[rows],
            self.labels[rows],
            None if self.document_ids is None else self.document_ids[rows],
            None if self.run_ids is None else self.run_ids[runs],
            self.run_sizes[runs],
        )


def dataset_of(features: Float32Array, pieces: Sequence[Rows], sizes: IntArray | None = None) -> RankingDataset:
    """The dataset of the rows of all pieces; `sizes` holds the documents of each query where the rows do not say."""
    labels = np.concatenate([piece.labels for piece in pieces])
    documents = _document_ids(pieces)
    if sizes is not None:
        return RankingDataset.from_arrays(features, labels, group=sizes, document_ids=documents)
    run_ids = join_ids([piece.run_ids for piece in pieces if piece.run_ids is not None])
    qid = np.repeat(run_ids, np.concatenate([piece.run_sizes for piece in pieces]))
    return RankingDataset.from_arrays(features, labels, qid=qid, document_ids=documents)


def _document_ids(pieces: Sequence[Rows]) -> IdArray | None:
    """The document ids of all pieces, empty where a row has none; None where no row has one."""
    if all(piece.document_ids is None for piece in pieces):
        return None
    nothing = np.dtypes.StringDType()
    return join_ids(
        [np.zeros(len(piece), nothing) if piece.document_ids is None else piece.document_ids for piece in pieces]
    )


def whole_queries(stream: Iterable[Rows]) -> Iterator[list[Rows]]:
    """The same rows cut where a query ends: each list holds queries complete, whatever pieces they came in."""
    unfinished: list[Rows] = []  # the rows so far of the last query
    for rows in stream:
        assert rows.run_ids is not None
        goes_on = bool(unfinished) and _last_id(unfinished) == rows.run_ids[0]
        if goes_on and len(rows.run_ids) == 1:
            unfinished.append(rows)
            continue
        finished = [*unfinished, rows.without_last_run()]
        unfinished = [rows.last_run()]
        if any(len(piece) for piece in finished):
            yield [piece for piece in finished if len(piece)]
    if unfinished:
        yield unfinished


def _last_id(pieces: Sequence[Rows]) -> object:
    run_ids = pieces[-1].run_ids
    assert run_ids is not None
    return run_ids[-1]


class QueryLog:
    """Tells where a query comes back that had ended: with its file, or, where rows must be together, with its run."""

    def __init__(self, *, together: bool) -> None:
        self._together = together
        self._ended: set[str] = set()
        self._open: set[str] = set()

    def end_file(self) -> None:
        """Count every query so far as ended."""
        self._ended |= self._open
        self._open = set()

    def returning_run(self, rows: Rows) -> int | None:
        """The first run of `rows` whose query had ended, None where there is none."""
        assert rows.run_ids is not None
        for run, query in enumerate(map(str, rows.run_ids.tolist())):
            if query in self._ended:
                return run
            if self._together and query not in self._open:
                self.end_file()
            self._open.add(query)
        return None


class SizedQueries:
    """Gives rows without query ids their runs, from the sizes of the queries; queries are numbered from 0."""

    def __init__(self, sizes: IntArray) -> None:
        self._ends = np.cumsum(sizes)
        self._n_rows = 0

    def assign(self, rows: Rows) -> Rows:
        """The next rows, with the numbers of their queries as ids."""
        row, stop = self._n_rows, self._n_rows + len(rows)
        if stop > self._ends[-1]:
            raise size_mismatch(int(self._ends[-1]), f"at least {stop}")
        self._n_rows = stop
        first, last = np.searchsorted(self._ends, [row, stop - 1], side="right").tolist()
        ends = np.minimum(self._ends[first : last + 1], stop)
        return replace(rows, run_ids=np.arange(first, last + 1), run_sizes=np.diff(ends, prepend=row))

    def check_end(self) -> None:
        """Raise where the sizes ask for more rows than came."""
        if self._n_rows != self._ends[-1]:
            raise size_mismatch(int(self._ends[-1]), str(self._n_rows))


def size_mismatch(wanted: int, found: str) -> InputError:
    """The error of sizes that do not fit the rows."""
    return InputError(f"the sizes of the queries add up to {wanted} documents, but the data has {found}")
