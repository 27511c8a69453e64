"""Is a version of rankwright as fast as an earlier one?

    python -m benchmarks.speed.before_and_after --before OLD/bin/python --after NEW/bin/python [--only train score]

Both are the Python of an environment in which a version is installed. A pair runs a task once by each version, each in
a fresh process; the version that goes first changes from pair to pair. Within a process only the task is timed, after
imports and preparations, except where starting is the task. Told is the median over the pairs of the ratio after /
before, with its 95 % bootstrap interval, in processor time, which other programs on the machine disturb least, and in
time of the clock. `timed_tasks.py` has the tasks. At the usual sizes a run takes about ten minutes on a quiet machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.helpers import timed_tasks
from benchmarks.helpers.records import show
from benchmarks.helpers.timed_tasks import TASKS, Sizes, as_argument

CLOCKS = ("processor", "clock")
RESAMPLES = 10_000

Seconds = dict[str, dict[str, list[float]]]  # by clock and version, one for each pair


def run(python: str, task: str, folder: Path, sizes: Sizes) -> str:
    """What a task prints, by the version that `python` has."""
    # -P: the folder of the script is no place to import from.
    command = [python, "-P", timed_tasks.__file__, task, str(folder), as_argument(sizes)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{task} failed with {python}:\n{done.stderr[-2000:]}")
    return done.stdout


def times_of(task: str, pythons: Mapping[str, str], n_pairs: int, folder: Path, sizes: Sizes) -> Seconds:
    """The seconds of every pair of runs."""
    found: Seconds = {clock: {version: [] for version in pythons} for clock in CLOCKS}
    for number in range(n_pairs):
        for version in sorted(pythons, reverse=number % 2 == 0):
            seconds = json.loads(run(pythons[version], task, folder, sizes).splitlines()[-1])
            for clock in CLOCKS:
                found[clock][version].append(seconds[clock])
    return found


def median_ratio(before: Sequence[float], after: Sequence[float]) -> tuple[float, float, float]:
    """The median of after / before over the pairs, and its 95 % bootstrap interval."""
    ratios = np.asarray(after) / np.asarray(before)
    drawn = np.random.default_rng(0).choice(ratios, size=(RESAMPLES, len(ratios)))
    low, high = np.percentile(np.median(drawn, axis=1), [2.5, 97.5])
    return float(np.median(ratios)), float(low), float(high)


def row_of(task: str, seconds: Seconds) -> dict[str, Any]:
    row: dict[str, Any] = {"task": task}
    for clock in CLOCKS:
        before, after = seconds[clock]["before"], seconds[clock]["after"]
        ratio, low, high = median_ratio(before, after)
        row |= {f"{clock}, s before": float(np.median(before)), f"{clock}, after / before": ratio}
        row[f"95 % interval ({clock})"] = f"{low:.3f} to {high:.3f}"
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True, metavar="PYTHON", help="of the environment with the earlier version")
    parser.add_argument("--after", required=True, metavar="PYTHON", help="of the environment with the later version")
    parser.add_argument("--pairs", type=int, default=11)
    parser.add_argument("--only", nargs="+", default=list(TASKS), choices=list(TASKS), metavar="TASK")
    parser.add_argument("--out", type=Path, default=Path("before_and_after.json"), help="the JSON with every time")
    for size in fields(Sizes):
        parser.add_argument(f"--{size.name}", type=int, default=size.default)
    options = parser.parse_args()
    sizes = Sizes(**{size.name: getattr(options, size.name) for size in fields(Sizes)})
    # Not resolved: the Python of an environment is a link to that of the system.
    pythons = {version: str(Path(getattr(options, version)).absolute()) for version in ("before", "after")}
    seconds: dict[str, Seconds] = {}
    with tempfile.TemporaryDirectory() as folder:
        run(pythons["before"], "prepare", Path(folder), sizes)
        for task in options.only:
            seconds[task] = times_of(task, pythons, options.pairs, Path(folder), sizes)
            print(json.dumps(row_of(task, seconds[task])), flush=True)
    rows = [row_of(task, found) for task, found in seconds.items()]
    document = {"sizes": asdict(sizes), "pairs": options.pairs, "rows": rows, "seconds": seconds}
    options.out.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    question = f"Is a version as fast as an earlier one? Medians of {options.pairs} pairs"
    show("before-and-after", question, rows, sizes=asdict(sizes))


if __name__ == "__main__":
    main()
