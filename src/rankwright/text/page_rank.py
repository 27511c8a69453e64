"""PageRank by power iteration over sparse links."""

from __future__ import annotations

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float64Array, IntArray, thread_count
from rankwright.errors import InputError, require, require_input

DAMPING = 0.85
TOLERANCE = 1e-12  # of the sum of all changes in a step: ranks then differ from their limit by less than 1e-11 in all
MOST_STEPS = 1000


def page_rank(
    offsets: IntArray, targets: IntArray, *, damping: float = DAMPING, threads: int | None = None
) -> Float64Array:
    """The PageRank of each document.

    A link to the same document counts as often as it is there. Documents without links pass their rank on to all alike.

    Parameters
    ----------
    offsets : array of int64, shape (n_documents + 1,)
        Where the links of each document start in `targets`.
    targets : array of int64
        The documents that are linked to, by number.
    damping : float, default 0.85
        The chance that a reader follows a link, from 0 to below 1.
    threads : int, optional
        How many threads to use; the ranks are the same for any number.

    Returns
    -------
    array of float64, shape (n_documents,)
        Ranks that sum to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from rankwright.text import page_rank
    >>> page_rank(np.array([0, 1, 2, 3]), np.array([2, 2, 0])).round(3).tolist()  # 0 -> 2, 1 -> 2, 2 -> 0
    [0.464, 0.05, 0.486]
    """
    require(0 <= damping < 1, f"damping must lie between 0 and 1, got {damping}")
    n = len(offsets) - 1
    if n == 0:
        return np.zeros(0)
    require_input(offsets[0] == 0 and offsets[-1] == len(targets), "offsets must go from 0 to the number of links")
    if len(targets) and not (targets.min() >= 0 and targets.max() < n):
        raise InputError(f"links must lead to documents 0 to {n - 1}, got {targets.min()} to {targets.max()}")
    n_targets = np.diff(offsets)
    starts, sources = _links_to(n, n_targets, targets)
    ranks, passed_on, after = np.full(n, 1.0 / n), np.empty(n), np.empty(n)
    links = (starts, sources, n_targets.astype(np.int32))
    for _ in range(MOST_STEPS):
        change = kernels.page_rank_step(*links, damping, ranks, passed_on, after, thread_count(threads))
        ranks, after = after, ranks
        if change < TOLERANCE:
            break
    return ranks


def _links_to(n: int, n_targets: IntArray, targets: IntArray) -> tuple[IntArray, np.ndarray]:
    """For each document the documents that link to it, in ascending order: where they begin, and their numbers."""
    from scipy.sparse import csr_array

    offsets = np.concatenate([[0], np.cumsum(n_targets)])
    sources = np.repeat(np.arange(n, dtype=np.int32), n_targets)
    # A matrix with a row for each link and its target as column, turned: SciPy sorts by target in one pass.
    turned = csr_array((sources, targets.astype(np.int32), offsets), shape=(n, n)).tocsc()
    return turned.indptr.astype(np.int64), np.ascontiguousarray(turned.indices, dtype=np.int32)
