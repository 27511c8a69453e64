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
    from rankwright.errors import RankwrightError
    from rankwright.metrics.comparison import compare_conventions
    from rankwright.metrics.convention import Convention, parse_convention
    from rankwright.metrics.evaluation import Evaluation, evaluate
    from rankwright.metrics.registry import Measure, parse_metric
    from rankwright.metrics.runs import evaluate_run
    from rankwright.ranking.gains import Gain
    from rankwright.ranking.order import Ranking, Ties, rank

# Where each public name lives.
_HOME_OF = {
    "Convention": "rankwright.metrics.convention",
    "Evaluation": "rankwright.metrics.evaluation",
    "Gain": "rankwright.ranking.gains",
    "Groups": "rankwright.data.groups",
    "Measure": "rankwright.metrics.registry",
    "Preferences": "rankwright.data.preferences",
    "Ranking": "rankwright.ranking.order",
    "RankingDataset": "rankwright.data.dataset",
    "RankwrightError": "rankwright.errors",
    "Ties": "rankwright.ranking.order",
    "compare_conventions": "rankwright.metrics.comparison",
    "evaluate": "rankwright.metrics.evaluation",
    "evaluate_run": "rankwright.metrics.runs",
    "parse_convention": "rankwright.metrics.convention",
    "parse_metric": "rankwright.metrics.registry",
    "rank": "rankwright.ranking.order",
}

__all__ = [
    "Convention",
    "Evaluation",
    "Gain",
    "Groups",
    "Measure",
    "Preferences",
    "Ranking",
    "RankingDataset",
    "RankwrightError",
    "Ties",
    "__version__",
    "compare_conventions",
    "evaluate",
    "evaluate_run",
    "parse_convention",
    "parse_metric",
    "rank",
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
