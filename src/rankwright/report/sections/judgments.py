"""The judgments: how far raters agree, what each is like, and what contradicts itself."""

from __future__ import annotations

import math

from rankwright.judgments.judgment_summary import JudgmentSummary
from rankwright.report.page.document import Block, Chart, KeyFigure, PageTable, PageVerdict, Remarks, Section
from rankwright.report.specs.comparisons import mean_intervals
from rankwright.tables.text import counted

MOST_CHARTED = 20  # raters
# Krippendorff's own rule of thumb (2004): below .667 no conclusion should rest on the grades.
RELIABLE, TENTATIVE = 0.8, 0.667


def judgments_section(summary: JudgmentSummary) -> Section:
    """Agreement, raters and pairs of raters, with what deserves a second look."""
    blocks: list[Block] = []
    charted = sorted((one for one in summary.raters if not math.isnan(one.interval.low)),
                     key=lambda one: (-one.n_shared, one.rater))[:MOST_CHARTED]  # fmt: skip
    if charted:
        rows = [
            {"system": one.rater, "mean": one.leniency, "low": one.interval.low, "high": one.interval.high}
            for one in charted
        ]
        caption = "How far a rater's grades lie above those of others on the same documents; strict raters are below 0."
        blocks.append(Chart(mean_intervals(rows, "leniency"), caption))
    blocks += [PageTable(table) for table in summary.shown().tables]
    if summary.notes:
        blocks.append(Remarks([f"{line[:1].upper()}{line[1:]}." for line in summary.notes], warns=True))
    lead = "Who judged what, how far raters agree beyond chance, and who is strict, lenient or careless."
    return Section("judgments", "The judgments", lead, tuple(blocks))


def judgments_verdict(summary: JudgmentSummary) -> PageVerdict:
    """How far the grades can be relied on, at a glance."""
    alpha, counts = summary.alpha["ordinal"], summary.counts
    figures = (
        KeyFigure(str(alpha), "Krippendorff's α, ordinal"),
        KeyFigure(f"{counts['judgments']:,}", "judgments"),
        KeyFigure(f"{counts['raters']:,}", "raters"),
        KeyFigure(f"{counts['judged_by_several']:,}", "documents judged by several"),
    )
    if math.isnan(alpha.value):
        return PageVerdict("Agreement cannot be told", f"{summary.headline}.", figures=figures)
    words = "reliable" if alpha.value >= RELIABLE else "tentative" if alpha.value >= TENTATIVE else "unreliable"
    flagged = [one for one in summary.raters if one.verdict and "tell" not in one.verdict]
    second = f" {counted(len(flagged), 'rater deserves', 'raters deserve')} a second look." if flagged else ""
    return PageVerdict(f"The grades are {words}", f"{summary.headline}.{second}", figures=figures)
