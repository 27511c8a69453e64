"""RankNet's Figure 1: the cost of a pair for three target probabilities, and how probabilities combine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.objectives.families import objective_named
from rankwright.objectives.force_field import ForceField
from rankwright.reproduce.experiment import RANKNET, PaperExperiment, Result, RunPart, Setup, grid_parts
from rankwright.reproduce.outcome import Claim, Figure, Findings, PaperTable
from rankwright.targets import combine

NAME = "ranknet-figure1"
TARGETS = (0.0, 0.5, 1.0)
GAPS = (-5.0, -2.5, 0.0, 2.5, 5.0)
FAR = 30.0  # a gap at which the cost is a straight line to the last digit
STEPS = (0.1, 0.3, 0.5, 0.6, 0.7, 0.9)


def parts(_: Setup) -> list[RunPart]:
    """One part for each panel."""
    return grid_parts(NAME, "{panel}", panel=("costs", "chains"))


def run(_: Setup, values: Mapping[str, Any]) -> Result:
    """The costs that the kernels compute at each gap, or the combined probabilities."""
    if values["panel"] == "costs":
        return {"costs": {str(target): _costs(target, [*GAPS, FAR, FAR + 1]) for target in TARGETS}}
    inner = np.linspace(0.001, 0.999, 999)
    combined = np.asarray(combine(inner, inner))
    ends = [float(combine(one, one)) for one in (0.0, 0.5, 1.0)]
    below, above = inner < 0.4995, inner > 0.5005
    return {
        "combined": {str(step): float(combine(step, step)) for step in STEPS},
        "at 0, 0.5 and 1": ends,
        "all lower below 0.5": bool((combined[below] < inner[below]).all()),
        "all higher above 0.5": bool((combined[above] > inner[above]).all()),
    }


def _costs(target: float, gaps: list[float]) -> list[float]:
    """The cost of a pair whose first document should be the better one with probability `target`."""
    flipped = target < 0.5  # preferences name the likelier document first
    pair = Preferences(
        np.array([int(flipped)]), np.array([int(not flipped)]), np.array([max(target, 1 - target)]), np.array([1.0])
    )
    query = RankingDataset.from_arrays(np.zeros((2, 1)), qid=np.zeros(2, int), preferences=pair)
    field = ForceField.of(objective_named("ranknet"), query)
    return [float(cost) for cost in field.cost(np.array([[gap, 0.0] for gap in gaps]))]


def conclude(_: Setup, results: Mapping[str, Result]) -> Findings:
    """Both panels beside the formulas, and the properties that the paper points out."""
    costs, chains = results["costs"]["costs"], results["chains"]
    rows = {
        f"P̄ = {target:g}": {
            f"o = {gap:g}": Figure(costs[str(target)][place], -target * gap + float(np.logaddexp(0, gap)))
            for place, gap in enumerate(GAPS)
        }
        for target in TARGETS
    }
    combined = {"P̄ik": {f"P = {step:g}": Figure(chains["combined"][str(step)], _by_formula(step)) for step in STEPS}}
    tables = [
        PaperTable("Left panel, cost of a pair; in brackets Eq. 3", rows),
        PaperTable("Right panel, two steps of probability P; in brackets Eq. 5", combined),
    ]
    return Findings(tables, _claims(costs, chains))


def _by_formula(step: float) -> float:
    return step * step / (1 + 2 * step * step - 2 * step)


def _claims(costs: Mapping[str, list[float]], chains: Result) -> list[Claim]:
    rise = costs["0.0"][-1] - costs["0.0"][-2]
    tied, sixty = costs["0.5"], chains["combined"]["0.6"]
    exact = all(
        abs(cost - (-target * gap + float(np.logaddexp(0, gap)))) < 1e-6
        for target in TARGETS
        for gap, cost in zip(GAPS, costs[str(target)], strict=False)
    )
    return [
        Claim("the cost is that of Eq. 3", exact, "to six digits at every point of the table"),
        Claim("the cost becomes a straight line", abs(rise - 1) < 1e-6, f"its slope is {rise:.6f} at a gap of {FAR:g}"),
        Claim(
            "for P̄ = ½ it is symmetric and lowest where the scores are equal",
            abs(tied[0] - tied[4]) < 1e-6 and min(tied) == tied[2],
            f"{tied[0]:.4f} at -5, {tied[2]:.4f} at 0, {tied[4]:.4f} at 5",
        ),
        Claim("certainty and complete doubt stay as they are", chains["at 0, 0.5 and 1"] == [0.0, 0.5, 1.0], "0, ½, 1"),
        Claim(
            "confidence grows along a chain, and so does lack of it",
            chains["all lower below 0.5"] and chains["all higher above 0.5"] and sixty > 0.6,
            f"two steps of 0.6 make {sixty:.4f}",
        ),
    ]


EXPERIMENT = PaperExperiment(NAME, RANKNET, "Costs and combined probabilities", parts, run, conclude)
