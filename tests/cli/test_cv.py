"""`rankwright cv`."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest

import rankwright as rw
from rankwright import synthetic


def small_data(n_queries: int, seed: int = 0) -> rw.RankingDataset:
    data = synthetic.web_search(n_queries, seed=seed)
    return rw.RankingDataset.from_arrays(data.features[:, :5], data.labels, qid=data.qid)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A file of documents, and a folder as LETOR has them."""
    path = tmp_path_factory.mktemp("cv")
    rw.write(small_data(24), str(path / "data.txt"))
    for fold in ("Fold1", "Fold2"):
        (path / "letor" / fold).mkdir(parents=True)
        for number, part in enumerate(("train", "vali", "test")):
            rw.write(small_data(12, seed=number), str(path / "letor" / fold / f"{part}.txt"))
    return path


def test_folds_means_intervals_and_a_table_of_queries(rankwright, folder, tmp_path):
    table = tmp_path / "queries.csv"
    made = rankwright(
        "cv", str(folder / "data.txt"), "--folds", "3", "--set", "n_trees=4", "--metrics", "ndcg@5,map",
        "--per-query", str(table), "--workers", "1", "--json",
    )  # fmt: skip
    assert made.code == 0, made.stderr
    found = json.loads(made.stdout)
    ndcg = found["metrics"]["ndcg@5"]
    assert ndcg["mean"] == pytest.approx(np.mean(ndcg["folds"]))
    assert ndcg["low"] <= ndcg["mean"] <= ndcg["high"]
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert len(rows) == found["queries"] == 24
    for fold in (1, 2, 3):
        own = [float(row["map"]) for row in rows if row["fold"] == str(fold)]
        assert np.mean(own) == pytest.approx(found["metrics"]["map"]["folds"][fold - 1])


@pytest.mark.usefixtures("experiments_here")
def test_folders_of_letor_bring_their_folds(rankwright, folder):
    made = rankwright("cv", str(folder / "letor"), "--ranker", "mart", "--set", "n_trees=4", "--workers", "1")
    assert made.code == 0, made.stderr
    assert "mart: 2 folds, 1 seed, 24 queries" in made.stdout
    assert rankwright("cv", str(folder / "letor"), "--folds", "3").code == 2


@pytest.mark.parametrize(("arguments", "message"), [
    (("--folds", "1"), "2 folds or more"),
    (("--ranker", "nobody"), "unknown ranker"),
    (("--metrics", "ndgc"), "unknown metric"),
    (("--valid-share", "2"), "valid must lie between 0 and 1"),
])  # fmt: skip
def test_wrong_usage_is_one_line(arguments, message, rankwright, folder):
    made = rankwright("cv", str(folder / "data.txt"), *arguments)
    assert made.code == 2
    assert message in made.stderr
    assert made.stderr.count("\n") == 1
