"""Learning curves: how the watched metric went, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rankwright.rankers.ranker import Ranker
from rankwright.report.page.document import Block, Chart, Section
from rankwright.report.specs.learning import learning_curves
from rankwright.training.loop import History


def learning_section(rankers: Mapping[str, Ranker]) -> Section | None:
    """A chart for each watched metric; None where no ranker was trained with validation data."""
    by_metric: dict[str, dict[str, History]] = {}
    for name, ranker in rankers.items():
        history = ranker.history_
        if history.values:
            own = by_metric.setdefault(str(history.watched), {})
            own[name] = history
            for part, values in ranker.watched_.items():
                if len(values):
                    own[f"{name} on {part}"] = replace(history, values=list(values), smoothing=0.0)
    blocks: list[Block] = [Chart(learning_curves(own), _caption(own)) for own in by_metric.values()]
    without = [name for name, ranker in rankers.items() if not ranker.history_.values]
    if not blocks:
        return None
    lead = "The watched metric on validation documents after each step; the dot is the step that was kept."
    if without:
        lead += f" Without validation documents in training: {', '.join(without)}."
    return Section("learning", "Learning curves", lead, tuple(blocks))


def _caption(histories: Mapping[str, History]) -> str:
    told = []
    for name, history in histories.items():
        ends = "interrupted" if history.interrupted else "stopped early" if history.stopped_early else "ended"
        best = f"best {history.best_mean:.4f} at step {(history.best_step or 0) + 1:,}"
        told.append(f"{name}: {best}, {ends} after {len(history.values):,} steps")
    smooth = any(history.smoothing > 0 and history.chosen for history in histories.values())
    how = " The strong line is the mean over neighbouring steps, which the step was chosen by." if smooth else ""
    return f"{'; '.join(told)}.{how}"
