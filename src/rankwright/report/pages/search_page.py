"""Pages on searches for settings: one that was just made, or studies that were kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwright.errors import require
from rankwright.metrics.metric_table import parse_metric
from rankwright.progress.stages import announce
from rankwright.rankers.ranker import Ranker
from rankwright.report.measured import Origin
from rankwright.report.page.document import (
    Block,
    Chart,
    KeyFigure,
    Page,
    PageTable,
    PageVerdict,
    Remarks,
    Section,
    Sureness,
)
from rankwright.report.sections.background import background_sections, importances_section, learning_section
from rankwright.report.specs.search_charts import best_so_far, effects_of_settings, interactions_bars, settings_bars
from rankwright.settings.spaces import Space
from rankwright.tables.text import ShownTable, counted, short
from rankwright.tuning.cross_validation import CrossValidation
from rankwright.tuning.setting_importance import Importance, fewest_trials, importance_of
from rankwright.tuning.studies.study_summary import SearchCurve, StudySummary, alike_trials, search_curve
from rankwright.tuning.trials import TrialResult
from rankwright.tuning.tuner import Tuned, listed_settings

SHOWN_CONFIGURATIONS = 25


def page_of_tuned(tuned: Tuned, origin: Origin, tested: CrossValidation | None = None) -> Page:
    """The page on a search; `tested` is what the chosen settings reach on test documents, where there are any."""
    announce("making the report")
    metric, ranker = tuned.plan.metric, tuned.ranker
    higher = parse_metric(metric).higher_is_better
    curve = search_curve(tuned.plan.strategy, tuned.trials, higher)
    alike = alike_trials(tuned.trials)
    importance = importance_of(tuned.space, [one.trial.settings for one in alike], [one.value for one in alike])
    rankers: dict[str, Ranker] = {ranker.name: ranker} if tuned.refit is not None else {}
    verdict = _verdict(
        ranker.name, metric, tuned.ranked, [tuned.best.value, *(one.value for one in alike)], len(tuned.trials)
    )
    return Page.of(
        f"Search for settings of {ranker.name}",
        verdict,
        None if tested is None else _tested_section(tested),
        search_section({curve.name: curve}, metric),
        configurations_section(tuned.ranked, tuned.space, metric),
        settings_section(importance, tuned.space, len(alike), metric),
        learning_section(rankers),
        importances_section(rankers, None),
        *background_sections(rankers, None, origin),
    )


def page_of_studies(summaries: Sequence[StudySummary], origin: Origin) -> Page:
    """The page on studies of one metric; the first one is shown in detail."""
    announce("making the report")
    metric, first = shared_metric(summaries), summaries[0]
    values = [one.value for one in first.best]
    return Page.of(
        f"Study of {first.ranker}",
        _verdict(first.ranker, metric, first.best, values, len(values)),
        search_section(named_curves(summaries), metric),
        configurations_section(first.best, first.space, metric),
        settings_section(first.importance, first.space, first.n_compared, metric),
        *background_sections({}, None, origin),
    )


def shared_metric(summaries: Sequence[StudySummary]) -> str:
    """The metric of the studies; an error where they have several."""
    metrics = list(dict.fromkeys(summary.metric for summary in summaries))
    require(len(metrics) == 1, f"studies can be compared by one metric, and these have {', '.join(metrics)}")
    return metrics[0]


def named_curves(summaries: Sequence[StudySummary]) -> dict[str, SearchCurve]:
    """The searches of all studies; their names begin with that of the study if there are several."""
    several = len(summaries) > 1
    return {
        f"{summary.folder}: {curve.name}" if several else curve.name: curve
        for summary in summaries
        for curve in summary.curves
    }


def too_few_to_tell(n_compared: int, space: Space) -> str:
    """Why nothing is said about which settings matter."""
    return (
        f"There are too few configurations to tell which settings matter: {n_compared} were tried on the same terms, "
        f"and {len(space)} settings need {fewest_trials(space)} or more with different values."
    )


def _verdict(
    ranker: str, metric: str, ranked: Sequence[TrialResult], values: Sequence[float], n_trials: int
) -> PageVerdict:
    """What the chosen settings reach, and how far that is from an ordinary configuration."""
    best, usual = ranked[0], float(np.nanmedian(values))
    settings = listed_settings(best.trial.settings)
    sentence = (
        f"The best of {counted(n_trials, 'configuration')} of {ranker} reaches {best.value:.4f} {metric} on validation "
        f"documents, {abs(best.value - usual):.4f} from the median configuration: {settings}. It was chosen by "
        "these very documents: expect a little less on new queries."
    )
    figures = (
        KeyFigure(f"{best.value - usual:+.4f}", "against the median configuration"),
        KeyFigure(f"{n_trials:,}", "configurations tried"),
        KeyFigure(f"{best.mean_steps:g}", "steps of the best"),
    )
    return PageVerdict(f"{best.value:.4f} {metric} by validation", sentence, Sureness.MEASURED, figures)


def _tested_section(tested: CrossValidation) -> Section:
    rows = []
    for name in tested.metrics:
        low, high = tested.interval(name)
        rows.append([name, f"{tested.mean(name):.4f}", f"{low:.4f} to {high:.4f}"])
    columns = ["metric", "mean", "95 % interval"]
    lead = "The chosen settings on the test documents of all folds, which the search never saw."
    return Section("test", "Test", lead, (PageTable(ShownTable("", columns, rows, columns[1:])),))


def search_section(curves: Mapping[str, SearchCurve], metric: str) -> Section:
    """The best value so far against the work done."""
    caption = "A line that has been flat for long says that more trials of this kind would have bought little."
    lead = "The best value so far against the steps taken: did it need this many experiments?"
    return Section("search", "The search", lead, (Chart(best_so_far(curves, metric), caption),))


def configurations_section(best: Sequence[TrialResult], space: Space, metric: str) -> Section:
    """The best configurations, the chosen one first."""
    names = list(space)
    rows = [
        [str(place), f"{one.value:.4f}", f"{one.mean_steps:g}", *(_shown(one.trial.settings, name) for name in names)]
        for place, one in enumerate(best[:SHOWN_CONFIGURATIONS], start=1)
    ]
    columns = ["place", metric, "steps", *names]
    left = len(best) - len(rows)
    notes = [f"… and {counted(left, 'more configuration')}"] if left > 0 else []
    lead = "The best configurations by their mean on validation documents; the first one was chosen."
    return Section(
        "configurations", "Configurations", lead, (PageTable(ShownTable("", columns, rows, columns, notes)),)
    )


def settings_section(importance: Importance | None, space: Space, n_compared: int, metric: str) -> Section:
    """Which settings matter, and what their values reach."""
    blocks: list[Block]
    if importance is None:
        blocks = [Remarks([too_few_to_tell(n_compared, space)])]
    else:
        blocks = [Chart(settings_bars(importance))]
        blocks += [Chart(interactions_bars(importance))] if importance.pairs else []
        for setting, spec in zip(importance.settings, effects_of_settings(importance, metric), strict=True):
            del spec["width"]  # on pages a chart is as wide as there is room
            blocks.append(Chart(spec | {"title": setting}))
    lead = (
        f"Shares of the variance between {n_compared} configurations, and what each value reaches on average "
        "over all others."
    )
    return Section("settings", "Which settings matter", lead, tuple(blocks))


def _shown(settings: Mapping[str, Any], name: str) -> str:
    return short(settings[name]) if name in settings else "–"
