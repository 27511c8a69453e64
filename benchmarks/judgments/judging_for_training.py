"""What are judgments worth to a ranker that learns from them, if documents are chosen well, at random, or by pooling?

    python -m benchmarks.judgments.judging_for_training [--draws 2] [--budget 2000]

MQ2007, official folds. A hundred training queries are judged, and a ranker learns from them; then documents of the
others are judged, within the budget, and LambdaMART learns from all that was judged. NDCG@10 on the test queries, with
the gain over what was judged at first and the standard error of the plan's lead over test queries.

- plan: `training_order`
- random: all documents equally likely
- depth pooling: queries at random, each to depth ten of what the first ranker puts on top
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np
from benchmarks.helpers.places import DATA
from benchmarks.helpers.records import show

import rankwright as rw
from rankwright.judgments import Judgment, combine, gather, training_order
from rankwright.metrics.evaluation import ScoredLists

METRIC, DEPTH, FIRST_QUERIES = "ndcg@10", 10, 100


def learned(data: rw.RankingDataset, judged: np.ndarray, seed: int) -> rw.LambdaMART:
    """A ranker that knows the labels of the judged rows only."""
    known = replace(data, labels=np.where(judged, np.asarray(data.labels), np.nan).astype(np.float32))
    some = known.take_queries(np.unique(data.groups.query_of_row[judged]))
    settings: dict[str, Any] = {"n_trees": 60, "learning_rate": 0.1, "max_leaves": 10, "min_docs_in_leaf": 30}
    return rw.LambdaMART(**settings, seed=seed, threads=1).fit(some)


def by_plan(data: rw.RankingDataset, judged: np.ndarray, scores: np.ndarray, seed: int) -> np.ndarray:
    """Rows in the order of the plan."""
    queries, names = np.asarray(data.query_ids)[data.groups.query_of_row], np.asarray(data.document_ids)
    labels = np.asarray(data.labels)
    table = gather(
        Judgment(str(queries[row]), str(names[row]), "r", float(labels[row])) for row in np.flatnonzero(judged)
    )
    lists = ScoredLists.of_dataset(data.in_source_order(scores), data)
    return training_order(lists, combine(table), seed=seed)[0]


def at_random(data: rw.RankingDataset, judged: np.ndarray, scores: np.ndarray, seed: int) -> np.ndarray:  # noqa: ARG001
    """Rows that nobody judged, in any order."""
    return np.random.default_rng(seed).permutation(np.flatnonzero(~judged))


def by_pooling(data: rw.RankingDataset, judged: np.ndarray, scores: np.ndarray, seed: int) -> np.ndarray:
    """The first ten rows of the first ranker, of one query after another in any order."""
    slices = list(data.groups.slices())
    order = np.random.default_rng(seed).permutation(len(slices))
    tops = [slices[query].start + np.argsort(-scores[slices[query]], kind="stable")[:DEPTH] for query in order.tolist()]
    rows: np.ndarray = np.concatenate(tops)
    return np.asarray(rows[~judged[rows]])


WAYS = {"plan": by_plan, "random": at_random, "depth pooling": by_pooling}


def one_draw(fold: int, draw: int, budget: int) -> dict[str, np.ndarray]:
    """NDCG@10 of the test queries, by what was judged."""
    train, test = (rw.read(DATA / "MQ2007" / f"Fold{fold}" / f"{name}.txt.gz") for name in ("train", "test"))
    train = replace(train, document_ids=np.arange(train.n_docs).astype(str))
    first = np.random.default_rng([fold, draw]).permutation(train.groups.n_queries)[:FIRST_QUERIES]
    judged = np.isin(train.groups.query_of_row, first)
    start = learned(train, judged, draw)
    scores = train.from_source_order(start.predict(train))
    found = {"at first": start}
    for way, order in WAYS.items():
        more = judged.copy()
        more[order(train, judged, scores, draw)[:budget]] = True
        found[way] = learned(train, more, draw)
    return {name: np.asarray(rw.evaluate(one, test, [METRIC], threads=1)[METRIC].values) for name, one in found.items()}


def main() -> None:
    """Judge and learn on all folds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--budget", type=int, default=2000)
    parser.add_argument("--folds", type=int, default=5)
    given = parser.parse_args()
    values: dict[str, list[np.ndarray]] = {}
    for fold in range(1, given.folds + 1):
        draws = [one_draw(fold, draw, given.budget) for draw in range(given.draws)]
        for name in draws[0]:
            values.setdefault(name, []).append(np.mean([one[name] for one in draws], axis=0))
        print(fold, {name: round(float(own[-1].mean()), 4) for name, own in values.items()}, flush=True)
    whole = {name: np.concatenate(own) for name, own in values.items()}
    rows: list[dict[str, Any]] = []
    for name, own in whole.items():
        lead = whole["plan"] - own
        rows.append({"judged": name, METRIC: float(own.mean()), "plan's lead": float(lead.mean()),
                     "error": float(lead.std(ddof=1) / np.sqrt(len(lead)))})  # fmt: skip
    show("judgments for training", f"{METRIC} on MQ2007 with {given.budget:,} more judgments", rows)


if __name__ == "__main__":
    main()
