"""The only way from Python to compiled code.

Every kernel fills arrays it is given and exists twice: compiled, and as its naive twin in `reference.py`, which is its
specification and its oracle; that module also lists all kernels. `RANKWRIGHT_KERNELS=reference`, read once at import,
runs the library on the twins.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.kernels.reference import *  # noqa: F403
    from rankwright.kernels.reference import NAMES as NAMES

_MODULE_OF = {"compiled": "rankwright.kernels._core", "reference": "rankwright.kernels.reference"}
_choice = os.environ.get("RANKWRIGHT_KERNELS", "compiled")
require(_choice in _MODULE_OF, f"RANKWRIGHT_KERNELS must be 'compiled' or 'reference', got {_choice!r}")

_chosen = import_module(_MODULE_OF[_choice])
# What is compiled is all that has a twin, which a test makes sure of: the twins need not be loaded for their names.
_names = [name for name in dir(_chosen) if not name.startswith("_")] if _choice == "compiled" else _chosen.NAMES
globals().update({name: getattr(_chosen, name) for name in _names})


def __getattr__(name: str) -> Any:
    if name == "NAMES":
        return import_module("rankwright.kernels.reference").NAMES
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
