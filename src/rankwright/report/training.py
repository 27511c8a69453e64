"""How training went, as a picture."""

from __future__ import annotations

import os

from rankwright.comparators.sortnet import SortNet
from rankwright.errors import InputError
from rankwright.rankers.ranker import Ranker
from rankwright.report.picture import write_picture
from rankwright.report.specs.learning import held_pairs, learning_curves
from rankwright.report.specs.look import beside

PANEL = {"width": 380, "height": 260}


def draw_training(ranker: Ranker, path: str | os.PathLike[str]) -> None:
    """Draw the watched metric after each step of training, with a mark at the best: .svg, .png or .pdf.

    For SortNet a step is an iteration, and a second panel shows the share of all possible pairs it was trained on.
    """
    if not ranker.history_.values:
        raise InputError(f"this {ranker.name} was trained without validation data: there is no curve to draw")
    title = {"title": "Validation quality"}
    if not isinstance(ranker, SortNet):
        write_picture(learning_curves({ranker.name: ranker.history_}) | title, path)
        return
    quality = learning_curves({ranker.name: ranker.history_}, step="iteration", first=0)
    iterations = ranker.iterations_
    shares = {
        "training": [one.share_of_pairs for one in iterations],
        "validation": [one.share_of_valid_pairs for one in iterations],
    }
    totals = {"training": iterations[-1].n_pairs, "validation": iterations[-1].n_valid_pairs}
    about = "How SortNet was trained: quality on validation documents, and the pairs it held."
    write_picture(beside([quality | title | PANEL, held_pairs(shares, totals) | PANEL], about), path)
