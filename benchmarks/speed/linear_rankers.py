"""Do linear rankers train on a million documents in under a minute?

One million web-search-like rows of 136 features; each ranker with its defaults and all cores, scaling included.
"""

from __future__ import annotations

import argparse
import time

from benchmarks.helpers.records import leave

from rankwright import synthetic
from rankwright.catalog.rankers import ranker_named
from rankwright.metrics.evaluation import evaluate

RANKERS = ("linear-regression", "prank", "ranksvm", "crr", "listnet")
DOCS_PER_QUERY = 120
AIM = 60.0  # seconds
METRIC = "ndcg@10"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("rankers", nargs="*", default=RANKERS)
    parser.add_argument("--docs", type=int, default=1_000_000)
    options = parser.parse_args()
    train = synthetic.web_search(-(-options.docs // DOCS_PER_QUERY), docs_per_query=DOCS_PER_QUERY, seed=0)
    test = synthetic.web_search(500, docs_per_query=DOCS_PER_QUERY, seed=1)
    print(f"{train.n_docs:,} × {train.n_features} rows of {train.n_queries:,} queries; aim: under {AIM:g} s each")
    rows = []
    for name in options.rankers:
        ranker = ranker_named(name)()
        start, busy = time.perf_counter(), time.process_time()
        ranker.fit(train)
        seconds, busy = time.perf_counter() - start, time.process_time() - busy
        value = evaluate(ranker.predict(test), test, [METRIC])[METRIC].mean
        times = f"{seconds:7.1f} s ({busy:.1f} s of processors)"
        print(f"  {name:18} {times}   {METRIC} of others {value:.4f}   {ranker.facts()}", flush=True)
        rows.append({"ranker": name, "seconds": seconds, "of processors": busy, METRIC: value})
    leave("linear-scale", f"Linear rankers on {train.n_docs:,} × {train.n_features}", rows=rows, notes={})


if __name__ == "__main__":
    main()
