"""Pages on systems that were measured: several that were compared, one alone, or one that was only trained."""

from __future__ import annotations

from rankwright.metrics.comparison.slice_comparison import SliceComparison
from rankwright.metrics.comparison.system_comparison import SystemComparison
from rankwright.progress.stages import announce
from rankwright.rankers.ranker import Ranker
from rankwright.report.measured import Measured, Origin
from rankwright.report.page.document import Page, PageVerdict, Section
from rankwright.report.sections.data_summary import data_section
from rankwright.report.sections.model_facts import importances_section, learning_section, models_section
from rankwright.report.sections.provenance import provenance_section
from rankwright.report.sections.query_lists import queries_section, tables_beside
from rankwright.report.sections.results import comparison_verdict, measured_verdict, metrics_section, slices_section
from rankwright.tables.text import counted

TITLES = 3  # systems that a title names


def page_of_comparison(comparison: SystemComparison, origin: Origin, slices: SliceComparison | None = None) -> Page:
    """The page on systems that were compared, on the given slices of queries or on those by length and relevance."""
    announce("making the report")
    measured = Measured.of_comparison(comparison)
    more = slices_section(comparison, slices)
    names = list(measured.evaluations)
    listed = ", ".join(names[:TITLES]) + (f" and {len(names) - TITLES} more" if len(names) > TITLES else "")
    return _page(f"Comparison of {listed}", measured, origin, comparison_verdict(comparison), more)


def page_of_measured(measured: Measured, origin: Origin, *, title: str, on: str = "") -> Page:
    """The page on one system; `on` is added after the number of queries."""
    announce("making the report")
    return _page(title, measured, origin, measured_verdict(measured, on), None)


def page_of_ranker(name: str, ranker: Ranker, origin: Origin) -> Page:
    """The page on a ranker that was trained without documents to measure it on."""
    announce("making the report")
    used = int(ranker.used_features().sum())
    steps, features = counted(ranker.n_steps_, "step"), counted(ranker.n_features_in_, "feature")
    sentence = (
        f"{name} took {steps} and uses {used:,} of {features}. No documents were held out to "
        f"measure it on, so nobody knows yet how good it is: rankwright evaluate TEST --model MODEL --report FILE."
    )
    rankers = {name: ranker}
    return Page.of(
        f"{name}, trained",
        PageVerdict(f"{name} is trained, not measured", sentence),
        learning_section(rankers),
        importances_section(rankers, None),
        models_section(rankers, None, origin),
        provenance_section(rankers, None, origin),
    )


def _page(title: str, measured: Measured, origin: Origin, verdict: PageVerdict, slices: Section | None) -> Page:
    rankers, data = measured.rankers, measured.data
    queries, is_thinned = queries_section(measured, origin)
    return Page.of(
        title,
        verdict,
        metrics_section(measured),
        queries,
        learning_section(rankers),
        importances_section(rankers, data),
        slices,
        None if data is None else data_section(data),
        models_section(rankers, data, origin),
        provenance_section(rankers, data, origin),
        beside=tables_beside(measured) if is_thinned else None,
    )
