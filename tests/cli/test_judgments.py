"""`rankwright judgments`, `judgments combine`, `judgments next`, and `--human` of `evaluate` and `compare`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rankwright as rw


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    labels = rng.choice(3, 240, p=[0.6, 0.3, 0.1])
    features = labels[:, None] + rng.normal(0, [1.0, 2.5], (240, 2))
    qid, ids = [f"q{row // 8}" for row in range(240)], [f"d{row}" for row in range(240)]
    rw.write(rw.RankingDataset.from_arrays(features, labels, qid=qid, document_ids=ids), "data.csv")
    np.savetxt("a.txt", features[:, 0])
    np.savetxt("b.txt", features[:, 1])
    noise = rng.integers(0, 3, 240)
    grades = {"ann": labels, "bob": np.maximum(labels - 1, 0), "cy": np.where(rng.random(240) < 0.5, noise, labels)}
    lines = [f"{q},{d},{r},{g}" for r, own in grades.items() for q, d, g in zip(qid, ids, own, strict=True)]
    Path("ratings.csv").write_text("\n".join(["query,document,rater,grade", *lines]) + "\n")
    Path("gpt.qrels").write_text(
        "".join(f"{q} 0 {d} {min(g + 1, 2)}\n" for q, d, g in zip(qid, ids, labels, strict=True))
    )
    chosen = {f"q{n}" for n in range(0, 30, 3)}
    some = [f"{q} 0 {d} {g}\n" for q, d, g in zip(qid, ids, labels, strict=True) if q in chosen]
    Path("people.qrels").write_text("".join(some))
    Path("elsewhere.qrels").write_text("q0 0 nowhere 1\n")
    return tmp_path


@pytest.mark.usefixtures("files")
def test_judgments_are_described(rankwright):
    shown = rankwright("judgments", "ratings.csv")
    assert shown.code == 0
    assert "720 judgments of 240 documents of 30 queries by 3 raters" in shown.stdout
    assert "Krippendorff's α, ordinal" in shown.stdout
    found = json.loads(rankwright("judgments", "ratings.csv", "gpt=gpt.qrels", "--models", "gpt", "--json").stdout)
    assert (found["judgments"], found["model_raters"]) == (960, 1)
    assert next(one for one in found["raters_in_detail"] if one["rater"] == "bob")["verdict"] == "strict"


@pytest.mark.usefixtures("files")
def test_a_store_is_filled_and_exported(rankwright):
    first = rankwright("judgments", "ratings.csv", "--store", "s.db", "--export", "all.jsonl")
    assert "added 720 judgments to s.db; 0 were there already" in first.stderr
    again = rankwright("judgments", "ratings.csv", "--store", "s.db")
    assert "added 0 judgments to s.db; 720 were there already" in again.stderr
    assert again.stdout == first.stdout == rankwright("judgments", "--store", "s.db").stdout
    assert rankwright("judgments", "all.jsonl").stdout == first.stdout
    assert rankwright("judgments", "--store", "s.db", "--export", "ann.qrels", "--rater", "ann").code == 0
    assert len(Path("ann.qrels").read_text().splitlines()) == 240


@pytest.mark.usefixtures("files")
def test_a_report_on_judgments(rankwright):
    assert rankwright("judgments", "ratings.csv", "--report", "page.html").code == 0
    assert "The judgments" in Path("page.html").read_text()


@pytest.mark.usefixtures("files")
def test_combined_labels_are_trained_on(rankwright):
    assert rankwright("judgments", "combine", "ratings.csv", "--out", "labels.csv").code == 0
    assert Path("labels.csv").read_text().startswith("query,document,label,weight,grades,chance_0,chance_1,chance_2\n")
    made = rankwright(
        "judgments", "combine", "ratings.csv", "--features", "data.csv", "--preferences", "--out", "t.csv", "--json"
    )
    found = json.loads(made.stdout)
    assert found["pairs"] > 0
    small = ["--set", "n_trees=2", "--set", "min_docs_in_leaf=2"]
    assert rankwright("train", "t.csv", "--pairs", "t.pairs", *small, "--out", "p.rw").code == 0
    assert rankwright("judgments", "combine", "ratings.csv", "--features", "data.csv", "--out", "w.csv").code == 0
    assert rankwright("train", "w.csv", *small, "--out", "w.rw").code == 0


@pytest.mark.usefixtures("files")
def test_metrics_with_few_human_labels(rankwright):
    labels = ["--human", "people.qrels", "--model-labels", "gpt.qrels"]
    one = json.loads(rankwright("evaluate", "data.csv", "--scores", "a.txt", *labels, "--json").stdout)
    assert one["estimates"]["a"]["ndcg@10"]["human_queries"] == 10
    both = json.loads(
        rankwright("compare", "data.csv", "--scores", "a=a.txt", "--scores", "b=b.txt", *labels, "--json").stdout
    )
    assert set(both["estimates"]) == {"a", "b", "b - a"}
    own = json.loads(
        rankwright("evaluate", "data.csv", "--scores", "a.txt", "--human", "people.qrels", "--json").stdout
    )
    assert own["estimates"]["a"]["ndcg@10"]["correlation"] == pytest.approx(1)  # the labels of the data are the truth


@pytest.mark.usefixtures("files")
def test_what_to_judge_next(rankwright):
    ranked = ["judgments", "next", "data.csv", "--scores", "a.txt", "--scores", "b.txt"]
    assert rankwright(*ranked, "--budget", "7", "--out", "next.csv").code == 0
    assert len(Path("next.csv").read_text().splitlines()) == 8
    Path("all.qrels").write_text(Path("gpt.qrels").read_text())
    found = json.loads(rankwright(*ranked, "--judged", "all.qrels", "--json").stdout)
    assert found["proposed"]["query"] == []
    assert found["difference"]["error"] == 0
    assert found["judged_others"] == 240 - found["documents"]
    told = rankwright(*ranked, "--judged", "elsewhere.qrels").stdout
    assert "1 judged document is not in the plan, and did not count" in told
    some = json.loads(rankwright("judgments", "next", "data.csv", "--goal", "training", "--scores", "a.txt", "--judged",
                                 "people.qrels", "--budget", "5", "--json").stdout)  # fmt: skip
    assert len(some["proposed"]["document"]) == 5
    Path("a.run").write_text("q Q0 x 1 3 a\nq Q0 y 2 2 a\n")
    Path("b.run").write_text("q Q0 y 1 9 b\nq Q0 z 2 1 b\n")
    assert "3 documents" in rankwright("judgments", "next", "--run", "a.run", "--run", "b.run").stdout


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["judgments"], "there is nothing to read: give files of judgments"),
        (["judgments", "none.csv"], "none.csv: no such file or directory"),
        (["judgments", "ratings.csv", "--scale", "0-3"], "--scale takes the lowest and the highest grade, such as 0,3"),
        (["judgments", "ratings.csv", "--rater", "ann"], "--rater and --as go with --export"),
        (["judgments", "ratings.csv", "--column", "mark"], "--column is PART=NAME"),
        (["judgments", "combine", "ratings.csv", "--trusted", "dan"], "trusted rater 'dan' has no judgment here"),
        (["judgments", "combine", "ratings.csv", "--method", "best"], "unknown method to combine grades 'best'"),
        (["judgments", "combine", "ratings.csv", "--preferences"], "--preferences goes with --features"),
        (["judgments", "next", "data.csv", "--scores", "a.txt"], "a comparison takes two rankers, got 1"),
        (["judgments", "next", "--goal", "training"], "nothing to rank"),
        (["judgments", "next", "data.csv", "--goal", "training", "--scores", "a.txt", "--judged", "elsewhere.qrels"],
         "no document that was judged is among those ranked"),
        (["evaluate", "data.csv", "--scores", "a.txt", "--model-labels", "gpt.qrels"],
         "--model-labels goes with --human"),
        (["evaluate", "data.csv", "--scores", "a.txt", "--human", "ratings.csv"],
         "has several grades, and one is wanted here"),
        (["evaluate", "data.csv", "--scores", "a.txt", "--human", "people.qrels", "--per-query", "q.csv"],
         "--per-query does not go with --human"),
    ],
)  # fmt: skip
@pytest.mark.usefixtures("files")
def test_mistakes_are_told_in_one_line(rankwright, arguments, told):
    result = rankwright(*arguments)
    assert result.code == 2
    assert told in result.stderr
    assert result.stderr.count("\n") == 1
