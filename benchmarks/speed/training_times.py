"""How long does every ranker train on a fold of LETOR's size?

Each ranker with its defaults, on a fold's `train` with its `vali` to choose steps by, all cores: the best of the
repeats, so that what is loaded once for all (torch, for the nets) does not count. MQ2008's first fold is looked for in
the folder that RANKWRIGHT_DATA names, unless a folder with train, vali and test files is given.

    python -m benchmarks.speed.training_times [FOLD] [--rankers prank,ranksvm] [--repeats 2]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from benchmarks.helpers.places import DATA
from benchmarks.helpers.records import leave

from rankwright.catalog.rankers import RANKERS, ranker_named
from rankwright.formats.reading import LetorFold, read_fold
from rankwright.metrics.evaluation import evaluate

METRIC = "map"


def fit(name: str, fold: LetorFold) -> tuple[float, float, float]:
    """Seconds on the wall, seconds of processors, and what the trained ranker reaches on the fold's test documents."""
    ranker = ranker_named(name)()
    start, busy = time.perf_counter(), time.process_time()
    ranker.fit(fold.train, valid=fold.vali)
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    return seconds, busy, evaluate(ranker.predict(fold.test), fold.test, [METRIC], "letor")[METRIC].mean


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("fold", nargs="?", type=Path, default=DATA / "MQ2008" / "Fold1")
    parser.add_argument("--rankers", type=lambda text: text.split(","), default=list(RANKERS))
    parser.add_argument("--repeats", type=int, default=2)
    options = parser.parse_args()
    fold = read_fold(options.fold)
    print(f"{fold.train.n_docs:,} × {fold.train.n_features} documents of {fold.train.n_queries:,} queries")
    print(f"{'':18} {'seconds':>8} {'processors':>10} {'test ' + METRIC:>9}")
    rows = []
    for name in options.rankers:
        seconds, busy, value = min(fit(name, fold) for _ in range(options.repeats))
        print(f"{name:18} {seconds:8.2f} {busy:10.2f} {value:9.4f}", flush=True)
        rows.append({"ranker": name, "seconds": seconds, "of processors": busy, f"test {METRIC}": value})
    question = (
        f"Training on {fold.train.n_docs:,} × {fold.train.n_features} documents of {fold.train.n_queries} queries"
    )
    leave("training-times", question, rows=rows, notes={})


if __name__ == "__main__":
    main()
