"""Pages on results: systems that were compared or measured, a ranker that was trained or made smaller, explanations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rankwright.compression.curve import Compressed
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputTypeError, require, require_type
from rankwright.explanations.explanation import Explanation, PairExplanation, label_of, shown
from rankwright.explanations.feature_effects import Ablation, Dependence
from rankwright.metrics.comparison.gate import Gate
from rankwright.metrics.comparison.slice_comparison import SliceComparison
from rankwright.metrics.comparison.system_comparison import SystemComparison
from rankwright.metrics.evaluation import Evaluation
from rankwright.progress.stages import announce
from rankwright.rankers.importance import FeatureImportance
from rankwright.rankers.ranker import Ranker
from rankwright.report.measured import Measured, Origin, measured_ranker
from rankwright.report.page.document import Block, Chart, KeyFigure, Page, PageTable, PageVerdict, Section, Sureness
from rankwright.report.pages.search_page import page_of_tuned
from rankwright.report.sections.background import background_sections, importances_section, learning_section, size_text
from rankwright.report.sections.drift import drift_section
from rankwright.report.sections.query_lists import queries_section, tables_beside
from rankwright.report.sections.results import (
    comparison_verdict,
    gate_section,
    measured_verdict,
    metrics_section,
    slices_section,
)
from rankwright.report.shown_texts import ShownTexts
from rankwright.report.specs.curves import quality_by_size, quality_by_time
from rankwright.report.specs.explanation_charts import Explained, explanation_chart
from rankwright.tables.text import counted
from rankwright.tuning.tuner import Tuned

TITLES = 3  # systems that a title names
ALPHA = 0.05
NO_TEXTS = ShownTexts()


def page_of(results: Any, data: Any = None, titles: Any = None, texts: Any = None, gate: Any = None) -> Page:
    """The page of any result; `data` are the documents that a ranker is to be measured on."""
    origin = Origin()
    require(gate is None or isinstance(results, SystemComparison), "a gate goes with the comparison that made it")
    if isinstance(results, Ranker):
        return _page_of_ranker(results, data, origin, titles, texts)
    require(data is None, "data goes with a ranker: other results know what they were measured on")
    if isinstance(results, SystemComparison):
        known = None if results.material is None else results.material.data
        return page_of_comparison(results, origin, texts=ShownTexts.given(titles, texts, known), gate=gate)
    require(titles is None and texts is None, "titles and texts go with a comparison, or with a ranker and its data")
    if isinstance(results, Evaluation):
        return page_of_measured(Measured({"scores": results}), origin, title="Evaluation")
    if isinstance(results, Tuned):
        return page_of_tuned(results, origin)
    if isinstance(results, Compressed):
        return page_of_compressed(results, origin)
    if isinstance(results, Explained | Ablation):
        return page_of_explanation(results, None, None, origin)
    raise InputTypeError(
        f"a report is about a comparison, an evaluation, a trained ranker, a search, a compression or an explanation, "
        f"got {type(results).__name__}"
    )


def _page_of_ranker(ranker: Ranker, data: Any, origin: Origin, titles: Any, texts: Any) -> Page:
    if data is None:
        require(titles is None and texts is None, "titles and texts are those of documents: give data, too")
        return page_of_ranker(ranker.name, ranker, origin)
    require_type(data, RankingDataset, "data", "a RankingDataset")
    ranker.warn_if_seen(data, stacklevel=4)
    measured = measured_ranker(ranker, data, ShownTexts.given(titles, texts, data))
    return page_of_measured(measured, origin, title=f"{ranker.name}, measured")


def page_of_comparison(
    comparison: SystemComparison,
    origin: Origin,
    slices: SliceComparison | None = None,
    texts: ShownTexts = NO_TEXTS,
    gate: Gate | None = None,
) -> Page:
    """The page on systems that were compared, on the given slices of queries or on those by length and relevance."""
    announce("making the report")
    measured = Measured.of_comparison(comparison, texts)
    more = {
        "slices": slices_section(comparison, slices),
        "gate": None if gate is None else gate_section(gate),
    }
    names = list(measured.evaluations)
    listed = ", ".join(names[:TITLES]) + (f" and {len(names) - TITLES} more" if len(names) > TITLES else "")
    return _page(f"Comparison of {listed}", measured, origin, comparison_verdict(comparison), **more)


def page_of_measured(measured: Measured, origin: Origin, *, title: str, on: str = "") -> Page:
    """The page on one system; `on` is added after the number of queries."""
    announce("making the report")
    return _page(title, measured, origin, measured_verdict(measured, on))


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
        *background_sections(rankers, None, origin),
    )


def _page(
    title: str,
    measured: Measured,
    origin: Origin,
    verdict: PageVerdict,
    *,
    slices: Section | None = None,
    gate: Section | None = None,
) -> Page:
    rankers, data = measured.rankers, measured.data
    queries, is_thinned = queries_section(measured, origin)
    return Page.of(
        title,
        verdict,
        gate,
        metrics_section(measured),
        queries,
        learning_section(rankers),
        importances_section(rankers, data),
        drift_section(rankers, data),
        slices,
        *background_sections(rankers, data, origin),
        beside=tables_beside(measured) if is_thinned else None,
    )


def page_of_compressed(compressed: Compressed, origin: Origin, given: Ranker | None = None) -> Page:
    """The page on a compression; `given` is the model that it began with."""
    announce("making the report")
    rankers = ({} if given is None else {"given model": given}) | {"chosen model": compressed.model}
    return Page.of(
        f"{compressed.model.name} made smaller",
        _of_compressed(compressed),
        _curve_section(compressed),
        importances_section(rankers, None),
        *background_sections(rankers, None, origin),
    )


def _curve_section(compressed: Compressed) -> Section:
    table = replace(compressed.shown(), title="Every model that was tried")
    caption = (
        "Both charts show validation documents, by which the model was chosen; the table has the test documents, too."
    )
    blocks = (Chart(quality_by_size(compressed)), Chart(quality_by_time(compressed), caption), PageTable(table))
    lead = f"Every model that was tried. The smallest was chosen for {compressed.goal.name}; the ring marks it."
    return Section("curve", "Size against quality", lead, blocks)


def _of_compressed(compressed: Compressed) -> PageVerdict:
    original, chosen, test = compressed.original, compressed.chosen, compressed.difference
    low, high = test.interval
    lost = "loses" if compressed.sign * test.difference < 0 else "gains"
    sure = f"{'this is hardly' if test.p_value < ALPHA else 'that may be'} chance: p = {test.p_value:.2g}"
    sentence = (
        f"The chosen model ({chosen.means}) is {compressed.smaller}. On {test.queries:,} test queries it "
        f"{lost} {abs(test.difference):.4f} {compressed.metric} (95 % interval of the difference {low:+.4f} to "
        f"{high:+.4f}), and {sure}."
    )
    faster = original.microseconds / chosen.microseconds if chosen.microseconds > 0 else 1.0
    figures = (
        KeyFigure(f"{size_text(original.bytes)} → {size_text(chosen.bytes)}", "model file"),
        KeyFigure(f"{faster:.1f} times", "faster to score"),
        KeyFigure(f"{compressed.before.mean:.4f} → {compressed.after.mean:.4f}", f"{compressed.metric} on test"),
    )
    return PageVerdict(f"{compressed.file_factor:.1f} times smaller", sentence, Sureness.MEASURED, figures)


def page_of_explanation(
    found: Explained | Ablation,
    ranker: Ranker | None,
    data: RankingDataset | None,
    origin: Origin,
    *,
    top: int | None = None,
) -> Page:
    """The page on what `explain` answered, or on importances, the effect of a feature, or an ablation."""
    announce("making the report")
    rankers = {} if ranker is None else {next(iter(origin.models), ranker.name): ranker}
    table = found.table() if top is None or isinstance(found, Dependence | Ablation) else found.table(top=top)
    charts: list[Block] = [] if isinstance(found, Ablation) else [Chart(explanation_chart(found, top=top))]
    blocks = (*charts, PageTable(replace(table, title="")))
    return Page.of(
        table.title,
        _verdict(found),
        Section("explanation", "Explanation", f"{table.title}.", blocks),
        *background_sections(rankers, data, origin),
    )


def _verdict(found: Explained | Ablation) -> PageVerdict:
    if isinstance(found, PairExplanation):
        return _of_pair(found)
    if isinstance(found, Explanation):
        return _of_list(found)
    if isinstance(found, FeatureImportance):
        return _of_importance(found)
    if isinstance(found, Dependence):
        rise = float(found.mean[-1] - found.mean[0])
        way = "raises" if rise > 0 else "lowers"
        sentence = (
            f"From {shown(found.grid[0])} to {shown(found.grid[-1])}, {found.feature} {way} scores by "
            f"{abs(rise):.4g} on average over {counted(len(found.by_query), 'query')}."
        )
        return PageVerdict(f"What {found.feature} does", sentence)
    name = found.ordered()[0]
    test = found.tests[name]
    sentence = (
        f"Without {name}, {found.metric} changes by {test.difference:+.4f} from {found.whole:.4f} (95 % "
        f"interval {test.interval.low:+.4f} to {test.interval.high:+.4f}, p = {test.p_value:.2g})."
    )
    figures = (KeyFigure(f"{test.difference:+.4f}", f"{found.metric} without it"),)
    return PageVerdict(f"{name} matters most", sentence, figures=figures)


def _of_pair(found: PairExplanation) -> PageVerdict:
    sentence = f"{_reason(found)} {found.table().notes[0]}"
    figures = (
        KeyFigure(f"{found.margin:+.4g}", "ahead by"),
        KeyFigure(f"{found.scores[0]:.4g}", f"score of {found.above}"),
        KeyFigure(f"{found.scores[1]:.4g}", f"score of {found.below}"),
    )
    return PageVerdict(f"Why {found.above} is above {found.below}", sentence, Sureness.MEASURED, figures)


def _reason(found: PairExplanation) -> str:
    """What puts one of two documents above the other: the largest reason for it, however large those against it are."""
    feature = found.reason()
    if feature is not None:
        return (
            f"{label_of(found.features[feature])} is the main reason: {shown(found.values[0, feature])} against "
            f"{shown(found.values[1, feature])} puts {found.above} above by {found.contributions[feature]:+.4g}; "
            f"all features together do by {found.margin:+.4g}."
        )
    if found.margin < 0:  # a comparator that goes round in circles
        return f"Of the two alone, {found.ranker} prefers {found.below}: the other documents put {found.above} above."
    return f"No feature speaks for {found.above}: the scores are equal, and it comes first in the data."


def _of_list(found: Explanation) -> PageVerdict:
    place = int(found.order[0])
    feature = int(found.centred[place].argmax())
    moved = found.centred[place, feature]
    sentence = f"{found.ranker} puts {found.documents[place]} first of {counted(len(found.documents), 'document')}. "
    sentence += (
        f"{label_of(found.features[feature])} = {shown(found.values[place, feature])} moves it up most: "
        f"{moved:+.4g} against the query's mean."
        if moved > 0
        else "No feature moves it up against the query's mean."
    )
    best = KeyFigure(f"{found.scores[place]:.4g}", "best score")
    return PageVerdict(f"Query {found.query}", sentence, figures=(best,))


def _of_importance(found: FeatureImportance) -> PageVerdict:
    order = found.ordered().tolist()
    share = found.values[order[0]] / (abs(found.values).sum() or 1.0)
    sentence = (
        f"By {found.kind}, {label_of(found.features[order[0]])} matters most of {counted(len(order), 'feature')}, with "
        f"{share:.0%} of all importance."
    )
    return PageVerdict(f"{label_of(found.features[order[0]])} matters most", sentence)
