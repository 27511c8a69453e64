"""Forests as named arrays and back: what checkpoints and model files hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.trees.forest import Forest

N_FEATURES = "n_features"
_ARRAYS = tuple(field.name for field in fields(Forest) if field.name != N_FEATURES)


def forest_to_arrays(forest: Forest) -> dict[str, NDArray[Any]]:
    """Every part of the forest under its name."""
    return {name: getattr(forest, name) for name in _ARRAYS} | {N_FEATURES: np.array([forest.n_features], np.int64)}


def forest_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> Forest:
    """The forest that `forest_to_arrays` took apart."""
    return Forest(**{name: arrays[name] for name in _ARRAYS}, n_features=int(arrays[N_FEATURES][0]))
