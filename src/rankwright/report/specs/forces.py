"""The forces on a query's documents: a dot for each at the height of its score, and an arrow."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankwright.arrays import Float32Array, Float64Array
from rankwright.report.specs.theme import SERIES, Spec, chart, dot, layer, quantity

LONGEST_ARROW = 0.22  # of the height of the scores
SHOWN_ON_A_LINE = 60  # ranks; in longer lists the top would be too narrow, and their axis is logarithmic
FAINTEST_ARROW = 0.05  # of the longest: below it there is nothing to see
MOST_LABELS = 8  # that have a colour each; more are shown by a scale of colours
UP, DOWN = SERIES[2], SERIES[1]
NONE = "none"


def force_arrows(scores: Float64Array, forces: Float64Array, labels: Float32Array | None, title: str) -> Spec:
    """Documents from left to right by rank; the longest arrow has a fixed length, colours show labels."""
    ranks = np.empty(len(scores))
    ranks[np.argsort(-scores, kind="stable")] = np.arange(1, len(scores) + 1)
    height, longest = float(np.ptp(scores)) or 1.0, float(np.abs(forces).max(initial=0.0))
    drawn = np.abs(forces) > FAINTEST_ARROW * longest
    arrows = [
        {"rank": int(rank), "score": float(score), "tip": float(score + LONGEST_ARROW * height * force / longest),
         "way": "up" if force > 0 else "down", "force": float(force)}
        for rank, score, force in zip(ranks[drawn], scores[drawn], forces[drawn], strict=True)
    ]  # fmt: skip
    is_long = len(scores) > SHOWN_ON_A_LINE
    scale: dict[str, Any] = {"type": "log", "nice": False} if is_long else {"zero": False, "nice": False, "padding": 14}
    x = quantity("rank", f"rank (the longest arrow is a force of {longest:.3g})", scale=scale,
                 axis={"grid": False, "format": ",d", "tickMinStep": 1})  # fmt: skip
    ends = [float(scores.min() - 0.3 * height), float(scores.max() + 0.3 * height)]
    y = quantity("score", "score", scale={"domain": ends, "nice": False})
    ways = {"field": "way", "type": "nominal", "legend": None, "scale": {"domain": ["up", "down"], "range": [UP, DOWN]}}
    heads = {"field": "way", "type": "nominal", "legend": None,
             "scale": {"domain": ["up", "down"], "range": ["triangle-up", "triangle-down"]}}  # fmt: skip
    layers = [
        layer({"type": "rule", "strokeWidth": 2}, arrows, x=x, y=y, y2={"field": "tip"}, color=ways),
        layer(dot(70), arrows, x=x, y=quantity("tip", "score"), color=ways, shape=heads),
        *_dots(ranks, scores, labels, x, y, is_long=is_long),
    ]
    about = f"{title}: documents by rank at the height of their scores, with arrows for the forces on them."
    resolve = {"scale": {"color": "independent", "shape": "independent"}}
    return chart(about, [], title=title, layer=layers, resolve=resolve)


def _dots(
    ranks: Float64Array, scores: Float64Array, labels: Float32Array | None, x: Spec, y: Spec, *, is_long: bool
) -> list[Spec]:
    """A dot for each document, darker for higher labels, hollow where unjudged."""
    size = 24 if is_long else 120
    if labels is None:
        values = [{"rank": int(rank), "score": float(score)} for rank, score in zip(ranks, scores, strict=True)]
        return [layer(dot(size, color="$ink"), values, x=x, y=y)]
    rows = [
        {"rank": int(rank), "score": float(score), "label": NONE if np.isnan(label) else round(float(label), 6)}
        for rank, score, label in zip(ranks, scores, labels, strict=True)
    ]
    judged = sorted((row for row in rows if row["label"] != NONE), key=lambda row: row["label"])
    hollow = [row for row in rows if row["label"] == NONE]
    few = len({row["label"] for row in judged}) <= MOST_LABELS
    colour = {
        "field": "label",
        "type": "ordinal" if few else "quantitative",
        "title": "label",
        "scale": {"scheme": "greenblue", **({} if few else {"nice": True})},
        "legend": {"orient": "right", "columns": 1},
    }
    mark = {"type": "point", "size": size, "opacity": 1, "stroke": "$ink"}
    edge = {"strokeWidth": 0.0 if is_long else 0.7}
    dots = [layer(mark | edge, judged, x=x, y=y, fill=colour)] if judged else []
    return dots + ([layer(mark | {"fill": "$card"}, hollow, x=x, y=y)] if hollow else [])
