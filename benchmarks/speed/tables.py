"""How fast are CSV and Parquet files read and written, beside pandas, polars and pyarrow? And does convert stream?

The others are asked for a float32 matrix and a column of query ids too, which is what a dataset needs at least.

    python -m benchmarks.speed.tables [--queries 1000] [--threads 2] [--repeats 3]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from benchmarks.helpers.timing import report, time_side_by_side

import rankwright as rw

PEAK = """
import sys
import rankwright as rw
rw.convert(*sys.argv[1:3])
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(int(status["VmHWM"].split()[0]) // 1024)
"""


def matrix_of(table: pa.Table) -> np.ndarray:
    """The features of an Arrow table as a float32 matrix."""
    names = [name for name in table.column_names if name not in ("qid", "label")]
    return np.column_stack([table[name].to_numpy().astype(np.float32, copy=False) for name in names])


def time_csv(data: rw.RankingDataset, folder: Path, threads: int, repeats: int) -> None:
    path, out = folder / "data.csv", folder / "out.csv"
    rw.write(data, path)
    size = path.stat().st_size
    pa.set_cpu_count(threads)
    frame, table = rw.to_pandas(data), rw.to_polars(data)
    reading = {
        "rankwright": lambda: rw.read(path, threads=threads),
        "pandas": lambda: pd.read_csv(path, dtype=np.float32).to_numpy(),
        "polars": lambda: pl.read_csv(path).to_numpy().astype(np.float32),
        "pyarrow": lambda: matrix_of(pa.csv.read_csv(path)),
    }
    timings = time_side_by_side(reading, repeats)
    speed = f"{size / timings['rankwright'].best / 1e6:.0f} MB/s"
    report(f"Reading {size / 1e6:.0f} MB of CSV", timings, "rankwright", {"our speed": speed})
    writing = {
        "rankwright": lambda: rw.write(data, out, threads=threads),
        "pandas": lambda: frame.to_csv(out, index=False),
        "polars": lambda: table.write_csv(out),
    }
    report(f"Writing {size / 1e6:.0f} MB of CSV", time_side_by_side(writing, repeats), "rankwright")


def time_parquet(data: rw.RankingDataset, folder: Path, repeats: int) -> None:
    path, out = folder / "data.parquet", folder / "out.parquet"
    rw.write(data, path)
    size = path.stat().st_size
    table = rw.to_arrow(data)
    reading = {
        "rankwright": lambda: rw.read(path),
        "pandas": lambda: pd.read_parquet(path).to_numpy(np.float32),
        "pyarrow": lambda: matrix_of(pa.parquet.read_table(path)),
    }
    report(f"Reading {size / 1e6:.0f} MB of Parquet", time_side_by_side(reading, repeats), "rankwright")
    writing = {
        "rankwright": lambda: rw.write(data, out),
        "pyarrow": lambda: pa.parquet.write_table(table, out, compression="zstd"),
    }
    report(f"Writing {size / 1e6:.0f} MB of Parquet", time_side_by_side(writing, repeats), "rankwright")


def show_peaks(data: rw.RankingDataset, folder: Path) -> None:
    rw.write(data, folder / "data.letor")
    print(f"\nPeak memory of convert, MB (the features alone are {data.features.nbytes // 2**20} MB)")
    for source, target in (("letor", "csv"), ("letor", "parquet"), ("csv", "parquet"), ("parquet", "letor")):
        arguments = [str(folder / f"data.{source}"), str(folder / f"out.{target}")]
        result = subprocess.run([sys.executable, "-c", PEAK, *arguments], capture_output=True, text=True, check=True)
        print(f"  {source:>7} to {target:7} {result.stdout.strip():>6}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    settings = parser.parse_args()
    data = rw.synthetic.web_search(n_queries=settings.queries, seed=0)
    with TemporaryDirectory() as folder:
        time_csv(data, Path(folder), settings.threads, settings.repeats)
        time_parquet(data, Path(folder), settings.repeats)
        show_peaks(data, Path(folder))


if __name__ == "__main__":
    main()
