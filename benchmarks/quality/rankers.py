"""Which ranker ranks better? Five-fold cross-validation by query over real and made sets, paired by query.

Systems are texts such as `lambdamart(max_leaves=7)`, `lightgbm()`, `tuned-catboost(trials=8)` (see quality_systems).
Each is trained on four fifths of the queries of a set and tested on the fifth, for all five. The first system is
compared with each other one: the difference of each set with its standard error, and the mean over sets, each weighing
alike, with a bootstrap interval stratified by set and p-values corrected after Holm. What was computed is kept in
results/quality and not computed again; `--again SYSTEM` forgets a system.

    python -m benchmarks.quality.rankers               # our defaults against the peers', at most 3 hours on 2 cores
    python -m benchmarks.quality.rankers --quick       # fewer sets and folds, 15 minutes
    python -m benchmarks.quality.rankers --systems 'lambdamart(n_trees=300)' 'lambdamart()' --sets mq2007 mq2008
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.helpers.places import RESULTS
from benchmarks.helpers.records import LIBRARIES, command, versions
from benchmarks.quality.data_sets import SETS, available, fold_of, n_folds
from benchmarks.quality.judge import ByQuery, Verdict, corrected, differences, judge_pooled, judge_set
from benchmarks.quality.systems import scores_of

from rankwright.metrics.evaluation import evaluate

FOLDER = RESULTS / "quality"
METRICS = ("ndcg@10", "map")
DEFAULTS = ("lambdamart()", "lightgbm()", "xgboost()", "catboost()")
BAGS = ("bl-mart()", "bagged-lightgbm(bags=30)", "tuned-catboost(trials=8)")
TUNED = (
    "tuned-lambdamart(trials=8, folds=3)",  # as `rankwright tune` measures, in less time than CatBoost's on one part
    "tuned-lightgbm(trials=8)",
    "tuned-xgboost(trials=8)",
    "tuned-catboost(trials=8)",
)
COMPARED = ("rankwright", "lightgbm", "xgboost", "catboost")  # whose versions are told
QUICK_SETS, QUICK_FOLDS = ("mq2007", "ohsumed", "lightgbm-example", "web-300"), 2


class Task(NamedTuple):
    """A system to train on a fold of a set."""

    system: str
    set: str
    fold: int

    @property
    def path(self) -> Path:
        slug = "".join(letter if letter.isalnum() or letter in "-.=" else "_" for letter in self.system).strip("_")
        return FOLDER / self.set / slug / f"{self.fold}.json"


def run(task: Task) -> float:
    """Train and test, keep the values of the queries, and give the seconds that training and scoring took."""
    train, test = fold_of(task.set, task.fold)
    start, start_of_processor = time.perf_counter(), time.process_time()
    scores = scores_of(task.system, train, test, seed=task.fold)
    seconds, of_processor = time.perf_counter() - start, time.process_time() - start_of_processor
    found = evaluate(scores, test, METRICS, threads=1)
    record: dict[str, Any] = {metric: found[metric].values.tolist() for metric in METRICS}
    before = json.loads(task.path.read_text()) if task.path.exists() else {}
    least = min(of_processor, before.get("processor_seconds", of_processor))  # a busy machine only adds
    record |= {"seconds": seconds, "processor_seconds": least, "versions": versions()}
    task.path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = task.path.with_suffix(".part")
    unfinished.write_text(json.dumps(record))
    unfinished.rename(task.path)
    return seconds


def compute(tasks: Sequence[Task], jobs: int) -> None:
    """Run the tasks that have no result yet, side by side."""
    missing = [task for task in tasks if not task.path.exists()]
    with ProcessPoolExecutor(jobs) as pool:
        running = {pool.submit(run, task): task for task in missing}
        for number, done in enumerate(as_completed(running), 1):
            task = running[done]
            print(f"{number}/{len(missing)} {task.set} {task.fold} {task.system}: {done.result():.1f} s", flush=True)


def values_of(system: str, sets: Iterable[str], metric: str, folds: int) -> ByQuery:
    """The values of a system's test queries in each set."""
    return {
        name: np.concatenate(
            [_record(system, name, fold)[metric] for fold in range(min(folds, n_folds(name)))], dtype=np.float64
        )
        for name in sets
    }


def seconds_of(system: str, sets: Iterable[str], folds: int) -> float:
    """The time of all folds of a system, which depends on what else the machine did."""
    runs = (_record(system, name, fold) for name in sets for fold in range(min(folds, n_folds(name))))
    return sum(float(run["seconds"]) for run in runs)


def processor_seconds_of(system: str, name: str, folds: int) -> float:
    """The mean processor time of a fold."""
    return float(np.mean([_record(system, name, fold)["processor_seconds"] for fold in range(folds)]))


def versions_of(systems: Iterable[str], sets: Iterable[str], folds: int) -> dict[str, str]:
    """The versions that results were computed with; those that are installed, where results do not tell."""
    runs = [_record(*one) for one in product(systems, sets, range(folds)) if Task(*one).path.exists()]
    told = {name: {run["versions"][name] for run in runs if name in run.get("versions", {})} for name in COMPARED}
    return {name: ", ".join(sorted(told[name])) or version(LIBRARIES[name]) for name in COMPARED}


