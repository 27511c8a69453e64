"""How fast are NDCG@10 and MAP of one million documents in 10,000 queries, beside pytrec_eval's `evaluate` call?

pytrec_eval's dictionaries are built outside the clock, and so is our dataset.

    python -m benchmarks.speed.evaluate [--threads 2] [--repeats 7]
"""

from __future__ import annotations

import argparse

import numpy as np
import pytrec_eval
from benchmarks.helpers.timing import report, time_side_by_side

from rankwright import RankingDataset, evaluate

N_QUERIES, N_DOCS = 10_000, 100
METRICS = ["ndcg@10", "map"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=7)
    settings = parser.parse_args()

    rng = np.random.default_rng(0)
    shape = (N_QUERIES, N_DOCS)
    labels = rng.choice(5, size=shape, p=[0.52, 0.32, 0.13, 0.02, 0.01])  # the shares of web search judgments
    scores = rng.normal(size=shape)
    ids = [f"d{number}" for number in range(N_DOCS)]
    data = RankingDataset.from_arrays(
        np.zeros((labels.size, 0)), labels.ravel(), group=np.full(N_QUERIES, N_DOCS), document_ids=ids * N_QUERIES
    )
    qrels = {str(query): dict(zip(ids, labels[query].tolist(), strict=True)) for query in range(N_QUERIES)}
    run = {str(query): dict(zip(ids, scores[query].tolist(), strict=True)) for query in range(N_QUERIES)}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"ndcg_cut.10", "map"})

    flat = scores.ravel()
    threads = settings.threads
    check_agreement(evaluate(flat, data, METRICS, "trec"), theirs.evaluate(run))
    timings = time_side_by_side(
        {
            "rankwright": lambda: evaluate(flat, data, METRICS, threads=threads),
            "rankwright, as trec": lambda: evaluate(flat, data, METRICS, "trec", threads=threads),
            "rankwright, with intervals": lambda: str(evaluate(flat, data, METRICS, threads=threads)),
            "pytrec_eval": lambda: theirs.evaluate(run),
        },
        settings.repeats,
    )
    notes = {"documents": labels.size, "queries": N_QUERIES, "threads": threads}
    report("NDCG@10 and MAP of a million documents in 10,000 queries", timings, "rankwright", notes)


def check_agreement(ours, theirs) -> None:
    for name, their_name in (("ndcg@10", "ndcg_cut_10"), ("map", "map")):
        expected = [theirs[str(query)][their_name] for query in range(N_QUERIES)]
        np.testing.assert_allclose(ours[name].values, expected, rtol=1e-12)


if __name__ == "__main__":
    main()
