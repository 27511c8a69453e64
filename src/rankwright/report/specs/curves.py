"""Curves by a number: means in a band of one standard deviation, variances, and curves by rank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.compression.candidates import Point
from rankwright.compression.curve import Compressed
from rankwright.report.specs.theme import SERIES, Spec, chart, colours_of, dot, layer, quantity, series
from rankwright.training.loop import History, smoothed

WHOLE_NUMBERS = {"tickMinStep": 1, "format": ",d", "grid": False}

Samples = Mapping[str, tuple[Any, Float64Array]]  # by ranker: the numbers, and values of shape (samples, numbers)


def means_by_number(samples: Samples, metric: str, what: str, title: str) -> Spec:
    """The mean over samples in a band of one standard deviation."""
    values = []
    for name, (numbers, own) in samples.items():
        mean, spread = own.mean(axis=0), own.std(axis=0, ddof=1)
        columns = zip(numbers.tolist(), mean.tolist(), (mean - spread).tolist(), (mean + spread).tolist(), strict=True)
        values += [dict(zip(("ranker", "number", "mean", "low", "high"), (name, *row), strict=True)) for row in columns]
    shared = {
        "x": quantity("number", f"number of {what}", axis=WHOLE_NUMBERS),
        "color": series("ranker", list(samples)),
    }
    low, mean_axis = (quantity(name, metric, scale={"zero": False}) for name in ("low", "mean"))
    layers = [
        layer({"type": "area", "opacity": 0.15}, y=low, y2={"field": "high"}, **shared),
        layer({"type": "line"}, y=mean_axis, **shared),
    ]
    about = f"Mean {metric} over samples by number of {what}, in a band of one standard deviation."
    return chart(about, values, title=title, layer=layers)


def variances_by_number(samples: Samples, metric: str, what: str) -> Spec:
    """The variance over samples."""
    values = [
        {"ranker": name, "number": int(number), "variance": float(variance)}
        for name, (numbers, own) in samples.items()
        for number, variance in zip(numbers, own.var(axis=0, ddof=1), strict=True)
    ]
    lines = layer(
        {"type": "line"},
        x=quantity("number", f"number of {what}", axis=WHOLE_NUMBERS),
        y=quantity("variance", f"variance of {metric}", axis={"format": ".1e"}),
        color=series("ranker", list(samples)),
    )
    about = f"The variance of {metric} over samples by number of {what}."
    return chart(about, values, title="Variance over samples", **lines)


def curves_by_rank(curves: Mapping[str, Float64Array], title: str) -> Spec:
    """How far down users look: examination by rank, relative to the first; shapes tell curves apart, too."""
    names, deepest = list(curves), max(map(len, curves.values()))
    ticks = list(range(1, deepest + 1, max(1, deepest // 10)))
    values = [
        {"curve": name, "rank": rank, "examined": float(value)}
        for name, own in curves.items()
        for rank, value in enumerate(own, start=1)
    ]
    lines = layer(
        {"type": "line", "point": {"size": 60}},
        x=quantity("rank", "rank", axis={"grid": False, "values": ticks}, scale={"zero": False, "nice": False}),
        y=quantity("examined", "examined, relative to rank 1"),
        color=series("curve", names),
        shape={"field": "curve", "type": "nominal", "sort": names, "legend": None},
    )
    return chart(f"{title}: {', '.join(names)}.", values, title=title, **lines)


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


def quality_by_size(compressed: Compressed) -> Spec:
    """Quality on the validation part against nodes, or against bytes of the file if there are nets among the models."""
    with_nets = any(point.nodes is None for point in compressed.points)
    name = "bytes of the model file" if with_nets else "nodes"

    def size_of(point: Point) -> float:
        return point.bytes if with_nets or point.nodes is None else point.nodes

    return _trade_off(compressed, size_of, name, "Quality against size", has_line=True)


def quality_by_time(compressed: Compressed) -> Spec:
    """Quality on the validation part against the time that a document takes.

    There are dots alone: times have noise, and a line through them would jump back and forth.
    """
    name = "microseconds to score a document"
    return _trade_off(compressed, lambda point: point.microseconds, name, "Quality against time", has_line=False)


def _trade_off(
    compressed: Compressed, measured: Callable[[Point], float], name: str, title: str, *, has_line: bool
) -> Spec:
    original, chosen = compressed.original, compressed.chosen
    given = "the given model"
    points = [
        {"at": measured(point), "valid": point.valid, "means": given if point is original else point.means,
         "trees": point.trees}
        for point in compressed.points
    ]  # fmt: skip
    made = list(dict.fromkeys(point.means for point in compressed.points[1:]))
    x = quantity("at", name, scale={"type": "log", "nice": False}, axis={"grid": False, "tickCount": 5})
    y = quantity("valid", f"{compressed.metric}, validation part", scale={"zero": False})
    scale = {"domain": [*made, given], "range": [*colours_of(len(made)), "$ink"]}
    colour = {"field": "means", "type": "nominal", "title": None, "scale": scale}
    tooltip = [{"field": "means"}, quantity("at", name, format=".4~g"),
               quantity("valid", compressed.metric, format=".4f")]  # fmt: skip
    rules: list[dict[str, Any]] = [{"valid": original.valid, "text": "as good as the given model"}]
    if compressed.goal.max_loss is not None:
        rules.append({"valid": original.valid - compressed.sign * compressed.goal.max_loss, "text": "what may be lost"})
    text = {"type": "text", "align": "left", "baseline": "bottom", "dx": 4, "dy": -3, "color": "$soft"}
    layers = [
        layer({"type": "rule", "strokeDash": [4, 4]}, rules, y=y),
        layer(text, rules, y=y, x={"value": 0}, text={"field": "text"}),
    ]
    if has_line:
        line = layer({"type": "line", "strokeWidth": 1.5}, x=x, y=y, color=colour)
        layers.append({"transform": [{"filter": {"field": "means", "oneOf": made}}]} | line)
    ring = [{"at": measured(chosen), "valid": chosen.valid, "text": "chosen"}]
    layers += [
        layer(dot(60), x=x, y=y, color=colour, tooltip=tooltip),
        layer({"type": "point", "size": 260, "strokeWidth": 2.5, "color": SERIES[1]}, ring, x=x, y=y),
        layer({"type": "text", "dy": 20, "fontWeight": 600}, ring, x=x, y=y, text={"field": "text"}),
    ]
    about = f"{compressed.metric} on validation documents against {name}, a dot for each model that was tried."
    return chart(about, points, title=title, layer=layers)
