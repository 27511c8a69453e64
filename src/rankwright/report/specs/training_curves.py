"""How training went: the watched metric after each step, with a mark at the step that was kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwright.report.specs.theme import Spec, chart, dot, layer, quantity, series
from rankwright.training.loop import History, smoothed

MOST_POINTS = 400  # of a curve; longer ones are thinned evenly, the best step always stays
MARKED = 50  # steps up to which each has a dot


def learning_curves(histories: Mapping[str, History], *, step: str = "step", first: int = 1) -> Spec:
    """The curves of rankers that watched the same metric, by name; steps are numbered from `first`."""
    watched = next(iter(histories.values())).watched
    names, values, best = list(histories), [], []
    for name, history in histories.items():
        own, mark = _curve(name, history, first)
        values += own
        best.append(mark | {"text": f"{step} {mark['step']}: {mark['value']:.4f}"})
    colour = series("ranker", names)
    x = quantity("step", step, axis={"grid": False, "tickMinStep": 1, "format": ",d"}, scale={"nice": False})
    y = quantity("value", str(watched), scale={"zero": False})
    tooltip = [{"field": "ranker"}, {"field": "step"}, quantity("value", str(watched), format=".4f")]
    longest = max(len(history.values) for history in histories.values())
    strength = {"condition": {"test": "isValid(datum.mean)", "value": 0.45}, "value": 1}  # means are drawn over values
    line = {"type": "line", "strokeWidth": 1.8, "point": longest <= MARKED}
    layers = [layer(line, x=x, y=y, color=colour, opacity=strength, tooltip=tooltip)]
    if any(history.smoothing > 0 and history.chosen for history in histories.values()):
        means = layer({"type": "line", "strokeWidth": 2.2}, x=x, y=quantity("mean", str(watched)), color=colour)
        layers.append({"transform": [{"filter": "isValid(datum.mean)"}]} | means)
    if len(names) == 1:  # several texts would lie on each other
        layers += _above(best[0], x)
    layers.append(layer(dot(90), best, x=x, y=y, color=colour, tooltip=tooltip))
    about = "; ".join(f"{one['ranker']}: best {watched} {one['value']:.4f} at {step} {one['step']}" for one in best)
    return chart(f"Learning curves. {about}.", values, layer=layers)


def _curve(name: str, history: History, first: int) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    steps, best = np.arange(len(history.values)), history.best_step or 0
    chosen_by = smoothed(history.values, history.smoothing)
    has_means = history.smoothing > 0 and history.chosen
    kept = np.unique(np.concatenate([np.linspace(0, len(steps) - 1, MOST_POINTS).astype(np.int64), [best]]))
    shown: Sequence[int] = (steps if len(steps) <= MOST_POINTS else kept).tolist()
    values = [
        {"ranker": name, "step": place + first, "value": history.values[place]}
        | ({"mean": float(chosen_by[place])} if has_means else {})
        for place in shown
    ]
    late = best > 0.6 * len(steps)
    return values, {"ranker": name, "step": best + first, "value": float(chosen_by[best]), "late": late}


def _above(best: Mapping[str, Any], x: Spec) -> list[Spec]:
    """A line up from the best step, and what it reached above the chart."""
    late = best["late"]
    text = {"type": "text", "align": "right" if late else "left", "dx": 4 if late else -4, "fontSize": 12}
    return [
        layer({"type": "rule", "strokeDash": [3, 3], "opacity": 0.6}, [best], x=x),
        layer(text, [best], x=x, y={"value": -9}, text={"field": "text"}),
    ]


def held_pairs(shares: Mapping[str, Sequence[float]], totals: Mapping[str, int]) -> Spec:
    """The share of all possible pairs that SortNet was trained on, iteration by iteration."""
    names = [f"{name}: {totals[name]:,} at the end" for name in shares]
    values = [
        {"part": label, "iteration": place, "share": 100 * share}
        for label, own in zip(names, shares.values(), strict=True)
        for place, share in enumerate(own)
    ]
    lines = layer(
        {"type": "line", "point": True},
        x=quantity("iteration", "iteration", axis={"grid": False, "tickMinStep": 1, "format": ",d"}),
        y=quantity("share", "% of all possible pairs"),
        color=series("part", names),
    )
    return chart("The share of all possible pairs held at each iteration.", values, title="Pairs held", **lines)
