"""The slides' overfitting tolerance: quality by number of trees for one LambdaMART and for BL-MART, and by bags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwright.reproduce.experiment import SLIDES, PaperExperiment, Result, Setup
from rankwright.reproduce.fold_values import ahead
from rankwright.reproduce.outcome import Figure, Findings, PaperTable
from rankwright.reproduce.papers.blmart_variance import of_source, parts, run, sources, work
from rankwright.reproduce.published import RANDOM, WITH

NAME = "blmart-overfitting"
METRIC = "mean-ndcg"
BAGGED = "BL-MART"
SHOWN = 6  # numbers of trees or bags in a table


def conclude(setup: Setup, results: Mapping[str, Result]) -> Findings:
    """Curves by trees and by bags, and what becomes of them at the end."""
    tables, claims = [], []
    for source in sources(setup):
        samples = of_source(source, results)
        by_trees = {row: _curves(samples, "by_trees", row) for row in (RANDOM, BAGGED)}
        by_bags = _curves(samples, "by_bags", WITH)
        stages = samples[0]["stages"]
        bags = list(range(1, by_bags.shape[1] + 1))
        tables += [
            PaperTable(f"{source.name}, {METRIC} by number of trees", {
                row: _points(curves, stages) for row, curves in by_trees.items()}),
            PaperTable(f"{source.name}, {METRIC} by number of bags", {WITH: _points(by_bags, bags)}),
        ]  # fmt: skip
        # For each sample, how far the last point lies below the best one.
        lost = {row: (curves.max(axis=1) - curves[:, -1]).tolist() for row, curves in by_trees.items()}
        claims += [
            ahead(
                f"{source.name}: too many trees hurt one LambdaMART more than BL-MART ({METRIC} lost)",
                [lost[RANDOM]], [lost[BAGGED]], (RANDOM, BAGGED), otherwise=source.differs, of="samples"),
            ahead(
                f"{source.name}: with all trees, BL-MART is better than one LambdaMART ({METRIC})",
                [by_trees[BAGGED][:, -1].tolist()], [by_trees[RANDOM][:, -1].tolist()], (BAGGED, RANDOM),
                otherwise=source.differs, of="samples"),
            ahead(
                f"{source.name}: more bags are better than one ({METRIC})",
                [by_bags[:, -1].tolist()], [by_bags[:, 0].tolist()], (f"{bags[-1]} bags", "one bag"),
                otherwise=source.differs, of="samples"),
        ]  # fmt: skip
    note = "each curve is the mean over the samples of blmart-variance; the slides draw these curves without numbers"
    return Findings(tables, claims, [note])


def _curves(samples: Sequence[Result], name: str, row: str) -> Any:
    """A row for each sample, a column for each number of trees or bags."""
    return np.array([[point[METRIC] for point in one[name][row]] for one in samples])


def _points(curves: Any, numbers: Sequence[int]) -> dict[str, Figure]:
    places = np.unique(np.linspace(0, len(numbers) - 1, min(SHOWN, len(numbers))).round().astype(int))
    return {f"{numbers[place]}": Figure(float(curves[:, place].mean())) for place in places}


# It takes the parts of the study of variance, from which both come.
EXPERIMENT = PaperExperiment(NAME, SLIDES, "Overfitting tolerance", parts, run, conclude, sources, work=work)
