"""Bin codes straight from a file: memory never holds its feature matrix.

The file is read twice: once for a sample of rows, from which the bins are found, and once to turn each block of rows
into codes. A file no longer than the sample is read once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankwright.arrays import CodeArray, Float32Array, IntArray, Uint64Array
from rankwright.data.dataset import RankingDataset
from rankwright.data.feature_names import numbered_names
from rankwright.data.keys import key_order, row_hashes
from rankwright.errors import InputError
from rankwright.formats.blocks import errors_name_file
from rankwright.formats.pipeline import Documents
from rankwright.formats.reading import DataFile, as_data_file
from rankwright.formats.storage.streams import Paths
from rankwright.progress.stages import announce
from rankwright.training.digest import data_digest
from rankwright.trees.bins.binned import BinnedDataset, bin_dataset, categorical_columns
from rankwright.trees.bins.binning import MAX_BINS, BinMapper, bin_columns, bin_rows, empty_codes, fit_bins
from rankwright.trees.bins.sampling import SAMPLE_SIZE, RowSample, sample_rows

PIECE_SIZE = 32 << 20  # bytes of codes: the system takes back at once what is freed in such pieces


def bin_file(
    source: Paths | DataFile,
    mapper: BinMapper | None = None,
    *,
    max_bins: int = MAX_BINS,
    categorical: Sequence[int | str] = (),
    sample_size: int = SAMPLE_SIZE,
    seed: int = 0,
    in_key_order: bool | None = None,
    threads: int | None = None,
) -> BinnedDataset:
    """Read a file with bin codes in place of features, for `fit_binned`; memory never holds its feature matrix.

    The result is that of binning the dataset that `read` gives, bit for bit. `documents.source_rows` says where each
    row was in the file.

    Parameters
    ----------
    source : path, list of paths or DataFile
        The file or files; a `DataFile` says how to read them.
    mapper : BinMapper, optional
        The bins of the training data, for validation data; features that text leaves out then count as absent.
    max_bins : int, default 255
        The most values of a feature that can be told apart.
    categorical : sequence of int or str, optional
        Features, by name or by number from 1, whose values are categories.
    sample_size : int, optional
        How many rows, drawn at random, the bins are found from.
    seed : int, default 0
        The seed of this draw.
    in_key_order : bool, optional
        Whether queries and documents are put in the order of their keys, as training data must be for its order not to
        matter. By default it is, unless `mapper` is given: equal scores of validation data are ranked in its own order.
    threads : int, optional
        How many threads to use; every core unless given.

    Returns
    -------
    BinnedDataset
        Codes, judgments and bins.
    """
    given, in_key_order = as_data_file(source), mapper is None if in_key_order is None else in_key_order
    if given is None:
        raise InputError(f"a file must be a path, several, or a DataFile, got {type(source).__name__}")
    with given.repeatable() as file:
        file = file.with_defaults(threads=threads)
        if file.begins_sparse():  # what is stored fits memory, where full blocks of rows may not
            data = file.read() if mapper is None else file.with_defaults(n_features=mapper.n_features).read()
            how = {"max_bins": max_bins, "categorical": categorical, "sample_size": sample_size, "seed": seed}
            return bin_dataset(data, mapper, **how, in_key_order=in_key_order, threads=threads)  # type: ignore[arg-type]
        if mapper is not None:
            return coded_file(file, CodePieces(mapper, threads), in_key_order=in_key_order)
        sample = RowSample(sample_size, seed, file.absent)
        documents = file.stream_rows(sample.add)
        file = file.with_categories(documents.data.categories)  # they need not be found again
        features = _sampled(file, documents, sample)
        announce("binning features")
        names = documents.feature_names or numbered_names(features.shape[1])
        columns = categorical_columns(categorical, documents.data.categories, names)
        mapper = fit_bins(features, max_bins=max_bins, categorical=columns, threads=threads)
        if documents.data.n_docs <= sample_size:
            data, keys = _ordered(documents.data, sample.hashes(), threads, in_key_order)
            codes = bin_columns(features, mapper, order=data.source_rows, threads=threads)
            return BinnedDataset(codes, mapper, data, documents.feature_names, keys)
        digest = data_digest(documents.data, sample.hashes())
        order = order_of_rows(documents.data, sample.hashes(), threads) if in_key_order else None
        del documents, features, sample  # the codes take their place
        coder = CodePieces(mapper, threads) if order is None else PlacedCodes(mapper, order, threads)
        return coded_file(file, coder, digest, in_key_order=in_key_order)


def _sampled(file: DataFile, documents: Documents, sample: RowSample) -> Float32Array:
    """The rows that the bins are found from."""
    data, features = documents.data, sample.features()
    if sample.n_rows <= sample.size or (sample.is_known and data.source_rows is None):
        return features
    # What is drawn depends on whole queries. Where their rows are apart in the file, or their sizes stand elsewhere,
    # the queries were not known when it was read: it is read once more.
    chosen = sample_rows(data.from_source_order(sample.hashes()), data.groups, sample.size, sample.seed)
    rows = chosen if data.source_rows is None else data.source_rows[chosen]
    picked = _PickedRows(np.sort(rows), sample.width)
    file.with_defaults(n_features=sample.width).stream(picked.add)
    return picked.out


class _PickedRows:
    """Copies the given rows, in ascending order, from all rows, which come in blocks."""

    def __init__(self, rows: IntArray, n_columns: int) -> None:
        self._rows, self._n_rows = rows, 0
        self.out = np.empty((len(rows), n_columns), np.float32)

    def add(self, features: Float32Array) -> None:
        begin, end = np.searchsorted(self._rows, [self._n_rows, self._n_rows + len(features)])
        self.out[begin:end] = features[self._rows[begin:end] - self._n_rows]
        self._n_rows += len(features)


def order_of_rows(data: RankingDataset, hashes: Uint64Array, threads: int | None) -> IntArray | None:
    """The rows of a file in the order of their keys; None where the rows of a query are apart in the file."""
    return None if data.source_rows is not None else key_order(data, hashes, threads).rows


def coded_file(
    file: DataFile, codes: PlacedCodes | CodePieces, digest: str | None = None, *, in_key_order: bool
) -> BinnedDataset:
    """The file's data with these codes; `digest` is that of the data the bins were found from, if it is known."""
    mapper, threads = codes.mapper, codes.threads
    with errors_name_file(file.name):
        documents = file.with_defaults(n_features=mapper.n_features).stream(codes.add)
    hashes = np.concatenate(codes.hashes)
    if digest is not None and data_digest(documents.data, hashes) != digest:
        raise InputError(f"{file.name} changed while it was read: its rows differ from those the bins were found from")
    data, keys = _ordered(documents.data, hashes, threads, in_key_order)
    return BinnedDataset(codes.joined(data.source_rows), mapper, data, documents.feature_names, keys)


