"""Slices: on which queries the best system is better, and on which it is not."""

from __future__ import annotations

from rankwright.errors import RankwrightError
from rankwright.metrics.comparison.comparison_tables import (
    OUTCOMES,
    difference_cell,
    effect_cell,
    outcomes_cell,
    p_cell,
)
from rankwright.metrics.comparison.slice_comparison import SliceComparison
from rankwright.metrics.comparison.system_comparison import SystemComparison
from rankwright.report.page.document import Block, Chart, PageTable, Section
from rankwright.report.specs.intervals import slice_differences
from rankwright.tables.text import ShownTable

BY = ("documents", "relevant")


def slices_section(comparison: SystemComparison, given: SliceComparison | None = None) -> Section | None:
    """The comparison on slices, by length and by relevant documents unless another was given; None for few queries."""
    try:
        found = comparison.slice_by(BY if comparison.material is not None else "documents") if given is None else given
    except RankwrightError:
        return None
    if not found.tests:
        return None
    blocks: list[Block] = []
    for by, metric in dict.fromkeys((one.by, one.metric) for one in found.tests):
        own = [one for one in found.tests if (one.by, one.metric) == (by, metric)]
        rows = [
            {"slice": one.slice, "system": one.system, "difference": one.paired.difference,
             "low": one.paired.interval.low, "high": one.paired.interval.high, "queries": one.paired.queries}
            for one in own
        ]  # fmt: skip
        title = f"By {BY_NAMES.get(by, by)}"
        blocks.append(Chart(slice_differences(rows, metric, own[0].best, comparison.ordered()) | {"title": title}))
    blocks.append(PageTable(_table(found)))
    return Section("slices", "Slices", found.conclusion, tuple(blocks))


def _table(found: SliceComparison) -> ShownTable:
    rows = [
        [f"{one.by}: {one.slice}", f"{one.system} less {one.best}", str(one.paired.queries),
         difference_cell(one.paired), p_cell(one.p_value_holm), effect_cell(one.paired), outcomes_cell(one.paired)]
        for one in found.tests
    ]  # fmt: skip
    columns = ["slice", "systems", "queries", "difference (95 %)", "p", "effect", OUTCOMES]
    return ShownTable("Tests on slices", columns, rows, columns[2:], [f"{found.headline}."])


BY_NAMES = {"documents": "number of documents", "relevant": "number of relevant documents"}
