"""The dataset trees train on: bin codes in place of feature values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankwright.arrays import CodeArray, Float32Array, Float64Array, IntArray, Uint64Array
from rankwright.data.categories import Categories
from rankwright.data.dataset import RankingDataset
from rankwright.data.feature_names import feature_columns, numbered_names
from rankwright.data.groups import Groups
from rankwright.data.keys import key_order, row_hashes
from rankwright.data.preferences import Preferences
from rankwright.data.side_columns import Side
from rankwright.errors import InputError
from rankwright.kernels.records import SparseCodes
from rankwright.trees.bins.arranging import ArrangedOnce
from rankwright.trees.bins.binning import MAX_BINS, BinMapper, bin_columns, fit_bins, slots_of
from rankwright.trees.bins.sampling import SAMPLE_SIZE, sample_rows
from rankwright.trees.bins.sparse_binning import bin_sparse_rows, fit_sparse_bins


@dataclass(frozen=True, slots=True, eq=False)
class BinnedDataset:
    """A `RankingDataset` with bin codes instead of features: about a quarter of its size.

    `documents` is the dataset without its features: judgments, groups, weights and ids. Objectives and metrics can use
    a binned dataset like any other. Queries and documents are in the order of their keys; `documents.source_rows` says
    where each row came from.
    """

    codes: Any  # CodeArray laid out as in `trees.bins.binning`, or SparseCodes
    mapper: BinMapper
    documents: RankingDataset
    feature_names: tuple[str, ...] = ()
    query_keys: Uint64Array | None = None  # keys of the queries' features, where rows were put in their order
    arranged: ArrangedOnce = field(default_factory=ArrangedOnce, repr=False)

    def __post_init__(self) -> None:
        self._check_codes()
        if self.documents.n_features:
            raise InputError("documents must have no features of their own: the codes stand for them")
        if self.feature_names and len(self.feature_names) != self.n_features:
            raise InputError(f"feature_names must have {self.n_features} names, got {len(self.feature_names)}")

    def _check_codes(self) -> None:
        mapper = self.mapper
        if isinstance(self.codes, SparseCodes):
            if (self.codes.n_rows, len(self.codes.first)) != (self.documents.n_docs, mapper.n_features):
                raise InputError("sparse codes must be of as many rows and features as there are documents and bins")
            return
        wanted = (mapper.n_groups, self.documents.n_docs, slots_of(mapper.code_dtype))
        if self.codes.shape != wanted or self.codes.dtype != mapper.code_dtype or not self.codes.flags.c_contiguous:
            raise InputError(
                f"codes must be contiguous, of type {np.dtype(mapper.code_dtype)} and shape {wanted}, "
                f"got {self.codes.dtype} and {self.codes.shape}"
            )

    @property
    def n_docs(self) -> int:
        """How many documents there are."""
        return self.documents.n_docs

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return self.documents.n_queries

    @property
    def n_features(self) -> int:
        """How many features each document has."""
        return self.mapper.n_features

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names; where none were given, their numbers from 1, as LETOR files count them."""
        return self.feature_names or numbered_names(self.n_features)

    @property
    def labels(self) -> Float32Array | None:
        """The label of each document."""
        return self.documents.labels

    @property
    def groups(self) -> Groups:
        """Where each query's rows lie."""
        return self.documents.groups

    @property
    def preferences(self) -> Preferences | None:
        """Pairs of documents of which one should rank higher."""
        return self.documents.preferences

    @property
    def query_weights(self) -> Float32Array | None:
        """How much each query counts."""
        return self.documents.query_weights

    @property
    def document_weights(self) -> Float32Array | None:
        """How much each document counts."""
        return self.documents.document_weights

    @property
    def positions(self) -> IntArray | None:
        """The rank at which a click log showed each document."""
        return self.documents.positions

    @property
    def initial_scores(self) -> Float64Array | None:
        """What training starts from."""
        return self.documents.initial_scores

    @property
    def side(self) -> Side | None:
        """What else is known of documents, for functions of the user's own."""
        return self.documents.side

    def __repr__(self) -> str:
        return f"BinnedDataset({self.n_queries} queries, {self.n_docs} documents, {self.n_features} features)"


def bin_dataset(
    data: RankingDataset,
    mapper: BinMapper | None = None,
    *,
    max_bins: int = MAX_BINS,
    categorical: Sequence[int | str] = (),
    sample_size: int = SAMPLE_SIZE,
    seed: int = 0,
    in_key_order: bool | None = None,
    threads: int | None = None,
) -> BinnedDataset:
    """`data` with codes for features, by a given mapper (that of the training data) or by bins fitted to `data`.

    Categorical features are given by number, from 0, or by name. Rows are put in the order of their keys, or stay as
    they are: by default, they stay where a mapper is given, as equal scores of validation data are ranked in its order.
    """
    in_key_order = mapper is None if in_key_order is None else in_key_order
    if mapper is not None and not in_key_order:
        codes = codes_of(data, mapper, threads=threads)
        return BinnedDataset(codes, mapper, without_features(data), data.feature_names)
    hashes = row_hashes(data.features, threads)
    if mapper is None:
        mapper = bins_of(data, hashes, max_bins, categorical, sample_size=sample_size, seed=seed, threads=threads)
    if not in_key_order:
        return bin_dataset(data, mapper, in_key_order=False, threads=threads)
    order = key_order(data, hashes, threads)
    codes = codes_of(data, mapper, hashes, order=order.rows, threads=threads)
    documents = without_features(data).in_key_order(order)
    return BinnedDataset(codes, mapper, documents, data.feature_names, order.keys)


def codes_of(
    data: RankingDataset,
    mapper: BinMapper,
    hashes: Uint64Array | None = None,
    *,
    order: IntArray | None = None,
    threads: int | None = None,
) -> CodeArray | SparseCodes:
    """The codes of the data's features, in the given order of rows; `hashes` are those of the rows, where known."""
    if data.sparse is None:
        return bin_columns(data.features, mapper, order=order, threads=threads)
    hashes = row_hashes(data.sparse, threads) if hashes is None else hashes
    return bin_sparse_rows(data.sparse, mapper, hashes=hashes, order=order, threads=threads)


def bins_of(
    data: RankingDataset,
    hashes: Uint64Array,
    max_bins: int,
    categorical: Sequence[int | str] = (),
    *,
    sample_size: int = SAMPLE_SIZE,
    seed: int = 0,
    threads: int | None = None,
) -> BinMapper:
    """The bins of the data's features, found from a sample of rows; `hashes` are those of the rows.

    Features that hold codes of texts are categorical, whether they are named or not.
    """
    how: dict[str, Any] = {
        "max_bins": max_bins,
        "categorical": categorical_columns(categorical, data.categories, data.names),
        "rows": sample_rows(hashes, data.groups, sample_size, seed),
        "threads": threads,
    }
    return fit_bins(data.features, **how) if data.sparse is None else fit_sparse_bins(data.sparse, **how)


def categorical_columns(given: Sequence[int | str], coded: Categories | None, names: Sequence[str]) -> list[int]:
    """The columns, from 0, of features that a caller calls categorical and of those that hold codes of texts."""
    return sorted({*feature_columns(given, names), *feature_columns(coded or (), names)})


def without_features(data: RankingDataset) -> RankingDataset:
    """`data` with no feature columns, sharing everything else."""
    return replace(data, features=np.empty((data.n_docs, 0), np.float32), feature_names=())
