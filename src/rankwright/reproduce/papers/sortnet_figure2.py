"""SortNet's Figure 2: MAP of SortNet beside that of the other rankers."""

from __future__ import annotations

from collections.abc import Mapping

from rankwright.reproduce.experiment import SORTNET, PaperExperiment, Result, Setup
from rankwright.reproduce.outcome import Findings
from rankwright.reproduce.papers.sortnet_table1 import PAPER_CHOICE, SCALED_NOTE, sources
from rankwright.reproduce.papers.sortnet_table2 import leads, parts, run
from rankwright.reproduce.published import BY_MAP, SORTNET_TABLE1
from rankwright.reproduce.set_experiments import metrics_table, results_by_row

NAME = "sortnet-figure2"


def conclude(setup: Setup, results: Mapping[str, Result]) -> Findings:
    """The bars of the figure; the paper prints a number for SortNet alone, in Table 1."""
    tables, claims = [], []
    for source in sources(setup):
        found = results_by_row(source, results)
        size = PAPER_CHOICE.get(source.stands_for)
        printed = {} if size is None else {BY_MAP: {"map": SORTNET_TABLE1[source.stands_for][str(size)]["map"]}}
        tables.append(metrics_table(source, ", MAP", found, ["map"], printed))
        claims += leads(source, found, "map")
    return Findings(tables, claims, ["the paper draws the other bars without numbers", SCALED_NOTE])


# It takes the parts of Table 2, from which the figure comes.
EXPERIMENT = PaperExperiment(NAME, SORTNET, "MAP of all rankers", parts, run, conclude, sources)
