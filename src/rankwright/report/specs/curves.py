"""Curves by a number: means in a band of one standard deviation, variances, and curves by rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankwright.arrays import Float64Array
from rankwright.report.specs.theme import Spec, chart, layer, quantity, series

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
