"""Two features and few queries: what does a correction gain, by how the lists that users saw were made?

    python -m benchmarks.clicks.small_data [--seeds 10] [--first 11]

Ten documents a query, clicks of the position-based model. Lists are made by another feature than the one that matters
most, by that feature itself, so that the order shown is the best that features can give, or by more than features tell.
LambdaMART is trained on click rates as they are (naive), with `debias="auto"`, and with `always`, which asks nothing;
300 other queries with true labels measure it. The questions of `auto` were chosen on seeds 0 to 4.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.helpers.records import show

import rankwright as rw
from rankwright import clicks

METRIC, N_DOCS, N_TEST = "ndcg@10", 10, 300
SIZES = ((300, 100), (100, 30))  # queries, sessions of each
Made = tuple[np.ndarray, np.ndarray]  # relevance, and the scores that lists are made by
# From the two features and what they do not tell.
LISTS: dict[str, Callable[[np.ndarray, np.ndarray, np.ndarray], Made]] = {
    "by another feature": lambda one, other, hidden: (one + 0.5 * other + 0.7 * hidden + 1.5, other),
    "by the feature that matters": lambda one, _, hidden: (one + 0.5 * hidden + 1, one),
    "by more than features tell": lambda one, other, hidden: (
        0.7 * one + 0.9 * hidden + 1.2,
        0.7 * one + 0.6 * hidden + 0.3 * other,
    ),
}


def documents(lists: str, n_queries: int, seed: int) -> tuple[Any, np.ndarray]:
    """Judged documents, and the scores that they are shown by."""
    one, other, hidden = np.random.default_rng(seed).normal(size=(3, n_queries * N_DOCS))
    relevance, shown_by = LISTS[lists](one, other, hidden)
    labels, queries = np.clip(np.floor(relevance), 0, 4), np.repeat(np.arange(n_queries), N_DOCS)
    return rw.RankingDataset.from_arrays(np.stack([one, other], axis=1), labels, qid=queries), shown_by


def one_run(lists: str, n_queries: int, sessions: int, seed: int) -> dict[str, Any]:
    train, shown_by = documents(lists, n_queries, seed)
    test = documents(lists, N_TEST, seed + 1000)[0]
    rates = clicks.click_rates(train, clicks.simulate(train, shown_by, sessions=sessions, seed=seed))

    def trained(data: Any, debias: str) -> tuple[float, Any]:
        ranker = rw.LambdaMART(
            n_trees=50, max_leaves=7, min_docs_in_leaf=10, seed=seed, threads=1, debias=debias
        ).fit(data)  # fmt: skip
        return rw.evaluate(ranker.predict(test), test, [METRIC])[METRIC].mean, ranker.debiasing_

    auto, bias = trained(rates, "auto")
    return {
        "naive": trained(rates, "none")[0],
        "auto": auto,
        "always": auto if bias.applied else trained(rates, "always")[0],
        "true": trained(train, "none")[0],
        "corrected": bias.applied,
        "fading": bias.applied and bias.fading > 0,
    }


def summary(lists: str, n_queries: int, sessions: int, runs: list[dict[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {"lists": lists, "queries": n_queries, "sessions": sessions}
    means = {name: float(np.mean([run[name] for run in runs])) for name in ("naive", "auto", "always", "true")}
    row |= {"naive": means["naive"], "true": means["true"]}
    row |= {f"{name} gains": means[name] - means["naive"] for name in ("auto", "always")}
    row["least auto gains"] = float(min(run["auto"] - run["naive"] for run in runs))
    return row | {name: f"{sum(run[name] for run in runs)} of {len(runs)}" for name in ("corrected", "fading")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=11, help="the first seed")
    given = parser.parse_args()
    rows = []
    for lists in LISTS:
        for n_queries, sessions in SIZES:
            seeds = range(given.first, given.first + given.seeds)
            rows.append(summary(lists, n_queries, sessions, [one_run(lists, n_queries, sessions, k) for k in seeds]))
            print(rows[-1], flush=True)
    question = f"{METRIC} of LambdaMART on simulated clicks, two features, {given.seeds} seeds from {given.first}"
    show("clicks_small", question, rows)


if __name__ == "__main__":
    main()
