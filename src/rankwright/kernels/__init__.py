"""The only way from Python to compiled code.

Every kernel fills arrays it is given and exists twice: compiled, and as its naive twin in `reference.py`, which is its
specification and its oracle; that module also lists all kernels. `RANKWRIGHT_KERNELS=reference`, read once at import,
runs the library on the twins.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING

from rankwright.errors import SettingError
from rankwright.kernels.reference import NAMES as NAMES

if TYPE_CHECKING:
    from rankwright.kernels.reference import *  # noqa: F403

_MODULE_OF = {"compiled": "rankwright.kernels._core", "reference": "rankwright.kernels.reference"}
_choice = os.environ.get("RANKWRIGHT_KERNELS", "compiled")
if _choice not in _MODULE_OF:
    raise SettingError(f"RANKWRIGHT_KERNELS must be 'compiled' or 'reference', got {_choice!r}")

_chosen = import_module(_MODULE_OF[_choice])
globals().update({name: getattr(_chosen, name) for name in NAMES})
