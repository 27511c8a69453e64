"""Configurations: a value for each setting of a space, as JSON can hold them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from itertools import product
from typing import Any

import numpy as np

from rankwright.errors import SettingError
from rankwright.settings.spaces import Choice, Dimension, Real, Space, Whole

Configuration = dict[str, Any]


def plain(value: Any) -> Any:
    """`value` as it comes back from JSON, so that what is stored is what was trained with."""
    return json.loads(json.dumps(value))


def canonical(value: Any) -> str:
    """The value as JSON text that does not depend on the order of keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def is_finite(space: Space) -> bool:
    """Whether every setting has a list of values."""
    return all(isinstance(dimension, Choice) for dimension in space.values())


def grid_size(space: Space) -> int:
    """How many configurations a space of lists has."""
    return math.prod(len(values) for values in _lists(space).values())


def grid_members(space: Space) -> Iterator[Configuration]:
    """Every configuration of a space of lists, the last setting changing fastest: the simplest come first."""
    lists = _lists(space)
    for values in product(*lists.values()):
        yield plain(dict(zip(lists, values, strict=True)))


def _lists(space: Space) -> dict[str, tuple[Any, ...]]:
    for name, dimension in space.items():
        if not isinstance(dimension, Choice):
            raise SettingError(
                f"a grid needs a list of values for every setting, and {name} has a range: "
                f"give a list, such as {name}=a,b,c, or search with another strategy"
            )
    return {name: dimension.values for name, dimension in space.items() if isinstance(dimension, Choice)}


def drawn(space: Space, rng: np.random.Generator) -> Configuration:
    """A configuration drawn at random."""
    configuration: Configuration = plain({name: _drawn_value(dimension, rng) for name, dimension in space.items()})
    return configuration


def _drawn_value(dimension: Dimension, rng: np.random.Generator) -> Any:
    if isinstance(dimension, Choice):
        return dimension.values[int(rng.integers(len(dimension.values)))]
    if isinstance(dimension, Real):
        if not dimension.log:
            return float(rng.uniform(dimension.low, dimension.high))
        drawn_log = float(np.exp(rng.uniform(math.log(dimension.low), math.log(dimension.high))))
        return min(max(drawn_log, dimension.low), dimension.high)
    if not dimension.log:
        return int(rng.integers(dimension.low, dimension.high, endpoint=True))
    # Every whole number owns the part of the scale from half below it to half above it.
    wide = np.exp(rng.uniform(math.log(dimension.low - 0.5), math.log(dimension.high + 0.5)))
    return int(np.clip(np.rint(wide), dimension.low, dimension.high))


def place(space: Space, configuration: Mapping[str, Any]) -> tuple[float, ...]:
    """The place of each value in its list, or in a range the value itself; smaller numbers count as simpler."""
    return tuple(place_of(dimension, configuration[name]) for name, dimension in space.items())


def place_of(dimension: Dimension, value: Any) -> float:
    """The place of a value in its list; in a range, the value itself."""
    if isinstance(dimension, Choice):
        return float([plain(one) for one in dimension.values].index(plain(value)))
    return float(value)


def describe(space: Space) -> dict[str, Any]:
    """The space in types JSON can hold."""
    return {
        name: plain(dimension.values)
        if isinstance(dimension, Choice)
        else {"kind": "whole" if isinstance(dimension, Whole) else "real"} | asdict(dimension)
        for name, dimension in space.items()
    }


def described_space(described: Mapping[str, Any]) -> Space:
    """The space that `describe` described."""
    kinds: dict[str, type[Whole] | type[Real]] = {"whole": Whole, "real": Real}
    return {
        name: Choice(tuple(one))
        if isinstance(one, list)
        else kinds[one["kind"]](one["low"], one["high"], log=one["log"])
        for name, one in described.items()
    }
