"""RankNet's Table 2: training on ties, with target ½, makes little difference on the polynomial task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwright.reproduce.experiment import RANKNET, PaperExperiment, Result, RunPart, Setup, grid_parts
from rankwright.reproduce.outcome import Claim, Figure, Findings, PaperTable
from rankwright.reproduce.papers.ranknet_table1 import (
    DOCS,
    N_DRAWS,
    READINGS,
    accuracy,
    by_readings,
    near,
    tables_of,
    told_distances,
    tried,
)
from rankwright.synthetic import random_polynomial

NAME = "ranknet-table2"
SIZES = (100, 500, 1000, 5000)
NO_TIES, ALL_TIES = "no ties", "all ties"
PAPER: Mapping[str, Sequence[float]] = {NO_TIES: (59.5, 67.0, 68.1, 69.0), ALL_TIES: (59.6, 66.9, 68.2, 68.8)}
PAPER_PAIRS: Mapping[str, Sequence[int]] = {
    NO_TIES: (2060, 10_282, 20_452, 101_858),
    ALL_TIES: (2450, 12_250, 24_500, 122_500),
}


def parts(setup: Setup) -> list[RunPart]:
    """A part for each cell and draw."""
    draws = range(N_DRAWS[setup.size])
    return grid_parts(NAME, "{row}, {size}, draw {draw}", draw=draws, row=PAPER, size=tried(setup, SIZES))


def run(setup: Setup, values: Mapping[str, Any]) -> Result:
    """The share of right pairs in each test query, and the number of training pairs."""
    ties = 0.5 if values["row"] == ALL_TIES else None
    seed = setup.seed + values["draw"]
    found = accuracy(setup, "Poly", values["size"], seed, hidden=(10,), ties=ties)
    return {**found, "pairs": _n_pairs(values["size"], seed, with_ties=ties is not None)}


def _n_pairs(size: int, seed: int, *, with_ties: bool) -> int:
    data = random_polynomial(size // DOCS, seed=seed)
    assert data.labels is not None
    total = 0
    for docs in data.groups.slices():
        counts = np.unique(data.labels[docs], return_counts=True)[1]
        pairs = DOCS * (DOCS - 1) // 2
        total += pairs if with_ties else pairs - int((counts * (counts - 1) // 2).sum())
    return total


def conclude(setup: Setup, results: Mapping[str, Result]) -> Findings:
    """Accuracies and numbers of pairs, and whether ties matter."""
    used = tried(setup, SIZES)
    readings = by_readings(setup, results, SIZES, PAPER)
    rows = readings[READINGS["values"]]
    pairs = {
        row: {f"{size:,}": Figure(float(np.mean([one["pairs"] for key, one in results.items()
                                                  if key.startswith(f"{row}, {size}, draw")])), paper)
              for size, paper in zip(SIZES, PAPER_PAIRS[row], strict=True) if size in used}
        for row in PAPER
    }  # fmt: skip
    gaps = [(rows[ALL_TIES][column].ours or 0) - (rows[NO_TIES][column].ours or 0) for column in rows[NO_TIES]]
    claims = [
        Claim(
            "training on ties makes little difference",
            max(map(abs, gaps)) < 1.0,
            "differences in points: " + ", ".join(f"{gap:+.2f}" for gap in gaps),
            "with few vectors a draw of the task moves accuracy by more than ties do",
        ),
        near(readings),
    ]
    tables = [
        *tables_of(readings),
        PaperTable("Pairs that are trained on", pairs, 0),
    ]
    note = "the data is made by the paper's recipe; every figure is a mean over draws"
    return Findings(tables, claims, [note, told_distances(readings)])


EXPERIMENT = PaperExperiment(NAME, RANKNET, "Training on ties", parts, run, conclude)
