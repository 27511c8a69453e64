"""Curves by a number: means in a band of one standard deviation, variances, curves by rank, a feature's effect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.explanations.dependence import Dependence
from rankwright.report.specs.look import SERIES, Spec, chart, quantity, series

DRAWN_CURVES = 50  # of queries behind a feature's effect
WHOLE = {"tickMinStep": 1, "format": ",d", "grid": False}


def means_by_number(samples: Mapping[str, tuple[Any, Float64Array]], metric: str, what: str, title: str) -> Spec:
    """The mean over samples in a band of one deviation; `samples` has numbers and (samples, numbers) values."""
    values = []
    for name, (numbers, own) in samples.items():
        mean, spread = own.mean(axis=0), own.std(axis=0, ddof=1)
        values += [
            {
                "ranker": name,
                "number": int(number),
                "mean": float(one),
                "low": float(one - wide),
                "high": float(one + wide),
            }
            for number, one, wide in zip(numbers, mean, spread, strict=True)
        ]
    x, colour = quantity("number", f"number of {what}", axis=WHOLE), series("ranker", list(samples))
    y = quantity("mean", metric, scale={"zero": False})
    band: Spec = {"mark": {"type": "area", "opacity": 0.15},
                  "encoding": {"x": x, "y": quantity("low", metric, scale={"zero": False}), "y2": {"field": "high"},
                               "color": colour}}  # fmt: skip
    line: Spec = {"mark": {"type": "line"}, "encoding": {"x": x, "y": y, "color": colour}}
    about = f"Mean {metric} over samples by number of {what}, in a band of one standard deviation."
    return chart(about, values, title=title, layer=[band, line])


def variances_by_number(samples: Mapping[str, tuple[Any, Float64Array]], metric: str, what: str) -> Spec:
    """The variance over samples."""
    values = [
        {"ranker": name, "number": int(number), "variance": float(variance)}
        for name, (numbers, own) in samples.items()
        for number, variance in zip(numbers, own.var(axis=0, ddof=1), strict=True)
    ]
    encoding = {
        "x": quantity("number", f"number of {what}", axis=WHOLE),
        "y": quantity("variance", f"variance of {metric}", axis={"format": ".1e"}),
        "color": series("ranker", list(samples)),
    }
    about = f"The variance of {metric} over samples by number of {what}."
    return chart(about, values, title="Variance over samples", mark={"type": "line"}, encoding=encoding)


def curves_by_rank(curves: Mapping[str, Float64Array], title: str) -> Spec:
    """How far down users look: examination by rank, relative to the first; shapes tell curves apart, too."""
    names, deepest = list(curves), max(map(len, curves.values()))
    ticks = list(range(1, deepest + 1, max(1, deepest // 10)))
    values = [
        {"curve": name, "rank": rank, "examined": float(value)}
        for name, own in curves.items()
        for rank, value in enumerate(own, start=1)
    ]
    encoding = {
        "x": quantity("rank", "rank", axis={"grid": False, "values": ticks}, scale={"zero": False, "nice": False}),
        "y": quantity("examined", "examined, relative to rank 1"),
        "color": series("curve", names),
        "shape": {"field": "curve", "type": "nominal", "sort": names, "legend": None},
    }
    mark = {"type": "line", "point": {"size": 60}}
    return chart(f"{title}: {', '.join(names)}.", values, title=title, mark=mark, encoding=encoding)


def feature_effect(found: Dependence) -> Spec:
    """What a feature does to scores, value by value, with its interval, over the curves of queries."""
    grid = found.grid.tolist()
    some = found.by_query[:DRAWN_CURVES] - found.by_query[:DRAWN_CURVES].mean(axis=1, keepdims=True)
    behind = [{"query": number, "value": value, "score": float(score)}
              for number, own in enumerate(some) for value, score in zip(grid, own, strict=True)]  # fmt: skip
    values = [{"value": value, "mean": float(mean), "low": float(low), "high": float(high)}
              for value, mean, low, high in zip(grid, found.mean, found.low, found.high, strict=True)]  # fmt: skip
    x, title = quantity("value", found.feature, scale={"zero": False}), "score against its mean"
    queries: Spec = {"data": {"values": behind}, "mark": {"type": "line", "color": "$line", "strokeWidth": 1},
                     "encoding": {"x": x, "y": quantity("score", title), "detail": {"field": "query"}}}  # fmt: skip
    band: Spec = {"mark": {"type": "area", "opacity": 0.25, "color": SERIES[0]},
                  "encoding": {"x": x, "y": quantity("low", title), "y2": {"field": "high"}}}  # fmt: skip
    line: Spec = {"mark": {"type": "line", "color": SERIES[0]}, "encoding": {"x": x, "y": quantity("mean", title)}}
    about = f"What {found.feature} does to scores, with its 95 % interval over queries."
    return chart(about, values, title=f"What {found.feature} does", layer=[queries, band, line])


def ends_of(values: Sequence[Float64Array]) -> tuple[float, float]:
    """The ends of an axis that has room for all values."""
    low, high = min(float(one.min()) for one in values), max(float(one.max()) for one in values)
    room = 0.08 * (high - low) or 1e-3
    return float(np.round(low - room, 6)), float(np.round(high + room, 6))
