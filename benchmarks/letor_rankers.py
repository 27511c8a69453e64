"""What does each ranker reach on LETOR's data, and how long does it train: five folds, the letor convention?

Settings are a small grid of the ranker's own space, chosen by MAP on the validation part of each fold; so is the step
to keep. Data is looked for in `--data`, or the folder RANKWRIGHT_DATA names. Seconds are those of training with the
chosen settings on the first fold, one thread, while another process works beside it.

    python -m benchmarks.letor_rankers prank ranksvm --points 3
"""

from __future__ import annotations

import argparse
import itertools
import os
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rankwright.catalog.rankers import RANKERS, ranker_named
from rankwright.experiments.letor import LetorFold, fold_folders, read_fold
from rankwright.metrics.evaluation import evaluate
from rankwright.training.spaces import Choice, Dimension, Space

CHOOSE_BY = "map:letor"
METRICS = ("map", "ndcg@10")
SETS = ("MQ2008", "OHSUMED")
PROCESSES = 2


@dataclass(frozen=True)
class Trial:
    """One training run, and what came of it."""

    ranker: str
    folder: Path
    settings: dict[str, Any]
    seed: int


@dataclass(frozen=True)
class Outcome:
    valid: float
    test: tuple[float, ...]
    seconds: float


def values_of(dimension: Dimension, points: int) -> list[Any]:
    """So many values of a dimension: all of a choice, else evenly between its ends."""
    if isinstance(dimension, Choice):
        return list(dimension.values)
    ends = (dimension.low, dimension.high)
    spread = np.geomspace(*ends, points) if dimension.log else np.linspace(*ends, points)
    return [type(dimension.low)(value) for value in spread]


def grid_of(space: Space, points: int) -> Iterator[dict[str, Any]]:
    """The defaults, and every combination of some values of each dimension."""
    yield {}
    if space:
        axes = [values_of(dimension, points) for dimension in space.values()]
        yield from (dict(zip(space, values, strict=True)) for values in itertools.product(*axes))


@cache
def fold_of(folder: Path) -> LetorFold:
    return read_fold(folder)


def run(trial: Trial) -> Outcome:
    fold = fold_of(trial.folder)
    ranker = ranker_named(trial.ranker)(select=CHOOSE_BY, seed=trial.seed, threads=1, **trial.settings)
    start = time.perf_counter()
    ranker.fit(fold.train, valid=fold.vali)
    seconds = time.perf_counter() - start
    valid = evaluate(ranker.predict(fold.vali), fold.vali, ["map"], convention="letor")["map"].mean
    test = evaluate(ranker.predict(fold.test), fold.test, METRICS, convention="letor")
    return Outcome(valid, tuple(test[metric].mean for metric in METRICS), seconds)


def report(name: str, folder: Path, pool: ProcessPoolExecutor, *, points: int, seed: int) -> None:
    grid = list(grid_of(ranker_named(name).space, points))
    folders = fold_folders(folder)
    trials = [Trial(name, fold, settings, seed) for fold in folders for settings in grid]
    outcomes = list(pool.map(run, trials))
    chosen = []
    for place in range(len(folders)):
        own = outcomes[place * len(grid) : (place + 1) * len(grid)]
        best = max(range(len(grid)), key=lambda at, own=own: own[at].valid)  # type: ignore[misc]
        chosen.append((own[best], grid[best]))
    means = np.mean([outcome.test for outcome, _ in chosen], axis=0)
    figures = "  ".join(f"{metric} {value:.4f}" for metric, value in zip(METRICS, means, strict=True))
    print(f"{folder.name:8} {name:18} {figures}  {chosen[0][0].seconds:7.2f} s  {len(grid)} settings", flush=True)
    for _, settings in chosen:
        print(f"{'':27} " + (", ".join(f"{key}={value}" for key, value in settings.items()) or "defaults"), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    beside_checkout = Path(__file__).parents[2] / "shared" / "data"
    parser.add_argument("rankers", nargs="*", help="names; all rankers without any")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("RANKWRIGHT_DATA", beside_checkout)))
    parser.add_argument("--points", type=int, default=3, help="how many values of a numeric setting to try")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with ProcessPoolExecutor(PROCESSES) as pool:
        for name in options.rankers or RANKERS:
            for data in SETS:
                if (options.data / data).exists():
                    report(name, options.data / data, pool, points=options.points, seed=options.seed)
                else:
                    print(f"{data}: not found in {options.data}")


if __name__ == "__main__":
    main()
