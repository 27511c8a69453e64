"""Clicks weighed by how likely they were to be seen."""

from __future__ import annotations

import logging
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float32Array, as_vector
from rankwright.clicks.estimates import effective_size
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, require

logger = logging.getLogger(__name__)
SMALLEST = 0.05  # smaller propensities count as this one, so that no click counts more than twenty times


@dataclass(frozen=True, slots=True, eq=False)
class PropensityWeights:
    """The weights of documents by inverse propensity.

    Attributes
    ----------
    weights : array of float32
        1 / propensity for clicked documents, 1 for others.
    effective_size : float
        How many clicks with equal weights would tell as much: (Σ w)² / Σ w².
    n_clicks : int
        How many clicked documents there are.
    clipped_share : float
        The share of the clicks whose propensity was below the smallest allowed.
    """

    weights: Float32Array
    effective_size: float
    n_clicks: int
    clipped_share: float


def propensity_weights(clicks: ArrayLike, propensity: ArrayLike, *, smallest: float = SMALLEST) -> PropensityWeights:
    """Weigh clicked documents by one over the chance that they were examined.

    A pair counts as much as both its documents together, so a pair of a clicked document and another counts 1 /
    propensity of the click. `Ranker.fit` does this where it is given `propensity`, and where its data has propensities,
    unless the ranker corrects labels by them (setting `debias`).

    Parameters
    ----------
    clicks : array of numbers
        Clicks, or any labels: what is above 0 was clicked.
    propensity : array of numbers
        How likely each document was examined where it was shown, above 0 and at most 1.
    smallest : float, default 0.05
        Smaller propensities count as this one: it bounds how much a click can count.

    Returns
    -------
    PropensityWeights
        The weights, and what they do to the number of clicks.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.clicks.propensity_weights([1, 0, 1], [1.0, 0.5, 0.25]).weights.tolist()
    [1.0, 1.0, 4.0]
    """
    require(0 < smallest <= 1, f"smallest must lie above 0 and be at most 1, got {smallest}")
    labels = as_vector(clicks, name="clicks", dtype=np.float64)
    chances = as_vector(propensity, name="propensity", dtype=np.float64, length=len(labels))
    if not ((chances > 0) & (chances <= 1)).all():
        row = int(np.flatnonzero(~((chances > 0) & (chances <= 1)))[0])
        raise InputError(f"propensity must lie above 0 and be at most 1, but row {row} has {chances[row]}")
    clicked = labels > 0
    weights = np.where(clicked, 1 / np.maximum(chances, smallest), 1.0)
    clipped = float((chances[clicked] < smallest).mean()) if clicked.any() else 0.0
    return PropensityWeights(weights.astype(np.float32), effective_size(weights[clicked]), int(clicked.sum()), clipped)


def weighed_by_propensity(data: RankingDataset) -> tuple[RankingDataset, PropensityWeights | None]:
    """The data with its clicks weighed by inverse propensity, and the weights.

    The result has no propensities, so that nothing is weighed twice. Data without propensities comes back unchanged,
    with None for the weights.
    """
    if data.propensities is None:
        return data, None
    if data.labels is None or data.preferences is not None:
        raise InputError("propensities weigh clicks, which are labels; preferences are weighed by themselves")
    found = propensity_weights(data.labels, data.propensities)
    clipped = 100 * found.clipped_share
    logger.info("propensities: %d clicks count as %.0f, %.1f %% clipped", found.n_clicks, found.effective_size, clipped)
    own = 1.0 if data.document_weights is None else data.document_weights
    weights = (found.weights * own).astype(np.float32)
    return replace(data, document_weights=weights, propensities=None), found
