"""What is searched: spaces by name, from files and from text, and a ranker with the space of its settings."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sklearn.base import clone

from rankwright.catalog.settings import ranker_from_text
from rankwright.errors import FileFormatError, SettingError, UnknownNameError, require_type
from rankwright.rankers.ranker import Ranker
from rankwright.settings.spaces import Choice, Dimension, Real, Space, Whole
from rankwright.settings.text import values_of

RANGE = ".."
LOG = ":log"
# Ganjisaffar's slides leave the number of trees open: as many as validation asks for.
ENOUGH_TREES: Mapping[str, Any] = {"n_trees": 1000, "early_stopping": 100}


@dataclass(frozen=True, slots=True)
class NamedSpace:
    """A space, and settings that go with it unless others are given."""

    space: Space
    settings: Mapping[str, Any] = field(default_factory=dict)
    summary: str = ""


NAMED_SPACES: Mapping[str, NamedSpace] = {
    "slides-a": NamedSpace(
        {
            "max_leaves": Choice((2, 4, 7, 10, 15, 20, 25)),
            "min_docs_in_leaf": Choice((0.0050, 0.0025, 0.0012)),  # shares of the rows; the slides have per cent
            "learning_rate": Choice((0.05, 0.1, 0.2, 0.3)),
            "query_fraction": Choice((0.3, 0.5, 1.0)),
            "feature_fraction": Choice((0.1, 0.3, 0.5, 1.0)),
        },
        ENOUGH_TREES,
        "1,008 configurations: TD2004 and MQ2007",
    ),
    "slides-b": NamedSpace(
        {
            "max_leaves": Choice((10, 40, 70)),
            "min_docs_in_leaf": Choice((0.0050, 0.0025, 0.0012)),
            "learning_rate": Choice((0.05, 0.1, 0.2)),
            "query_fraction": Choice((0.5, 1.0)),
            "feature_fraction": Choice((0.3, 0.5, 1.0)),
        },
        ENOUGH_TREES,
        "162 configurations: MSLR-WEB10K",
    ),
}


def space_from_text(texts: Iterable[str]) -> Space:
    """The space that texts such as `max_leaves=7,15,31` describe."""
    space: dict[str, Dimension] = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not values.strip():
            raise SettingError(f"a search reads like max_leaves=7,15,31 or learning_rate=0.01..0.3:log, got {text!r}")
        space[name.strip()] = dimension_from_text(values.strip())
    return space


def dimension_from_text(text: str) -> Dimension:
    """The values that a list or a range describes."""
    if RANGE in text:
        return _range(text)
    try:
        return Choice(tuple(json.loads(f"[{text}]")))
    except json.JSONDecodeError:
        return Choice(tuple(values_of([f"value={one}"])["value"] for one in text.split(",")))


def _range(text: str) -> Dimension:
    log = text.endswith(LOG)
    ends = text.removesuffix(LOG).split(RANGE)
    numbers = [values_of([f"end={end}"])["end"] for end in ends]
    if len(numbers) != 2 or not all(isinstance(one, int | float) and not isinstance(one, bool) for one in numbers):
        raise SettingError(f"a range reads like 0.01..0.3 or 0.01..0.3:log, got {text!r}")
    low, high = numbers
    if isinstance(low, int) and isinstance(high, int):
        return Whole(low, high, log=log)
    return Real(float(low), float(high), log=log)


def space_from_name(name: str) -> NamedSpace:
    """The space of that name, or the one in a .json or .toml file: a list of values or a range for each setting."""
    if name in NAMED_SPACES:
        return NAMED_SPACES[name]
    if not name.endswith((".json", ".toml")):
        raise UnknownNameError("space", name, known=NAMED_SPACES)
    path = Path(name)
    try:
        text = path.read_text(encoding="utf-8")
        read = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except (json.JSONDecodeError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileFormatError(name, f"cannot be read as {path.suffix[1:].upper()}: {error}") from None
    if not isinstance(read, Mapping):
        raise FileFormatError(name, "must map names of settings to lists of values or to ranges")
    return NamedSpace({key: _dimension_of(name, key, value) for key, value in read.items()})


def _dimension_of(path: str, name: str, value: Any) -> Dimension:
    if isinstance(value, list):
        return Choice(tuple(value))
    if isinstance(value, str) and RANGE in value:
        return _range(value)
    raise FileFormatError(path, f'{name} must be a list of values or a range such as "0.01..0.3:log", got {value!r}')


OWN = "own"  # what a text calls the ranker's own space


def searched_space(
    ranker: Ranker | str, space: Space | str | None, *, keeps: Collection[str] = ()
) -> tuple[Ranker, Space]:
    """A copy of the ranker, and the space to search.

    A named space brings further settings. They replace defaults of the ranker, except those named in `keeps`.
    """
    require_type(ranker, (str, Ranker), "ranker", "the name of a ranker, or a ranker such as LambdaMART()")
    own: Ranker = ranker_from_text(ranker) if isinstance(ranker, str) else clone(ranker)
    if space is None:
        return own, own.space
    if not isinstance(space, str):
        return own, space
    found = space_from_name(space)
    mine, defaults = own.get_params(deep=False), type(own)().get_params(deep=False)
    beside = {
        name: value
        for name, value in found.settings.items()
        if name in mine and mine[name] == defaults[name] and name not in keeps
    }
    return own.set_params(**beside), found.space


def search_from_text(
    ranker: str, settings: Sequence[str] = (), *, space: str | None = None, search: Sequence[str] = ()
) -> tuple[Ranker, Space]:
    """The ranker of that name with its `settings`, each as `key=value`, and the space to search.

    `space` is "own", the name of a space, or a file. Entries of `search`, as `key=a,b,c` or `key=low..high`, replace
    those of the space; without `space` they are the whole space. A setting that is given is not searched.
    """
    fixed = values_of(settings)
    chosen, found = searched_space(ranker_from_text(ranker, settings), None if space == OWN else space, keeps=fixed)
    if space is None and search:
        return chosen, space_from_text(search)
    narrowed = {name: dimension for name, dimension in found.items() if name not in fixed}
    return chosen, narrowed | dict(space_from_text(search))
