"""How much of what position bias costs is recovered, and does a correction ever hurt?

    python -m benchmarks.clicks_debiasing [--seeds 10] [--first 10] [--users pbm,…] [--trees 200] [--one-session]

Clicks of every kind of user are simulated on web-like data: 1,000 queries, examination^1, 10 % noise on irrelevant
documents, lists of ten by a ranker trained on 1 % of the labels, 100 sessions a query. LambdaMART is trained on click
rates as they are (naive), with `debias="auto"`, with `debias="always"`, which has no way back, and on the true labels
of the same documents; 1,000 other queries with true labels measure all of them. `recovered` and the curve are those of
runs in which the whole correction was made, and `corrected` tells how many these are.

With `--one-session`, each query has one user, and clicks are 0 or 1: taken as they are, with `debias="auto"`, with
`debias="pairwise"`, and with propensities that another log with lists in random order tells: once with `auto`, which
asks held-out clicks about them, and once as weights, which nothing checks. The switches were tuned on seeds 0 to 2.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from benchmarks.records import show

import rankwright as rw
from rankwright import clicks

METRIC, N_QUERIES, DEPTH = "ndcg@10", 1000, 10


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
    """The clicks of a hundred users of each query."""
    train, _, scores = world(seed)
    rates: Any = clicks.click_rates(train, clicks.simulate(train, scores, users=users, seed=seed))
    naive, _ = trained(rates, seed, trees, "none")
    auto, bias = trained(rates, seed, trees, "auto")
    always = auto if bias.applied else trained(rates, seed, trees, "always")[0]  # where it corrects, they are the same
    return {
        "users": users,
        "seed": seed,
        "naive": naive,
        "auto": auto,
        "always": always,
        "true": by_labels(seed, trees),
        "corrected": bias.applied,
        "fading": bias.fading,
        "curve": bias.examination[:10].tolist(),
    }


def one_session(users: str, seed: int, trees: int) -> dict[str, Any]:
    """The clicks of one user of each query, which are 0 or 1."""
    train, _, scores = world(seed)
    rates: Any = clicks.click_rates(train, clicks.simulate(train, scores, users=users, sessions=1, seed=seed))
    naive, _ = trained(rates, seed, trees, "none")
    auto, bias = trained(rates, seed, trees, "auto")
    # Both measure the same first, and `pairwise` takes clicks as they are unless that supports the whole correction.
    pairwise, pairs = trained(rates, seed, trees, "pairwise") if bias.applied else (naive, None)
    known = propensities(users, seed)[np.minimum(rates.positions, DEPTH - 1)]
    with_known = replace(rates, positions=None, propensities=known)
    propensity, given = trained(with_known, seed, trees, "auto")
    return {
        "users": users,
        "seed": seed,
        "naive": naive,
        "auto": auto,
        "pairwise": pairwise,
        "propensity": propensity,
        "weights": trained(with_known, seed, trees, "none")[0],
        "true": by_labels(seed, trees),
        "corrected": bias.applied,
        "by pairs": pairs is not None and pairs.applied,
        "by propensity": given.applied,
    }


def propensities(users: str, seed: int) -> np.ndarray:
    """What lists in random order tell of the examination of each position."""
    train = world(seed)[0]
    in_any_order = np.random.default_rng(seed).random(train.n_docs)
    log = clicks.simulate(train, in_any_order, users=users, sessions=10, seed=seed + 1000)
    return np.clip(clicks.from_randomised(log, DEPTH), 0.01, 1.0)


def summary(runs: list[dict[str, Any]], corrections: tuple[str, ...]) -> dict[str, Any]:
    """The mean of the runs of one kind of users, and what each correction gains beside the clicks as they are."""
    means = {name: float(np.mean([run[name] for run in runs])) for name in ("naive", *corrections, "true")}
    row: dict[str, Any] = {"users": runs[0]["users"]} | means
    row |= {f"{name} gains": means[name] - means["naive"] for name in corrections}
    row["least auto gains"] = float(min(run["auto"] - run["naive"] for run in runs))
    for switch in ("corrected", "by pairs", "by propensity"):
        if switch in runs[0]:
            row[switch] = f"{sum(run[switch] for run in runs)} of {len(runs)}"
    made = [run for run in runs if run["corrected"]]
    if row["users"] == "pbm" and made:  # of the others, the curve is not that of the simulation
        gap, gained = (np.mean([run[name] - run["naive"] for run in made]) for name in ("true", "auto"))
        row["recovered"] = float(gained / gap)
        if "curve" in made[0]:
            off = np.array([run["curve"] for run in made]) - clicks.EXAMINATION / clicks.EXAMINATION[0]
            row["curve off by"] = float(np.abs(off).max(axis=1).mean())
            row["mean curve off by"] = float(np.abs(off.mean(axis=0)).max())
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=10, help="the first seed")
    parser.add_argument("--users", default=",".join(clicks.USERS))
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--one-session", action="store_true")
    given = parser.parse_args()
    kinds, run_of = given.users.split(","), one_session if given.one_session else one_run
    runs: dict[str, list[dict[str, Any]]] = {users: [] for users in kinds}
    for seed in range(given.first, given.first + given.seeds):
        for users in kinds:
            runs[users].append(run_of(users, seed, given.trees))
            print(runs[users][-1], flush=True)
    corrections = ("auto", "pairwise", "propensity", "weights") if given.one_session else ("auto", "always")
    sessions = "one session" if given.one_session else "100 sessions"
    question = f"{METRIC} of LambdaMART on simulated clicks, {sessions} a query, {given.seeds} seeds from {given.first}"
    name = "clicks_one_session" if given.one_session else "clicks_debiasing"
    show(name, question, [summary(own, corrections) for own in runs.values()])


if __name__ == "__main__":
    main()
