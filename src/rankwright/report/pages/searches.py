"""Pages on searches for settings: one that was just made, or studies that were kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankwright.errors import require
from rankwright.metrics.registry import parse_metric
from rankwright.progress.stages import announce
from rankwright.rankers.ranker import Ranker
from rankwright.report.page.document import KeyFigure, Page, PageTable, PageVerdict, Section, Sureness
from rankwright.report.sections.again import again_section
from rankwright.report.sections.importances import importances_section
from rankwright.report.sections.learning import learning_section
from rankwright.report.sections.models import models_section
from rankwright.report.sections.search import configurations_section, search_section, settings_section
from rankwright.report.sections.subject import Origin
from rankwright.tables.text import ShownTable
from rankwright.tuning.cross_validation import CrossValidation
from rankwright.tuning.setting_importance import importance_of
from rankwright.tuning.studies.study_summary import StudySummary, alike_trials, search_curve
from rankwright.tuning.trials import TrialResult
from rankwright.tuning.tuner import Tuned, listed_settings


def page_of_tuned(tuned: Tuned, origin: Origin, tested: CrossValidation | None = None) -> Page:
    """The page on a search; `tested` is what the chosen settings reach on test documents, where there are any."""
    announce("making the report")
    metric, ranker = tuned.plan.metric, tuned.ranker
    higher = parse_metric(metric).higher_is_better
    curve = search_curve(tuned.plan.strategy, tuned.trials, higher)
    alike = alike_trials(tuned.trials)
    importance = importance_of(tuned.space, [one.trial.settings for one in alike], [one.value for one in alike])
    rankers: dict[str, Ranker] = {ranker.name: ranker} if tuned.refit is not None else {}
    sections = [
        None if tested is None else _tested_section(tested),
        search_section({curve.name: curve}, metric),
        configurations_section(tuned.ranked, tuned.space, metric),
        settings_section(importance, tuned.space, len(alike), metric),
        learning_section(rankers),
        importances_section(rankers, None),
        models_section(rankers, None, origin),
        again_section(rankers, None, origin),
    ]
    verdict = _verdict(
        ranker.name, metric, tuned.ranked, [tuned.best.value, *(one.value for one in alike)], len(tuned.trials)
    )
    return Page(f"Search for settings of {ranker.name}", verdict, tuple(one for one in sections if one is not None))


def page_of_studies(summaries: Sequence[StudySummary], origin: Origin) -> Page:
    """The page on studies of one metric; the first one is shown in detail."""
    announce("making the report")
    metrics = list(dict.fromkeys(summary.metric for summary in summaries))
    require(len(metrics) == 1, f"studies can be compared by one metric, and these have {', '.join(metrics)}")
    first, several = summaries[0], len(summaries) > 1
    curves = {f"{one.folder}: {curve.name}" if several else curve.name: curve
              for one in summaries for curve in one.curves}  # fmt: skip
    sections = (
        search_section(curves, first.metric),
        configurations_section(first.best, first.space, first.metric),
        settings_section(first.importance, first.space, first.n_compared, first.metric),
        again_section({}, None, origin),
    )
    values = [one.value for one in first.best]
    return Page(
        f"Study of {first.ranker}", _verdict(first.ranker, first.metric, first.best, values, len(values)), sections
    )


def _verdict(
    ranker: str, metric: str, ranked: Sequence[TrialResult], values: Sequence[float], n_trials: int
) -> PageVerdict:
    """What the chosen settings reach, and how far that is from an ordinary configuration."""
    best, usual = ranked[0], float(np.nanmedian(values))
    settings = listed_settings(best.trial.settings)
    sentence = (
        f"The best of {n_trials:,} configurations of {ranker} reaches {best.value:.4f} {metric} on "
        "validation documents, "
        f"{abs(best.value - usual):.4f} from the median configuration: {settings}. It was chosen by these "
        "very documents, "
        f"so that on new queries expect a little less."
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
