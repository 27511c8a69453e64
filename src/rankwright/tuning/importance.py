"""Which settings matter: the share of the variance between trials that each setting, and each pair, accounts for.

A random forest learns the value of each configuration. Its predictions are averaged over all settings but one, or but
two. The variance of these averages, as a share of the variance of all predictions, is what the setting accounts for; a
pair counts by what it adds to its two settings (functional ANOVA; Hutter, Hoos, Leyton-Brown 2014).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.settings.spaces import Choice, Dimension, Space
from rankwright.tuning.configurations import Configuration, drawn, grid_members, grid_size, is_finite, place, place_of

N_POINTS = 256  # configurations that averages are taken over
N_VALUES = 8  # of a range, at which averages are taken
N_TREES = 64
FEWEST_TRIALS = 8  # below that there is nothing to learn from


@dataclass(frozen=True, slots=True, eq=False)
class Effect:
    """The mean value that each level of one setting reaches, over all other settings."""

    values: tuple[Any, ...]
    means: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class Importance:
    """The shares of the variance by setting, by pair of settings, and the effect of each setting; largest first."""

    settings: Mapping[str, float]
    pairs: Mapping[tuple[str, str], float]
    effects: Mapping[str, Effect]


def importance_of(
    space: Space, configurations: Sequence[Configuration], values: Sequence[float], *, seed: int = 0
) -> Importance | None:
    """The importance of the settings of `space`, learned from configurations and their values.

    None if there are too few trials, or if all of them reached the same value.
    """
    reached = np.array(values)
    known = np.isfinite(reached)
    if known.sum() < FEWEST_TRIALS or np.ptp(reached[known]) == 0:
        return None
    from sklearn.ensemble import RandomForestRegressor

    places = np.array([place(space, one) for one in configurations])[known]
    forest = RandomForestRegressor(n_estimators=N_TREES, min_samples_leaf=2, random_state=seed, n_jobs=1)
    forest.fit(places, reached[known])
    points = _points(space, seed)
    total = float(forest.predict(points).var())
    if total == 0:
        return None
    levels = {name: _levels(dimension) for name, dimension in space.items()}
    columns = {name: column for column, name in enumerate(space)}
    averages = {name: _averages(forest, points, [columns[name]], [levels[name]]) for name in space}
    shares = {name: float(average.var()) / total for name, average in averages.items()}
    pairs = {}
    for one, other in combinations(space, 2):
        both = _averages(forest, points, [columns[one], columns[other]], [levels[one], levels[other]])
        pairs[one, other] = max(0.0, float(both.var()) / total - shares[one] - shares[other])
    return Importance(
        settings=dict(sorted(shares.items(), key=lambda item: -item[1])),
        pairs=dict(sorted(pairs.items(), key=lambda item: -item[1])),
        effects={
            name: Effect(tuple(_value(dimension, level) for level in levels[name]), averages[name])
            for name, dimension in space.items()
        },
    )


def _points(space: Space, seed: int) -> Float64Array:
    """Configurations spread over the space: all of a small grid, or a sample."""
    if is_finite(space) and grid_size(space) <= N_POINTS:
        return np.array([place(space, one) for one in grid_members(space)])
    return np.array([place(space, drawn(space, np.random.default_rng([seed, number]))) for number in range(N_POINTS)])


def _levels(dimension: Dimension) -> list[float]:
    if isinstance(dimension, Choice):
        return [float(number) for number in range(len(dimension.values))]
    ends = dimension.low, dimension.high
    spread = np.geomspace(*ends, N_VALUES) if dimension.log else np.linspace(*ends, N_VALUES)
    return sorted({place_of(dimension, level) for level in spread.tolist()})


def _value(dimension: Dimension, level: float) -> Any:
    return dimension.values[int(level)] if isinstance(dimension, Choice) else level


def _averages(
    forest: Any, points: Float64Array, columns: Sequence[int], levels: Sequence[Sequence[float]]
) -> Float64Array:
    """The mean prediction at each combination of levels of the given columns, over all points."""
    combined = list(product(*levels))
    repeated = np.repeat(points[None, :, :], len(combined), axis=0)
    for number, level in enumerate(combined):
        repeated[number][:, columns] = level
    answers = forest.predict(repeated.reshape(-1, points.shape[1]))
    return np.asarray(answers.reshape(len(combined), -1).mean(axis=1))
