"""What rankers are trained for: objectives, which turn the scores of a query's documents into a force on each.

Names are loaded when first used: settings name the type of an objective, and need none of them. The imports below,
which only type checkers run, say where each name is defined.
"""

# ruff: noqa: F401
# mypy: implicit-reexport

import ast
from importlib import import_module
from pathlib import Path
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
    from rankwright.objectives.objective import LambdaFn, Lambdas, Objective
    from rankwright.objectives.pairless import GainSoftmax, LogisticError, Softmax, SquaredError
    from rankwright.objectives.pairwise import Hinge, Logistic, PairwiseObjective, Spring

_SOURCE = ast.parse(Path(__file__).read_text(encoding="utf-8"))
_HOME_OF = {
    alias.name: str(node.module)
    for node in ast.walk(_SOURCE)
    if isinstance(node, ast.ImportFrom) and str(node.module).startswith(__name__)
    for alias in node.names
}

__all__ = sorted(_HOME_OF)  # read from the imports above


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOME_OF[name]), name)


def __dir__() -> list[str]:
    return __all__
