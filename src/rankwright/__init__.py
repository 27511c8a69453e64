"""Learning to rank: from judgments or clicks to a measured, explained, deployed ranker.

Names are loaded when first used, so that `import rankwright` costs little more than NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankwright.data.dataset import RankingDataset
    from rankwright.data.groups import Groups
    from rankwright.data.preferences import Preferences
    from rankwright.data.svmlight import iter_svmlight, read_svmlight, write_svmlight
    from rankwright.errors import RankwrightError

# Where each public name lives.
_HOME_OF = {
    "Groups": "rankwright.data.groups",
    "Preferences": "rankwright.data.preferences",
    "RankingDataset": "rankwright.data.dataset",
    "RankwrightError": "rankwright.errors",
    "iter_svmlight": "rankwright.data.svmlight",
    "read_svmlight": "rankwright.data.svmlight",
    "write_svmlight": "rankwright.data.svmlight",
}

__all__ = [
    "Groups",
    "Preferences",
    "RankingDataset",
    "RankwrightError",
    "__version__",
    "iter_svmlight",
    "read_svmlight",
    "write_svmlight",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("rankwright")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'rankwright' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
