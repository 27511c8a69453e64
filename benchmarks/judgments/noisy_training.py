"""How much of what noise in the grades costs does combining them bring back, in NDCG@10 on MQ2007?

    python -m benchmarks.judgments.noisy_training [--draws 20] [--trees 100] [--more]

Official folds. Three raters judge every document of the training queries: a careful one with 10 % of errors, one who
is strict by one grade, and a careless one with 60 % of the grades at random. LambdaMART with as many trees in all
cases is trained on the true labels, on the mean of the raters, and on what `combine` makes of them; all are measured
by the true labels of the test queries. What is brought back is the share of the difference between true labels and the
mean: a ratio of two sums over queries, with its standard error over draws of raters (with the seed of training) and
over the test queries. Each fold of each draw is kept in benchmarks/results/noisy-training, so that a run that was
stopped goes on.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from benchmarks.helpers.places import DATA, RESULTS
from benchmarks.helpers.records import show

import rankwright as rw
from rankwright.judgments import CombinedLabels, Judgment, combine, gather

METRIC = "ndcg@10"
FOLDS = range(1, 6)
KEPT = RESULTS / "noisy-training"


def rated(truth: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The grades of the three raters."""
    n = len(truth)
    return {
        "careful": np.where(rng.random(n) < 0.1, (truth + rng.integers(1, 3, n)) % 3, truth),
        "strict": np.maximum(truth - 1, 0),
        "careless": np.where(rng.random(n) < 0.6, rng.integers(0, 3, n), truth),
    }


def combined(data: rw.RankingDataset, grades: dict[str, np.ndarray]) -> CombinedLabels:
    """One label of the three grades of each document."""
    pairs = list(zip(data.qid.astype(str), np.asarray(data.document_ids), strict=True))
    return combine(
        gather(
            Judgment(str(query), str(document), rater, float(grade))
            for rater, own in grades.items()
            for (query, document), grade in zip(pairs, own.tolist(), strict=True)
        )
    )


def reached(train: rw.RankingDataset, test: rw.RankingDataset, trees: int, seed: int) -> np.ndarray:
    """What LambdaMART reaches on each test query."""
    settings: dict[str, Any] = {"n_trees": trees, "learning_rate": 0.1, "max_leaves": 10, "min_docs_in_leaf": 100}
    ranker = rw.LambdaMART(**settings, seed=seed, threads=1).fit(train)
    return np.asarray(rw.evaluate(ranker, test, [METRIC], threads=1)[METRIC].values)


@cache
def fold_data(fold: int) -> list[rw.RankingDataset]:
    """Training and test queries, with ids of documents."""
    parts = [rw.read(DATA / "MQ2007" / f"Fold{fold}" / f"{name}.txt.gz") for name in ("train", "test")]
    return [replace(part, document_ids=np.arange(part.n_docs).astype(str)) for part in parts]


def one_draw(fold: int, draw: int, trees: int, more: bool) -> dict[str, np.ndarray]:
    """NDCG@10 of each test query, by what was trained on; kept from run to run."""
    path = KEPT / f"{trees}-{draw}-{fold}{'-more' if more else ''}.npz"
    if path.exists():
        with np.load(path) as kept:
            return dict(kept)
    train, test = fold_data(fold)
    grades = rated(np.asarray(train.labels).astype(np.int64), np.random.default_rng([fold, draw]))
    labels = combined(train, grades)
    trained_on = {
        "true": train,
        "mean": replace(train, labels=np.mean(list(grades.values()), axis=0).astype(np.float32)),
        "combined": labels.labelled(train),
    }
    if more:
        trained_on["without weights"] = labels.labelled(train, weights=False)
        trained_on["preferences"] = labels.preferences_for(train)
    found = {name: reached(data, test, trees, draw) for name, data in trained_on.items()}
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_suffix(".part.npz")
    np.savez(beside, **found)  # type: ignore[arg-type]
    beside.replace(path)
    return found


def brought_back(way: np.ndarray, mean: np.ndarray, true: np.ndarray) -> tuple[float, float]:
    """The share of what the mean loses that is brought back, and its standard error over the rows of these sums."""
    gained, lost = way - mean, true - mean
    share = gained.sum() / lost.sum()
    left = gained - share * lost
    return float(share), float(np.sqrt(len(left) * left.var(ddof=1)) / abs(lost.sum())) if len(left) > 1 else np.nan


def main() -> None:
    """Train on all folds and draws of raters."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--more", action="store_true", help="labels without weights, and preferences, too")
    given = parser.parse_args()
    found = {}
    for draw, fold in product(range(given.draws), FOLDS):
        found[draw, fold] = one_draw(fold, draw, given.trees, given.more)
        print(draw, fold, {name: round(float(own.mean()), 4) for name, own in found[draw, fold].items()}, flush=True)
    names = list(found[0, FOLDS[0]])
    # By draw and test query of all folds.
    values = {
        name: np.array([np.concatenate([found[draw, fold][name] for fold in FOLDS]) for draw in range(given.draws)])
        for name in names
    }
    rows: list[dict[str, Any]] = []
    for name in names:
        row: dict[str, Any] = {"trained on": name, METRIC: float(values[name].mean())}
        if name not in ("true", "mean"):
            for what, axis in (("draws", 1), ("queries", 0)):
                share, error = brought_back(*(values[one].mean(axis=axis) for one in (name, "mean", "true")))
                row |= {"brought back": share, f"error over {what}": error}
        rows.append(row)
    show(
        "judgments noisy training", f"{METRIC} on MQ2007 by the labels trained on, {given.draws} draws of raters", rows
    )


if __name__ == "__main__":
    main()
