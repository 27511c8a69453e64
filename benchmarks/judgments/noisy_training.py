"""How much of what noise in the grades costs does combining them bring back, in NDCG@10 on MQ2007?

    python -m benchmarks.judgments.noisy_training [--draws 4] [--trees 100]

Official folds. Three raters judge every document of the training queries: a careful one with 10 % of errors, one who
is strict by one grade, and a careless one with 60 % of the grades at random. LambdaMART with as many trees in all
cases is trained on the true labels, on the mean of the raters, and on what `combine` makes of them; all are measured
by the true labels of the test queries. What is brought back is the share of the difference between true labels and the
mean. Raters are drawn anew several times.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

import numpy as np
from benchmarks.helpers.places import DATA
from benchmarks.helpers.records import show

import rankwright as rw
from rankwright.judgments import CombinedLabels, Judgment, combine, gather

METRIC = "ndcg@10"


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


def reached(train: rw.RankingDataset, test: rw.RankingDataset, trees: int) -> float:
    """What LambdaMART reaches on the test queries."""
    settings = {"n_trees": trees, "learning_rate": 0.1, "max_leaves": 10, "min_docs_in_leaf": 100}
    ranker = rw.LambdaMART(**settings, threads=1).fit(train)
    return float(rw.evaluate(ranker, test, [METRIC], threads=1)[METRIC].mean)


def fold_data(fold: int) -> list[rw.RankingDataset]:
    """Training and test queries, with ids of documents."""
    parts = [rw.read(DATA / "MQ2007" / f"Fold{fold}" / f"{name}.txt.gz") for name in ("train", "test")]
    return [replace(part, document_ids=np.arange(part.n_docs).astype(str)) for part in parts]


def one_draw(fold: int, draw: int, parts: list[rw.RankingDataset], trees: int, more: bool) -> dict[str, float]:
    """NDCG@10 by what was trained on."""
    train, test = parts
    grades = rated(np.asarray(train.labels).astype(np.int64), np.random.default_rng([fold, draw]))
    mean = replace(train, labels=np.mean(list(grades.values()), axis=0).astype(np.float32))
    labels = combined(train, grades)
    found = {
        "mean": reached(mean, test, trees),
        "combined": reached(labels.labelled(train), test, trees),
    }
    if more:
        found["without weights"] = reached(labels.labelled(train, weights=False), test, trees)
        found["preferences"] = reached(labels.preferences_for(train), test, trees)
    return found


def main() -> None:
    """Train on all folds and draws of raters."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--more", action="store_true", help="labels without weights, and preferences, too")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for fold in range(1, 6):
        parts = fold_data(fold)
        exact = reached(*parts, given.trees)
        draws = [one_draw(fold, draw, parts, given.trees, given.more) for draw in range(given.draws)]
        rows.append(
            {"fold": fold, "true": exact} | {name: float(np.mean([one[name] for one in draws])) for name in draws[0]}
        )
        print(rows[-1], flush=True)
    names = [name for name in rows[0] if name != "fold"]
    means = {name: float(np.mean([row[name] for row in rows])) for name in names}
    lost = means["true"] - means["mean"]
    back = {name: (means[name] - means["mean"]) / lost for name in names}
    show("judgments noisy training", "NDCG@10 on MQ2007 by the labels trained on",
         [*rows, {"fold": "mean", **means}, {"fold": "brought back", **back}])  # fmt: skip


if __name__ == "__main__":
    main()
