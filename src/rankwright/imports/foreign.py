"""What reading another tool's model gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankwright.errors import InputError
from rankwright.trees.forests.forest import Forest

MOST_FOREIGN_FEATURES = 2**20  # that a file may state: readers of data make room for all of them


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ForeignForest:
    """A forest of another tool.

    `knows_width` is False where the file does not tell how many features there are: `forest` has as many as its splits
    use. `notes` say what is good to know about the scores.
    """

    source: str
    forest: Forest
    base_score: float = 0.0
    feature_names: tuple[str, ...] = ()
    knows_width: bool = True
    notes: Sequence[str] = ()


def checked_width(n_features: int) -> int:
    """The number of features that a file states, after a check that it is a sensible one."""
    if not 0 <= n_features <= MOST_FOREIGN_FEATURES:
        raise InputError(f"the number of features must lie between 0 and {MOST_FOREIGN_FEATURES}, got {n_features}")
    return n_features


def names_if_own(names: Sequence[str], n_features: int, made_up: str) -> tuple[str, ...]:
    """The features' names, or none where the tool made them up from their numbers."""
    own = tuple(names)
    if len(own) != n_features or own == tuple(f"{made_up}{number}" for number in range(n_features)):
        return ()
    return own
