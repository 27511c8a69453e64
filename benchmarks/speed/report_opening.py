"""How long does a report of 50,000 queries and five systems take to open in Chromium, and how large is it?

python -m benchmarks.speed.report_opening [--opens 5]
"""

from __future__ import annotations

import argparse
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.helpers.records import leave
from tests.report.driver import OpenReport, browser, report_of_many


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--opens", type=int, default=5)
    opens = parser.parse_args().opens
    with TemporaryDirectory() as folder, browser() as running:
        page, *_ = report_of_many(Path(folder, "report.html"))
        seconds = [OpenReport(running, page).seconds for _ in range(opens)]
        size = page.stat().st_size / 1e6
    spread = f"median of {opens}, {min(seconds):.2f} to {max(seconds):.2f}"
    rows = [{"MB": size, "seconds, median": float(np.median(seconds)), "least": min(seconds), "most": max(seconds)}]
    leave("report-opening", "A report of 50,000 queries and five systems, opened in Chromium", rows=rows, notes={})
    print(f"{size:.2f} MB, opened in {np.median(seconds):.2f} s ({spread})")


if __name__ == "__main__":
    main()
