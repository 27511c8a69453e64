"""Drift: which features and scores are spread otherwise than where the model was trained."""

from __future__ import annotations

from collections.abc import Mapping

from rankwright.catalog.drift import DriftReport, MovedFeature, drift_of
from rankwright.data.dataset import RankingDataset
from rankwright.rankers.ranker import Ranker
from rankwright.report.page.document import Block, Chart, KeyFigure, PageTable, PageVerdict, Remarks, Section
from rankwright.report.specs.explanation_charts import named_bars
from rankwright.tables.text import ShownTable, counted

SHOWN_MOVED = 15
HEADLINES = {
    "as in training": "Documents are as in training",
    "watch": "Some features moved",
    "distrust": "The ranking should be distrusted",
}
LEAD = (
    "How the documents are spread, against those that the model was trained on. The population stability index is 0 "
    "where both are alike; a feature has moved where it is above 0.1 and chance would hardly do so "
    "(less than 5 % for all features and scores together)."
)


def drift_section(rankers: Mapping[str, Ranker], data: RankingDataset | None) -> Section | None:
    """What moved since each ranker was trained; None where none has a profile of its training data."""
    blocks: list[Block] = []
    for name, ranker in rankers.items():
        if data is not None and data.n_docs and ranker.trained().findings.profile is not None:
            blocks += drift_blocks(drift_of(ranker.trained(), data), name)
    return Section("drift", "What moved since training", LEAD, tuple(blocks)) if blocks else None


def drift_blocks(report: DriftReport, title: str) -> list[Block]:
    """The report in words, as bars and as a table."""
    rows = [{"name": one.name, "value": one.index} for one in report.features[:SHOWN_MOVED]]
    about = f"How far the features of {title} moved since it was trained."
    caption = f"The {counted(len(rows), 'feature')} that moved most, of {len(report.features):,}."
    words = [f"{line[:1].upper()}{line[1:]}." for line in report.lines()]
    return [
        Remarks(words, warns=report.verdict != "as in training"),
        Chart(named_bars(rows, "population stability index", about) | {"title": title}, caption),
        PageTable(drift_table(report, title)),
    ]


def drift_table(report: DriftReport, title: str = "") -> ShownTable:
    """A row for the scores and for each of the features that moved most."""
    columns = ["feature", "PSI", "chance", "missing then", "missing now", "of the importance", ""]
    shown = [*([] if report.scores is None else [report.scores]), *report.features[:SHOWN_MOVED]]
    return ShownTable(title, columns, [_row(one) for one in shown], columns[1:-1])


def _row(one: MovedFeature) -> list[str]:
    share = "" if one.importance != one.importance else f"{one.importance:.1%}"
    moved = one.direction if one.moved else ""
    return [
        one.name, f"{one.index:.3f}", f"{one.chance:.1%}", f"{one.missing[0]:.1%}", f"{one.missing[1]:.1%}",
        share, moved,
    ]  # fmt: skip


def drift_verdict(report: DriftReport) -> PageVerdict:
    """Whether the ranking should be distrusted, at a glance."""
    figures = [
        KeyFigure(f"{report.documents:,}", "documents"),
        KeyFigure(f"{len(report.moved):,} of {len(report.features):,}", "features moved"),
    ]
    if report.scores is not None:
        figures.append(KeyFigure(f"{report.scores.index:.3f}", "stability index of scores"))
    sentence = list(report.lines())[-1]
    return PageVerdict(HEADLINES[report.verdict], f"{sentence[:1].upper()}{sentence[1:]}.", figures=tuple(figures))
