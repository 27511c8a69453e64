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
WAYS = ("plan", "random", "depth pooling")


def learned(data: rw.RankingDataset, judged: np.ndarray, seed: int) -> rw.LambdaMART:
    """A ranker that knows the labels of the judged rows only."""
    labels = np.where(judged, data.labels, np.nan).astype(np.float32)
    some = data.take_queries(np.unique(data.groups.query_of_row[judged]))
    known = replace(some, labels=labels[np.isin(data.groups.query_of_row, np.unique(data.groups.query_of_row[judged]))])
    return rw.LambdaMART(n_trees=60, learning_rate=0.1, max_leaves=10, min_docs_in_leaf=30, seed=seed, threads=1).fit(known)


def chosen(way: str, data: rw.RankingDataset, judged: np.ndarray, scores: np.ndarray, budget: int, seed: int) -> np.ndarray:
    """The rows to judge next."""
    rng = np.random.default_rng(seed)
    if way == "random":
        return rng.permutation(np.flatnonzero(~judged))[:budget]
    if way == "depth pooling":
        rows: list[int] = []
        for query in rng.permutation(data.groups.n_queries):
            docs = data.groups.slices()[query] if isinstance(data.groups.slices(), list) else list(data.groups.slices())[query]
            top = docs.start + np.argsort(-scores[docs], kind="stable")[:DEPTH]
            rows += [row for row in top.tolist() if not judged[row]]
            if len(rows) >= budget:
                break
        return np.array(rows[:budget])
    names = np.asarray(data.document_ids)
    queries = np.asarray(data.query_ids)[data.groups.query_of_row]
    table = gather(Judgment(str(queries[row]), str(names[row]), "r", float(data.labels[row])) for row in np.flatnonzero(judged))
    order, _ = training_order(ScoredLists.of_dataset(data.in_source_order(scores), data), combine(table), seed=seed)
    return order[:budget]


def one_draw(fold: int, draw: int, budget: int) -> dict[str, np.ndarray]:
    """NDCG@10 of the test queries, by what was judged."""
    train, test = (rw.read(DATA / "MQ2007" / f"Fold{fold}" / f"{name}.txt.gz") for name in ("train", "test"))
    train = replace(train, document_ids=np.arange(train.n_docs).astype(str))
    first = np.random.default_rng([fold, draw]).permutation(train.groups.n_queries)[:FIRST_QUERIES]
    judged = np.isin(train.groups.query_of_row, first)
    start = learned(train, judged, draw)
    scores = train.from_source_order(start.predict(train))
    found = {"at first": start}
    for way in WAYS:
        more = judged.copy()
        more[chosen(way, train, judged, scores, budget, draw)] = True
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
