"""What every benchmark shares: the best of several repeats, a table of ratios, and the same figures as JSON."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Timing:
    """The fastest of several runs; the others tell how noisy the machine was."""

    name: str
    seconds: list[float]

    @property
    def best(self) -> float:
        return min(self.seconds)


def time_side_by_side(
    tasks: dict[str, Callable[[], object]], repeats: int = 3, clock: Callable[[], float] = time.perf_counter
) -> dict[str, Timing]:
    """Timings of every task, repeats interleaved so that a noisy minute hurts all of them alike.

    `clock=time.process_time` counts the processor's time alone: for tasks of one thread on a machine that others use.
    """
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(repeats):
        for name, task in tasks.items():
            start = clock()
            task()
            seconds[name].append(clock() - start)
    return {name: Timing(name, values) for name, values in seconds.items()}


def command() -> str:
    """The command that runs this benchmark as it was run."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    return shlex.join(["python", "-m", spec.name if spec else Path(sys.argv[0]).stem, *sys.argv[1:]])


def report(question: str, timings: dict[str, Timing], ours: str, notes: dict[str, object] | None = None) -> None:
    """Print each task's best time and how many times faster `ours` is; write the same to `results/`."""
    print(f"\n{question}")
    for name, timing in timings.items():
        ratio = timing.best / timings[ours].best
        print(f"  {name:28s} {timing.best:9.4f} s   {ratio:7.2f}×" + ("  (ours)" if name == ours else ""))
    for key, value in (notes or {}).items():
        print(f"  {key}: {value}")
    RESULTS.mkdir(exist_ok=True)
    slug = "".join(letter if letter.isalnum() else "-" for letter in question.lower()).strip("-")[:60]
    record = {
        "question": question,
        "command": command(),
        "ours": ours,
        "seconds": {name: timing.seconds for name, timing in timings.items()},
        "notes": notes or {},
    }
    (RESULTS / f"{slug}.json").write_text(json.dumps(record, indent=2, default=str) + "\n")
