"""The pairs that labels stand for, written out: where they are to be changed, weighed or looked at one by one."""

from __future__ import annotations

from math import inf

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.data.groups import Groups
from rankwright.data.preferences import Preferences
from rankwright.errors import require


def pairs_from_labels(
    labels: Float32Array, groups: Groups, *, ties: float | None = None, certainty: float = inf
) -> Preferences:
    """Every pair of judged documents of a query, the one with the higher label first.

    The target is logistic(certainty · label difference), 1 where `certainty` is infinite. Documents of equal labels
    pair where `ties` is given: it is the target probability that the one that comes first in the data ranks higher.
    """
    require(ties is None or 0 <= ties <= 1, f"ties must be a probability, or None to leave them out, got {ties}")
    require(certainty > 0, f"certainty must be above 0, got {certainty}")
    better, worse = [], []
    for docs in groups.slices():
        own = labels[docs]
        first, second = np.triu_indices(len(own), k=1)
        difference = own[first] - own[second]
        kept = ~np.isnan(difference) if ties is not None else np.abs(difference) > 0
        first, second, falls = first[kept], second[kept], difference[kept] >= 0
        better.append(docs.start + np.where(falls, first, second))
        worse.append(docs.start + np.where(falls, second, first))
    above, below = (np.concatenate([np.empty(0, np.int64), *rows]) for rows in (better, worse))
    difference = (labels[above] - labels[below]).astype(np.float64)
    target = np.ones(len(above)) if certainty == inf else 1.0 / (1.0 + np.exp(-certainty * difference))
    return Preferences(above, below, np.where(difference == 0, 0.5 if ties is None else ties, target))
