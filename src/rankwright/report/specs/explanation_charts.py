"""Explanations: why documents rank as they do, how much features matter, what one of them does; and plain bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwright.errors import InputError
from rankwright.explanations.explanation import (
    SHOWN_DOCUMENTS,
    SHOWN_FEATURES,
    Explanation,
    PairExplanation,
    compared,
    features_told_apart,
    label_of,
)
from rankwright.explanations.feature_effects import DRAWN_CURVES, Dependence
from rankwright.rankers.importance import FeatureImportance
from rankwright.report.specs.theme import SERIES, Spec, chart, colours_of, dot, layer, quantity, row_names

BAR_HEIGHT = 24
SHOWN_IMPORTANCES = 20
OTHERS = "all others"

Explained = Explanation | PairExplanation | FeatureImportance | Dependence


def explanation_chart(found: Explained, *, top: int | None = None) -> Spec:
    """The chart of an explanation; `top` is how many documents or features it has."""
    if isinstance(found, Explanation):
        return list_bars(found, SHOWN_DOCUMENTS if top is None else top)
    if isinstance(found, PairExplanation):
        return pair_bars(found, SHOWN_FEATURES if top is None else top)
    if isinstance(found, FeatureImportance):
        return importance_bars(found, SHOWN_IMPORTANCES if top is None else top) | {"title": "What the model looks at"}
    if isinstance(found, Dependence):
        return feature_effect(found)
    raise InputError(f"there is no chart of {type(found).__name__}")


def named_bars(rows: Sequence[Mapping[str, Any]], title: str, about: str, *, format: str = ".4~g") -> Spec:
    """A bar for each row, the first on top; a row has `name` and `value`, and may have the interval `low`, `high`."""
    y = row_names("name", [row["name"] for row in rows])
    tooltip = [{"field": "name"}, quantity("value", title, format=format)]
    bar = {"type": "bar", "color": SERIES[0], "cornerRadiusEnd": 2, "height": {"band": 0.62}}
    layers = [layer(bar, x=quantity("value", title), y=y, tooltip=tooltip)]
    if any(row.get("low") is not None for row in rows):
        whisker = {"type": "rule", "color": "$ink", "strokeWidth": 1.5}
        layers.append(layer(whisker, x=quantity("low", title), x2={"field": "high"}, y=y))
    return chart(about, rows, height={"step": BAR_HEIGHT}, layer=layers)


def importance_bars(found: FeatureImportance, top: int) -> Spec:
    """The most important features as bars."""
    chosen = [feature for feature in found.ordered()[:top].tolist() if found.values[feature] != 0]
    has_ends = not np.isnan(found.low[chosen]).any()
    rows = [
        {"name": label_of(found.features[feature]), "value": float(found.values[feature])}
        | ({"low": float(found.low[feature]), "high": float(found.high[feature])} if has_ends else {})
        for feature in chosen
    ]
    return named_bars(rows, found.kind, f"The {len(rows)} most important features by {found.kind}.")


def pair_bars(found: PairExplanation, top: int) -> Spec:
    """A bar for each feature, to the right where it helps the document above."""
    chosen = found.ordered()[:top].tolist()
    names = [compared(found, feature) for feature in chosen]
    rows = [{"name": name, "value": v} for name, v in zip(names, found.contributions[chosen].tolist(), strict=True)]
    title, y = "puts it above by", row_names("name", names)
    tooltip = [{"field": "name"}, quantity("value", title, format="+.4~g")]
    colour = {"condition": {"test": "datum.value >= 0", "value": SERIES[0]}, "value": SERIES[1]}
    bar = {"type": "bar", "cornerRadiusEnd": 2, "height": {"band": 0.62}}
    bars = layer(bar, x=quantity("value", title), y=y, color=colour, tooltip=tooltip)
    about = f"What each feature does to put {found.above} above {found.below}."
    heading = f"Why {found.above} is above {found.below}"
    return chart(about, rows, title=heading, height={"step": BAR_HEIGHT}, layer=[bars, _zero_line(title)])


def list_bars(found: Explanation, top: int) -> Spec:
    """A bar for each document, stacked of what features add and take away."""
    places = found.order[:top]
    chosen, parts = features_told_apart(found.centred[places])
    names = [*(label_of(found.features[feature]) for feature in chosen), OTHERS]
    documents = [str(found.documents[place]) for place in places.tolist()]
    rows = [
        {"document": document, "feature": name, "value": value}
        for document, values in zip(documents, parts.tolist(), strict=True)
        for name, value in zip(names, values, strict=True)
    ]
    title, y = "score against the query's mean", row_names("document", list(dict.fromkeys(documents)))
    scale = {"domain": names, "range": [*colours_of(len(chosen)), "$others"]}
    colour = {"field": "feature", "type": "nominal", "title": None, "sort": names, "scale": scale}
    tooltip = [{"field": "document"}, {"field": "feature"}, quantity("value", "adds", format="+.4~g")]
    bar = {"type": "bar", "height": {"band": 0.66}}
    layers = [
        layer(bar, x=quantity("value", title), y=y, color=colour, tooltip=tooltip),
        _zero_line(title),
        layer(dot(40, color="$ink"), x=quantity("value", title, aggregate="sum"), y=y),
    ]
    about = f"Query {found.query}: what features add to the scores of its first {len(places)} documents."
    return chart(about, rows, title=f"Query {found.query}", height={"step": BAR_HEIGHT + 4}, layer=layers)


def _zero_line(title: str) -> Spec:
    """A line where nothing is added and nothing taken away."""
    return layer({"type": "rule", "color": "$soft"}, [{"at": 0}], x=quantity("at", title))


def feature_effect(found: Dependence) -> Spec:
    """What a feature does to scores, value by value, with its interval, over the curves of queries."""
    grid = found.grid.tolist()
    some = found.by_query[:DRAWN_CURVES] - found.by_query[:DRAWN_CURVES].mean(axis=1, keepdims=True)
    behind = [{"query": number, "value": value, "score": float(score)}
              for number, own in enumerate(some) for value, score in zip(grid, own, strict=True)]  # fmt: skip
    values = [{"value": value, "mean": float(mean), "low": float(low), "high": float(high)}
              for value, mean, low, high in zip(grid, found.mean, found.low, found.high, strict=True)]  # fmt: skip
    x, title = quantity("value", found.feature, scale={"zero": False}), "score against its mean"
    faint = {"type": "line", "color": "$line", "strokeWidth": 1}
    band = {"type": "area", "opacity": 0.25, "color": SERIES[0]}
    layers = [
        layer(faint, behind, x=x, y=quantity("score", title), detail={"field": "query"}),
        layer(band, x=x, y=quantity("low", title), y2={"field": "high"}),
        layer({"type": "line", "color": SERIES[0]}, x=x, y=quantity("mean", title)),
    ]
    about = f"What {found.feature} does to scores, with its 95 % interval over queries."
    return chart(about, values, title=f"What {found.feature} does", layer=layers)
