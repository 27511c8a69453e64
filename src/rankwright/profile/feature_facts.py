"""Facts about each feature, found in one pass, and documents that are copies of each other.

Values are compared bit by bit, after -0 became 0 and every NaN the same one: a missing value equals a missing value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array, IntArray
from rankwright.data.groups import Groups

ROWS_AT_A_TIME = 512  # so few that what is computed from them stays in the processor's cache
MISSING = np.float32(np.nan)


@dataclass(frozen=True, slots=True, eq=False)
class FeatureFacts:
    """Facts with one value for each feature; the last has one for each document."""

    n_missing: IntArray
    n_infinite: IntArray
    is_constant: BoolArray  # the same in every document
    is_constant_in_queries: BoolArray  # the same in every document of a query
    is_rising: BoolArray  # larger in every row than in the row before
    fingerprints: NDArray[np.uint64]  # equal for equal columns, and otherwise only by rare accident
    row_fingerprints: NDArray[np.uint64]


def feature_facts(features: Float32Array, groups: Groups) -> FeatureFacts:
    """The facts about each column of `features`."""
    n_docs, n_features = features.shape
    # Sums of the values' bits times random odd numbers, modulo 2^64.
    rng = np.random.default_rng(0)
    factor_of_row, factor_of_feature = (rng.integers(0, 2**63, n, np.uint64) | np.uint64(1) for n in features.shape)
    starts_query = np.zeros(n_docs + 1, np.bool_)
    starts_query[groups.offsets] = True

    n_missing, n_infinite = np.zeros(n_features, np.int64), np.zeros(n_features, np.int64)
    constant, constant_in_queries, rising = (np.ones(n_features, np.bool_) for _ in range(3))
    fingerprints, row_fingerprints = np.zeros(n_features, np.uint64), np.zeros(n_docs, np.uint64)
    for start in range(0, n_docs, ROWS_AT_A_TIME):
        rows = slice(start, min(start + ROWS_AT_A_TIME, n_docs))
        since = max(start - 1, 0)  # the row before as well, to compare with
        values = _tidy(features[since : rows.stop])
        bits = values.view(np.uint32)
        same = bits[1:] == bits[:-1]
        constant &= same.all(axis=0)
        constant_in_queries &= (same | starts_query[since + 1 : rows.stop, None]).all(axis=0)
        rising &= (values[1:] > values[:-1]).all(axis=0)
        own = slice(start - since, None)
        n_missing += np.isnan(values[own]).sum(axis=0)
        n_infinite += np.isinf(values[own]).sum(axis=0)
        wide = bits[own].astype(np.uint64)
        fingerprints += (wide * factor_of_row[rows, None]).sum(axis=0)
        row_fingerprints[rows] = (wide * factor_of_feature).sum(axis=1)
    return FeatureFacts(n_missing, n_infinite, constant, constant_in_queries, rising, fingerprints, row_fingerprints)


def duplicate_columns(features: Float32Array, facts: FeatureFacts) -> list[list[int]]:
    """The sets of columns that hold the same values, each in ascending order."""
    found: list[list[int]] = []
    fingerprints, counts = np.unique(facts.fingerprints, return_counts=True)
    for fingerprint in fingerprints[counts > 1]:
        alike = np.flatnonzero(facts.fingerprints == fingerprint).tolist()
        first = _tidy(features[:, alike[0]])
        same = [column for column in alike[1:] if np.array_equal(first, _tidy(features[:, column]), equal_nan=True)]
        if same:
            found.append([alike[0], *same])
    return sorted(found)


def duplicate_rows(features: Float32Array, groups: Groups, facts: FeatureFacts) -> tuple[IntArray, IntArray]:
    """Rows whose features equal those of an earlier row of their query, and those earlier rows."""
    query_of_row = groups.query_of_row
    order = np.lexsort((facts.row_fingerprints, query_of_row))
    before, after = order[:-1], order[1:]
    alike = query_of_row[before] == query_of_row[after]
    alike &= facts.row_fingerprints[before] == facts.row_fingerprints[after]
    before, after = before[alike], after[alike]
    same = np.zeros(len(after), np.bool_)
    for start in range(0, len(after), ROWS_AT_A_TIME):
        pairs = slice(start, start + ROWS_AT_A_TIME)
        one, other = (_tidy(features[rows[pairs]]).view(np.uint32) for rows in (before, after))
        same[pairs] = (one == other).all(axis=1)
    return after[same], before[same]


def _tidy(values: Float32Array) -> Float32Array:
    return np.where(np.isnan(values), MISSING, values + np.float32(0))
