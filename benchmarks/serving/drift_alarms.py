"""How often drift is told of documents of the same source, and how often a shift of half a deviation is found.

Samples have 1,000 documents of 50 queries; some features belong to the query, one is a count, one is often missing.

    python -m benchmarks.serving.drift_alarms --samples 1000
"""

from __future__ import annotations

import argparse

import numpy as np
from benchmarks.helpers.records import leave

import rankwright as rw
from rankwright.catalog.drift import drift_of, profile_of

N_FEATURES, N_QUERIES, DOCS_OF_QUERY = 20, 50, 20
SHIFTED = {"of the query": 0, "a count": 1, "often missing": 2, "of the document": 5}  # features, one after the other
HALF = 0.5  # a deviation


def source(seed: int, n_queries: int = N_QUERIES) -> rw.RankingDataset:
    rng, n = np.random.default_rng(seed), DOCS_OF_QUERY * n_queries
    features = rng.standard_normal((n, N_FEATURES)).astype(np.float32)
    of_query = rng.standard_normal((n_queries, 3)).repeat(DOCS_OF_QUERY, axis=0)
    features[:, 0] = of_query[:, 0]
    features[:, 1] = rng.poisson(1.0, n)
    features[rng.random(n) < 0.3, 2] = np.nan
    features[:, 7:9] += of_query[:, 1:]
    labels = np.clip(np.round(features[:, 3] + features[:, 4]), 0, 4)
    return rw.RankingDataset.from_arrays(features, labels, qid=np.arange(n) // DOCS_OF_QUERY)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1000)
    args = parser.parse_args()
    data = source(0, 1000)
    ranker = rw.LambdaMART(n_trees=30, max_leaves=15).fit(data)
    trained = ranker.trained_.with_profile(profile_of(ranker.trained_, data.features))
    alarms, found = 0, dict.fromkeys(SHIFTED, 0)
    for seed in range(1, args.samples + 1):
        fresh = source(seed)
        alarms += drift_of(trained, fresh, threads=1).verdict != "as in training"
        for kind, shifted in SHIFTED.items():
            features = fresh.features.copy()
            features[:, shifted] += HALF
            moved = drift_of(trained, fresh.with_features(features, (), None), threads=1).moved
            found[kind] += str(shifted + 1) in {one.name for one in moved}
    result = {"samples": args.samples, "false_alarms": alarms / args.samples}
    result |= {f"found, {kind}": times / args.samples for kind, times in found.items()}
    print(result)
    leave("drift alarms", "Does drift raise alarms where there is none, and find a small shift?", **result)


if __name__ == "__main__":
    main()
