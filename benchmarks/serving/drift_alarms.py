"""How often drift is told of documents of the same source, and how often a shift of half a deviation is found.

Samples have 1,000 documents of 50 queries; some features belong to the query, one is a count, one is often missing.
Of a second source, whose features all belong to the query, only alarms are counted. `most, of the query` is what the
best test of 50 independent normal values finds that raises no more alarms over all features and the scores together.

    python -m benchmarks.serving.drift_alarms --samples 1000
"""

from __future__ import annotations

import argparse

import numpy as np
from benchmarks.helpers.records import leave
from scipy.stats import norm

import rankwright as rw
from rankwright.catalog.drift import SURE, drift_of, profile_of
from rankwright.rankers.trained import TrainedRanker

N_FEATURES, N_QUERIES, DOCS_OF_QUERY, TRAINED_QUERIES = 20, 50, 20, 1000
SHIFTED = {"of the query": 0, "a count": 1, "often missing": 2, "of the document": 5}  # features, one after the other
HALF = 0.5  # a deviation


def source(seed: int, n_queries: int = N_QUERIES, *, all_of_query: bool = False) -> rw.RankingDataset:
    rng, n = np.random.default_rng(seed), DOCS_OF_QUERY * n_queries
    features = rng.standard_normal((n, N_FEATURES)).astype(np.float32)
    of_query = rng.standard_normal((n_queries, 3)).repeat(DOCS_OF_QUERY, axis=0)
    features[:, 0] = of_query[:, 0]
    features[:, 1] = rng.poisson(1.0, n)
    features[rng.random(n) < 0.3, 2] = np.nan
    features[:, 7:9] += of_query[:, 1:]
    if all_of_query:
        features = features[::DOCS_OF_QUERY].repeat(DOCS_OF_QUERY, axis=0)
    labels = np.clip(np.round(features[:, 3] + features[:, 4] + all_of_query * rng.standard_normal(n)), 0, 4)
    return rw.RankingDataset.from_arrays(features, labels, qid=np.arange(n) // DOCS_OF_QUERY)


def trained_on(data: rw.RankingDataset) -> TrainedRanker:
    ranker = rw.LambdaMART(n_trees=30, max_leaves=15).fit(data)
    return ranker.trained_.with_profile(profile_of(ranker.trained_, data.features))


def is_told(trained: TrainedRanker, fresh: rw.RankingDataset) -> bool:
    return drift_of(trained, fresh, threads=1).verdict != "as in training"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=1000)
    args = parser.parse_args()
    trained = trained_on(source(0, TRAINED_QUERIES))
    of_query = trained_on(source(0, TRAINED_QUERIES, all_of_query=True))
    alarms, alarms_of_query, found = 0, 0, dict.fromkeys(SHIFTED, 0)
    for seed in range(1, args.samples + 1):
        fresh = source(seed)
        alarms += is_told(trained, fresh)
        alarms_of_query += is_told(of_query, source(seed, all_of_query=True))
        for kind, shifted in SHIFTED.items():
            features = fresh.features.copy()
            features[:, shifted] += HALF
            moved = drift_of(trained, fresh.with_features(features, (), None), threads=1).moved
            found[kind] += str(shifted + 1) in {one.name for one in moved}
    error = (1 / N_QUERIES + 1 / TRAINED_QUERIES) ** 0.5
    most = norm.sf(norm.isf(SURE / (N_FEATURES + 1) / 2) - HALF / error)
    result = {"samples": args.samples, "false_alarms": alarms / args.samples}
    result |= {"false_alarms, all of the query": alarms_of_query / args.samples}
    result |= {f"found, {kind}": times / args.samples for kind, times in found.items()}
    result |= {"most, of the query": round(float(most), 3)}
    print(result)
    leave("drift alarms", "Does drift raise alarms where there is none, and find a small shift?", **result)


if __name__ == "__main__":
    main()