def _record(system: str, name: str, fold: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Task(system, name, fold).path.read_text())
    return found


def tell(systems: Sequence[str], sets: Sequence[str], folds: int) -> None:
    """Print a Markdown table for each metric: the first system's values, and its differences to the others'."""
    first, *others = systems
    for metric in METRICS:
        values = {system: values_of(system, sets, metric, folds) for system in systems}
        print(f"\n### {metric}, `{first}` less the other, ± one standard error\n")
        print("| set | queries | " + " | ".join(f"`{system}`" for system in systems) + " |")
        print("|---|---|" + "---|" * len(systems))
        by_set = {other: [judge_set(gaps) for gaps in differences(values[first], values[other]).values()]
                  for other in others}  # fmt: skip
        adjusted = {other: corrected(found) for other, found in by_set.items()}
        for number, name in enumerate(sets):
            cells = [f"{np.nanmean(values[first][name]):.4f}"]
            cells += [_cell(by_set[other][number], adjusted[other][number]) for other in others]
            print(f"| {name} | {len(values[first][name]):,} | " + " | ".join(cells) + " |")
        pooled = [judge_pooled(differences(values[first], values[other])) for other in others]
        mean = np.mean([np.nanmean(found) for found in values[first].values()])
        cells = [f"{mean:.4f}"] + [
            f"**{one.difference:+.4f}** [{one.low:+.4f}, {one.high:+.4f}] p {p:.4f}"
            for one, p in zip(pooled, corrected(pooled), strict=True)
        ]
        print("| mean of sets | | " + " | ".join(cells) + " |")
    print("\nseconds: " + ", ".join(f"`{system}` {seconds_of(system, sets, folds):.0f}" for system in systems))


def summary(systems: Sequence[str], sets: Sequence[str], folds: int) -> dict[str, Any]:
    """What `tell` prints, in types JSON can hold: the page of results is made from it."""
    first, *others = systems
    metrics: dict[str, Any] = {}
    for metric in METRICS:
        values = {system: values_of(system, sets, metric, folds) for system in systems}
        gaps = {other: differences(values[first], values[other]) for other in others}
        by_set = {other: {name: judge_set(own) for name, own in gaps[other].items()} for other in others}
        adjusted = {other: corrected(list(found.values())) for other, found in by_set.items()}
        pooled = {other: judge_pooled(gaps[other]) for other in others}
        chances = corrected(list(pooled.values()))
        metrics[metric] = {
            "sets": {
                name: {
                    "queries": len(values[first][name]),
                    "first": float(np.nanmean(values[first][name])),
                    "others": {other: _told(by_set[other][name], adjusted[other][number]) for other in others},
                }
                for number, name in enumerate(sets)
            },
            "first": float(np.mean([np.nanmean(found) for found in values[first].values()])),
            "others": {other: _told(pooled[other], p) for other, p in zip(others, chances, strict=True)},
        }
    seconds = {system: seconds_of(system, sets, folds) for system in systems}
    return {
        "command": command(),
        "versions": versions_of(systems, sets, folds),
        "systems": list(systems),
        "folds": folds,
        "metrics": metrics,
        "seconds": seconds,
    }


def _told(verdict: Verdict, p_value: float) -> dict[str, float]:
    return asdict(verdict) | {"p_value": p_value}


def _cell(verdict: Verdict, p_value: float) -> str:
    mark = "*" if p_value < 0.05 else ""
    return f"{verdict.difference:+.4f} ± {verdict.error:.4f}{mark}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", nargs="+", help="the first is compared with the others")
    parser.add_argument("--group", choices=("defaults", "bags", "tuned"), default="defaults", help="systems by name")
    parser.add_argument("--sets", nargs="+", choices=list(SETS))
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help=f"{', '.join(QUICK_SETS)}, {QUICK_FOLDS} folds each")
    parser.add_argument("--again", nargs="*", default=[], help="systems to forget and compute anew")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    systems = options.systems or {"defaults": DEFAULTS, "bags": BAGS, "tuned": TUNED}[options.group]
    folds = QUICK_FOLDS if options.quick else options.folds
    here = list(available())
    sets = [name for name in options.sets or (QUICK_SETS if options.quick else here) if name in here]
    tasks = [
        Task(system, name, fold) for name in sets for system in systems for fold in range(min(folds, n_folds(name)))
    ]
    for task in tasks:
        if task.system in options.again:
            task.path.unlink(missing_ok=True)
    compute(tasks, options.jobs)
    tell(systems, sets, folds)
    title = "systems" if options.systems else options.group
    (RESULTS / f"quality-{title}{'-quick' if options.quick else ''}.json").write_text(
        json.dumps(summary(systems, sets, folds), indent=1) + "\n"
    )


if __name__ == "__main__":
    main()
