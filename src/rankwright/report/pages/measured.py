"""Pages on systems that were measured: several that were compared, one alone, or one that was only trained."""

from __future__ import annotations

from typing import Any

from rankwright.data.dataset import RankingDataset
from rankwright.metrics.comparison.slice_comparison import SliceComparison
from rankwright.metrics.comparison.system_comparison import SystemComparison
from rankwright.metrics.convention import DEFAULT
from rankwright.metrics.evaluation import DEFAULT_METRICS, ScoredLists, evaluate_lists
from rankwright.progress.stages import announce
from rankwright.rankers.ranker import Ranker
from rankwright.report.page.document import Page, PageVerdict, Section
from rankwright.report.sections.again import again_section
from rankwright.report.sections.beside import tables_beside
from rankwright.report.sections.data import data_section
from rankwright.report.sections.importances import importances_section
from rankwright.report.sections.learning import learning_section
from rankwright.report.sections.metrics import comparison_verdict, measured_verdict, metrics_section
from rankwright.report.sections.models import models_section
from rankwright.report.sections.queries import queries_section
from rankwright.report.sections.slices import slices_section
from rankwright.report.sections.subject import Measured, Origin

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
    """The page on one system; `on` says what it was measured on, after the number of queries."""
    announce("making the report")
    return _page(title, measured, origin, measured_verdict(measured, on), None)


def page_of_ranker(name: str, ranker: Ranker, origin: Origin) -> Page:
    """The page on a ranker that nothing was held out to measure."""
    announce("making the report")
    used = int(ranker.used_features().sum())
    steps = "1 step" if ranker.n_steps_ == 1 else f"{ranker.n_steps_:,} steps"
    sentence = (
        f"{name} took {steps} and uses {used:,} of {ranker.n_features_in_:,} features. No documents were held out to "
        f"measure it on, so nobody knows yet how good it is: rankwright evaluate TEST --model MODEL --report FILE."
    )
    rankers = {name: ranker}
    sections = [
        learning_section(rankers),
        importances_section(rankers, None),
        models_section(rankers, None, origin),
        again_section(rankers, None, origin),
    ]
    verdict = PageVerdict(f"{name} is trained, not measured", sentence)
    return Page(f"{name}, trained", verdict, tuple(one for one in sections if one is not None))


def measured_ranker(
    name: str,
    ranker: Ranker,
    data: RankingDataset,
    metrics: Any = DEFAULT_METRICS,
    convention: Any = DEFAULT,
    **how: Any,
) -> Measured:
    """A ranker measured on documents with labels."""
    lists = ScoredLists.of_dataset(ranker.predict_from_start(data), data)
    evaluation = evaluate_lists(lists, metrics, convention, **how)
    return Measured({name: evaluation}, None, {name: lists}, data, {name: ranker})


def _page(title: str, measured: Measured, origin: Origin, verdict: PageVerdict, slices: Section | None) -> Page:
    rankers = measured.rankers
    queries, is_thinned = queries_section(measured, origin)
    sections = [
        metrics_section(measured),
        queries,
        learning_section(rankers),
        importances_section(rankers, measured.data),
        slices,
        None if measured.data is None else data_section(measured.data),
        models_section(rankers, measured.data, origin),
        again_section(rankers, measured.data, origin),
    ]
    beside = tables_beside(measured) if is_thinned else None
    return Page(title, verdict, tuple(one for one in sections if one is not None), beside=beside)
