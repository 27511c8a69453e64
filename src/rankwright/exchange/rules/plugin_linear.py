"""How the plugins score `model/linear`: weights times features, in float32; a missing feature is 0."""

from __future__ import annotations

import json

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.errors import InputError


def score(content: bytes, features: Float32Array) -> Float32Array:
    """The scores of the weights, whose order is that of the features."""
    weights = json.loads(content)
    if len(weights) != features.shape[1]:
        raise InputError(f"{len(weights)} weights do not fit {features.shape[1]} features")
    total = np.zeros(len(features), np.float32)
    for column, weight in enumerate(weights.values()):
        total += np.nan_to_num(features[:, column], nan=0.0) * np.float32(weight)
    return total
