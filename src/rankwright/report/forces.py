"""The forces on a query's documents as a picture."""

from __future__ import annotations

import os

from numpy.typing import ArrayLike

from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.objectives.force_field import ForceField
from rankwright.objectives.objective import Objective, finite_scores
from rankwright.report.picture import write_picture
from rankwright.report.specs.forces import force_arrows


def draw_forces(
    objective: Objective, query: RankingDataset, scores: ArrayLike, path: str | os.PathLike[str]
) -> Float64Array:
    """Draw the forces on the documents of a query, write the picture to `path`, and return the forces λ = -dC/ds.

    Documents are drawn from left to right by rank, at the height of their score. Arrows show their forces, the longest
    with a fixed length; colours show labels.
    """
    places = finite_scores(scores, length=query.n_docs)
    forces: Float64Array = -ForceField.of(objective, query).gradient(places[None, :])[0]
    write_picture(force_arrows(places, forces, query.labels, f"Forces of {objective.name}"), path)
    return forces
