"""Do narrow nets learn the tasks of RankNet's paper as its own recipe does? The share of right test pairs, by width.

Both recipes get the same training and validation queries; the table has the mean over draws of the task and seeds, the
mean lead of the default, its standard error and the worst single lead, in points.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, Literal

import numpy as np
from benchmarks.helpers.records import show

from rankwright import synthetic
from rankwright.metrics.evaluation import evaluate
from rankwright.nets.net_rankers import RankNet

TASKS = {"network": synthetic.random_network, "polynomial": synthetic.random_polynomial}
PARTS = {"valid": 50, "test": 200}  # queries
SEEDS = 2
Mode = Literal["default", "paper"]
MODES: tuple[Mode, ...] = ("default", "paper")


def right_pairs(task: str, n_queries: int, draw: int, width: int, mode: Mode, seed: int) -> tuple[float, float]:
    """The share of right test pairs, in per cent, and the processor seconds of training."""
    data = TASKS[task](n_queries + sum(PARTS.values()), seed=draw)
    ends = np.cumsum([n_queries, *PARTS.values()])
    train, valid, test = (data.take_queries(part) for part in np.split(np.arange(ends[-1]), ends[:-1]))
    start = time.process_time()
    fitted = RankNet(hidden=(width,), mode=mode, seed=seed, threads=1).fit(train, valid=valid)
    seconds = time.process_time() - start
    return 100 * evaluate(fitted.predict(test), test, ["pair-accuracy"])["pair-accuracy"].mean, seconds


def row(task: str, n_queries: int, width: int, n_draws: int) -> dict[str, Any]:
    """What one width reaches, beside the paper's recipe."""
    cases = [(draw, seed) for draw in range(1, n_draws + 1) for seed in range(SEEDS)]
    found = {
        mode: np.array([right_pairs(task, n_queries, draw, width, mode, seed) for draw, seed in cases])
        for mode in MODES
    }
    lead = found["default"][:, 0] - found["paper"][:, 0]
    cells: dict[str, str] = {
        mode: f"{values[:, 0].mean():.2f} in {values[:, 1].mean():.2f} s" for mode, values in found.items()
    }
    of_lead = f"{lead.mean():+.2f} ± {lead.std(ddof=1) / len(lead) ** 0.5:.2f}, worst {lead.min():+.2f}"
    return {"task": task, "queries": n_queries, "width": width, **cells, "lead": of_lead}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=TASKS)
    parser.add_argument("--queries", nargs="+", type=int, default=[50, 250])
    parser.add_argument("--widths", nargs="+", type=int, default=[2, 3, 5, 10, 20, 50])
    parser.add_argument("--draws", type=int, default=6)
    settings = parser.parse_args()
    rows = [
        row(task, n_queries, width, settings.draws)
        for task in settings.tasks
        for n_queries in settings.queries
        for width in settings.widths
    ]
    show("narrow-nets", "Narrow nets: right test pairs in per cent, and the lead over the paper's recipe", rows)


if __name__ == "__main__":
    main()
