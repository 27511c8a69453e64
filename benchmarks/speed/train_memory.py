"""How much memory does training take, straight from a file and from a dataset that was read first?

Every run is a process of its own, and its peak is what the system says of it when it has ended. This process stays
small, because a child's peak counts what it was forked from.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.helpers.timing import Timing, report

N_FEATURES = 136
ALLOWANCE = 400e6  # bytes beside the documents: libraries, sample, histograms

MAKE = """
import sys, rankwright as rw
data = rw.synthetic.web_search(int(sys.argv[1]))
for path in sys.argv[2:]:
    rw.write(data, path)
print(data.n_docs)
"""
IMPORT = "import pyarrow.parquet, rankwright as rw; rw.LambdaMART; rw.read"
FROM_FILE = "from rankwright.cli.app import main; main()"
IN_MEMORY = """
import sys, rankwright as rw
path, out, trees, leaves, threads = sys.argv[1:]
data = rw.read(path)
rw.LambdaMART(n_trees=int(trees), max_leaves=int(leaves), threads=int(threads)).fit(data).save(out)
"""


def peak_of(script: str, *arguments: str) -> tuple[int, float]:
    """The most bytes that a Python process running `script` had in memory, and the seconds it took."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-c", script, *arguments], stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise RuntimeError(f"the process ended with {os.waitstatus_to_exitcode(status)}")
    return usage.ru_maxrss * 1024, time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=6000)
    parser.add_argument("--trees", type=int, default=20)
    parser.add_argument("--leaves", type=int, default=31)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    trees, leaves, threads = str(options.trees), str(options.leaves), str(options.threads)
    peaks: dict[str, int] = {}
    timings: dict[str, Timing] = {}
    models = set()
    with tempfile.TemporaryDirectory() as folder:
        paths = {"SVMlight": str(Path(folder) / "data.txt"), "Parquet": str(Path(folder) / "data.parquet")}
        made = subprocess.run(
            [sys.executable, "-c", MAKE, str(options.queries), *paths.values()],
            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        n_docs = int(made.stdout)
        baseline, _ = peak_of(IMPORT)
        for kind, path in paths.items():
            out = str(Path(folder) / "model.rw")
            settings = ["--set", f"n_trees={trees}", "--set", f"max_leaves={leaves}", "--threads", threads]
            runs = {
                f"from {kind}": (FROM_FILE, ["train", path, *settings, "--out", out]),
                f"{kind} read first": (IN_MEMORY, [path, out, trees, leaves, threads]),
            }
            for name, (script, arguments) in runs.items():
                peaks[name], seconds = peak_of(script, *arguments)
                timings[name] = Timing(name, [seconds])
                models.add((kind, Path(out).read_bytes()))
    cells = n_docs * N_FEATURES
    notes: dict[str, object] = {"baseline (imports alone), MB": round(baseline / 1e6)}
    for name, peak in peaks.items():
        notes[f"{name}: peak MB"] = round(peak / 1e6)
        notes[f"{name}: bytes a cell above the baseline"] = round((peak - baseline) / cells, 2)
        notes[f"{name}: bytes a cell above {ALLOWANCE / 1e6:.0f} MB"] = round((peak - ALLOWANCE) / cells, 2)
    notes["both routes give the same model file"] = len(models) == len(paths)
    question = f"Memory of training on {n_docs:,} × {N_FEATURES}, {trees} trees × {leaves} leaves, {threads} threads"
    report(question, timings, "from SVMlight", notes)


if __name__ == "__main__":
    main()
