"""Explanations as charts: why documents rank as they do, how much features matter, what one of them does."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from rankwright.errors import InputError
from rankwright.explanations.dependence import Dependence
from rankwright.explanations.explanation import (
    SHOWN_DOCUMENTS,
    SHOWN_FEATURES,
    Explanation,
    PairExplanation,
    label_of,
    shown,
)
from rankwright.rankers.importance import FeatureImportance
from rankwright.report.picture import write_picture
from rankwright.report.sections.importances import importance_chart
from rankwright.report.specs.bars import pair_bars, stacked_bars
from rankwright.report.specs.curves import feature_effect
from rankwright.report.specs.look import Spec

TOLD_APART = 6  # features that have a colour of their own in a list
OTHERS = "all others"


def draw_explanation(found: Any, path: str | os.PathLike[str], *, top: int | None = None) -> None:
    """Draw an explanation of a list or of a pair, importances, or the effect of a feature: .svg, .png or .pdf."""
    write_picture(explanation_chart(found, top=top), path)


def explanation_chart(found: Any, *, top: int | None = None) -> Spec:
    """The chart of an explanation; `top` is how many documents or features it has."""
    if isinstance(found, Explanation):
        return _list(found, SHOWN_DOCUMENTS if top is None else top)
    if isinstance(found, PairExplanation):
        return _pair(found, SHOWN_FEATURES if top is None else top)
    if isinstance(found, FeatureImportance):
        return importance_chart(found, 20 if top is None else top) | {"title": "What the model looks at"}
    if isinstance(found, Dependence):
        return feature_effect(found)
    raise InputError(f"there is no chart of {type(found).__name__}")


def _pair(found: PairExplanation, top: int) -> Spec:
    rows = [
        {"name": f"{label_of(found.features[feature])}: {shown(found.values[0, feature])} | "
                 f"{shown(found.values[1, feature])}",
         "value": float(found.contributions[feature])}
        for feature in found.ordered()[:top].tolist()
    ]  # fmt: skip
    spec = pair_bars(rows, str(found.above), str(found.below))
    return spec | {"title": f"Why {found.above} is above {found.below}"}


def _list(found: Explanation, top: int) -> Spec:
    places = found.order[:top]
    centred = found.centred[places]
    sizes = np.abs(centred).mean(axis=0)
    chosen = np.argsort(-sizes, kind="stable")[: min(TOLD_APART, int(np.count_nonzero(sizes)))]
    rest = np.delete(centred, chosen, axis=1).sum(axis=1)
    names = [label_of(found.features[feature]) for feature in chosen.tolist()]
    rows = []
    for number, place in enumerate(places.tolist()):
        parts = [*centred[number, chosen].tolist(), float(rest[number])]
        rows += [{"document": str(found.documents[place]), "feature": name, "value": value}
                 for name, value in zip([*names, OTHERS], parts, strict=True)]  # fmt: skip
    about = f"Query {found.query}: what features add to the scores of its first {len(places)} documents."
    return stacked_bars(rows, [*names, OTHERS], about) | {"title": f"Query {found.query}"}
