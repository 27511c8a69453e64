"""How much of what position bias costs is recovered, and does a correction ever hurt?

    python -m benchmarks.clicks_debiasing [--seeds 10] [--first 10] [--users pbm,cascade,…] [--trees 200] [--pairwise]

Clicks of every kind of user are simulated on web-like data: 1,000 queries, examination^1, 10 % noise on irrelevant
documents, lists of ten by a ranker trained on 1 % of the labels, 100 sessions a query. LambdaMART is trained on click
rates as they are (naive), with `debias="auto"`, and on the true labels of the same documents; 1,000 other queries with
true labels measure all three. What `always` gets is that of `auto` where it corrects. With `--pairwise`, clicks of a
single session are taken as they are and with `debias="pairwise"`. The switches were tuned on seeds 0 to 2.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from benchmarks.clicks_tables import show

import rankwright as rw
from rankwright import clicks

METRIC, N_QUERIES = "ndcg@10", 1000


@cache
def world(seed: int) -> tuple[Any, Any, Any]:
    """Documents to train on, others to measure on, and the scores of the logging ranker."""
    data = rw.synthetic.web_search(2 * N_QUERIES, docs_per_query=30, seed=seed)
    train, test = (data.take_queries(np.arange(N_QUERIES) + first) for first in (0, N_QUERIES))
    logging = rw.LambdaMART(n_trees=30, max_leaves=7, seed=seed).fit(train.take_queries(np.arange(N_QUERIES // 100)))
    return train, test, logging.predict(train)


def trained(data: Any, seed: int, trees: int, debias: str) -> tuple[float, Any]:
    """What the ranker gets on other queries, and what it found about the bias."""
    ranker = rw.LambdaMART(
        n_trees=trees, max_leaves=15, learning_rate=0.05, feature_fraction=0.3, seed=seed, debias=debias
    ).fit(data)
    test = world(seed)[1]
    return rw.evaluate(ranker.predict(test), test, [METRIC])[METRIC].mean, ranker.debiasing_


@cache
def by_labels(seed: int, trees: int) -> float:
    """What the true labels of the documents that are shown give, whatever users click."""
    train, _, scores = world(seed)
    rates: Any = clicks.click_rates(train, clicks.simulate(train, scores, sessions=1, seed=seed))
    labels = np.where(np.isnan(rates.labels), np.nan, np.asarray(train.labels)).astype(np.float32)
    return trained(replace(rates, labels=labels, positions=None), seed, trees, "none")[0]


def one_run(users: str, seed: int, trees: int) -> dict[str, Any]:
    train, _, scores = world(seed)
    rates: Any = clicks.click_rates(train, clicks.simulate(train, scores, users=users, seed=seed))
    naive, _ = trained(rates, seed, trees, "none")
    auto, bias = trained(rates, seed, trees, "auto")
    return {
        "users": users,
        "seed": seed,
        "naive": naive,
        "auto": auto,
        "true": by_labels(seed, trees),
        "corrected": bias.applied,
        "fading": bias.fading,
        "curve": bias.examination[:10].tolist(),
    }


def one_session(users: str, seed: int, trees: int) -> dict[str, Any]:
    """The same with the clicks of one session, which are 0 or 1."""
    train, _, scores = world(seed)
    log = clicks.simulate(train, scores, users=users, sessions=1, seed=seed)
    rates = clicks.click_rates(train, log)
    naive, _ = trained(rates, seed, trees, "none")
    pairwise, bias = trained(rates, seed, trees, "pairwise")
    return {"users": users, "seed": seed, "naive": naive, "pairwise": pairwise, "corrected": bias.applied}


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The mean of the runs of one kind of users."""
    means = {name: float(np.mean([run[name] for run in runs])) for name in ("naive", "auto", "true")}
    true = clicks.EXAMINATION / clicks.EXAMINATION[0]
    off = np.array([run["curve"] for run in runs]) - true
    row = {"users": runs[0]["users"]} | means
    row |= {
        "gain": means["auto"] - means["naive"],
        "least gain": float(min(run["auto"] - run["naive"] for run in runs)),
        "recovered": (means["auto"] - means["naive"]) / (means["true"] - means["naive"]),
        "corrected": f"{sum(run['corrected'] for run in runs)} of {len(runs)}",
        "fading": float(np.mean([run["fading"] for run in runs])),
    }
    if row["users"] == "pbm":  # of the others, the curve is not that of the simulation
        row["curve off by"] = float(np.abs(off).max(axis=1).mean())
        row["mean curve off by"] = float(np.abs(off.mean(axis=0)).max())
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=10, help="the first seed")
    parser.add_argument("--users", default=",".join(clicks.USERS))
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--pairwise", action="store_true")
    given = parser.parse_args()
    kinds, run_of = given.users.split(","), one_session if given.pairwise else one_run
    runs: dict[str, list[dict[str, Any]]] = {users: [] for users in kinds}
    for seed in range(given.first, given.first + given.seeds):
        for users in kinds:
            runs[users].append(run_of(users, seed, given.trees))
            print(runs[users][-1], flush=True)
    question = f"{METRIC} of LambdaMART on simulated clicks, {given.seeds} seeds from {given.first}"
    if given.pairwise:
        rows = [
            {"users": users}
            | {name: float(np.mean([run[name] for run in own])) for name in ("naive", "pairwise")}
            | {"corrected": sum(run["corrected"] for run in own)}
            for users, own in runs.items()
        ]
        show("clicks_pairwise", question, rows)
    else:
        show("clicks_debiasing", question, [summary(own) for own in runs.values()])


if __name__ == "__main__":
    main()