def _ordered(
    data: RankingDataset, hashes: Uint64Array, threads: int | None, in_key_order: bool
) -> tuple[RankingDataset, Uint64Array | None]:
    """The data in the order of its keys, and the keys; or as it is. The hashes are in the order of the file."""
    if not in_key_order:
        return data, None
    order = key_order(data, data.from_source_order(hashes), threads)
    return data.in_key_order(order), order.keys


class PlacedCodes:
    """Codes of rows that come in blocks, and whose order was found before: each row is put in its place at once.

    That the rows are those of before, a digest has to tell.
    """

    def __init__(self, mapper: BinMapper, order: IntArray, threads: int | None) -> None:
        self.mapper, self.threads = mapper, threads
        self._place_of, self._n_rows = np.argsort(order), 0
        self._codes = empty_codes(len(order), mapper)
        self._block = empty_codes(0, mapper)  # those of one block, in the order in which they came
        self.hashes: list[Uint64Array] = []  # of the rows of each block

    def add(self, features: Float32Array) -> None:
        """Take in the rows that follow those seen so far."""
        self.hashes.append(row_hashes(features, self.threads))
        places = self._place_of[self._n_rows : self._n_rows + len(features)]  # more rows than before have none
        if self._block.shape[1] < len(features):
            self._block = empty_codes(len(features), self.mapper)
        bin_rows(features, self.mapper, self._block, first_row=0, threads=self.threads)
        self._codes[:, places] = self._block[:, : len(places)]
        self._n_rows += len(features)

    def joined(self, order: IntArray | None) -> CodeArray:  # noqa: ARG002
        """The codes of all rows, in the order that was found before."""
        return self._codes


class CodePieces:
    """Codes of rows that come in blocks; their number is known only at the end.

    Each piece is freed as soon as it is joined, so that memory holds all codes hardly more than once.
    """

    def __init__(self, mapper: BinMapper, threads: int | None) -> None:
        self.mapper, self.threads = mapper, threads
        row_size = mapper.n_groups * empty_codes(1, mapper).strides[0] or 1
        self._rows_in_piece = max(1, PIECE_SIZE // row_size)
        self._pieces: list[CodeArray] = []
        self._n_rows: list[int] = []  # of each piece
        self.hashes: list[Uint64Array] = []  # of the rows of each block

    def add(self, features: Float32Array) -> None:
        """Take in the rows that follow those seen so far."""
        if not self._pieces or self._pieces[-1].shape[1] - self._n_rows[-1] < len(features):
            self._pieces.append(empty_codes(max(self._rows_in_piece, len(features)), self.mapper))
            self._n_rows.append(0)
        bin_rows(features, self.mapper, self._pieces[-1], first_row=self._n_rows[-1], threads=self.threads)
        self._n_rows[-1] += len(features)
        self.hashes.append(row_hashes(features, self.threads))

    def joined(self, order: IntArray | None) -> CodeArray:
        """The codes of all rows: number n is the row that came as `order[n]`. The pieces are freed."""
        codes = empty_codes(sum(self._n_rows), self.mapper)
        place_of = None if order is None else np.argsort(order)
        stop = codes.shape[1]
        while self._pieces:
            piece, n_rows = self._pieces.pop(), self._n_rows.pop()
            rows = slice(stop - n_rows, stop)
            codes[:, rows if place_of is None else place_of[rows]] = piece[:, :n_rows]
            stop -= n_rows
        return codes
