"""What does it cost, and change, that LambdaMART() and BLMART() look for their own size?

On each set of the protocol: processor seconds of training and scoring on one thread, now, with the longer search of
0.2.0 (`before-`), and of LightGBM with 300 trees at rate .05; and what the shorter search changes in NDCG@10 and MAP,
paired by query, ± one standard error. Sets weigh alike in the mean. `LightGBM's loss` is how far LightGBM's NDCG@10 is
behind. Results are kept beside those of `benchmarks.quality.rankers`; a run that was stopped goes on, and a set where
results are missing is left out.

    python -m benchmarks.quality.search_costs                           # everything: hours
    python -m benchmarks.quality.search_costs --sets mq2008 ohsumed     # minutes
    python -m benchmarks.quality.search_costs --no-runs                 # tell what is there
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from benchmarks.helpers.records import show
from benchmarks.quality.against_time import ORDER, compute_missing, folds_of, is_timed
from benchmarks.quality.data_sets import SETS, available
from benchmarks.quality.judge import differences, judge_pooled, judge_set
from benchmarks.quality.rankers import METRICS, Task, processor_seconds_of, values_of, versions_of

from rankwright.arrays import Float64Array

LIGHTGBM = "lightgbm(n_estimators=300, learning_rate=0.05)"
RANKERS = ("lambdamart", "bl-mart")


def systems_of(ranker: str) -> tuple[str, ...]:
    """What is compared: the ranker now and before, and for a single forest LightGBM."""
    own = (f"{ranker}()", f"before-{ranker}()")
    return (*own, LIGHTGBM) if ranker == "lambdamart" else own


def folds_there(name: str, systems: Sequence[str]) -> int:
    """How many folds, from the first on, have results of all systems."""
    fold = 0
    while fold < folds_of(name) and all(is_timed(Task(system, name, fold)) for system in systems):
        fold += 1
    return fold


def gaps_to(other: str, system: str, folds: Mapping[str, int], metric: str) -> dict[str, Float64Array]:
    """How far a system is ahead of another, query by query in each set."""
    found: dict[str, Float64Array] = {}
    for name, n_folds in folds.items():
        found |= differences(*(values_of(one, [name], metric, n_folds) for one in (system, other)))
    return found


def rows_of(ranker: str, folds: Mapping[str, int]) -> list[dict[str, Any]]:
    """A row for each set, and one for all."""
    now, before, *peer = systems = systems_of(ranker)
    gaps = {metric: gaps_to(before, now, folds, metric) for metric in METRICS}
    seconds = {name: [processor_seconds_of(system, name, folds[name]) for system in systems] for name in folds}
    rows = [_row(name, seconds[name]) | _changes({m: judge_set(gaps[m][name]) for m in METRICS}) for name in folds]
    for other in peer:
        for row, lost in zip(rows, gaps_to(other, now, folds, METRICS[0]).values(), strict=True):
            verdict = judge_set(lost)
            row["LightGBM's loss"] = f"{verdict.difference:+.4f} ± {verdict.error:.4f}"
    total = _row("all", np.sum(list(seconds.values()), axis=0))
    return [*rows, total | _changes({metric: judge_pooled(gaps[metric]) for metric in METRICS})]


def _row(name: str, seconds: Sequence[float]) -> dict[str, Any]:
    now, before, *peer = (float(one) for one in seconds)
    row: dict[str, Any] = {"set": name, "now": round(now, 2), "before": round(before, 2)}
    row["now / before"] = round(now / before, 2)
    return row | ({"LightGBM": round(peer[0], 2), "now / LightGBM": round(now / peer[0], 2)} if peer else {})


def _changes(verdicts: Mapping[str, Any]) -> dict[str, str]:
    return {f"change of {metric}": f"{one.difference:+.4f} ± {one.error:.4f}" for metric, one in verdicts.items()}


def tell(ranker: str, sets: Sequence[str]) -> None:
    """Print and leave the table of a ranker."""
    systems = systems_of(ranker)
    folds = {name: found for name in sets if (found := folds_there(name, systems))}
    if not folds:
        print(f"no set has all results of {ranker} yet")
        return
    versions = versions_of(systems, list(folds), max(folds.values()))
    question = f"What the search of {ranker}() costs in processor seconds a fit, and what a shorter one changes"
    told = ", ".join(f"{library} {number}" for library, number in versions.items())
    n_folds = ", ".join(f"{name} {number}" for name, number in folds.items())
    show(f"search-costs-{ranker}", question, rows_of(ranker, folds), folds=n_folds, versions=told)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=list(SETS))
    parser.add_argument("--rankers", nargs="+", choices=RANKERS, default=RANKERS)
    parser.add_argument("--no-runs", action="store_true", help="compute nothing, and tell what is there")
    options = parser.parse_args()
    here = set(available())
    sets = [name for name in ORDER if name in here and name in (options.sets or here)]
    if not options.no_runs:
        systems = dict.fromkeys(system for ranker in options.rankers for system in systems_of(ranker))
        compute_missing(
            [Task(system, name, fold) for name in sets for system in systems for fold in range(folds_of(name))]
        )
    for ranker in options.rankers:
        tell(ranker, sets)


if __name__ == "__main__":
    main()
