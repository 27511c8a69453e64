"""The only door to compiled code.

Every kernel fills arrays it is given and exists twice: compiled, and as its naive twin in `reference.py`, which is
its specification and its oracle. `RANKWRIGHT_KERNELS=reference`, read once at import, runs the library on the twins.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rankwright.errors import SettingError

_choice = os.environ.get("RANKWRIGHT_KERNELS", "compiled")
if _choice not in ("compiled", "reference"):
    raise SettingError(f"RANKWRIGHT_KERNELS must be 'compiled' or 'reference', got {_choice!r}")

if TYPE_CHECKING or _choice == "reference":
    from rankwright.kernels.reference import (
        add_leaf_values,
        bin_features,
        find_leaves,
        find_thresholds,
        grow_tree,
        quantise_lambdas,
        rank_rows,
        score_codes,
        score_forest,
    )
else:
    from rankwright.kernels._core import (
        add_leaf_values,
        bin_features,
        find_leaves,
        find_thresholds,
        grow_tree,
        quantise_lambdas,
        rank_rows,
        score_codes,
        score_forest,
    )

__all__ = [
    "add_leaf_values",
    "bin_features",
    "find_leaves",
    "find_thresholds",
    "grow_tree",
    "quantise_lambdas",
    "rank_rows",
    "score_codes",
    "score_forest",
]
