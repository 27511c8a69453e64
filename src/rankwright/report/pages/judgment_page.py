"""The page on judgments."""

from __future__ import annotations

from rankwright.judgments.judgment_summary import JudgmentSummary
from rankwright.progress.stages import announce
from rankwright.report.measured import Origin
from rankwright.report.page.document import Page
from rankwright.report.sections.background import background_sections
from rankwright.report.sections.judgments import judgments_section, judgments_verdict


def page_of_judgments(summary: JudgmentSummary, origin: Origin) -> Page:
    """The page on judgments of several raters."""
    announce("making the report")
    return Page.of(
        "Judgments", judgments_verdict(summary), judgments_section(summary), *background_sections({}, None, origin)
    )
