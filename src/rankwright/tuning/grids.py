"""Spaces by name: the two grids of the slides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rankwright.errors import UnknownNameError
from rankwright.settings.spaces import Choice, Space

# The slides leave the number of trees open: as many as validation asks for.
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
            "min_docs_in_leaf": Choice((0.0050, 0.0025, 0.0012)),  # shares of the rows; the slides write per cent
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


def space_named(name: str) -> NamedSpace:
    """The space of that name."""
    if name not in NAMED_SPACES:
        raise UnknownNameError("space", name, known=NAMED_SPACES)
    return NAMED_SPACES[name]
