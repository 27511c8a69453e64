"""How many experiments an hour: Ganjisaffar's 162 configurations × 5 folds, against a plain loop over LightGBM?

A seeded sample of the experiments is run on both sides in turns, so that a noisy minute hurts both alike. LightGBM
keeps its Dataset from experiment to experiment and is given the faster of two ways to use the cores: one experiment on
all of them, or one on each. What is made once a fold (bins here, Datasets there) is not counted on either side.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from benchmarks.helpers.lightgbm_experiments import run_lightgbm
from benchmarks.helpers.records import leave

import rankwright as rw
from rankwright import synthetic
from rankwright.cluster.engine import Engine, Report
from rankwright.cluster.opening import open_engine
from rankwright.tuning.experiment import ExperimentTask, Outcome, Prepared, prepare, run_experiment
from rankwright.tuning.folds import validation_folds
from rankwright.tuning.search_spaces import NAMED_SPACES
from rankwright.tuning.strategies import grid_members
from rankwright.tuning.trials import Experiment

OURS, APART, TOGETHER = "rankwright", "LightGBM, one experiment a core", "LightGBM, one experiment on all cores"


@dataclass
class Side:
    """What one side took: `at_a_time` experiments run beside each other."""

    at_a_time: int
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    trees: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def take(self, seconds: float, cpu_seconds: float, trees: int, value: float) -> None:
        self.seconds.append(seconds)
        self.cpu_seconds.append(cpu_seconds)
        self.trees.append(trees)
        self.values.append(value)

    @property
    def rate(self) -> float:
        return 3600 * self.at_a_time * len(self.seconds) / sum(self.seconds)

    @property
    def cpu_per_tree(self) -> float:
        return 1000 * sum(self.cpu_seconds) / sum(self.trees)


def timed_experiment(prepared: Prepared, task: ExperimentTask, report: Report) -> tuple[Outcome, float]:
    start = time.process_time()
    return run_experiment(prepared, task, report), time.process_time() - start


def sample(n: int, n_folds: int, seed: int) -> list[Experiment]:
    members = list(grid_members(NAMED_SPACES["slides-b"].space))
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(members))[:n]
    return [Experiment(members[place], int(rng.integers(n_folds)), 0) for place in chosen]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--experiments", type=int, default=12)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--skip-together", action="store_true", help="leave out LightGBM on all cores, the slower way")
    options = parser.parse_args()
    data = synthetic.web_search(options.queries)
    folds = validation_folds(data, 5)
    named = NAMED_SPACES["slides-b"]
    prepared = prepare(rw.LambdaMART(**named.settings), named.space, folds, ("ndcg@10",), select="ndcg@10")
    experiments = sample(options.experiments, folds.n_folds, options.seed)
    sides = {OURS: Side(options.cores), APART: Side(options.cores)}
    if not options.skip_together:
        sides[TOGETHER] = Side(1)
    with open_engine(workers=options.cores) as apart, open_engine(workers=1) as together:
        ours, theirs, theirs_together = apart.share(prepared), apart.share(folds), together.share(folds)
        for first in range(0, len(experiments), options.cores):
            some = experiments[first : first + options.cores]
            for done in apart.run(timed_experiment, [ExperimentTask(one) for one in some], shared=ours):
                outcome, cpu_seconds = done.result
                sides[OURS].take(done.seconds, cpu_seconds, outcome.steps, outcome.value)
            _peer(sides[APART], apart, theirs, some)
            if TOGETHER in sides:
                _peer(sides[TOGETHER], together, theirs_together, some)
            _tell(sides, data.n_docs)


def _peer(side: Side, engine: Engine, shared: object, some: Sequence[Experiment]) -> None:
    for done in engine.run(run_lightgbm, some, shared=shared):
        side.take(done.result.seconds, done.result.cpu_seconds, done.result.trees, done.result.value)


def _tell(sides: dict[str, Side], n_docs: int) -> None:
    ours = sides[OURS]
    print(f"\nThe 162-configuration grid on {n_docs:,} documents, {len(ours.seconds)} experiments so far")
    for name, side in sides.items():
        print(
            f"  {name:38s} {side.rate:8.0f} an hour  {ours.rate / side.rate:5.2f}×  {np.mean(side.trees):6.0f} trees  "
            f"{side.cpu_per_tree:6.2f} CPU ms a tree  {np.mean(side.cpu_seconds):6.2f} CPU s"
        )
    ratio = ours.rate / max(side.rate for name, side in sides.items() if name != OURS)
    cpu_ratio = sum(sides[APART].cpu_seconds) / sum(ours.cpu_seconds)
    print(
        f"  against the faster LightGBM: {ratio:.2f}×; by CPU seconds, one experiment a core: {cpu_ratio:.2f}×",
        flush=True,
    )
    rows = [
        {"side": name, "experiments an hour": side.rate, "ours by it": ours.rate / side.rate,
         "processor ms a tree": side.cpu_per_tree, "processor s": float(np.mean(side.cpu_seconds))}
        for name, side in sides.items()
    ]  # fmt: skip
    notes = {"against the faster LightGBM": f"{ratio:.2f}×", "by processor seconds": f"{cpu_ratio:.2f}×"}
    question = f"Tuning: the 162-configuration grid on {n_docs:,} documents, a sample of {len(ours.seconds)}"
    leave("tune-speed", question, rows=rows, notes=notes)


if __name__ == "__main__":
    from benchmarks.speed.tuning import main as importable_main  # workers must find the functions by their module

    importable_main()
