"""Did we need this many experiments? Successive halving against Ganjisaffar's full grid of 162 configurations.

Validation NDCG@3 of what each chooses on MQ2008 fold 1, three seeds, and the tree-building work: trees grown, and trees
grown times the leaves they may have, none counted twice. Both are one study: what halving trains anew is told.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.helpers.records import leave

import rankwright as rw
from rankwright.tuning.strategies import TuningPlan
from rankwright.tuning.studies.study_summary import summarise
from rankwright.tuning.tuner import tune


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("fold", type=Path, help="a folder with train.txt.gz and vali.txt.gz, such as MQ2008/Fold1")
    parser.add_argument("--metric", default="ndcg@3")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-budgets", type=int, nargs="*", default=[2, 8], help="beside the default one")
    parser.add_argument("--study", type=Path, help="a folder to keep the study in")
    options = parser.parse_args()
    train, valid = (rw.read(str(options.fold / f"{part}.txt.gz")) for part in ("train", "vali"))
    with tempfile.TemporaryDirectory() as temporary:
        study = options.study or Path(temporary)
        common = {"metric": options.metric, "seeds": options.seeds}
        plans = [TuningPlan(strategy="grid", **common), TuningPlan(strategy="halving", **common)]
        plans += [TuningPlan(strategy="halving", min_budget=first, **common) for first in options.first_budgets]
        found = {
            plan.strategy if plan.min_budget is None else f"{plan.strategy}-from{plan.min_budget}": tune(
                "lambdamart", train, valid=valid, space="slides-b", plan=plan, study=study, refits=False
            )
            for plan in plans
        }
        leaves = {curve.name: float(curve.leaves[-1]) for curve in summarise(study).curves}
    best, work = found["grid"].best.value, found["grid"].steps_taken
    print(f"\n{options.metric} on {options.fold}, 162 configurations × {options.seeds} seeds")
    rows = []
    for name, tuned in found.items():
        share, leaf_share = tuned.steps_taken / work, leaves[name] / leaves["grid"]
        below = best - tuned.best.value
        print(
            f"  {name:24s} {tuned.best.value:.4f}  {below:+.4f} below the grid's best   {tuned.steps_taken:7,} trees "
            f"({share:6.1%} of the grid's; {leaf_share:6.1%} by leaves)   {tuned.settings}"
        )
        rows.append({"strategy": name, options.metric: tuned.best.value, "trees": tuned.steps_taken,
                     "of the grid's trees": share, "of its leaves": leaf_share})  # fmt: skip
    question = f"Successive halving beside the grid of 162 configurations × {options.seeds} seeds"
    leave("halving", question, rows=rows, notes={})


if __name__ == "__main__":
    main()
