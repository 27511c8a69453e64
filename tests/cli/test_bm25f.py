"""BM25F as commands take it: tuned, compared with others, evaluated."""

from __future__ import annotations

import json
from pathlib import Path

from tests.tuning.test_bm25f import QUERIES, index, rows  # noqa: F401

import rankwright as rw
from rankwright.text.features import features_of


def test_the_commands(index, rows, tmp_path, monkeypatch, rankwright):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    data = features_of(index, rows)
    rw.write(data, "train.parquet")
    Path("queries.tsv").write_text(
        "\n".join(f"{one}\t{text}" for one, text in zip(QUERIES.ids, QUERIES.texts, strict=True))
    )
    texts = ("--index", index.path, "--queries", "queries.tsv")
    tune = ("tune", "train.parquet", "--ranker", "bm25f", "--metric", "mrr", "--trials", "20", "--out", "bm25f.rw")
    found = rankwright(*tune, *texts, "--json")
    assert found.code == 0, found.stderr
    assert json.loads(found.stdout)["best"]["value"] == 1.0
    assert "20 trials" in rankwright(*tune, *texts, "--trials", "19").stdout
    rw.LinearRegression().fit(data).save("linear.rw")
    compared = rankwright("compare", "train.parquet", "--model", "linear.rw", "--model", "bm25f.rw", *texts, "--json")
    assert json.loads(compared.stdout)["systems"], compared.stderr
    measured = rankwright("evaluate", "train.parquet", "--model", "bm25f.rw", "--metrics", "mrr", *texts, "--json")
    assert json.loads(measured.stdout)["metrics"]["mrr"]["mean"] == 1.0
    assert "needs --index and --queries" in rankwright(*tune).stderr
    assert "go with --ranker bm25f" in rankwright("tune", "train.parquet", *texts, "--trials", "2").stderr
    assert "go together" in rankwright("evaluate", "train.parquet", "--model", "bm25f.rw", *texts[:2]).stderr
