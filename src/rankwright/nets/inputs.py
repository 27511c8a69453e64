"""Features on their way to a net: some rows at a time, standardised, nothing missing.

Means and deviations are applied to rows as they are fetched, so that training on standardised features needs no
second copy of them; other scalings and kernels make a matrix of their own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array, IntArray, arrays_with_prefix
from rankwright.container.checks import read_field, read_optional_field
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import require_input
from rankwright.features.nystrom import FittedNystrom
from rankwright.features.scaling import ZSCORE, FittedScaling, mean_and_factor
from rankwright.kernels.records import Pieces, StandardisedRows
from rankwright.nets.encoding import fit_pieces, n_inputs, pieces_to_state, restored_pieces
from rankwright.rankers.model import State, StoredModel

MAPPED_AT_A_TIME = 2048  # rows: their kernel values in double precision take little memory


class FeatureRows(StandardisedRows):
    """Rows of a matrix, as (x - shift) · factor with 0 for what is missing; by default x is as it comes."""

    def __init__(
        self,
        features: Float32Array,
        standard: tuple[Float32Array, Float32Array] | None = None,
        pieces: Pieces | None = None,
        *,
        threads: int,
    ) -> None:
        as_it_is = np.zeros(features.shape[1], np.float32), np.ones(features.shape[1], np.float32)
        super().__init__(features, *(standard or as_it_is), pieces)
        self.threads = threads

    def fetch(self, rows: IntArray) -> Float32Array:
        """The given rows, one below the other."""
        fetched = np.empty((len(rows), self.n_inputs), np.float32)
        if self.pieces is None:
            kernels.standardise_rows(self, rows, fetched, self.threads)
        else:
            kernels.net_inputs(self, rows, fetched)
        return fetched

    @property
    def n_inputs(self) -> int:
        """How many numbers a net takes of each row."""
        return self.features.shape[1] if self.pieces is None else n_inputs(self.pieces)

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.features)


@dataclass(frozen=True, slots=True, eq=False)
class NetInputs:
    """What is done to features before the net sees them, learned from the training data."""

    scaling: FittedScaling | None = None
    nystrom: FittedNystrom | None = None
    pieces: Pieces | None = None

    def rows_of(self, data: RankingDataset, *, threads: int) -> FeatureRows:
        """The rows of `data` as the net takes them."""
        features, standard = self._scaled(data.features, data.groups, threads=threads)
        rows = FeatureRows(features, standard, self.pieces, threads=threads)
        return rows if self.nystrom is None else self._mapped(rows, self.nystrom)

    def _scaled(
        self, features: Float32Array, groups: Groups, *, threads: int
    ) -> tuple[Float32Array, tuple[Float32Array, Float32Array] | None]:
        """Features after all steps but a last one of z-scores, and what that takes away and multiplies by."""
        standard = None
        steps = [] if self.scaling is None else self.scaling.steps()
        if steps and steps[-1].scaling == ZSCORE:
            mean, factor = mean_and_factor(steps[-1].learned)
            standard = mean.astype(np.float32), factor.astype(np.float32)
            steps.pop()
        for step in steps:
            features = step.transform(features, groups, threads=threads)
        return features, standard

    def in_pieces(self, data: RankingDataset, n_pieces: int, *, threads: int) -> NetInputs:
        """The same with features cut into pieces, as the values of `data` are spread."""

        def standardised(features: Float32Array, groups: Groups) -> Float32Array:
            scaled, standard = self._scaled(features, groups, threads=threads)
            return scaled if standard is None else (scaled - standard[0]) * standard[1]

        categories = {}
        by_query = self.scaling is not None and self.scaling.scaling.needs_groups
        require_input(not (data.categories and by_query), "categories have no places in a query: take scaling zscore")
        for name, texts in (data.categories or {}).items():
            feature, codes = data.names.index(name), np.zeros((len(texts), data.n_features), np.float32)
            codes[:, feature] = np.arange(len(texts))
            categories[feature] = standardised(codes, Groups.of_sizes([len(texts)]))[:, feature]
        return replace(self, pieces=fit_pieces(standardised(data.features, data.groups), n_pieces, categories))

    def matrix(self, data: RankingDataset, *, threads: int) -> Float32Array:
        """All rows of `data` at once, as the net takes them."""
        rows = self.rows_of(data, threads=threads)
        return rows.fetch(np.arange(rows.n_rows))

    def n_inputs(self, n_features: int) -> int:
        """How many numbers the net takes of each document."""
        if self.pieces is not None:
            return n_inputs(self.pieces)
        return n_features if self.nystrom is None else self.nystrom.n_landmarks

    def _mapped(self, rows: FeatureRows, nystrom: FittedNystrom) -> FeatureRows:
        features = np.empty((rows.n_rows, nystrom.n_landmarks), np.float32)
        for start in range(0, rows.n_rows, MAPPED_AT_A_TIME):
            some = np.arange(start, min(rows.n_rows, start + MAPPED_AT_A_TIME))
            features[some] = nystrom.transform(rows.fetch(some))
        return FeatureRows(features, threads=rows.threads)

    def to_state(self) -> State:
        """A header and arrays for files; the scaling is stored elsewhere."""
        if self.pieces is not None:
            header, arrays = pieces_to_state(self.pieces)
            return {"kernel": None} | header, arrays
        if self.nystrom is None:
            return {"kernel": None}, {}
        arrays = {f"kernel.{name}": values for name, values in self.nystrom.learned.items()}
        return {"kernel": self.nystrom.header}, arrays

    @classmethod
    def restored(cls, stored: StoredModel) -> NetInputs:
        """The inputs that `to_state` described."""
        header = read_field(stored.header, "inputs", dict)
        kernel = read_optional_field(header, "kernel", dict)
        if "encoding" in header:  # which only files have that need it
            require_input(kernel is None, "a net's inputs are of a kernel, or in pieces, and not both")
            arrays = arrays_with_prefix(stored.arrays, "pieces.")
            return cls(stored.scaling, pieces=restored_pieces(header, arrays, stored.n_features))
        if kernel is None:
            return cls(stored.scaling)
        learned = arrays_with_prefix(stored.arrays, "kernel.")
        return cls(stored.scaling, FittedNystrom.of_parts(kernel, learned, stored.n_features))
