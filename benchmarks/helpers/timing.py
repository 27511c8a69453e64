"""What benchmarks of speed share: the best of several repeats, and a table of ratios."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.helpers.records import leave


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


def report(question: str, timings: dict[str, Timing], ours: str, notes: dict[str, object] | None = None) -> None:
    """Print each task's best time and how many times faster `ours` is; leave the same as a record."""
    print(f"\n{question}")
    for name, timing in timings.items():
        ratio = timing.best / timings[ours].best
        print(f"  {name:28s} {timing.best:9.4f} s   {ratio:7.2f}×" + ("  (ours)" if name == ours else ""))
    for key, value in (notes or {}).items():
        print(f"  {key}: {value}")
    leave(
        question,
        question,
        ours=ours,
        seconds={name: timing.seconds for name, timing in timings.items()},
        notes=notes or {},
    )
