"""PageRank is the stationary share of a reader who follows links."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.errors import RankwrightError
from rankwright.text import page_rank


def graph(n, n_links, seed=0):
    rng = np.random.default_rng(seed)
    sources = np.sort(rng.integers(0, n, n_links))
    return np.searchsorted(sources, np.arange(n + 1)), rng.integers(0, n, n_links)


def solved(offsets, targets, damping):
    """The same by solving the equations: (I - damping · Pᵀ) r = (1 - damping) / n."""
    n = len(offsets) - 1
    follow = np.zeros((n, n))
    for document in range(n):
        own = targets[offsets[document] : offsets[document + 1]]
        np.add.at(follow[document], own, 1 / max(1, len(own)))
        if not len(own):
            follow[document] = 1 / n
    return np.linalg.solve(np.eye(n) - damping * follow.T, np.full(n, (1 - damping) / n))


@pytest.mark.parametrize("damping", [0.0, 0.5, 0.85, 0.99])
@pytest.mark.parametrize(("n", "n_links"), [(1, 0), (2, 1), (50, 20), (200, 1500)])
def test_ranks_solve_the_equations(n, n_links, damping):
    offsets, targets = graph(n, n_links)
    ranks = page_rank(offsets, targets, damping=damping)
    assert ranks == pytest.approx(solved(offsets, targets, damping), abs=1e-9)
    assert ranks.sum() == pytest.approx(1, abs=1e-12)


def test_threads_change_no_bit():
    links = graph(20_000, 100_000)
    one = page_rank(*links, threads=1)
    assert one.tobytes() == page_rank(*links, threads=2).tobytes() == page_rank(*links, threads=7).tobytes()


def test_links_out_of_range_are_refused():
    with pytest.raises(RankwrightError, match="documents 0 to 1"):
        page_rank(np.array([0, 1, 1]), np.array([2]))
    with pytest.raises(RankwrightError, match="damping"):
        page_rank(np.array([0, 1, 1]), np.array([1]), damping=1.0)
    assert len(page_rank(np.array([0]), np.array([], np.int64))) == 0
