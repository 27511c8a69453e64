"""What rankers are trained for: objectives, which turn the scores of a query's documents into a force on each."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankwright.objectives.deltas import DELTAS, Decay, MetricDelta, delta_named
from rankwright.objectives.function import from_function
from rankwright.objectives.listwise import GainSoftmax, Softmax
from rankwright.objectives.objective import LambdaFn, Lambdas, Objective
from rankwright.objectives.pair_losses import Hinge, Logistic, Spring
from rankwright.objectives.pairwise import PairwiseObjective
from rankwright.objectives.pointwise import LogisticError, SquaredError
from rankwright.objectives.registry import (
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

if TYPE_CHECKING:
    from rankwright.objectives.diagnostics import Diagnosis, diagnose

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


def __getattr__(name: str) -> Any:
    """Load what examines objectives only where it is asked for: training has no use for it."""
    if name in ("Diagnosis", "diagnose"):
        return getattr(import_module("rankwright.objectives.diagnostics"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
