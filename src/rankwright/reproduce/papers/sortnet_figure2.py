"""SortNet's Figure 2: MAP of SortNet beside that of the other rankers."""

from __future__ import annotations

from collections.abc import Mapping

from rankwright.reproduce.experiment import SORTNET, PaperExperiment, Result, RunPart, Setup
from rankwright.reproduce.measured import by_fold, figure_of
from rankwright.reproduce.outcome import Findings, PaperTable
from rankwright.reproduce.papers import sortnet_table2
from rankwright.reproduce.papers.sortnet_table1 import PAPER_CHOICE, sources
from rankwright.reproduce.published import BY_MAP, SORTNET_TABLE1

NAME = "sortnet-figure2"


def parts(setup: Setup) -> list[RunPart]:
    """Those of Table 2, from which the figure comes."""
    return sortnet_table2.parts(setup)


def conclude(setup: Setup, results: Mapping[str, Result]) -> Findings:
    """The bars of the figure; the paper prints a number for SortNet alone, in Table 1."""
    tables, claims = [], []
    for source in sources(setup):
        found = sortnet_table2.by_row(source, results)
        size = PAPER_CHOICE.get(source.stands_for)
        printed = {} if size is None else {BY_MAP: SORTNET_TABLE1[source.stands_for][str(size)]["map"]}
        rows = {row: {"map": figure_of(by_fold(own, "map"), printed.get(row))} for row, own in found.items()}
        tables.append(PaperTable(f"{source.name}, MAP", rows, comparable=source.is_known))
        claims += sortnet_table2.leads(source, found, "map")
    return Findings(tables, claims, ["the paper draws the other bars without numbers"])


EXPERIMENT = PaperExperiment(NAME, SORTNET, "MAP of all rankers", parts, sortnet_table2.run, conclude, sources)
