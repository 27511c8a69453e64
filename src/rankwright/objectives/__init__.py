"""What rankers are trained for: objectives, which turn the scores of a query's documents into a force on each.

Names are loaded when first used: settings name the type of an objective, and need none of them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankwright.objectives.deltas import DELTAS, Decay, MetricDelta, delta_named
    from rankwright.objectives.diagnostics import Diagnosis, diagnose
    from rankwright.objectives.families import (
        OBJECTIVES,
        hinge,
        lambdarank,
        objective_named,
        paper_lambdarank,
        ranknet,
        spring,
        xendcg,
        yetirank,
    )
    from rankwright.objectives.function import from_function
    from rankwright.objectives.listwise import GainSoftmax, Softmax
    from rankwright.objectives.objective import LambdaFn, Lambdas, Objective
    from rankwright.objectives.pair_losses import Hinge, Logistic, Spring
    from rankwright.objectives.pairwise import PairwiseObjective
    from rankwright.objectives.pointwise import LogisticError, SquaredError

__all__ = [
    "DELTAS",
    "OBJECTIVES",
    "Decay",
    "Diagnosis",
    "GainSoftmax",
    "Hinge",
    "LambdaFn",
    "Lambdas",
    "Logistic",
    "LogisticError",
    "MetricDelta",
    "Objective",
    "PairwiseObjective",
    "Softmax",
    "Spring",
    "SquaredError",
    "delta_named",
    "diagnose",
    "from_function",
    "hinge",
    "lambdarank",
    "objective_named",
    "paper_lambdarank",
    "ranknet",
    "spring",
    "xendcg",
    "yetirank",
]

_NAMES_OF = {
    "deltas": ("DELTAS", "Decay", "MetricDelta", "delta_named"),
    "diagnostics": ("Diagnosis", "diagnose"),
    "function": ("from_function",),
    "listwise": ("GainSoftmax", "Softmax"),
    "objective": ("LambdaFn", "Lambdas", "Objective"),
    "pair_losses": ("Hinge", "Logistic", "Spring"),
    "pairwise": ("PairwiseObjective",),
    "pointwise": ("LogisticError", "SquaredError"),
    "families": (
        "OBJECTIVES",
        "hinge",
        "lambdarank",
        "objective_named",
        "paper_lambdarank",
        "ranknet",
        "spring",
        "xendcg",
        "yetirank",
    ),
}
_HOME_OF = {name: module for module, names in _NAMES_OF.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
