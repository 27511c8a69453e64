"""The slides' 32,670 tuning experiments: a sample is run, and time, trees and splits are extrapolated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from rankwright.mart.lambdamart import LambdaMART
from rankwright.reproduce.experiment import FULL, SLIDES, PaperExperiment, Result, RunPart, Setup
from rankwright.reproduce.fold_values import THREADS, convention_of, fitted
from rankwright.reproduce.outcome import Claim, Figure, Findings, PaperTable
from rankwright.reproduce.published import SLIDES_TABLES
from rankwright.reproduce.set_experiments import sets_of
from rankwright.reproduce.sources import DataSource, source_named
from rankwright.settings.spaces import Choice
from rankwright.tuning.search_spaces import NAMED_SPACES

NAME = "blmart-tuning"
METRIC = "ndcg@3"
FOLDS, SEEDS = 5, 3  # of each configuration
PAPER_EXPERIMENTS = {"TD2004": 15_120, "MQ2007": 15_120, "MSLR-WEB10K": 2_430}
PAPER_BEST = {"TD2004": 0.5120, "MQ2007": 0.4249, "MSLR-WEB10K": 0.4523}
PAPER_TREES, PAPER_SPLITS, PAPER_DAYS = 8e6, 192e6, 14.0
SMALL_RATE = 0.1  # and below
SAMPLE_STREAM = 0x7475  # added to the seed

sources = sets_of(*SLIDES_TABLES)


def grid_of(source: DataSource) -> list[dict[str, Any]]:
    """The slides' configurations for a set; sets that they do not have take those of MQ2007."""
    return _configurations("slides-b" if source.stands_for.startswith("MSLR") else "slides-a")


def _configurations(grid: str) -> list[dict[str, Any]]:
    space = NAMED_SPACES[grid].space
    choices = {name: one.values for name, one in space.items() if isinstance(one, Choice)}
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def parts(setup: Setup) -> list[RunPart]:
    """A part for each configuration that was drawn."""
    return [
        RunPart(NAME, f"{source.name}, configuration {number}", {"set": source.name, "configuration": number})
        for source in sources(setup)
        for number in _drawn(setup, source)
    ]


def _drawn(setup: Setup, source: DataSource) -> list[int]:
    rng = np.random.default_rng([setup.seed, SAMPLE_STREAM])
    drawn: list[int] = rng.choice(len(grid_of(source)), size=setup.pick(100, 8, 2), replace=False).tolist()
    return drawn


def run(setup: Setup, values: Mapping[str, Any]) -> Result:
    """One experiment: a LambdaMART with the configuration on the first fold."""
    source = source_named(sources(setup), values["set"])
    settings = grid_of(source)[values["configuration"]]
    ranker = LambdaMART(
        **settings,
        n_trees=setup.pick(1000, 150, 3),
        early_stopping=setup.pick(100, 30, 3),
        select=f"{METRIC}:{convention_of(source)}",
        seed=setup.seed,
        threads=THREADS,
    )
    found = fitted(ranker, setup, source, 0, [METRIC])
    n_grown = len(ranker.history_.values)
    return {
        **found,
        "settings": settings,
        "validation": float(ranker.history_.best_value or 0.0),
        "trees": n_grown,
        "kept_trees": int(ranker.forest_.n_trees),
        "most_splits": n_grown * (settings["max_leaves"] - 1),
    }


def conclude(setup: Setup, results: Mapping[str, Result]) -> Findings:
    """What was found in the sample, and what all experiments would take."""
    rows: dict[str, dict[str, Figure]] = {}
    sampled: dict[str, list[Result]] = {}
    for source in sources(setup):
        own = [result for key, result in results.items() if key.startswith(f"{source.name}, ")]
        sampled[source.name] = own
        n = len(grid_of(source)) * FOLDS * SEEDS
        rows[source.name] = {
            "experiments": Figure(float(n), PAPER_EXPERIMENTS.get(source.stands_for)),
            "run here": Figure(float(len(own))),
            "best validation ndcg@3": Figure(max(one["validation"] for one in own), PAPER_BEST.get(source.stands_for)),
            "seconds each": Figure(_mean(own, "training_seconds")),
            "processor hours for all": Figure(n * _mean(own, "training_seconds") / 3600),
            "million trees": Figure(n * _mean(own, "trees") / 1e6),
            "million splits, at most": Figure(n * _mean(own, "most_splits") / 1e6),
        }
    total = {name: sum(row[name].ours or 0.0 for row in rows.values()) for name in next(iter(rows.values()))}
    rows["all"] = {
        "experiments": Figure(total["experiments"], 32_670.0),
        "processor hours for all": Figure(total["processor hours for all"], PAPER_DAYS * 24),
        "million trees": Figure(total["million trees"], PAPER_TREES / 1e6),
        "million splits, at most": Figure(total["million splits, at most"], PAPER_SPLITS / 1e6),
    }
    note = (
        "hours, trees and splits are extrapolated from the experiments that were run, on sets of the size given "
        "above; the slides' two weeks are for one machine"
    )
    return Findings([PaperTable("Tuning", rows, 3)], _claims(setup, rows, sampled), [note])


def _mean(results: Sequence[Result], name: str) -> float:
    return float(np.mean([one[name] for one in results]))


def _claims(
    setup: Setup, rows: Mapping[str, Mapping[str, Figure]], sampled: Mapping[str, Sequence[Result]]
) -> list[Claim]:
    hours = rows["all"]["processor hours for all"].ours or 0.0
    n = sum(len(_configurations(grid)) for grid in ("slides-a", "slides-a", "slides-b")) * FOLDS * SEEDS
    long_enough = hours >= PAPER_DAYS * 24 if setup.size == FULL else None
    found = f"{hours:,.0f} processor hours by extrapolation from the sets that were run"
    why = (
        "small sets and short forests say nothing about the time that the slides' sets take"
        if long_enough is None
        else "the slides' machine was one of about 2011, and its trees were grown by other code"
    )
    claims = [
        Claim("the grids have 32,670 experiments with five folds and three seeds", n == 32_670, f"{n:,}"),
        Claim("one machine needs two weeks for them", long_enough, found, why),
    ]
    for name, own in sampled.items():
        by_rate = [[one["validation"] for one in own if (one["settings"]["learning_rate"] <= SMALL_RATE) == small]
                   for small in (True, False)]  # fmt: skip
        if not all(by_rate):
            continue
        small, large = (float(np.mean(values)) for values in by_rate)
        error = float(np.sqrt(sum(np.var(values) / len(values) for values in by_rate)))
        holds = None if abs(small - large) < 2 * error else small > large
        found = f"mean {METRIC} on validation documents {small:.4f} against {large:.4f}, ± {error:.4f}"
        alike = f"{len(own)} configurations differ in all their settings at once, and their means by two errors at most"
        fewer = "a large rate wants fewer trees, and the number of trees is chosen by validation"
        text = f"{name}: small learning rates (0.1 and below) do better"
        claims.append(Claim(text, holds, found, alike if holds is None else fewer))
    return claims


EXPERIMENT = PaperExperiment(NAME, SLIDES, "Parameter tuning", parts, run, conclude, sources)
