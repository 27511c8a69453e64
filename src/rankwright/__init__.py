"""Learning to rank: from judgments or clicks to a measured, explained, deployed ranker.

Names are loaded when first used, so that `import rankwright` costs little more than NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankwright.data import scaling, synthetic
    from rankwright.data.dataset import RankingDataset
    from rankwright.data.groups import Groups
    from rankwright.data.preferences import Preferences
    from rankwright.data.splits import QueryKFold
    from rankwright.errors import RankwrightError

# Where each public name lives; a module lives under its own name.
_HOME_OF = {
    "Groups": "rankwright.data.groups",
    "Preferences": "rankwright.data.preferences",
    "QueryKFold": "rankwright.data.splits",
    "RankingDataset": "rankwright.data.dataset",
    "RankwrightError": "rankwright.errors",
    "scaling": "rankwright.data.scaling",
    "synthetic": "rankwright.data.synthetic",
}

__all__ = [
    "Groups",
    "Preferences",
    "QueryKFold",
    "RankingDataset",
    "RankwrightError",
    "__version__",
    "scaling",
    "synthetic",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("rankwright")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'rankwright' has no attribute {name!r}")
    home = import_module(_HOME_OF[name])
    value = home if _HOME_OF[name].endswith(f".{name}") else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
