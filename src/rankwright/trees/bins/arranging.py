"""One-byte codes in the arrangement from which histograms are summed fastest.

A leaf's rows are anywhere, so the codes of a row lie together: memory is asked for few lines. And most features of
search data have one usual code, such as that of 0 where a page has no anchor text, in the same rows as others of their
kind. These are put into one group of 16, which rows with usual codes alone can skip. How many rows have each code is
counted once, so that a tree of all rows need not sum at its root those on which no force acts. The trees are the same.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np

from rankwright import kernels
from rankwright.arrays import BoolArray, CodeArray, Int32Array
from rankwright.kernels.records import ArrangedRows, SparseCodes
from rankwright.memory import free_memory
from rankwright.trees.bins.binning import GROUP_BYTES, codes_by_row

LEAST_CODES = 2**22  # bytes; fewer are in the processor's cache, however they lie
SAMPLED_CODES = 2**20  # from which the arrangement is found
SKIPPED_SHARE = 0.1  # of rows, at least, in groups worth skipping
MOST_SKIPPING = 64  # groups: a row has a word to say which ones it cannot skip
_WORD = 8
MOST_FEATURES = 2048  # grouping takes the square of their number
NOT_ARRANGED = ArrangedRows(
    np.empty((0, 0), np.uint8), np.empty(0, np.int32), np.empty(0, np.uint8), 0, np.empty(0, np.uint32)
)


class ArrangedOnce:
    """The arrangement of a dataset's codes, made when it is first asked for; all that have these codes share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._codes: Any = None
        self._arranged = NOT_ARRANGED

    def __reduce__(self) -> tuple[Any, ...]:
        return ArrangedOnce, ()  # another process makes its own

    def rows_of(self, codes: CodeArray | SparseCodes, n_features: int, threads: int) -> ArrangedRows:
        """The codes arranged; nothing where that would not help, or memory is short."""
        with self._lock:
            if self._codes is not codes:
                self._codes, self._arranged = codes, arranged_rows(codes, n_features, threads)
            return self._arranged


def arranged_rows(codes: CodeArray | SparseCodes, n_features: int, threads: int) -> ArrangedRows:
    """The codes arranged; nothing where that would not help, or memory is short."""
    if isinstance(codes, SparseCodes) or codes.dtype != np.uint8 or codes.nbytes < LEAST_CODES:
        return NOT_ARRANGED
    if n_features > MOST_FEATURES:
        return NOT_ARRANGED
    n_places = -(-n_features // _WORD) * _WORD
    pitch = -(-(n_places + _WORD) // GROUP_BYTES) * GROUP_BYTES
    if 4 * codes.shape[1] * pitch > free_memory():
        return NOT_ARRANGED
    step = max(1, codes.shape[1] * n_features // SAMPLED_CODES)
    sample = codes_by_row(codes[:, ::step], n_features)
    usual = np.array([np.bincount(column).argmax() for column in sample.T], np.uint8)
    order, n_skipping = grouped_features(sample != usual)
    padding = n_places - n_features
    features, usual_of_place = np.pad(order, (0, padding), constant_values=-1), np.pad(usual[order], (0, padding))
    rows = np.empty((codes.shape[1], pitch), np.uint8)
    counts = np.empty(256 * len(features), np.uint32)
    kernels.arrange_codes(codes, features, usual_of_place, n_skipping, rows, counts, threads)
    return ArrangedRows(rows, features, usual_of_place, n_skipping, counts)


def grouped_features(unusual: BoolArray) -> tuple[Int32Array, int]:
    """The features, 16 of a group together, and how many groups, which come first, are worth skipping rows in.

    A group begins with the feature that is least often unusual. Those follow that add the fewest rows with an unusual
    code. `unusual[row, feature]` says where codes are.
    """
    n_rows = len(unusual)
    rows_of_feature = np.packbits(unusual.T, axis=1)
    left = list(np.argsort(unusual.sum(axis=0), kind="stable"))
    groups: list[tuple[float, list[int]]] = []
    while left:
        group = [left.pop(0)]
        covered = rows_of_feature[group[0]].copy()
        while left and len(group) < GROUP_BYTES:
            added = np.bitwise_count(rows_of_feature[left] & ~covered).sum(axis=1, dtype=np.int64)
            group.append(left.pop(int(added.argmin())))
            covered |= rows_of_feature[group[-1]]
        groups.append((int(np.bitwise_count(covered).sum(dtype=np.int64)) / max(n_rows, 1), group))
    whole = sorted(groups[:-1], key=lambda group: group[0]) + groups[-1:]  # only the last may have fewer features
    n_skipping = sum(share <= 1 - SKIPPED_SHARE for share, _ in whole[:-1])
    order = np.array([feature for _, group in whole for feature in group], np.int32)
    return order, min(n_skipping, MOST_SKIPPING)
