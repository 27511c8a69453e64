"""SortNet's Figure 3: MAP on the validation documents at each iteration, which levels out before the last."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rankwright.reproduce.experiment import SORTNET, PaperExperiment, Result, Setup
from rankwright.reproduce.outcome import Claim, Figure, Findings, PaperTable
from rankwright.reproduce.papers.sortnet_table1 import PAPER_CHOICE, of_size, parts, run, sources
from rankwright.reproduce.papers.sortnet_table2 import USUAL_SIZE

NAME = "sortnet-figure3"
NEAR = 0.01  # of MAP


def conclude(setup: Setup, results: Mapping[str, Result]) -> Findings:
    """The curve of each set, and where it levels out."""
    rows: dict[str, dict[str, Figure]] = {}
    claims = []
    for source in sources(setup):
        size = PAPER_CHOICE.get(source.stands_for, USUAL_SIZE)
        histories = [one["history"] for one in of_size(source, results, size)]
        longest = max(map(len, histories))
        # A run that ended early has found no new wrong pair: its best net stays.
        curves = np.array([one + [max(one)] * (longest - len(one)) for one in histories])
        best_so_far = np.maximum.accumulate(curves, axis=1).mean(axis=0)
        mean = curves.mean(axis=0)
        rows[f"{source.name}, {size} hidden"] = {f"{number}": Figure(float(value)) for number, value in enumerate(mean)}
        reached = int(np.argmax(best_so_far >= best_so_far[-1] - NEAR))
        text = f"{source.name}: the best net is found before the last iteration"
        told = (
            f"within {NEAR:g} of the best MAP at iteration {reached} of {longest - 1}: {best_so_far[-1]:.3f}, from "
            f"{mean[0]:.3f} for the random net"
        )
        why = f"it was still rising at the last iteration; {source.differs}"
        claims.append(Claim(text, reached < longest - 1, told, why))
    table = PaperTable("MAP on validation documents by iteration, mean of folds", rows, 3)
    return Findings([table], claims, ["the paper draws the curves without numbers"])


# It takes the parts of Table 1, from which the figure comes.
EXPERIMENT = PaperExperiment(NAME, SORTNET, "Validation MAP by iteration", parts, run, conclude, sources)
