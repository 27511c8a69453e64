"""Settings chosen on validation documents from a small grid of each ranker's space."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from rankwright.experiments.letor import LetorFold
from rankwright.metrics.evaluation import evaluate
from rankwright.metrics.registry import parse_metric
from rankwright.rankers.ranker import Ranker
from rankwright.training.spaces import Choice, Dimension, Space, Whole

MOST_TRIALS = 6
POINTS = 3  # of a range: its ends and the middle


@dataclass(frozen=True, slots=True, eq=False)
class Chosen:
    """A ranker trained with the settings that did best on the validation documents, and how well they did."""

    ranker: Ranker
    settings: Mapping[str, Any]
    value: float


# From a kind of ranker, a fold, the measure to choose by, and settings that are given.
Chooser = Callable[[type[Ranker], LetorFold, str, Mapping[str, Any]], Chosen]


def choose_on_vali(kind: type[Ranker], fold: LetorFold, select: str, given: Mapping[str, Any]) -> Chosen:
    """The best of a small grid over the ranker's space; of several that do equally well, the first."""
    measure = parse_metric(select)
    sign = 1.0 if measure.higher_is_better else -1.0
    best: Chosen | None = None
    space = {name: dimension for name, dimension in kind.space.items() if name not in given}
    for settings in small_grid(space, seed=int(given.get("seed", 0))):
        ranker = kind(**(settings | dict(given))).fit(fold.train, valid=fold.vali)
        found = evaluate(ranker.predict(fold.vali), fold.vali, [measure], measure.convention, threads=ranker.threads)
        value = next(iter(found.results.values())).mean
        if best is None or sign * value > sign * best.value:
            best = Chosen(ranker, settings, value)
    assert best is not None  # a grid has one point at least
    return best


def small_grid(space: Space, *, seed: int = 0, most: int = MOST_TRIALS) -> list[dict[str, Any]]:
    """The points of a grid over the space, `most` at most: of more, the first and others drawn at random."""
    points = [dict(zip(space, values, strict=True)) for values in product(*map(_values_of, space.values()))]
    if len(points) <= most:
        return points
    drawn = np.random.default_rng(seed).choice(np.arange(1, len(points)), size=most - 1, replace=False)
    return [points[0], *(points[place] for place in np.sort(drawn))]


def _values_of(dimension: Dimension) -> Sequence[Any]:
    if isinstance(dimension, Choice):
        return dimension.values
    between = np.geomspace if dimension.log else np.linspace
    values = between(dimension.low, dimension.high, POINTS).tolist()
    return sorted({round(value) for value in values}) if isinstance(dimension, Whole) else values
