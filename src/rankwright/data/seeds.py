"""Random generators and the seeds they start from."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from rankwright.errors import SettingError

Seed: TypeAlias = "int | np.random.Generator"  # a text, because loading NumPy's generators takes a while


def generator(seed: Seed) -> np.random.Generator:
    """The generator itself, or a new one that starts from a seed: the same seed gives the same draws."""
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(seed_number(seed))


def seed_number(seed: object) -> int:
    """`seed` as an integer, after a check that it is a whole number of 0 or more."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise SettingError(f"seed must be a whole number of 0 or more, got {seed!r}")
    return int(seed)
