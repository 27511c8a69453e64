"""Runs every benchmark that a small machine does in a minute or two, one after another, for the page of results.

Sizes are small: ratios at full size are printed by each script's own defaults. What a script needs and is not here
(another library, real data, another environment) is said, and the next one runs.

    python -m benchmarks.short_runs [evaluate lambdas …] [--minutes 5]
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import time

DATA = "../shared/data"  # beside the checkout
RUNS = f"""
evaluate --repeats 3
lambdas --repeats 3
binning --queries 1000 --repeats 3
scaling
web_search_data
read_svmlight --megabytes 60
tables --queries 300
grow_trees --queries 600 --scale 0.2 --repeats 2
train_lambdamart --seeds 2 --only 31 --queries 600 --test-queries 300
train_scaling --queries 300 --trees 20
train_memory --queries 600
bag_speed --bags 4 --trees 20 --queries 300
tune_speed --experiments 4 --queries 100 --skip-together
score_forest --train-queries 100 --trees 300 --documents 20000 --repeats 3
score_imported --train-queries 100 --trees 1000 --documents 20000 --calls 20 --repeats 3 --without lleaves tl2cgen
explain --documents 2000 --slow-documents 200 --trees 200 --repeats 2
compare
startup --repeats 3
exchange_size --trees 100 1000
linear_scale --docs 100000
ranknet_speed --share 0.05 --epochs 5
sortnet sort --repeats 2
sortnet learn --repeats 1
cluster_overhead --tasks 20 --seconds 0.5
training_times --repeats 1
letor_nets
ranklib_figures
page_figures long-query
page_figures yetirank-trees
page_figures tree-times
page_figures log-counts
page_figures flat-lists
page_figures adarank-ndcg
page_figures adarank-ndcg --data {DATA}/OHSUMED
report_opening --opens 3
clicks_speed --lists 1_000_000 --queries 10_000
clicks_lightgbm --seeds 3
clicks_models --log {DATA}/clara2-clicks/log.jsonl.gz --labels {DATA}/clara2-clicks/labels.qrels.gz --seeds 2
clicks_estimates --logs 200
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
