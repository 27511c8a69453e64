"""Is the estimate that `rankwright auto` prints true? Many searches on small data, each judged on many fresh queries.

Each run searches with a few trials on 100 synthetic queries and measures what it chose on 20,000 fresh ones of the same
recipe. Told are the share of runs whose 95 % interval covers that, and the mean error of the estimate. Runs are kept in
results/auto-estimates; the same command goes on.

    python -m benchmarks.quality.auto_estimates --runs 200
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from functools import cache

import numpy as np
from benchmarks.helpers.places import RESULTS
from benchmarks.helpers.records import show

import rankwright as rw
from rankwright.cluster.in_process import SerialEngine
from rankwright.data.dataset import RankingDataset

FOLDER, METRIC = RESULTS / "auto-estimates", "ndcg@10"
QUERIES, FRESH, DOCS, FRESH_SEED, PARTS = 100, 20_000, 20, 10_000_000, 10


@cache
def fresh_part(part: int) -> RankingDataset:
    """Some of the fresh queries."""
    return rw.synthetic.web_search(FRESH // PARTS, docs_per_query=DOCS, seed=FRESH_SEED + part)


def run(seed: int, trials: int) -> None:
    """Search, measure the choice on fresh queries, and keep both."""
    place = FOLDER / f"{trials}-{seed}.json"
    if place.exists():
        return
    data = rw.synthetic.web_search(QUERIES, docs_per_query=DOCS, seed=seed)
    ranker = rw.AutoRanker(trials=trials, seed=seed, threads=1).on(SerialEngine()).fit(data)
    values = []
    for part in range(PARTS):
        fresh = fresh_part(part)
        values.append(rw.evaluate(ranker.predict(fresh), fresh, [METRIC], threads=1)[METRIC].values)
    truth = float(np.nanmean(np.concatenate(values)))
    assert ranker.report_.estimate is not None
    kept = {"truth": truth, "estimate": asdict(ranker.report_.estimate), "chosen": ranker.members_}
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(kept))
    print(f"{seed}: expected {ranker.report_.estimate.mean:.4f}, found {truth:.4f}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--trials", type=int, default=8)
    parser.add_argument("--tell", action="store_true", help="run nothing more")
    options = parser.parse_args()
    if not options.tell:
        for seed in range(options.runs):
            run(seed, options.trials)
    kept = [json.loads(path.read_text()) for path in sorted(FOLDER.glob(f"{options.trials}-*.json"))]
    gaps = np.array([one["estimate"]["mean"] - one["truth"] for one in kept])
    covered = np.mean([one["estimate"]["low"] <= one["truth"] <= one["estimate"]["high"] for one in kept])
    row = {
        "runs": len(kept),
        "covered": f"{covered:.3f}",
        "mean error": f"{gaps.mean():+.4f} ± {gaps.std() / np.sqrt(len(gaps)):.4f}",
        "mean size of the error": f"{np.abs(gaps).mean():.4f}",
    }
    show("quality-auto-estimates", "The estimate of auto against fresh queries", [row])


if __name__ == "__main__":
    main()
