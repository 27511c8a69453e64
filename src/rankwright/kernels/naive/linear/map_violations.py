"""Twin of SVM-MAP's search for the most violated constraint (Yue, Finley, Radlinski, Joachims 2007)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float64Array, IntArray


def map_violations(
    scores: Float64Array,
    offsets: IntArray,
    relevant: NDArray[np.uint8],
    coefficients: Float64Array,
    loss: Float64Array,
    threads: int,
) -> None:
    """Fill in, for the ranking ŷ of each query with the largest 1 - AP(ŷ) + w·Ψ(ŷ), what it costs and Ψ(y) - Ψ(ŷ).

    Documents of either kind stay in the order of their scores; each irrelevant one goes above some of the relevant
    ones, chosen for it alone, because what it adds does not depend on where the others go.
    """
    for q, (first, last) in enumerate(pairwise(offsets.tolist())):
        own, is_good = scores[first:last], relevant[first:last] != 0
        ranked = np.argsort(-own, kind="stable")
        good, bad = ranked[is_good[ranked]], ranked[~is_good[ranked]]
        count, loss[q] = np.zeros(last - first), 0.0
        coefficients[first:last] = 0.0
        if len(good) == 0 or len(bad) == 0:
            continue
        per_pair = 2.0 / (len(good) * len(bad))
        rank = np.arange(1.0, len(good) + 1)
        for j, row in enumerate(bad.tolist()):
            lost = (rank / (rank + j) - rank / (rank + j + 1)) / len(good)
            gains = np.cumsum((lost - per_pair * (own[good] - own[row]))[::-1])  # of being above the last 1, 2, …
            n_below = int(gains.argmax()) + 1 if gains.max() > 0 else 0
            count[row] = -n_below
            count[good[len(good) - n_below :]] += 1
        coefficients[first:last] = per_pair * count
        loss[q] = 1.0 - (rank / (rank + count[good])).mean()
