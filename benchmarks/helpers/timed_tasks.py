"""What `benchmarks.speed.before_and_after` times: one task in a process of its own, by the version that is installed.

    PYTHON benchmarks/helpers/timed_tasks.py TASK FOLDER SIZES

SIZES is a `Sizes` as JSON. The least seconds of the repeats are printed, by the clock and of processors. The script is
run by its path in environments that need not know this checkout, so it imports nothing of it, and only public names of
rankwright that every version since 0.2.0 has.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

DATA, MODEL, TEXT, SHARDS = "web.npz", "forest.rw", "web.txt", "shards"
COMMAND = "from rankwright.cli.app import main; main()"


@dataclass(frozen=True)
class Sizes:
    """How much each task does."""

    queries: int = 300  # about 34,000 documents
    trees: int = 20
    epochs: int = 3
    starts: int = 3  # processes, one after another
    repeats: int = 3  # of which the fastest counts
    threads: int = 1


Work = Callable[[], object]


def prepare(folder: Path, sizes: Sizes) -> Work:
    """Write the files that the other tasks read, once for both versions."""

    def write() -> None:
        import numpy as np

        import rankwright as rw

        data = rw.synthetic.web_search(sizes.queries, seed=1)
        assert data.labels is not None
        np.savez(folder / DATA, features=data.features, labels=data.labels, qid=data.qid)
        rw.write_svmlight(data, folder / TEXT)
        rw.LambdaMART(n_trees=500, max_leaves=31, threads=2).fit(data).save(folder / MODEL)
        (folder / SHARDS).mkdir()
        half = sizes.queries // 2
        for number, queries in enumerate((range(half), range(half, sizes.queries))):
            rw.write_svmlight(data.take_queries(list(queries)), folder / SHARDS / f"{number}.txt")

    return write


def data_of(folder: Path):
    import numpy as np

    import rankwright as rw

    with np.load(folder / DATA) as arrays:
        return rw.RankingDataset.from_arrays(arrays["features"], arrays["labels"], qid=arrays["qid"])


def train(folder: Path, sizes: Sizes) -> Work:
    import rankwright as rw

    data = data_of(folder)
    rw.LambdaMART(n_trees=1, threads=sizes.threads).fit(data)  # loads what training needs
    return lambda: rw.LambdaMART(n_trees=sizes.trees, threads=sizes.threads).fit(data)


def score(folder: Path, sizes: Sizes) -> Work:
    import rankwright as rw

    features = data_of(folder).features
    ranker = rw.load(folder / MODEL)
    ranker.threads = sizes.threads
    ranker.predict(features[:100])
    return lambda: [ranker.predict(features) for _ in range(12)]


def read(folder: Path, sizes: Sizes) -> Work:
    import rankwright as rw

    return lambda: [rw.read_svmlight(folder / TEXT, threads=sizes.threads) for _ in range(4)]


def evaluate(folder: Path, sizes: Sizes) -> Work:
    import numpy as np

    import rankwright as rw

    data = data_of(folder)
    scores = np.random.default_rng(0).normal(size=data.n_docs)
    rw.evaluate(scores, data, ["map"])
    return lambda: [rw.evaluate(scores, data, ["ndcg@10", "map"], threads=sizes.threads) for _ in range(200)]


def ranknet(folder: Path, sizes: Sizes) -> Work:
    import rankwright as rw

    data = data_of(folder)
    rw.RankNet(epochs=1, threads=sizes.threads).fit(data.take_queries(list(range(10))))
    return lambda: rw.RankNet(epochs=sizes.epochs, threads=sizes.threads).fit(data)


def start(times: int, *arguments: str) -> Work:
    """Start processes one after another; one alone may be too short to be timed."""

    def run() -> None:
        for _ in range(times):
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)

    return run


def distributed(folder: Path, sizes: Sizes) -> Work:
    import rankwright as rw

    def run() -> None:
        with rw.open_engine(workers=2) as engine:
            rw.LambdaMART(n_trees=sizes.trees // 2, threads=1).on(engine).fit(rw.Shards(folder / SHARDS))

    return run


TASKS: dict[str, Callable[[Path, Sizes], Work]] = {
    "train": train,
    "score": score,
    "read": read,
    "evaluate": evaluate,
    "ranknet": ranknet,
    "import": lambda _, sizes: start(3 * sizes.starts, "-c", "import rankwright"),
    "version": lambda _, sizes: start(sizes.starts, "-c", COMMAND, "--version"),
    "help": lambda _, sizes: start(sizes.starts, "-c", COMMAND, "--help"),
    "distributed": distributed,
}


def processor_seconds() -> float:
    """Processor time of this process and of those that it started and that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


def least_seconds(work: Work, repeats: int) -> dict[str, float]:
    """The least seconds of the repeats, of the clock and of processors."""
    clock, processor = [], []
    for _ in range(repeats):
        began, used = time.perf_counter(), processor_seconds()
        work()
        clock.append(time.perf_counter() - began)
        processor.append(processor_seconds() - used)
    return {"clock": min(clock), "processor": min(processor)}


def main() -> None:
    name, folder, given = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])
    sizes = Sizes(**given)
    if name == "prepare":
        prepare(folder, sizes)()
    else:
        repeats = 1 if name == "distributed" else sizes.repeats
        print(json.dumps(least_seconds(TASKS[name](folder, sizes), repeats)))


def as_argument(sizes: Sizes) -> str:
    """What `main` takes for these sizes."""
    return json.dumps(asdict(sizes))


if __name__ == "__main__":
    main()
