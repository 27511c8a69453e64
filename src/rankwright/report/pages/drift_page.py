"""The page on drift."""

from __future__ import annotations

from rankwright.catalog.drift import DriftReport
from rankwright.data.dataset import RankingDataset
from rankwright.progress.stages import announce
from rankwright.rankers.ranker import Ranker
from rankwright.report.measured import Origin
from rankwright.report.page.document import Page, Section
from rankwright.report.sections.background import background_sections
from rankwright.report.sections.drift import LEAD, drift_blocks, drift_verdict


def page_of_drift(report: DriftReport, name: str, ranker: Ranker, data: RankingDataset, origin: Origin) -> Page:
    """The page on what moved between a ranker's training data and documents of today."""
    announce("making the report")
    moved = Section("drift", "What moved since training", LEAD, tuple(drift_blocks(report, name)))
    return Page.of(f"Drift of {name}", drift_verdict(report), moved, *background_sections({name: ranker}, data, origin))
