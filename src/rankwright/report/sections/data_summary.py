"""The data: its figures, and what in it deserves a second look."""

from __future__ import annotations

from collections.abc import Iterator

from rankwright.data.dataset import RankingDataset
from rankwright.profile.data_summary import NumberRange, Summary, summarise
from rankwright.report.page.document import Block, Facts, PageTable, Remarks, Section
from rankwright.tables.text import ShownTable

MOST_NAMES = 6


def data_section(data: RankingDataset, name: str = "the documents") -> Section:
    """Figures of the documents that were measured on, and warnings about them."""
    summary = summarise(data)
    blocks: list[Block] = [Facts(list(_rows(summary)))]
    if summary.labels:
        rows = [
            [label, f"{count:,}", f"{count / max(1, summary.documents):.1%}"] for label, count in summary.labels.items()
        ]
        blocks.append(PageTable(ShownTable("Labels", ["label", "documents", "share"], rows, ["documents", "share"])))
    if summary.remarks:
        blocks.append(Remarks([f"{line[:1].upper()}{line[1:]}." for line in summary.remarks], warns=True))
        lead = f"What is in {name}, and below the figures what deserves a second look."
    else:
        lead = f"What is in {name}. Nothing in it looks suspicious."
    return Section("data", "The data", lead, tuple(blocks))


def _rows(summary: Summary) -> Iterator[tuple[str, str]]:
    yield "queries", f"{summary.queries:,}"
    yield "with nothing relevant", f"{summary.queries_with_nothing_relevant:,}"
    yield "with one label only", f"{summary.queries_with_one_label:,}"
    yield "documents", f"{summary.documents:,}"
    if summary.documents_per_query is not None:
        yield "documents a query", _spread(summary.documents_per_query)
    if summary.unjudged:
        yield "unjudged documents", f"{summary.unjudged:,}"
    if not summary.labels and summary.label_spread is not None:
        yield "labels", _spread(summary.label_spread)
    yield "features", f"{summary.features:,}"
    share = summary.missing_values / max(1, summary.documents * summary.features)
    yield "missing values", f"{share:.2%}" if summary.missing_values else "none"
    yield "constant features", _listed(summary.constant_features)
    yield "duplicate features", _listed([" = ".join(group) for group in summary.duplicate_features])


def _spread(spread: NumberRange) -> str:
    return f"{spread.smallest:,g} to {spread.largest:,g}, median {spread.median:,g}"


def _listed(names: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return (", ".join(names[:MOST_NAMES]) + more) or "none"
