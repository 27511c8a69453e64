"""Is the estimate that `rankwright auto` prints true? Many searches on small data, each judged on many fresh queries.

Each run searches with a few trials on 100 synthetic queries and measures what it chose on 20,000 fresh ones of the same
recipe. Told are the share of runs whose 95 % interval covers that, and the mean error of the estimate; also without the
luck of the queries: a fixed ranker, trained on other queries, tells how easy the 100 are, and what that explains of the
errors is taken out, which leaves the mean error what it is and its standard error smaller. Runs are kept in
results/auto-estimates, and with `--record` taken to another machine: the same command goes on.

    python -m benchmarks.quality.auto_estimates --runs 200 --record docs/records
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np
from benchmarks.helpers.kept_runs import leave_record, take_record
from benchmarks.helpers.places import RESULTS
from benchmarks.helpers.records import show

import rankwright as rw
from rankwright.arrays import Float64Array
from rankwright.cluster.in_process import SerialEngine
from rankwright.data.dataset import RankingDataset
from rankwright.rankers.ranker import Ranker

FOLDER, RECORD, METRIC = RESULTS / "auto-estimates", "auto-estimates.tar.xz", "ndcg@10"
QUERIES, FRESH, FRESH_SEED, PARTS = 100, 20_000, 10_000_000, 10
OTHER_SEED, OTHER_QUERIES = 20_000_000, 500


@cache
def fresh_part(part: int, docs: int) -> RankingDataset:
    """Some of the fresh queries."""
    return rw.synthetic.web_search(FRESH // PARTS, docs_per_query=docs, seed=FRESH_SEED + part)


def mean_on_fresh(ranker: Ranker, docs: int) -> float:
    """The metric's mean over the fresh queries."""
    values = []
    for part in range(PARTS):
        fresh = fresh_part(part, docs)
        values.append(rw.evaluate(ranker.predict(fresh), fresh, [METRIC], threads=1)[METRIC].values)
    return float(np.nanmean(np.concatenate(values)))


@cache
def fixed(docs: int) -> tuple[Ranker, float]:
    """A ranker that was trained on other queries, and its mean on the fresh ones."""
    other = rw.synthetic.web_search(OTHER_QUERIES, docs_per_query=docs, seed=OTHER_SEED)
    ranker = rw.LambdaMART(n_trees=200, threads=1).fit(other)
    return ranker, mean_on_fresh(ranker, docs)


def luck(seed: int, docs: int) -> float:
    """By how much the fixed ranker is better on the queries of a run than on fresh ones."""
    data = rw.synthetic.web_search(QUERIES, docs_per_query=docs, seed=seed)
    ranker, mean = fixed(docs)
    return rw.evaluate(ranker.predict(data), data, [METRIC], threads=1)[METRIC].mean - mean


def run(seed: int, trials: int, docs: int) -> None:
    """Search, measure the choice on fresh queries, and keep both."""
    place = FOLDER / f"{trials}-{docs}-{seed}.json"
    if place.exists():
        return
    data = rw.synthetic.web_search(QUERIES, docs_per_query=docs, seed=seed)
    ranker = rw.AutoRanker(trials=trials, seed=seed, threads=1).on(SerialEngine())
    ranker.fit(data, checkpoint=FOLDER / "studies" / f"{trials}-{docs}-{seed}")
    truth = mean_on_fresh(ranker, docs)
    assert ranker.report_.estimate is not None
    estimate, seconds = asdict(ranker.report_.estimate), ranker.report_.seconds
    kept = {"truth": truth, "estimate": estimate, "chosen": ranker.members_, "seconds": seconds}
    kept["luck"] = luck(seed, docs)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(kept))
    print(f"{seed}: expected {ranker.report_.estimate.mean:.4f}, found {truth:.4f}", flush=True)


def without(gaps: Float64Array, by_luck: Float64Array) -> Float64Array:
    """The errors less what luck, whose true mean is 0, explains of them."""
    slope = np.cov(gaps, by_luck)[0, 1] / by_luck.var(ddof=1)
    return np.asarray(gaps - slope * by_luck)


def with_error(values: Float64Array) -> str:
    return f"{values.mean():+.4f} ± {values.std(ddof=1) / np.sqrt(len(values)):.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--docs", type=int, default=20, help="documents a query")
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="keep results in this folder, too, in one file")
    parser.add_argument("--tell", action="store_true", help="run nothing more")
    options = parser.parse_args()
    if options.record:
        take_record(options.record / RECORD, FOLDER)
    if not options.tell:
        for seed in range(options.runs):
            run(seed, options.trials, options.docs)
    if options.record:
        leave_record(options.record / RECORD, FOLDER, FOLDER.glob("*.json"))
    kept = [json.loads(path.read_text()) for path in sorted(FOLDER.glob(f"{options.trials}-{options.docs}-*.json"))]
    gaps = np.array([one["estimate"]["mean"] - one["truth"] for one in kept])
    covered = np.mean([one["estimate"]["low"] <= one["truth"] <= one["estimate"]["high"] for one in kept])
    row = {
        "runs": len(kept),
        "covered": f"{covered:.3f}",
        "mean error": with_error(gaps),
        "without luck": with_error(without(gaps, np.array([one["luck"] for one in kept]))),
        "mean size of the error": f"{np.abs(gaps).mean():.4f}",
    }
    show("quality-auto-estimates", "The estimate of auto against fresh queries", [row])


if __name__ == "__main__":
    main()
