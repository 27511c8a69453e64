"""LambdaRank's example of winner takes all: 996 pair errors fewer, and the worst WTA cost; forces and nets that follow.

A query has two relevant documents among 1,000. Moving one from rank 1000 to rank 3 and the other from 1 to 2 repairs
996 pairs and loses the winner. Then the forces where they stand at ranks 2 and 1000: the paper wants the push on the
first to be much the larger (Eq. 1). Last, linear nets trained for pairs and for WTA on the same data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.metrics.evaluation import evaluate
from rankwright.nets.net_rankers import NetRanker
from rankwright.objectives.families import objective_named
from rankwright.objectives.force_field import ForceField
from rankwright.reproduce.experiment import LAMBDARANK, PaperExperiment, Result, RunPart, Setup, grid_parts
from rankwright.reproduce.fold_values import THREADS, ahead, by_fold, figure_of, values_on
from rankwright.reproduce.outcome import Claim, Figure, Findings, PaperTable
from rankwright.synthetic import web_search

NAME = "lambdarank-wta"
N_DOCS = 1000
OBJECTIVES = ("ranknet", "lambdarank:wta", "lambdarank:mrr", "lambdarank:ndcg@10")
MUCH = 10.0  # times
WTA, PAIRS = "wta", "pair-accuracy"
FEW_PAIRS = "forces for WTA come from the first document of each query alone, which is little to learn from"
WON = "winner relevant"  # 1 less the WTA cost


def parts(_: Setup) -> list[RunPart]:
    """The example, the forces, and a net for each objective."""
    return [
        *grid_parts(NAME, "{what}", what=("example", "forces")),
        *grid_parts(NAME, "net for {net}", net=OBJECTIVES[:2]),
    ]


def run(setup: Setup, values: Mapping[str, Any]) -> Result:
    """One of the three questions."""
    if "net" in values:
        return _net(setup, values["net"])
    return _example() if values["what"] == "example" else _forces()


def _labels(first: int, second: int) -> np.ndarray:
    """Labels by rank: relevant at these two ranks, counted from 1."""
    labels = np.zeros(N_DOCS)
    labels[[first - 1, second - 1]] = 1
    return labels


def _example() -> Result:
    scores = -np.arange(N_DOCS, dtype=np.float64)
    found = {}
    for name, ranks in (("before", (1, 1000)), ("after", (2, 3))):
        query = RankingDataset.from_arrays(np.zeros((N_DOCS, 1)), _labels(*ranks), qid=np.zeros(N_DOCS, int))
        measured = evaluate(scores, query, ["pair-error", WTA], threads=THREADS)
        n_pairs = 2 * (N_DOCS - 2)
        errors = round(measured["pair-error"].mean * n_pairs)
        found[name] = {"pair errors": errors, "WTA cost": measured[WTA].mean}
    return found


def _forces() -> Result:
    scores = np.linspace(1, -1, N_DOCS)
    found = {}
    for name in OBJECTIVES:
        gradient = ForceField.of(objective_named(name), _labels(2, 1000)).gradient(scores[None])[0]
        found[name] = [abs(float(gradient[1])), abs(float(gradient[-1]))]
    return {"forces": found}


def _net(setup: Setup, objective: str) -> Result:
    data = web_search(setup.pick(3000, 900, 18), docs_per_query=40, seed=setup.seed)
    assert data.labels is not None
    binary = RankingDataset.from_arrays(
        data.features, (data.labels >= 2).astype(np.float32), qid=data.groups.query_of_row
    )
    thirds = np.array_split(np.arange(binary.n_queries), 3)
    train, valid, test = (binary.take_queries(one) for one in thirds)
    metric = WTA if objective.endswith(WTA) else PAIRS
    net = NetRanker(
        objective=objective, hidden=(), select=metric, epochs=setup.pick(100, 50, 2), seed=setup.seed, threads=THREADS
    ).fit(train, valid=valid)
    found = values_on(net, test, [WTA, PAIRS], "skip-empty")
    won = [None if cost is None else 1 - cost for cost in found[WTA]]
    return {"values": {WON: won, PAIRS: found[PAIRS]}}


def conclude(_: Setup, results: Mapping[str, Result]) -> Findings:
    """The example's numbers, the forces, the nets, and what the paper says of them."""
    before, after = results["example"]["before"], results["example"]["after"]
    forces = results["forces"]["forces"]
    moves = {
        "ranks 1 and 1000": {"pair errors": Figure(before["pair errors"]), "WTA cost": Figure(before["WTA cost"], 0.0)},
        "ranks 2 and 3": {"pair errors": Figure(after["pair errors"]), "WTA cost": Figure(after["WTA cost"], 1.0)},
        "fewer": {"pair errors": Figure(before["pair errors"] - after["pair errors"], 996.0)},
    }
    pushes = {
        name: {"on rank 2": Figure(top), "on rank 1000": Figure(bottom), "ratio": Figure(top / bottom)}
        for name, (top, bottom) in forces.items()
    }
    nets = {name: _by_metric(results[f"net for {name}"]) for name in OBJECTIVES[:2]}
    reached = {name: {WON: figure_of(values[WON]), PAIRS: figure_of(values[PAIRS])} for name, values in nets.items()}
    tables = [
        PaperTable("The example", moves, 0),
        PaperTable("Forces on the relevant documents", pushes, 4),
        PaperTable("Linear nets on web-search-like data, labels 0 and 1", reached),
    ]
    pairwise, winner = OBJECTIVES[:2]
    ratios = ", ".join(f"{name} {top / bottom:.3g}" for name, (top, bottom) in forces.items())
    claims = [
        Claim(
            "996 pair errors fewer, and WTA cost goes from 0 to 1",
            before["pair errors"] - after["pair errors"] == 996 and before["WTA cost"] == 0 and after["WTA cost"] == 1,
            f"{before['pair errors']} errors before, {after['pair errors']} after",
        ),
        Claim("a cost of pairs pushes the wrong one harder", forces[pairwise][0] < forces[pairwise][1], ratios),
        Claim(
            "forces that aim at the winner push the document at rank 2 much harder (Eq. 1)",
            all(top > MUCH * bottom for name, (top, bottom) in forces.items() if name != pairwise),
            ratios,
        ),
        ahead("a net trained for WTA wins more often", nets[winner][WON], nets[pairwise][WON], (winner, pairwise),
              otherwise=FEW_PAIRS),
        ahead("a net trained for pairs has more pairs right", nets[pairwise][PAIRS], nets[winner][PAIRS],
              (pairwise, winner), otherwise=FEW_PAIRS),
    ]  # fmt: skip
    return Findings(tables, claims, ["nets are trained on synthetic data; the paper trains none"])


def _by_metric(result: Result) -> dict[str, Any]:
    """The values of both metrics."""
    return {metric: by_fold([result], metric) for metric in (WON, PAIRS)}


EXPERIMENT = PaperExperiment(NAME, LAMBDARANK, "Pair errors against winner takes all", parts, run, conclude)
