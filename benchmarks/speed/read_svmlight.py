"""How fast is SVMlight text read, against scikit-learn, XGBoost and zcat, and how much memory does it take?

Run `python -m benchmarks.speed.read_svmlight [--megabytes 260] [--threads 2] [--skip-sklearn]`.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from benchmarks.helpers.timing import report, time_side_by_side

from rankwright import RankingDataset, read_svmlight, write_svmlight

N_FEATURES = 136
DISTINCT_ROWS = 5000  # more than a branch predictor can learn
DOCS_PER_QUERY = 110

# Run alone, so that the peak is that of reading and of nothing else. VmHWM and not ru_maxrss, which a process has from
# its parent.
PEAK_CODE = """
import json, sys
from rankwright import read_svmlight
data = read_svmlight(sys.argv[1], threads=int(sys.argv[2]))
arrays = data.features.nbytes + data.labels.nbytes + data.groups.offsets.nbytes + data.query_ids.nbytes
peak = next(line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM"))
print(json.dumps([int(peak) * 1024, arrays]))
"""


def feature_text(rng: np.random.Generator, kind: int) -> str:
    """A value as MSLR writes it: counts, shares, scores that may be negative, and large counts, half of them 0."""
    if kind < 3 and rng.random() < 0.55:
        return "0"
    if kind == 0:
        return str(int(rng.lognormal(1.5, 1.2)))
    if kind == 1:
        return f"{rng.beta(0.5, 3):.6f}".rstrip("0").ljust(7, "0")
    if kind == 2:
        return f"{rng.gamma(2, 8):.6f}"
    if kind == 3:
        return f"{-rng.gamma(8, 2):.6f}"
    return str(int(rng.lognormal(7, 3)))


def write_web_like(path: Path, megabytes: int) -> None:
    """A file of about the given size, 136 features in every line, queries of 110 documents."""
    rng = np.random.default_rng(0)
    kinds = rng.choice(5, size=N_FEATURES, p=[0.35, 0.15, 0.3, 0.12, 0.08])
    bodies = [
        " ".join(f"{index}:{feature_text(rng, kind)}" for index, kind in enumerate(kinds.tolist(), start=1))
        for _ in range(DISTINCT_ROWS)
    ]
    with path.open("w") as file:
        row = 0
        while file.tell() < megabytes * 1_000_000:
            for choice in rng.integers(0, DISTINCT_ROWS, size=DOCS_PER_QUERY).tolist():
                file.write(f"{row * 7 % 5} qid:{row // DOCS_PER_QUERY} {bodies[choice]}\n")
                row += 1


def read_with_xgboost(path: Path, threads: int) -> Callable[[], object]:
    import xgboost

    def read() -> object:
        with warnings.catch_warnings(), xgboost.config_context(verbosity=0):
            warnings.simplefilter("ignore")
            return xgboost.DMatrix(f"{path}?format=libsvm", nthread=threads)

    return read


def read_with_sklearn(path: Path) -> Callable[[], object]:
    from sklearn.datasets import load_svmlight_file

    return lambda: load_svmlight_file(str(path), query_id=True)


def peak_memory(path: Path, threads: int) -> tuple[int, int]:
    """The peak of a process that reads the file, and the bytes of the arrays it got."""
    command = [sys.executable, "-c", PEAK_CODE, str(path), str(threads)]
    peak, arrays = json.loads(subprocess.run(command, capture_output=True, check=True, text=True).stdout)
    return peak, arrays


def compare_with_xgboost(path: Path, threads: int) -> None:
    tasks: dict[str, Callable[[], object]] = {
        "rankwright": lambda: read_svmlight(path, threads=threads),
        "xgboost": read_with_xgboost(path, threads),
    }
    timings = time_side_by_side(tasks, repeats=5)
    megabytes = path.stat().st_size / 1e6
    peak, arrays = peak_memory(path, threads)
    allowed = 1.3 * arrays + 100e6
    verdict = "ok" if peak <= allowed else "TOO MUCH"
    notes: dict[str, object] = {
        "file": f"{megabytes:.0f} MB, {threads} threads",
        "rankwright reads": f"{megabytes / timings['rankwright'].best:.0f} MB/s",
        "arrays": f"{arrays / 1e6:.0f} MB",
        "peak memory": f"{peak / 1e6:.0f} MB, allowed {allowed / 1e6:.0f} MB: {verdict}",
    }
    report("Reading SVMlight text, against XGBoost", timings, ours="rankwright", notes=notes)


def compare_with_sklearn(path: Path, threads: int) -> None:
    """As many repeats for both, though it is slow: the best of more would flatter us on a noisy machine."""
    tasks: dict[str, Callable[[], object]] = {
        "rankwright": lambda: read_svmlight(path, threads=threads),
        "scikit-learn": read_with_sklearn(path),
    }
    timings = time_side_by_side(tasks, repeats=2)
    report("Reading SVMlight text, against scikit-learn", timings, ours="rankwright")


def compare_gzip(path: Path, threads: int) -> None:
    compressed = path.with_name(path.name + ".gz")
    with compressed.open("wb") as file:
        subprocess.run(["gzip", "-c", str(path)], stdout=file, check=True)
    tasks: dict[str, Callable[[], object]] = {
        "rankwright": lambda: read_svmlight(compressed, threads=threads),
        "zcat": lambda: subprocess.run(["zcat", str(compressed)], stdout=subprocess.DEVNULL, check=True),
    }
    timings = time_side_by_side(tasks, repeats=3)
    share = timings["zcat"].best / timings["rankwright"].best
    peak, arrays = peak_memory(compressed, threads)
    notes: dict[str, object] = {
        "speed as a share of zcat's (wanted 0.5)": f"{share:.2f}",
        "peak memory": f"{peak / 1e6:.0f} MB for {arrays / 1e6:.0f} MB of arrays",
    }
    report("Reading gzipped SVMlight text", timings, ours="rankwright", notes=notes)


def time_writing(data: RankingDataset, folder: Path, threads: int) -> None:
    path = folder / "written.txt"
    tasks: dict[str, Callable[[], object]] = {"rankwright": lambda: write_svmlight(data, path, threads=threads)}
    timings = time_side_by_side(tasks, repeats=3)
    megabytes = path.stat().st_size / 1e6
    notes: dict[str, object] = {
        "rankwright writes": f"{megabytes / timings['rankwright'].best:.0f} MB/s, fsync included"
    }
    report("Writing SVMlight text", timings, ours="rankwright", notes=notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=260)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--skip-sklearn", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "web.txt"
        write_web_like(path, arguments.megabytes)
        compare_with_xgboost(path, arguments.threads)
        if not arguments.skip_sklearn:
            compare_with_sklearn(path, arguments.threads)
        compare_gzip(path, arguments.threads)
        time_writing(read_svmlight(path), Path(folder), arguments.threads)


if __name__ == "__main__":
    main()
