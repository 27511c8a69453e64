"""Is the code of one folder as fast as that of another?

    python -m benchmarks.before_after --before ../before/src --after src [--rounds 5] [--only train score]

Each task runs in a process of its own, once with each code in turn, so that a noisy minute hurts both alike. Only
public names are used; both folders need the compiled core in them. What starts a process is told in processor time, the
rest in time on the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from benchmarks.records import leave
from benchmarks.timing import Timing

import rankwright as rw

ROOT = Path(__file__).parents[1]
COMMAND = "from rankwright.cli.app import main; main()"
MODEL, TEXT, TINY = "forest.rw", "web.txt", "tiny.txt"
THREADS = 2

Clock = Callable[[], float]
Task = Callable[[Path], Callable[[], object]]  # what is done outside the clock gives what is done inside


def wall() -> float:
    return time.perf_counter()


def processor() -> float:
    """Processor time of the processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def prepare(folder: Path) -> None:
    """Files that the tasks read, made once and by the earlier code."""
    rw.write_svmlight(rw.synthetic.web_search(450, seed=1), folder / TEXT)
    small = rw.synthetic.web_search(120, seed=2)
    rw.LambdaMART(n_trees=1000, max_leaves=64, min_docs_in_leaf=2, threads=THREADS).fit(small).save(folder / MODEL)
    rw.write_svmlight(small.take_queries([0]), folder / TINY)


def web_data() -> rw.RankingDataset:
    return rw.synthetic.web_search(500)  # about 60,000 documents


def train(_: Path) -> Callable[[], object]:
    data = web_data()
    rw.LambdaMART(n_trees=1, threads=THREADS).fit(data)  # what it needs is loaded before
    return lambda: [rw.LambdaMART(n_trees=40, threads=THREADS).fit(data) for _ in range(4)]


def score(folder: Path) -> Callable[[], object]:
    features = rw.synthetic.web_search(200, seed=3).features[:20_000]
    ranker = rw.load(folder / MODEL)
    ranker.threads = THREADS
    ranker.predict(features[:10])
    return lambda: [ranker.predict(features) for _ in range(24)]


def read(folder: Path) -> Callable[[], object]:
    rw.read_svmlight(folder / TINY)
    return lambda: [rw.read_svmlight(folder / TEXT, threads=THREADS) for _ in range(12)]


def evaluate(_: Path) -> Callable[[], object]:
    rng = np.random.default_rng(0)
    n_queries, n_docs = 5_000, 500_000
    labels = rng.choice(5, size=n_docs, p=[0.52, 0.32, 0.13, 0.02, 0.01])
    data = rw.RankingDataset.from_arrays(np.zeros((n_docs, 0)), labels, group=np.full(n_queries, n_docs // n_queries))
    scores = rng.normal(size=n_docs)
    rw.evaluate(scores, data, ["map"])
    return lambda: [rw.evaluate(scores, data, ["ndcg@10", "map"], threads=THREADS) for _ in range(60)]


def ranknet(_: Path) -> Callable[[], object]:
    data = web_data()
    rw.RankNet(epochs=1, threads=THREADS).fit(data.take_queries(np.arange(10)))  # torch is loaded before
    return lambda: rw.RankNet(epochs=12, threads=THREADS).fit(data)


def ranksvm(_: Path) -> Callable[[], object]:
    data = web_data()
    rw.RankSVM(threads=THREADS).fit(data.take_queries(np.arange(10)))
    return lambda: rw.RankSVM(threads=THREADS).fit(data)


def start(times: int, *arguments: str) -> None:
    """Start as many processes, one after another; one alone may be too short to be timed."""
    for _ in range(times):
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)


def import_package(_: Path) -> Callable[[], object]:
    return lambda: start(30, "-c", "import rankwright")


def list_rankers(_: Path) -> Callable[[], object]:
    return lambda: start(2, "-c", COMMAND, "list", "rankers")


def score_tiny(folder: Path) -> Callable[[], object]:
    return lambda: start(2, "-c", COMMAND, "score", str(folder / MODEL), str(folder / TINY))


TASKS: dict[str, tuple[Task, Clock]] = {
    "train": (train, wall),
    "score": (score, wall),
    "read": (read, wall),
    "evaluate": (evaluate, wall),
    "ranknet": (ranknet, wall),
    "ranksvm": (ranksvm, wall),
    "import": (import_package, processor),
    "list-rankers": (list_rankers, processor),
    "score-tiny": (score_tiny, processor),
}


def seconds_of(name: str, folder: Path) -> float:
    """How long a task takes with the code at hand."""
    task, clock = TASKS[name]
    work = task(folder)
    began = clock()
    work()
    return clock() - began


def run_part(part: str, source: Path, folder: Path) -> str:
    """What this script prints of a part that it runs with the code in `source`."""
    environment = os.environ | {"PYTHONPATH": str(source)}
    command = [sys.executable, "-m", "benchmarks.before_after", "--part", part, str(source), str(folder)]
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout


def do_part(part: str, source: str, folder: str) -> None:
    found = Path(rw.__file__).resolve()
    assert found.is_relative_to(Path(source).resolve()), f"the code comes from {found}, not from {source}"
    if part == "prepare":
        prepare(Path(folder))
    else:
        print(json.dumps(seconds_of(part, Path(folder))))


def compare(sources: dict[str, Path], names: list[str], rounds: int, folder: Path) -> dict[str, dict[str, Timing]]:
    """The timings of each task with each code; who goes first changes from round to round."""
    run_part("prepare", sources["before"], folder)
    timings = {name: {code: Timing(code, []) for code in sources} for name in names}
    for number in range(rounds):
        for name in names:
            for code in sorted(sources, reverse=number % 2 == 0):
                timings[name][code].seconds.append(json.loads(run_part(name, sources[code], folder)))
    return timings


def show(timings: dict[str, dict[str, Timing]]) -> None:
    print(f"{'':14}{'best, s':>20}{'after/':>10}{'median, s':>20}{'after/':>10}")
    print(f"{'':14}{'before':>10}{'after':>10}{'before':>10}{'before':>10}{'after':>10}{'before':>10}")
    for name, of_codes in timings.items():
        before, after = (of_codes[code] for code in ("before", "after"))
        middle = [statistics.median(one.seconds) for one in (before, after)]
        line = f"{before.best:10.3f}{after.best:10.3f}{after.best / before.best:10.3f}"
        print(f"{name:14}{line}{middle[0]:10.3f}{middle[1]:10.3f}{middle[1] / middle[0]:10.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--after", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--part", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.part is not None:
        do_part(*options.part)
        return
    if options.before is None or options.after is None:
        parser.error("give --before and --after, two folders with the package in them")
    sources = {"before": options.before.resolve(), "after": options.after.resolve()}
    with tempfile.TemporaryDirectory() as folder:
        timings = compare(sources, options.only, options.rounds, Path(folder))
    show(timings)
    rows = [
        {"task": name, **{f"{code}, s": one.best for code, one in of_codes.items()},
         "after / before": of_codes["after"].best / of_codes["before"].best}
        for name, of_codes in timings.items()
    ]  # fmt: skip
    leave("before-after", "Is the code of one folder as fast as that of another? Best times", rows=rows, notes={})


if __name__ == "__main__":
    main()
