"""The page on an explanation: of a query's list, of two documents, of what features do."""

from __future__ import annotations

from dataclasses import replace

from rankwright.data.dataset import RankingDataset
from rankwright.explanations.ablation import Ablation
from rankwright.explanations.dependence import Dependence
from rankwright.explanations.explanation import Explanation, PairExplanation, label_of, shown
from rankwright.progress.stages import announce
from rankwright.rankers.importance import FeatureImportance
from rankwright.rankers.ranker import Ranker
from rankwright.report.measured import Origin
from rankwright.report.page.document import Block, Chart, KeyFigure, Page, PageTable, PageVerdict, Section, Sureness
from rankwright.report.sections.data_summary import data_section
from rankwright.report.sections.model_facts import models_section
from rankwright.report.sections.provenance import provenance_section
from rankwright.report.specs.explanation_charts import Explained, explanation_chart
from rankwright.tables.text import counted


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
        None if data is None else data_section(data),
        models_section(rankers, data, origin),
        provenance_section(rankers, data, origin),
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
    return PageVerdict(
        f"{name} matters most",
        sentence,
        Sureness.MEASURED,
        (KeyFigure(f"{test.difference:+.4f}", f"{found.metric} without it"),),
    )


def _of_pair(found: PairExplanation) -> PageVerdict:
    first = int(found.ordered()[0])
    sentence = (
        f"{label_of(found.features[first])} tells them apart most: {shown(found.values[0, first])} against "
        f"{shown(found.values[1, first])} puts {found.above} above by {found.contributions[first]:+.4g} of "
        f"{found.margin:+.4g}. {found.table().notes[0]}"
    )
    figures = (
        KeyFigure(f"{found.margin:+.4g}", "ahead by"),
        KeyFigure(f"{found.scores[0]:.4g}", f"score of {found.above}"),
        KeyFigure(f"{found.scores[1]:.4g}", f"score of {found.below}"),
    )
    return PageVerdict(f"Why {found.above} is above {found.below}", sentence, Sureness.MEASURED, figures)


def _of_list(found: Explanation) -> PageVerdict:
    place = int(found.order[0])
    feature = int(abs(found.centred[place]).argmax())
    sentence = (
        f"{found.ranker} puts {found.documents[place]} first of {counted(len(found.documents), 'document')}. "
        f"{label_of(found.features[feature])} = {shown(found.values[place, feature])} moves it most: "
        f"{found.centred[place, feature]:+.4g} against the query's mean."
    )
    return PageVerdict(
        f"Query {found.query}", sentence, Sureness.MEASURED, (KeyFigure(f"{found.scores[place]:.4g}", "best score"),)
    )


def _of_importance(found: FeatureImportance) -> PageVerdict:
    order = found.ordered().tolist()
    share = found.values[order[0]] / (abs(found.values).sum() or 1.0)
    sentence = (
        f"By {found.kind}, {label_of(found.features[order[0]])} matters most of {counted(len(order), 'feature')}, with "
        f"{share:.0%} of all importance."
    )
    return PageVerdict(f"{label_of(found.features[order[0]])} matters most", sentence)
