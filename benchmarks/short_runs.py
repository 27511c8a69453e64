"""Runs every benchmark that a small machine does in a minute or two, one after another, for the page of results.

Sizes are small: ratios at full size are printed by each script's own defaults. What a script needs and is not here
(another library, real data, another environment) is said, and the next one runs.

    python -m benchmarks.short_runs [speed.evaluate speed.lambdas …] [--minutes 5]
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import time

DATA = "../shared/data"  # beside the checkout
RUNS = f"""
speed.evaluate --repeats 3
speed.lambdas --repeats 3
speed.binning --queries 1000 --repeats 3
speed.feature_scaling
speed.web_search_data
speed.read_svmlight --megabytes 60
speed.tables --queries 300
speed.grow_trees --queries 600 --scale 0.2 --repeats 2
speed.symmetric_trees --queries 300 --trees 20 --repeats 2
speed.train_lambdamart --seeds 2 --only 31 --queries 600 --test-queries 300
speed.train_scaling --queries 300 --trees 20
speed.train_memory --queries 600
speed.sparse_features --rows 100000 --features 20000 --trees 5
speed.bags --bags 4 --trees 20 --queries 300
speed.tuning --experiments 4 --queries 100 --skip-together
speed.score_forest --train-queries 100 --trees 300 --documents 20000 --repeats 3
speed.score_imported --train-queries 100 --trees 1000 --documents 20000 --calls 20 --repeats 3 --without lleaves tl2cgen
speed.explain --documents 2000 --slow-documents 200 --trees 200 --repeats 2
speed.compare
speed.startup --repeats 3
speed.exchange --trees 100 1000
speed.linear_rankers --docs 100000
speed.ranknet --share 0.05 --epochs 5
speed.sortnet sort --repeats 2
speed.sortnet learn --repeats 1
distributed.ray_overhead --tasks 20 --seconds 0.5
speed.training_times --repeats 1
quality.letor_nets
quality.ranklib_figures
quality.page_figures long-query
quality.page_figures yetirank-trees
quality.page_figures tree-times
quality.page_figures log-counts
quality.page_figures flat-lists
quality.page_figures adarank-ndcg
quality.page_figures adarank-ndcg --data {DATA}/OHSUMED
speed.report_opening --opens 3
clicks.speed --lists 1_000_000 --queries 10_000
clicks.lightgbm_positions --seeds 3
clicks.models --log {DATA}/clara2-clicks/log.jsonl.gz --labels {DATA}/clara2-clicks/labels.qrels.gz --seeds 2
clicks.estimates --logs 200
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*", help="only these")
    parser.add_argument("--minutes", type=float, default=5.0, help="after which a run is ended")
    options = parser.parse_args()
    for line in RUNS.strip().splitlines():
        script, *arguments = shlex.split(line)
        if options.scripts and script not in options.scripts:
            continue
        start = time.perf_counter()
        print(f"{line}: {ended(script, arguments, options.minutes)}, {time.perf_counter() - start:.0f} s", flush=True)


def ended(script: str, arguments: list[str], minutes: float) -> str:
    """Run a script, and say how it ended."""
    command = [sys.executable, "-m", f"benchmarks.{script}", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60 * minutes, check=False)
    except subprocess.TimeoutExpired:
        return f"ended after {minutes:g} minutes"
    return "done" if done.returncode == 0 else (done.stderr.strip().splitlines() or ["failed"])[-1]


if __name__ == "__main__":
    main()
