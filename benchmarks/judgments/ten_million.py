"""How long do ten million judgments take to be read, agreed on and combined, and how much memory?

    python -m benchmarks.judgments.ten_million [--judgments 10000000] [--format parquet]

2,000 raters, three grades a document, a scale of five grades, rows in any order.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.helpers.records import show

N_RATERS, GRADES_EACH, DOCUMENTS_EACH = 2000, 3, 30
SHARES = (0.4, 0.25, 0.2, 0.1, 0.05)


def write_judgments_to(path: Path, n_rows: int) -> None:
    """Write the judgments, in a random order."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    rng = np.random.default_rng(0)
    n_pairs = n_rows // GRADES_EACH + 1
    truth = rng.choice(len(SHARES), n_pairs, p=SHARES)
    pair, rater = (
        rng.permutation(np.repeat(np.arange(n_pairs), GRADES_EACH)[:n_rows]),
        rng.integers(0, N_RATERS, n_rows),
    )
    seen = truth[pair] + rng.normal(0, 0.6, N_RATERS)[rater] + rng.normal(0, 0.6, n_rows)
    names = pa.array([f"rater{number}" for number in range(N_RATERS)])
    table = pa.table(
        {
            "query": pa.array(pair // DOCUMENTS_EACH).cast(pa.string()),
            "document": pa.array(pair).cast(pa.string()),
            "rater": names.take(pa.array(rater)),
            "grade": pa.array(np.clip(np.rint(seen), 0, len(SHARES) - 1).astype(np.int8)),
        }
    )
    if path.suffix == ".csv":
        pyarrow.csv.write_csv(table, path)
    else:
        pyarrow.parquet.write_table(table, path)


def measure(path: str) -> None:
    """Read, agree and combine, and tell seconds and megabytes after each."""
    from rankwright import judgments

    start, used = time.perf_counter(), time.process_time()

    def tell(step: str) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{step}\t{time.perf_counter() - start:.1f}\t{time.process_time() - used:.1f}\t{peak:.0f}", flush=True)

    table = judgments.read_judgments(path)
    tell("read")
    judgments.summarise_judgments(table)
    tell("agreed")
    judgments.combine(table)
    tell("combined")


def main() -> None:
    """Make the judgments, and measure in a process of its own."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--judgments", type=int, default=10_000_000)
    parser.add_argument("--format", choices=("parquet", "csv"), default="parquet")
    parser.add_argument("--measure")
    given = parser.parse_args()
    if given.measure:
        measure(given.measure)
        return
    with TemporaryDirectory() as folder:
        path = Path(folder, f"judgments.{given.format}")
        write_judgments_to(path, given.judgments)
        command = [sys.executable, "-m", "benchmarks.judgments.ten_million", "--measure", str(path)]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    names = ("up to", "seconds", "processor seconds", "peak, MiB")
    rows = [dict(zip(names, line.split("\t"), strict=True)) for line in told.splitlines()]
    show(f"judgments ten million {given.format}", f"{given.judgments:,} judgments from {given.format}", rows)


if __name__ == "__main__":
    main()
