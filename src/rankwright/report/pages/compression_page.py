"""The page on a model that was made smaller."""

from __future__ import annotations

from dataclasses import replace

from rankwright.compression.curve import Compressed
from rankwright.progress.stages import announce
from rankwright.rankers.ranker import Ranker
from rankwright.report.measured import Origin
from rankwright.report.page.document import Chart, KeyFigure, Page, PageTable, PageVerdict, Section, Sureness
from rankwright.report.sections.model_facts import importances_section, models_section, size_text
from rankwright.report.sections.provenance import provenance_section
from rankwright.report.specs.trade_off import quality_by_size, quality_by_time

ALPHA = 0.05


def page_of_compressed(compressed: Compressed, origin: Origin, given: Ranker | None = None) -> Page:
    """The page on a compression; `given` is the model that it began with."""
    announce("making the report")
    rankers = ({} if given is None else {"given model": given}) | {"chosen model": compressed.model}
    return Page.of(
        f"{compressed.model.name} made smaller",
        _verdict(compressed),
        _curve_section(compressed),
        importances_section(rankers, None),
        models_section(rankers, None, origin),
        provenance_section(rankers, None, origin),
    )


def _curve_section(compressed: Compressed) -> Section:
    table = replace(compressed.shown(), title="Every model that was tried")
    caption = (
        "Both charts show validation documents, by which the model was chosen; the table has the test documents, too."
    )
    blocks = (Chart(quality_by_size(compressed)), Chart(quality_by_time(compressed), caption), PageTable(table))
    lead = f"Every model that was tried. The smallest was chosen for {compressed.goal.name}; the ring marks it."
    return Section("curve", "Size against quality", lead, blocks)


def _verdict(compressed: Compressed) -> PageVerdict:
    original, chosen, test = compressed.original, compressed.chosen, compressed.difference
    low, high = test.interval
    is_sure = test.p_value < ALPHA
    worse = compressed.sign * test.difference < 0
    lost = "loses" if worse else "gains"
    sure = f"{'this is hardly' if is_sure else 'that may be'} chance: p = {test.p_value:.2g}"
    sentence = (
        f"The chosen model ({chosen.means}) is {compressed.factor:.1f} times smaller. On {test.queries:,} test queries "
        f"it {lost} {abs(test.difference):.4f} {compressed.metric} (95 % interval of the difference {low:+.4f} to "
        f"{high:+.4f}), and {sure}."
    )
    faster = original.microseconds / chosen.microseconds if chosen.microseconds > 0 else 1.0
    figures = (
        KeyFigure(f"{size_text(original.bytes)} → {size_text(chosen.bytes)}", "model file"),
        KeyFigure(f"{faster:.1f} times", "faster to score"),
        KeyFigure(f"{compressed.before.mean:.4f} → {compressed.after.mean:.4f}", f"{compressed.metric} on test"),
    )
    return PageVerdict(f"{compressed.factor:.1f} times smaller", sentence, Sureness.MEASURED, figures)
