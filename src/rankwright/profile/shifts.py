"""How likely it is that a sample seems to have moved where nothing did: two tests on counts in bins, by query.

One asks whether the bins have other shares (Pearson's χ²), the other whether values lie higher or lower: the mean place
among the training documents, which is Wilcoxon's test on bins. The second finds small shifts in few values: half a
deviation in 50 of them five times as often. Documents of a query are alike, and so count as fewer (Rao and Scott 1981).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.data.groups import Groups
from rankwright.profile.spread import N_BINS, Spread

SHIFT_SHARE = 0.8  # of the false alarms that are allowed; the test of shares has the rest
ROWS_AT_A_TIME = 1024  # and whole queries


@dataclass(frozen=True, slots=True, eq=False)
class CountsByQuery:
    """Documents in bins, and the sums over queries by which one tells how alike a query's documents are.

    Arrays have a row for each column of values; those that are not of bins hold numbers for it.
    """

    counts: IntArray  # (columns, bins)
    squares: IntArray  # (columns, bins): of a query's counts
    by_size: IntArray  # (columns, bins): of a query's counts times its documents
    sizes_squared: int
    n_queries: int  # that have documents
    known_squared: IntArray  # of a query's known values
    known_queries: IntArray  # that have known values
    places_squared: Float64Array  # of the sum of a query's places, over its known values

    @classmethod
    def of(cls, before: Spread, values: Float32Array, groups: Groups) -> CountsByQuery:
        """The counts of each column's values in the bins of training."""
        shape, places = (before.n_columns, N_BINS + 1), places_of(before.counts)
        counts, squares, by_size = (np.zeros(shape, np.int64) for _ in range(3))
        known_squared, known_queries = (np.zeros(before.n_columns, np.int64) for _ in range(2))
        places_squared = np.zeros(before.n_columns)
        sizes = groups.sizes[groups.sizes > 0]
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        for first, last in _blocks(offsets):
            own = sizes[first:last]
            rows = np.repeat(np.arange(last - first), own)
            codes = before.bins(values[offsets[first] : offsets[last]]) + np.arange(shape[0]) * shape[1]
            codes = codes + rows[:, None] * (shape[0] * shape[1])
            found = np.bincount(codes.reshape(-1), minlength=(last - first) * shape[0] * shape[1])
            found = found.reshape(last - first, *shape)
            known = found[:, :, :N_BINS].sum(axis=2)
            counts += found.sum(axis=0)
            squares += (found**2).sum(axis=0)
            by_size += (found * own[:, None, None]).sum(axis=0)
            known_squared += (known**2).sum(axis=0)
            known_queries += (known > 0).sum(axis=0)
            places_squared += ((found[:, :, :N_BINS] * places).sum(axis=2) ** 2 / np.maximum(known, 1)).sum(axis=0)
        return cls(
            counts, squares, by_size, int((sizes**2).sum()), len(sizes), known_squared, known_queries, places_squared
        )


def _blocks(offsets: IntArray) -> Iterator[tuple[int, int]]:
    """Runs of queries of so many documents, the last of each run reaching beyond them."""
    first, n_queries = 0, len(offsets) - 1
    while first < n_queries:
        last = int(np.searchsorted(offsets, offsets[first] + ROWS_AT_A_TIME))
        last = min(n_queries, max(first + 1, last))
        yield first, last
        first = last


def places_of(counts: IntArray) -> Float64Array:
    """Where each bin of values lies among the known ones: the share below it and half its own, less a half."""
    shares = _shares(counts)
    places: Float64Array = np.cumsum(shares, axis=1) - shares / 2 - 0.5
    return places


def _shares(counts: IntArray) -> Float64Array:
    """The shares of bins among known values."""
    known = counts[:, :N_BINS].astype(np.float64)
    shares: Float64Array = known / np.maximum(known.sum(axis=1, keepdims=True), 1)
    return shares


def chances_of(before: IntArray, now: CountsByQuery) -> Float64Array:
    """For each column, the least rate of false alarms at which it counts as moved."""
    from scipy.stats import chi2, norm

    places = places_of(before)
    n_before, n_now = np.maximum(before.sum(axis=1), 1), now.counts.sum(axis=1)
    known_before, known = (np.maximum(counts[:, :N_BINS].sum(axis=1), 1) for counts in (before, now.counts))

    # Places: how much they vary within queries and between them, against training or against now, whichever is more.
    mean = (places * now.counts[:, :N_BINS]).sum(axis=1) / known
    squares = (places**2 * now.counts[:, :N_BINS]).sum(axis=1)
    total = np.maximum((places**2 * _shares(before)).sum(axis=1), squares / known - mean**2)
    within = np.minimum(total, (squares - now.places_squared) / np.maximum(known - now.known_queries, 1))
    variance = (within + (total - within) * now.known_squared / known) / known
    alike_places = np.divide(variance * known, total, out=np.ones_like(total), where=total > 0)
    error = np.sqrt(variance + total * alike_places / known_before)
    shift = 2 * norm.sf(np.divide(np.abs(mean), error, out=np.zeros_like(error), where=error > 0))

    # Shares: the variance of a bin's share over queries, over that of as many single documents, averaged over bins.
    share = now.counts / n_now[:, None]
    excess = (now.squares - 2 * share * now.by_size + share**2 * now.sizes_squared).sum(axis=1) / n_now
    spread = (share * (1 - share)).sum(axis=1)
    if now.n_queries > 1:
        excess *= now.n_queries / (now.n_queries - 1)
        alike = np.divide(excess, spread, out=np.ones_like(excess), where=spread > 0)
    else:
        alike = n_now.astype(np.float64)
    unsure = np.maximum(np.maximum(alike, alike_places), 1.0) * (1 / n_before + 1 / n_now)
    both = (before + now.counts) / (n_before + n_now)[:, None]
    apart = (share - before / n_before[:, None]) ** 2
    distance = np.divide(apart, both, out=np.zeros_like(apart), where=both > 0).sum(axis=1)
    used = (both > 0).sum(axis=1)
    shape = np.where(used > 1, chi2.sf(distance / unsure, np.maximum(used - 1, 1)), 1.0)
    chances: Float64Array = np.minimum(shift / SHIFT_SHARE, shape / (1 - SHIFT_SHARE))
    return chances
