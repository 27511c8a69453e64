"""Which settings matter: the share of the variance between trials that each setting, and each pair, accounts for.

A random forest learns the value of each configuration. Its predictions are averaged over all settings but one, or but
two. The variance of these averages, as a share of the variance of all predictions, is what the setting accounts for; a
pair counts by what it adds to its two settings (functional ANOVA; Hutter, Hoos, Leyton-Brown 2014).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from math import prod
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.settings.spaces import Choice, Dimension, Space
from rankwright.tuning.trials import Configuration, place, place_of

N_POINTS = 512  # configurations, at most, that averages are taken over
N_VALUES = 8  # of a range, at which averages are taken
N_TREES = 64
FEWEST_TRIALS = 8  # below that there is nothing to learn from
FEWEST_PER_SETTING = 3  # with fewer trials for each setting, chance makes any of them look important


@dataclass(frozen=True, slots=True, eq=False)
class Effect:
    """The mean value that each level of one setting reaches, over all other settings."""

    values: tuple[Any, ...]
    means: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class Importance:
    """The shares of the variance by setting, by pair of settings, and the effect of each setting; largest first.

    Together the shares are 1 at most; what is missing comes from more than two settings at once.
    """

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
    if known.sum() < fewest_trials(space) or np.ptp(reached[known]) == 0:
        return None
    from sklearn.ensemble import RandomForestRegressor

    places = np.array([place(space, one) for one in configurations])[known]
    forest = RandomForestRegressor(n_estimators=N_TREES, min_samples_leaf=2, random_state=seed, n_jobs=1)
    forest.fit(places, reached[known])
    levels = {name: _levels(dimension) for name, dimension in space.items()}
    points = _points(list(levels.values()), seed)
    total = float(forest.predict(points).var())
    if total == 0:
        return None
    columns = {name: column for column, name in enumerate(space)}
    averages = {name: _averages(forest, points, [columns[name]], [levels[name]]) for name in space}
    shares = {name: float(average.var()) / total for name, average in averages.items()}
    pairs = {}
    for one, other in combinations(space, 2):
        both = _averages(forest, points, [columns[one], columns[other]], [levels[one], levels[other]])
        pairs[one, other] = max(0.0, float(both.var()) / total - shares[one] - shares[other])
    # Averages over a sample of a large space vary a little more than over all of it.
    too_much = max(1.0, sum(shares.values()) + sum(pairs.values()))
    shares = {name: share / too_much for name, share in shares.items()}
    pairs = {pair: share / too_much for pair, share in pairs.items()}
    return Importance(
        settings=dict(sorted(shares.items(), key=lambda item: -item[1])),
        pairs=dict(sorted(pairs.items(), key=lambda item: -item[1])),
        effects={
            name: Effect(tuple(_value(dimension, level) for level in levels[name]), averages[name])
            for name, dimension in space.items()
        },
    )


def fewest_trials(space: Space) -> int:
    """How many trials it takes to say anything about the settings of a space."""
    return max(FEWEST_TRIALS, FEWEST_PER_SETTING * len(space))


def _points(levels: Sequence[Sequence[float]], seed: int) -> Float64Array:
    """Configurations made of the levels of each setting: all of them, or a sample.

    The levels are those that averages are taken at, so that the variance of the averages is a share of theirs.
    """
    if prod(map(len, levels)) <= N_POINTS:
        return np.array(list(product(*levels)))
    rng = np.random.default_rng(seed)
    return np.column_stack([rng.choice(own, size=N_POINTS) for own in levels])


def _levels(dimension: Dimension) -> list[float]:
    """The places at which a setting is looked at: all choices, or the middles of equal parts of a range."""
    if isinstance(dimension, Choice):
        return [float(number) for number in range(len(dimension.values))]
    middles = (np.arange(N_VALUES) + 0.5) / N_VALUES
    low, high = dimension.low, dimension.high
    spread = low * (high / low) ** middles if dimension.log else low + (high - low) * middles
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
