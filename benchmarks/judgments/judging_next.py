"""How many labels does it take to tell two rankers apart, if documents are chosen well, at random, or by pooling?

    python -m benchmarks.judgments.judging_next [--repeats 100] [--drawn 12] [--seed 0]

MQ2007's 1,692 queries are the oracle. Rankers are single features, whose pairs differ by 4 to 25 % of DCG@10, or with
`--drawn` pairs drawn at random: of features, and of sums of eight features with random weights. Every way to choose
stops at the first look (after 50 labels, then 20 % more each time) at which its estimate lies 2.8
standard errors from 0; the verdict is wrong if the whole of the labels says otherwise.

- plan: `plan_comparison`
- random: documents of the queries, all equally likely; those that neither ranker has among the first ten are judged
  in vain, as in a random sample of the collection
- random of the first ten: only documents that either ranker has among the first ten
- depth pooling: whole queries at random, each to depth ten
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from benchmarks.helpers.places import DATA
from benchmarks.helpers.records import show

import rankwright as rw
from rankwright.judgments import JudgingPlan, plan_comparison
from rankwright.judgments.choosing.judging_plan import SURE
from rankwright.metrics.evaluation import ScoredLists

METRIC, DEPTH = "dcg@10", 10
FIRST_LOOK, GROWTH = 50, 1.2
LEAST_DRAWN = 0.02  # of the metric, by which drawn rankers differ: closer ones take all labels in any way
PAIRS = ((0, 3), (1, 5), (2, 8), (4, 9), (6, 12), (3, 14), (0, 10), (5, 15))  # places among features, best first


def looks(most: int) -> Iterator[int]:
    """Numbers of labels at which a verdict is looked for."""
    n = float(FIRST_LOOK)
    while n < most:
        yield int(n)
        n *= GROWTH
    yield most


def all_queries() -> rw.RankingDataset:
    """The test queries of all five folds, with ids of documents."""
    parts = [rw.read(DATA / "MQ2007" / f"Fold{fold}" / "test.txt.gz") for fold in range(1, 6)]
    features, labels, qid = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("features", "labels", "qid")
    )
    ids = [f"d{row}" for row in range(len(labels))]
    return rw.RankingDataset.from_arrays(features, labels, qid=qid, document_ids=ids)


@dataclass(frozen=True)
class Oracle:
    """Two rankers, and all that the labels say of them."""

    plan: JudgingPlan
    gains: np.ndarray
    of_query: np.ndarray  # the difference of each query
    n_of_query: np.ndarray  # documents that either ranker has among the first of each query
    n_documents: int

    @property
    def truth(self) -> float:
        return float((self.plan.weights * self.gains).sum())

    def by_plan(self, rng: np.random.Generator) -> tuple[int, float]:
        """How many labels were needed, and the difference found."""
        plan = self.plan
        priorities = rng.random(len(plan)) / plan.sizes
        order = np.argsort(priorities)
        names = ("query_ids", "document_ids", "sizes", "weights", "foretold")
        drawn = replace(plan, priorities=priorities[order], **{name: getattr(plan, name)[order] for name in names})
        for n in looks(len(plan)):
            known = self.gains[order].copy()
            known[n:] = np.nan
            found = drawn.difference(known)
            if found.is_sure or n == len(plan):
                return n, found.mean
        raise AssertionError

    def at_random(self, rng: np.random.Generator, n_all: int) -> tuple[int, float]:
        """The same where every one of `n_all` documents is equally likely to be judged."""
        weights, gains = np.zeros(n_all), np.zeros(n_all)
        weights[: len(self.gains)], gains[: len(self.gains)] = self.plan.weights, self.gains
        order = rng.permutation(n_all)
        weights, gains = weights[order], gains[order]
        for n in looks(n_all):
            chance, counts = n / n_all, weights[:n] != 0
            centre = gains[:n][counts].mean() if counts.any() else 0.0
            left = weights[:n] * (gains[:n] - centre) / chance
            mean = float(self.plan.weights.sum() * centre + left.sum())
            error = np.sqrt((1 - chance) * (left**2).sum())
            if abs(mean) > SURE * error or n == n_all:
                return n, mean
        raise AssertionError

    def by_pooling(self, rng: np.random.Generator) -> tuple[int, float]:
        """The same where whole queries are judged, to the depth of the metric."""
        order = rng.permutation(len(self.of_query))
        labels, differences = np.cumsum(self.n_of_query[order]), self.of_query[order]
        for n in looks(int(labels[-1])):
            k = int(np.searchsorted(labels, n, side="right"))
            if k < 5:
                continue
            mean, share_left = differences[:k].mean(), 1 - k / len(differences)
            error = differences[:k].std(ddof=1) / np.sqrt(k) * np.sqrt(share_left)
            if abs(mean) > SURE * error or k == len(differences):
                return n, float(mean)
        raise AssertionError


def oracle_of(data: rw.RankingDataset, columns: list[np.ndarray]) -> Oracle:
    """What the labels say of two rankers, of which these are the scores."""
    one, other = (ScoredLists.of_dataset(column, data) for column in columns)
    plan = plan_comparison(one, other, METRIC)
    documents = np.asarray(data.document_ids).tolist()
    gain_of = dict(zip(documents, (2.0 ** np.asarray(data.labels) - 1).tolist(), strict=True))
    gains = np.array([gain_of[name] for name in plan.document_ids.tolist()])
    values = [rw.evaluate(column, data, [METRIC], threads=1)[METRIC].values for column in columns]
    pooled = _pooled(data, columns)
    return Oracle(plan, gains, values[1] - values[0], pooled, data.n_docs)


def _pooled(data: rw.RankingDataset, columns: list[np.ndarray]) -> np.ndarray:
    """How many documents of each query either ranker has among the first ten."""
    counts = []
    for rows in data.groups.slices():
        tops = [np.argsort(-data.from_source_order(column)[rows], kind="stable")[:DEPTH] for column in columns]
        counts.append(len(np.union1d(*tops)))
    return np.array(counts)


def named_pairs(data: rw.RankingDataset) -> dict[str, list[np.ndarray]]:
    """Pairs of features, by their places among the best ones: the scores of both."""
    useful = np.flatnonzero(data.features.std(axis=0) > 0).tolist()
    scores = {column: data.in_source_order(data.features[:, column]).astype(np.float64) for column in useful}
    quality = {column: quality_of(data, own) for column, own in scores.items()}
    best = sorted(quality, key=lambda column: (-quality[column], column))
    return {f"{best[one]}, {best[other]}": [scores[best[one]], scores[best[other]]] for one, other in PAIRS}


def drawn_pairs(data: rw.RankingDataset, n_pairs: int, seed: int) -> dict[str, list[np.ndarray]]:
    """Pairs drawn at random, features and sums of features in turn, that differ by 2 % of DCG@10 or more."""
    rng = np.random.default_rng(seed)
    width = data.features.std(axis=0)
    features = (data.features[:, width > 0] / width[width > 0]).astype(np.float64)
    found: dict[str, list[np.ndarray]] = {}
    while len(found) < n_pairs:
        pair, what = [], "features" if len(found) % 2 else "sums"
        for _ in range(2):
            chosen = rng.choice(features.shape[1], 8 if what == "sums" else 1, replace=False)
            pair.append(data.in_source_order(features[:, chosen] @ rng.random(len(chosen))))
        one, other = (quality_of(data, scores) for scores in pair)
        if abs(one - other) > LEAST_DRAWN * max(one, other):
            found[f"{what} {len(found)}"] = pair
    return found


def quality_of(data: rw.RankingDataset, scores: np.ndarray) -> float:
    """The metric over all queries."""
    return float(rw.evaluate(scores, data, [METRIC], threads=1)[METRIC].mean)


def main() -> None:
    """Compare the ways to choose on several pairs of rankers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument(
        "--drawn", type=int, default=0, help="so many pairs drawn at random, in place of the named ones"
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    data = all_queries()
    pairs = drawn_pairs(data, given.drawn, given.seed) if given.drawn else named_pairs(data)
    rows: list[dict[str, Any]] = []
    for place, (name, columns) in enumerate(pairs.items()):
        oracle = oracle_of(data, columns)
        ways: dict[str, Any] = {
            "plan": oracle.by_plan,
            "random": lambda rng, oracle=oracle: oracle.at_random(rng, oracle.n_documents),
            "random of the first ten": lambda rng, oracle=oracle: oracle.at_random(rng, oracle.plan.n_pooled),
            "depth pooling": oracle.by_pooling,
        }
        row: dict[str, Any] = {"rankers": name, "difference": oracle.truth / quality_of(data, columns[0])}
        for way, choose in ways.items():
            found = [choose(np.random.default_rng([given.seed, place, repeat])) for repeat in range(given.repeats)]
            row[way] = float(np.mean([n for n, _ in found]))
            row[f"{way}, wrong"] = float(np.mean([(mean > 0) != (oracle.truth > 0) for _, mean in found]))
        row |= {f"plan / {way}": row["plan"] / row[way] for way in ways if way != "plan"}
        rows.append(row)
        print(row, flush=True)
    means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0] if name != "rankers"}
    means["difference"] = float(np.mean([abs(row["difference"]) for row in rows]))
    show(
        f"judgments next{' drawn' if given.drawn else ''}",
        "Labels needed to tell two rankers apart",
        [*rows, {"rankers": "mean", **means}],
    )


if __name__ == "__main__":
    main()
