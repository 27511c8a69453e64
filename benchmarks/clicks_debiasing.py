"""How much of what position bias costs is recovered, and does a correction ever hurt?

    python -m benchmarks.clicks_debiasing [--seeds 10] [--users pbm,cascade,…] [--trees 200]

Clicks of every kind of user are simulated on web-like data: 1,000 queries, examination^1, 10 % noise on irrelevant
documents, lists of ten by a ranker trained on 1 % of the labels, 100 sessions a query. LambdaMART is trained on click
rates as they are (naive), with `debias="auto"`, and on the true labels of the same documents; 1,000 other queries with
true labels measure all three.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np
from benchmarks.clicks_tables import show

import rankwright as rw
from rankwright import clicks

METRIC, N_QUERIES = "ndcg@10", 1000


def one_run(users: str, seed: int, trees: int) -> dict[str, Any]:
    data = rw.synthetic.web_search(2 * N_QUERIES, docs_per_query=30, seed=seed)
    train, test = (data.take_queries(np.arange(N_QUERIES) + first) for first in (0, N_QUERIES))
    logging = rw.LambdaMART(n_trees=30, max_leaves=7, seed=seed).fit(train.take_queries(np.arange(N_QUERIES // 100)))
    rates: Any = clicks.click_rates(train, clicks.simulate(train, logging.predict(train), users=users, seed=seed))
    settings: dict[str, Any] = {
        "n_trees": trees,
        "max_leaves": 15,
        "learning_rate": 0.05,
        "feature_fraction": 0.3,
        "seed": seed,
    }
    true_labels = np.where(np.isnan(rates.labels), np.nan, np.asarray(train.labels)).astype(np.float32)
    rankers: dict[str, Any] = {
        "naive": rw.LambdaMART(debias="none", **settings).fit(rates),
        "auto": rw.LambdaMART(**settings).fit(rates),
        "true": rw.LambdaMART(**settings).fit(replace(rates, labels=true_labels, positions=None)),
    }
    found = {name: rw.evaluate(one.predict(test), test, [METRIC])[METRIC].mean for name, one in rankers.items()}
    bias = rankers["auto"].debiasing_
    off = np.abs(bias.examination[:10] - clicks.EXAMINATION / clicks.EXAMINATION[0]).max()
    return {"users": users, "seed": seed} | found | {
        "recovered": (found["auto"] - found["naive"]) / (found["true"] - found["naive"]),
        "corrected": bias.applied,
        "examination off by": float(off),
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--users", default=",".join(clicks.USERS))
    parser.add_argument("--trees", type=int, default=200)
    given = parser.parse_args()
    rows = []
    for users in given.users.split(","):
        runs = []
        for seed in range(given.seeds):
            runs.append(one_run(users, seed, given.trees))
            print(runs[-1], flush=True)
        means = {name: float(np.mean([run[name] for run in runs])) for name in ("naive", "auto", "true")}
        rows.append({"users": users} | means | {
            "gain": means["auto"] - means["naive"],
            "recovered": (means["auto"] - means["naive"]) / (means["true"] - means["naive"]),
            "corrected": sum(run["corrected"] for run in runs),
            "examination off by": float(np.mean([run["examination off by"] for run in runs])),
        })  # fmt: skip
    show("clicks_debiasing", f"{METRIC} of LambdaMART on simulated clicks, mean of {given.seeds} seeds", rows)


if __name__ == "__main__":
    main()
