"""What is each switch of the default λ worth to LambdaMART, in NDCG@10 of held-out queries?

One switch at a time is turned off; the paper's plain formula has none. Values are means over seeds; the error is that
of the paired difference to the default, by query.

    python -m benchmarks.quality.lambda_switches [--queries 600] [--trees 60] [--seeds 2] [--threads 1]
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
from benchmarks.helpers.records import leave

import rankwright as rw
from rankwright.objectives import Objective, delta_named, lambdarank, paper_lambdarank

DEFAULT = lambdarank("ndcg@10")
VARIANTS: dict[str, Objective] = {
    "default": DEFAULT,
    "no gap_norm": replace(DEFAULT, gap_norm=False),
    "no query_norm": replace(DEFAULT, query_norm=False),
    "no tail": replace(DEFAULT, delta=delta_named("ndcg@10")),
    "truncation 10": replace(DEFAULT, truncation=10),
    "no truncation": replace(DEFAULT, truncation=None),
    "ties in row order": replace(DEFAULT, shuffle_ties=False),
    "paper's formula": paper_lambdarank("ndcg@10"),
}


class Switched(rw.LambdaMART):
    """LambdaMART with an objective of its own."""

    variant = "default"

    def _objective(self) -> Objective:
        return VARIANTS[self.variant]


def ndcg_by_query(variant: str, data: rw.RankingDataset, seed: int, trees: int, threads: int) -> np.ndarray:
    """The held-out queries' NDCG@10."""
    train, test = data.split(valid=0.4, seed=seed)
    ranker = Switched(n_trees=trees, seed=seed, threads=threads)
    ranker.variant = variant
    scores = ranker.fit(train).predict(test)
    return np.asarray(rw.evaluate(scores, test, metrics=["ndcg@10"]).results["ndcg@10"].values)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--queries", type=int, default=600)
    parser.add_argument("--trees", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    settings = parser.parse_args()

    data = rw.synthetic.web_search(settings.queries)
    values = {
        name: np.concatenate(
            [ndcg_by_query(name, data, seed, settings.trees, settings.threads) for seed in range(settings.seeds)]
        )
        for name in VARIANTS
    }
    print(f"{data!r}, {settings.trees} trees, {settings.seeds} seeds\n")
    rows = []
    for name, found in values.items():
        less = found - values["default"]
        error = less.std() / np.sqrt(len(less))
        print(f"{name:20} {found.mean():.4f}   {less.mean():+.4f} ± {error:.4f}")
        rows.append({"switch": name, "ndcg@10": found.mean(), "less the default": f"{less.mean():+.4f} ± {error:.4f}"})
    size = f"{settings.queries} queries, {settings.trees} trees, {settings.seeds} seeds"
    leave("lambda-switches", f"Switches of LambdaRank's default forces: {size}", rows=rows, notes={})


if __name__ == "__main__":
    main()
