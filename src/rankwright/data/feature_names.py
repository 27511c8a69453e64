"""How features are called, the same everywhere: by name, or by number, counted from 1 as data files count them.

A feature without a name is called by its number. Where a name must not look like a number, as in the expressions of
some engines, it is `feature_` and that number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

from rankwright.errors import SettingError, UnknownNameError

MADE_UP = "feature_"  # what stands before the number where a name is wanted


@lru_cache(maxsize=16)  # every scoring asks for the names of its documents' features
def numbered_names(n_features: int) -> tuple[str, ...]:
    """The names of features that have none: their numbers from 1, as LETOR files count them."""
    return tuple(str(number) for number in range(1, n_features + 1))


def made_up_names(n_features: int) -> tuple[str, ...]:
    """The same as names that are no numbers: `feature_1`, `feature_2` and so on."""
    return tuple(f"{MADE_UP}{number}" for number in numbered_names(n_features))


def feature_columns(features: Iterable[int | str], names: Sequence[str]) -> list[int]:
    """The columns, counted from 0 as arrays are, of features that are given by name or by number.

    39 and "39" mean the same: the feature of that name, or else the 39th.
    """
    column_of = {name: column for column, name in reversed(list(enumerate(names)))}
    found: dict[int, int | str] = {}
    for feature in features:
        column = _column(feature, column_of)
        if column in found:
            raise SettingError(f"{found[column]!r} and {feature!r} are the same feature: name it once")
        found[column] = feature
    return list(found)


def _column(feature: int | str, column_of: dict[str, int]) -> int:
    text, n_features = str(feature), len(column_of)
    if text in column_of:
        return column_of[text]
    if not text.isdecimal():
        raise UnknownNameError("feature", text, known=column_of)
    if not 1 <= int(text) <= n_features:
        raise SettingError(f"there is no feature {text}: features count from 1, and there are {n_features}")
    return int(text) - 1
