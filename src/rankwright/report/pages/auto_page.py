"""The page on a search over all kinds of rankers: what was tried, what was chosen and why, and what it is worth."""

from __future__ import annotations

from rankwright.auto.auto_ranker import AutoRanker, AutoReport
from rankwright.metrics.evaluation import Evaluation
from rankwright.report.measured import Origin
from rankwright.report.page.document import KeyFigure, Page, PageTable, PageVerdict, Remarks, Section, Sureness
from rankwright.report.sections.background import background_sections
from rankwright.tables.text import ShownTable, counted


def page_of_auto(ranker: AutoRanker, origin: Origin, tested: Evaluation | None = None) -> Page:
    """The page on a search; `tested` is what the chosen model reaches on test documents, where there are any."""
    found = ranker.report_
    return Page.of(
        "Search over all kinds of rankers",
        _verdict(found),
        Section("why", "What was chosen, and why", "In plain words.", (Remarks(list(found.lines())),)),
        None if tested is None else _tested(tested),
        Section(
            "tried",
            "What was tried",
            "Each configuration is measured on queries that it was not trained on; those that fell behind on the first "
            "fold were not measured on the others. A weight is that in the blend that was chosen.",
            (PageTable(found.shown(len(found.tried))),),
        ),
        *background_sections({}, None, origin),
    )


def _verdict(found: AutoReport) -> PageVerdict:
    tried = counted(len(found.tried), "configuration")
    if found.estimate is None:
        sentence = f"The best of {tried} on one fold; the search ended too early to tell what it is worth."
        return PageVerdict("A ranker was chosen", sentence)
    one, gain = found.estimate, found.gain
    figures = [
        KeyFigure(f"{one.mean:.4f}", f"{found.metric} to expect on new queries"),
        KeyFigure(f"{one.low:.4f} to {one.high:.4f}", "with 95 % confidence"),
        KeyFigure(f"{found.visits:,}", "trees and layers a document visits"),
    ]
    sureness = Sureness.MEASURED
    if gain is not None and gain.error > 0:  # else the choice is BLMART() itself
        figures.insert(2, KeyFigure(f"{gain.mean:+.4f}", "over BLMART() with its defaults"))
        sureness = Sureness.SURE if gain.p_value < 0.05 else Sureness.CHANCE
    sentence = f"The best of {tried} and their blends; the choice was repeated on samples of the queries to judge it."
    return PageVerdict(f"{found.metric} {one.mean:.4f} on new queries", sentence, sureness, tuple(figures))


def _tested(tested: Evaluation) -> Section:
    rows = [
        [name, f"{one.mean:.4f}", f"{one.interval.low:.4f} to {one.interval.high:.4f}"]
        for name, one in tested.results.items()
    ]
    table = ShownTable("On the test documents", ["metric", "mean", "95 % interval"], rows, ["mean"])
    return Section("test", "On the test documents", "No choice looked at these.", (PageTable(table),))
