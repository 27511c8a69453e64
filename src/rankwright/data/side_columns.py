"""Side columns: what is known of documents besides features, such as a price, for functions of the user's own.

A function asks for a side column by the name of a parameter: `def earned(labels, scores, margin)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float32Array, as_vector
from rankwright.data.columns import quoted_list
from rankwright.data.frames import values_of
from rankwright.errors import InputError, require_type

Side = Mapping[str, Float32Array]


def as_side(side: Mapping[str, ArrayLike] | None, length: int) -> dict[str, Float32Array] | None:
    """The columns as arrays of float32 with a value for each document; None where there are none."""
    if side is None:
        return None
    require_type(side, Mapping, "side", "a mapping of names to arrays")
    found = {
        str(name): as_vector(values_of(values), name=f"side column {name!r}", dtype=np.float32, length=length)
        for name, values in side.items()
    }
    return found or None


def rows_of(side: Side | None, rows: Any) -> dict[str, Float32Array] | None:
    """The columns of some rows."""
    return None if side is None else {name: values[rows] for name, values in side.items()}


def joined_sides(sides: Sequence[Side | None]) -> dict[str, Float32Array] | None:
    """The columns of one part after those of another; those that every part has."""
    first = sides[0] or {}
    shared = [name for name in first if all(side is not None and name in side for side in sides)]
    return {name: np.concatenate([side[name] for side in sides if side is not None]) for name in shared} or None


def columns_asked_for(function: Callable[..., Any], n_given: int) -> tuple[str, ...]:
    """The side columns that a function asks for: parameters without a default, after those that it is given anyway."""
    try:
        parameters = list(signature(function).parameters.values())[n_given:]
    except (TypeError, ValueError):  # those of C tell nothing
        return ()
    plain = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    return tuple(one.name for one in parameters if one.kind in plain and one.default is Parameter.empty)


def side_for(names: Sequence[str], side: Side | None, asker: str, n_docs: int) -> dict[str, Float32Array]:
    """The columns of these names, which `asker` asks for."""
    lacking = [name for name in names if name not in (side or {})]
    if lacking and n_docs:
        has = quoted_list(list(side)) if side else "none at all"
        raise InputError(
            f"{asker} asks for {lacking[0]!r}, and the data has no such side column ({has}): make or read the data "
            f"with side=, or give the parameter a default"
        )
    return {name: (side or {}).get(name, np.empty(0, np.float32)) for name in names}
