"""How much of what position bias costs is recovered, and does a correction ever hurt?

    python -m benchmarks.clicks.debiasing [--seeds 10] [--first 11] [--users pbm,…] [--trees 200] [--one-session]

Clicks of every kind of user are simulated on web-like data: 1,000 queries, examination^1, 10 % noise on irrelevant
documents, lists of ten by a ranker trained on 1 % of the labels, 100 sessions a query. LambdaMART is trained on click
rates as they are (naive), with `debias="auto"`, with `debias="always"`, which has no way back, and on the true labels
of the same documents; 1,000 other queries with true labels measure all of them. `recovered` and the curve are those of
runs in which the whole correction was made, and `corrected` tells how many these are.

With `--one-session`, each query has one user, and clicks are 0 or 1: taken as they are, with `debias="auto"`, with
`debias="pairwise"`, and with propensities that another log with lists in random order tells: once with `auto`, which
asks held-out clicks about them, and once as weights, which nothing checks. The switches were tuned on seeds 0 to 10.

Each run is kept in results/clicks_debiasing and not made again; `--again` forgets those that are asked for.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.helpers.places import RESULTS
from benchmarks.helpers.records import show

import rankwright as rw
from rankwright import clicks
from rankwright.debiasing import correction, stage

METRIC, N_QUERIES, DEPTH = "ndcg@10", 1000, 10
FOLDER = RESULTS / "clicks_debiasing"
JOBS = 2


class Run(NamedTuple):
    """The clicks of one kind of users, of a hundred in each query or of one, and everything that is trained on them."""

    users: str
    seed: int
    trees: int
    once: bool

    @property
    def path(self) -> Path:
        """Where it is kept."""
        sessions = "one-session" if self.once else "100-sessions"
        return FOLDER / f"{sessions}-{self.trees}-trees" / f"{self.users}-{self.seed}.json"

    def found(self) -> dict[str, Any]:
        """What was kept of it."""
        kept: dict[str, Any] = json.loads(self.path.read_text())
        return kept


def make(runs: Sequence[Run]) -> None:
    """Make and keep the runs of a seed, which share its documents."""
    remember_forests()
    for run in runs:
        found = (one_session if run.once else many_sessions)(run.users, run.seed, run.trees)
        print(found, flush=True)
        run.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = run.path.with_suffix(".part")
        unfinished.write_text(json.dumps(found))
        unfinished.rename(run.path)


def remember_forests() -> None:
    """Let the corrections that ask forests the same question of the same clicks share the answer: it cannot differ."""
    answers: dict[tuple[Any, ...], np.ndarray] = {}

    grown = correction.held_out_scores

    def answered(data: Any, objective: Any, stages: Sequence[int], **settings: Any) -> np.ndarray:
        parts = (data.features, data.labels, data.positions, data.document_weights, data.groups.offsets)
        key = (*(None if one is None else digest(one) for one in parts), objective, *stages, settings["seed"])
        if key not in answers:
            answers[key] = grown(data, objective, stages, **settings)
        return answers[key]

    for module in (correction, stage):
        module.held_out_scores = answered  # type: ignore[attr-defined]


def digest(values: Any) -> bytes:
    return hashlib.blake2b(np.ascontiguousarray(values).tobytes(), digest_size=16).digest()


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
        n_trees=trees, max_leaves=15, learning_rate=0.05, feature_fraction=0.3, seed=seed, debias=debias, threads=1
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


def many_sessions(users: str, seed: int, trees: int) -> dict[str, Any]:
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
            row["at most"] = float(np.abs(off).max())
            row["mean curve off by"] = float(np.abs(off.mean(axis=0)).max())
    return row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=11, help="the first seed")
    parser.add_argument("--users", default=",".join(clicks.USERS))
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--one-session", action="store_true")
    parser.add_argument("--again", action="store_true", help="make runs anew that were kept")
    given = parser.parse_args()
    kinds, once = given.users.split(","), given.one_session
    seeds = range(given.first, given.first + given.seeds)
    runs = {users: [Run(users, seed, given.trees, once) for seed in seeds] for users in kinds}
    missing = [[run for run in own if given.again or not run.path.exists()] for own in zip(*runs.values(), strict=True)]
    with ProcessPoolExecutor(JOBS) as pool:
        list(pool.map(make, filter(None, missing)))
    corrections = ("auto", "pairwise", "propensity", "weights") if once else ("auto", "always")
    sessions = "one session" if once else "100 sessions"
    question = f"{METRIC} of LambdaMART on simulated clicks, {sessions} a query, {given.seeds} seeds from {given.first}"
    name = "clicks_one_session" if once else "clicks_debiasing"
    show(name, question, [summary([run.found() for run in own], corrections) for own in runs.values()])


if __name__ == "__main__":
    main()
