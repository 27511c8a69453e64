"""Results drawn as picture files: training, forces, searches, compression, examination, explanations."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float64Array
from rankwright.compression.curve import Compressed
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, require
from rankwright.objectives.force_field import ForceField
from rankwright.objectives.objective import Objective, finite_scores
from rankwright.rankers.ranker import Ranker
from rankwright.report.picture import write_picture
from rankwright.report.specs.curves import curves_by_rank, held_pairs, learning_curves, quality_by_size, quality_by_time
from rankwright.report.specs.forces import force_arrows
from rankwright.report.specs.theme import Spec, side_by_side

PathLike = str | os.PathLike[str]


def draw_training(ranker: Ranker, path: PathLike) -> None:
    """Draw the watched metric after each step of training, with a mark at the best: .svg, .png or .pdf.

    For SortNet a step is an iteration, and a second panel shows the share of all possible pairs it was trained on.
    """
    if not ranker.history_.values:
        raise InputError(f"this {ranker.name} was trained without validation data: there is no curve to draw")
    title = {"title": "Validation quality"}
    iterations = getattr(ranker, "iterations_", None)
    if iterations is None:
        write_picture(learning_curves({ranker.name: ranker.history_}) | title, path)
        return
    quality = learning_curves({ranker.name: ranker.history_}, step="iteration", first=0)
    shares = {
        "training": [one.share_of_pairs for one in iterations],
        "validation": [one.share_of_valid_pairs for one in iterations],
    }
    totals = {"training": iterations[-1].n_pairs, "validation": iterations[-1].n_valid_pairs}
    about = "How SortNet was trained: quality on validation documents, and the pairs it held."
    _draw_panels([quality | title, held_pairs(shares, totals)], (380, 260), about, path)


def draw_forces(objective: Objective, query: RankingDataset, scores: ArrayLike, path: PathLike) -> Float64Array:
    """Draw the forces on the documents of a query, write the picture to `path`, and return the forces λ = -dC/ds.

    Documents are drawn from left to right by rank, at the height of their score. Arrows show their forces, the longest
    with a fixed length; colours show labels.
    """
    places = finite_scores(scores, length=query.n_docs)
    forces: Float64Array = -ForceField.of(objective, query).gradient(places[None, :])[0]
    write_picture(force_arrows(places, forces, query.labels, f"Forces of {objective.name}"), path)
    return forces


def draw_compression(compressed: Compressed, path: PathLike) -> None:
    """Draw quality on the validation part against size and against the time a document takes: .svg, .png or .pdf.

    Sizes are numbers of nodes, or bytes of the model file if there are nets among the models. A ring marks the chosen
    model.
    """
    about = "What smaller models cost: quality against size and against time."
    _draw_panels([quality_by_size(compressed), quality_by_time(compressed)], (400, 280), about, path)


def draw_examination(curves: Mapping[str, ArrayLike], path: PathLike, *, title: str = "") -> None:
    """Draw curves of examination, rank by rank relative to the first, and write the picture to `path`.

    `curves` are values for ranks 1, 2, … by name: those of `ClickModel.examination`, of propensities, or of clicks.
    """
    require(bool(curves), "a picture needs a curve")
    values: dict[str, Float64Array] = {name: np.asarray(curve, np.float64) for name, curve in curves.items()}
    for name, curve in values.items():
        require(curve.ndim == 1 and len(curve) > 0, f"the curve {name} must have a value for each rank")
        require(bool(np.isfinite(curve).all()), f"the curve {name} must have finite values")
    write_picture(curves_by_rank(values, title or "How far down users look"), path)


def _draw_panels(charts: Sequence[Spec], size: tuple[int, int], about: str, path: PathLike) -> None:
    panel = dict(zip(("width", "height"), size, strict=True))
    write_picture(side_by_side([chart | panel for chart in charts], about), path)
