"""A search for settings: what the work bought, the best configurations, and which settings matter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankwright.report.page.document import Block, Chart, PageTable, Remarks, Section
from rankwright.report.specs.searches import best_so_far
from rankwright.report.tuning_pictures import effects, interactions_bars, settings_bars
from rankwright.settings.spaces import Space
from rankwright.tables.text import ShownTable, short
from rankwright.tuning.setting_importance import Importance, fewest_trials
from rankwright.tuning.studies.study_summary import SearchCurve
from rankwright.tuning.trials import TrialResult

SHOWN = 25  # configurations


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
        for place, one in enumerate(best[:SHOWN], start=1)
    ]
    columns = ["place", metric, "steps", *names]
    left = len(best) - len(rows)
    notes = [f"… and {left:,} more configurations"] if left > 0 else []
    lead = "The best configurations by their mean on validation documents; the first one was chosen."
    return Section(
        "configurations", "Configurations", lead, (PageTable(ShownTable("", columns, rows, columns, notes)),)
    )


def settings_section(importance: Importance | None, space: Space, n_compared: int, metric: str) -> Section:
    """Which settings matter, and what their values reach."""
    blocks: list[Block]
    if importance is None:
        few = (
            f"The {n_compared} configurations that were tried alike cannot tell: it takes "
            f"{fewest_trials(space)} or more, with different values, for {len(space)} settings."
        )
        blocks = [Remarks([few])]
    else:
        blocks = [Chart(settings_bars(importance))]
        blocks += [Chart(interactions_bars(importance))] if importance.pairs else []
        blocks += [Chart({name: part for name, part in spec.items() if name != "width"} | {"title": setting})
                   for setting, spec in zip(importance.settings, effects(importance, metric), strict=True)]  # fmt: skip
    lead = (
        f"Shares of the variance between {n_compared} configurations, and what each value reaches on average "
        "over all others."
    )
    return Section("settings", "Which settings matter", lead, tuple(blocks))


def _shown(settings: Mapping[str, Any], name: str) -> str:
    return short(settings[name]) if name in settings else "–"
