"""How long does a comparison of 5 systems on 50,000 queries take, beside scipy's tests of the same differences?

Ours has 4 metrics of 2 million documents, with bootstrap intervals of every mean and difference, 10,000 randomisations,
t-tests and Wilcoxon's tests; scipy's has `ttest_rel`, `wilcoxon`, a `permutation_test` and a `bootstrap` of one of the
16 pairs of systems and metrics, with the same numbers of draws.

    python -m benchmarks.speed.compare [--threads 2] [--repeats 1]
"""

from __future__ import annotations

import argparse

import numpy as np
from benchmarks.helpers.timing import report, time_side_by_side
from scipy.stats import bootstrap, permutation_test, ttest_rel, wilcoxon

from rankwright import RankingDataset, compare, evaluate

N_QUERIES, N_DOCS, N_SYSTEMS = 50_000, 40, 5
METRICS = ["ndcg@5", "ndcg@10", "map", "mrr"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=1)
    settings = parser.parse_args()

    rng = np.random.default_rng(0)
    labels = rng.choice(5, size=N_QUERIES * N_DOCS, p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(np.float64)
    data = RankingDataset.from_arrays(np.zeros((labels.size, 0)), labels, group=np.full(N_QUERIES, N_DOCS))
    systems = {f"s{number}": labels + (2 + number / 50) * rng.normal(size=labels.size) for number in range(N_SYSTEMS)}
    first, second = (evaluate(systems[name], data, ["ndcg@10"])["ndcg@10"].values for name in ("s0", "s1"))
    differences = second - first

    def theirs() -> None:
        ttest_rel(second, first)
        wilcoxon(differences)
        # In batches, or the draws would need 4 GB.
        permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=10_000, batch=100, rng=0)
        bootstrap((differences,), np.mean, method="percentile", n_resamples=1_000, batch=100, rng=0)

    def told() -> str:
        return str(compare(systems, data, METRICS, threads=settings.threads))

    timings = time_side_by_side(
        {"rankwright: 16 pairs, and the means": told, "scipy: 1 pair": theirs}, settings.repeats
    )
    report(__doc__.splitlines()[0] if __doc__ else "", timings, "rankwright: 16 pairs, and the means")


if __name__ == "__main__":
    main()
