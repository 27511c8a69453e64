"""LambdaRank's Figure 1 and its statements on Jacobians: when λ's have a cost, and when it is convex."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.objectives.diagnostics import Diagnosis, diagnose
from rankwright.objectives.families import hinge, objective_named, spring
from rankwright.objectives.force_field import ForceField
from rankwright.objectives.function import from_function
from rankwright.objectives.objective import Objective
from rankwright.reproduce.experiment import LAMBDARANK, PaperExperiment, Result, RunPart, Setup, grid_parts
from rankwright.reproduce.outcome import Claim, Figure, Findings, PaperTable

NAME = "lambdarank-figure1"
GAPS = (-2.0, -1.0, -0.5, 0.25, 0.5, 0.75, 1.0, 2.0)
LONGER = (2, 0, 1, 0, 0, 1)  # labels of a longer list
WELL_DEPTH = 2.0


def two_wells(scores: Float64Array, labels: Float64Array) -> Float64Array:  # noqa: ARG001
    """The gradient of Σ cos(2 s): a cost, but no convex one."""
    return -WELL_DEPTH * np.sin(WELL_DEPTH * scores)


OBJECTIVES: Mapping[str, tuple[Objective, tuple[int, ...]]] = {
    "two documents, δ = 1": (spring(), (1, 0)),
    "two documents, δ = 2": (spring(margin=2.0), (1, 0)),
    "a spring between all pairs": (spring(), LONGER),
    "piecewise constant λ": (hinge(), LONGER),
    "RankNet": (objective_named("ranknet"), LONGER),
    "LambdaRank, NDCG@10": (objective_named("lambdarank:ndcg@10"), LONGER),
    "a cost that is not convex": (from_function(two_wells), LONGER),
}


def parts(_: Setup) -> list[RunPart]:
    """The figure, and a diagnosis of each objective."""
    return [RunPart(NAME, "figure", {"objective": None}), *grid_parts(NAME, "{objective}", objective=OBJECTIVES)]


def run(setup: Setup, values: Mapping[str, Any]) -> Result:
    """The λ of the first document at each gap, or whether an objective has a cost."""
    if values["objective"] is None:
        field = ForceField.of(spring(), (1, 0))
        points = np.array([[gap, 0.0] for gap in GAPS])
        return {"λ": (-field.gradient(points)[:, 0]).tolist(), "cost": field.cost(points).tolist()}
    objective, labels = OBJECTIVES[values["objective"]]
    return _told(diagnose(objective, labels, seed=setup.seed))


def _told(found: Diagnosis) -> Result:
    names = ("has_symmetric_jacobian", "has_cost", "is_semidefinite", "is_convex", "alpha", "cost_error")
    return {name: getattr(found, name) for name in names} | {
        "asymmetry": found.asymmetry.size,
        "lowest": found.lowest_eigenvalue.size,
    }


def _eq4_to_6(x: float) -> float:
    return 1.0 if x < 0 else 1.0 - x if x <= 1 else 0.0


def _eq7_to_9(x: float) -> float:
    return -x if x < 0 else 0.5 * x * x - x if x <= 1 else -0.5


def conclude(_: Setup, results: Mapping[str, Result]) -> Findings:
    """The figure beside the equations, the diagnoses, and the paper's statements."""
    figure = results["figure"]
    level = figure["cost"][GAPS.index(2.0)] + 0.5  # costs are equal up to a constant
    costs = [cost - level for cost in figure["cost"]]
    rows = {
        "λ of the first": {f"x = {x:g}": Figure(own, _eq4_to_6(x)) for x, own in zip(GAPS, figure["λ"], strict=True)},
        "cost": {f"x = {x:g}": Figure(own, _eq7_to_9(x)) for x, own in zip(GAPS, costs, strict=True)},
    }
    found = {name: results[name] for name in OBJECTIVES}
    diagnoses = {
        name: {
            "symmetric": Figure(float(one["has_symmetric_jacobian"])),
            "has a cost": Figure(float(one["has_cost"])),
            "convex": Figure(float(one["is_convex"])),
            "lowest eigenvalue": Figure(one["lowest"]),
        }
        for name, one in found.items()
    }
    tables = [
        PaperTable("Figure 1, δ = 1; in brackets Eq. 4-9", rows, 3),
        PaperTable("Jacobians: 1 is yes, 0 is no", diagnoses, 3),
    ]
    exact = all(
        abs((figure.ours or 0) - (figure.paper or 0)) < 1e-6 for row in rows.values() for figure in row.values()
    )
    note = "whether a cost exists is tested at random points: a violation that is found is certain"
    return Findings(
        tables, [Claim("forces and cost are those of Eq. 4-9", exact, "to six digits"), *_claims(found)], [note]
    )


def _claims(found: Mapping[str, Result]) -> list[Claim]:
    one, wide, constant = (
        found[name] for name in ("two documents, δ = 1", "two documents, δ = 2", "piecewise constant λ")
    )
    rank, wells = found["LambdaRank, NDCG@10"], found["a cost that is not convex"]
    alpha = wells["alpha"] or 0.0
    return [
        Claim(
            "λ's with a symmetric Jacobian are the derivatives of a cost (Eq. 11)",
            one["has_cost"] and one["cost_error"] < 1e-6,
            f"integrating the forces gives the cost back to {one['cost_error']:.1g}",
        ),
        Claim(
            "the Hessian of Figure 1's cost is positive semidefinite",
            one["is_convex"],
            f"lowest eigenvalue {one['lowest']:.2g} for δ = 1; for δ = 2 the force jumps up at 0, and the cost is "
            f"{'convex' if wide['is_convex'] else 'not convex'}",
        ),
        Claim(
            "piecewise constant λ's meet both conditions",
            constant["has_symmetric_jacobian"] and constant["is_semidefinite"],
            f"asymmetry {constant['asymmetry']:.2g}, lowest eigenvalue {constant['lowest']:.2g}",
        ),
        Claim(
            "adding α s_i makes a symmetric Jacobian positive definite",
            wells["has_cost"] and not wells["is_convex"] and alpha > 0,
            f"lowest eigenvalue {wells['lowest']:.3f}; α = {alpha:.3f} is enough",
        ),
        Claim(
            "λ's can be chosen for which no cost exists",
            not rank["has_cost"],
            f"LambdaRank's forces for NDCG: asymmetry {rank['asymmetry']:.2g}",
        ),
    ]


EXPERIMENT = PaperExperiment(NAME, LAMBDARANK, "λ for two documents, costs and Jacobians", parts, run, conclude)
