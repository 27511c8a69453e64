"""`rankwright compare`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rankwright as rw


@pytest.fixture
def files(tmp_path, monkeypatch, small_data):
    monkeypatch.chdir(tmp_path)
    rw.write(small_data, "data.txt")
    rw.RankBoost(n_rounds=5).fit(small_data).save("boost.rw")
    rw.AdaRank(n_rounds=5).fit(small_data).save("ada.rw")
    np.savetxt("chance.txt", np.random.default_rng(0).normal(size=small_data.n_docs))
    np.savetxt("perfect.txt", small_data.labels)
    np.savetxt("short.txt", [1.0, 2.0])
    return tmp_path


TWO = ("--scores", "best=perfect.txt", "--scores", "chance=chance.txt")


@pytest.mark.usefixtures("files")
def test_one_table_with_marks_and_their_meaning(rankwright):
    result = rankwright(
        "compare", "data.txt", "--model", "boost.rw", "--scores", "best=perfect.txt", "--metrics", "map"
    )
    assert result.code == 0, result.stderr
    assert "convention standard: 40 queries" in result.stdout
    assert f"{1:.4f} *" not in result.stdout  # the interval stands between
    assert ") *" in result.stdout
    assert "boost.rw" in result.stdout
    assert "Holm" in result.stdout


@pytest.mark.usefixtures("files")
def test_json_and_a_file_of_queries(rankwright):
    systems = ("--model", "boost=boost.rw", "--model", "ada=ada.rw", "--scores", "chance=chance.txt")
    options = ("--metrics", "ndcg@10,map", "--convention", "letor", "--per-query", "queries.tsv", "--json")
    result = rankwright("compare", "data.txt", *systems, *options)
    assert result.code == 0, result.stderr
    document = json.loads(result.stdout)
    assert (document["convention"], document["queries"]) == ("letor", 40)
    assert list(document["systems"]) == ["boost", "ada", "chance"]
    assert set(document["best"]) == {"ndcg@10", "map"}
    header, *rows = Path("queries.tsv").read_text().splitlines()
    assert header.split("\t")[:3] == ["query", "documents", "boost:ndcg@10"]
    assert len(rows) == 40


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("data.txt", "--model", "ada.rw"), "needs two systems or more, got 1"),
        (("data.txt", "--scores", "perfect.txt", "--scores", "short.txt"), "short.txt: has 2 scores, but the data has"),
        (("data.txt", "--scores", "perfect.txt", "--scores", "perfect.txt"), "two systems are called perfect.txt"),
        (("--model", "ada.rw", "--model", "boost.rw"), "give DATA with --model or --scores"),
        (
            ("--run", "a.run", "--run", "b.run", "--qrels", "q", "--label", "stars"),
            "TREC files, whose columns are fixed",
        ),
        (("data.txt", *TWO, "--slice", ","), "--slice names nothing to slice by"),
        (("data.txt", "--rankers", "prank,adarank"), "`rankwright benchmark` has it\n"),
        (("data.txt", *TWO, "--fuse", "rff"), "did you mean 'rrf'"),
        (("data.txt", *TWO, "--top", "3"), "--top goes with --diff"),
        (("data.txt", *TWO, "--diff", "best"), "two systems, A,B, got 'best'"),
        (("data.txt", *TWO, "--diff", "best,chnce"), "did you mean 'chance'"),
        (("data.txt", *TWO, "--slice", "6"), "there is no feature 6: features count from 1"),
        (("data.txt", *TWO, "--slices", "short.txt"), "has no header of query and columns"),
    ],
)
def test_what_cannot_be_compared_is_one_line(rankwright, arguments, message):
    result = rankwright("compare", *arguments)
    assert result.code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.usefixtures("files")
def test_fused_sliced_and_side_by_side_in_80_columns(rankwright, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    closer = ("--slice", "documents,1", "--diff", "best,chance", "--top", "2", "--fuse", "rrf,combsum")
    result = rankwright("compare", "data.txt", *TWO, "--metrics", "ndcg@10,map", *closer)
    assert result.code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    for told in ("t-test", "won/tied/lost", "four times out of five", "query", "▼", "rrf", "combsum"):
        assert told in " ".join(result.stdout.split()), told
    assert "ndcg@10 by documents: " in result.stdout
    assert "lost 2 of 2" in result.stdout
    assert "best is better than" in " ".join(lines[-4:])


@pytest.mark.usefixtures("files")
def test_the_same_as_json_and_as_markdown(rankwright, small_data):
    lines = [f"{query}\t{'even' if query % 2 == 0 else 'odd'}" for query in small_data.query_ids.tolist()]
    Path("columns.tsv").write_text("\n".join(["query\tkind", *lines]))
    arguments = ("compare", "data.txt", *TWO, "--metrics", "map", "--slices", "columns.tsv", "--diff", "best,chance")
    document = json.loads(rankwright(*arguments, "--json").stdout)
    against = document["systems"]["chance"]["map"]["against_best"]
    assert against["wins"] + against["ties"] + against["losses"] == against["queries"] == 40
    assert against["effect"] == "large"
    assert {"t_p_value", "t_p_value_holm", "detectable", "queries_needed", "standard_error"} <= against.keys()
    assert [test["slice"] for test in document["slices"]["tests"]] == ["even", "odd"]
    assert document["diff"]["systems"] == ["best", "chance"]
    assert len(document["diff"]["queries"]) == 20
    assert document["conclusion"].startswith("best is better than chance")
    text = rankwright(*arguments, "--markdown").stdout
    assert "| even | 20 |" in text
    assert text.rstrip().endswith(document["conclusion"])


@pytest.mark.usefixtures("runs")
def test_a_fusion_of_runs_is_one_more_system(rankwright):
    arguments = ("compare", "--run", "a.run", "--run", "b.run", "--qrels", "qrels", "--metrics", "mrr")
    document = json.loads(rankwright(*arguments, "--fuse", "rrf", "--json").stdout)
    assert {name: own["mrr"]["mean"] for name, own in document["systems"].items()} == {
        "a.run": 0.5,
        "b.run": 1.0,
        "rrf": 1.0,
    }


OLD_AND_NEW = ("--scores", "old=perfect.txt", "--scores", "new=chance.txt")
NEW_AND_OLD = ("--scores", "new=perfect.txt", "--scores", "old=chance.txt")


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("systems", "code", "outcome"), [(OLD_AND_NEW, 1, "failed"), (NEW_AND_OLD, 0, "passed")])
def test_a_gate_answers_by_its_exit_code(rankwright, systems, code, outcome):
    asked = ("--fail-if-worse", "ndcg@10:0.002", "--fail-if-worse", "p@5:0.01")
    told = rankwright("compare", "data.txt", *systems, *asked, "--report", "gate.html")
    assert told.code == code, told.stderr
    assert told.stdout.splitlines()[-1].startswith(f"gate {outcome}: ")
    assert '<section id="gate"' in (page := Path("gate.html").read_text())
    assert f"Gate {outcome}: new is " in page
    document = rankwright("compare", "data.txt", *systems, *asked, "--json")
    assert document.code == code
    gate = json.loads(document.stdout)["gate"]
    assert gate["passed"] is (code == 0)
    assert [one["metric"] for one in gate["checks"]] == ["ndcg@10", "p@5"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*OLD_AND_NEW, "--fail-if-worse", "ndcg@10"), "such as ndcg@10:0.002, got 'ndcg@10'"),
        ((*OLD_AND_NEW, "--fail-if-worse", "ndcg@10:-1"), "a loss of 0 or more"),
        ((*OLD_AND_NEW, "--fail-if-worse", "ndgc@10:0"), "ndcg"),
        ((*OLD_AND_NEW, "--fail-if-worse", "map:0", "--fail-if-worse", "map:1"), "names map twice"),
        ((*TWO, "--fail-if-worse", "map:0"), "no system is called old or new: name both, as in --model old=a.rw"),
    ],
)
def test_a_gate_that_makes_no_sense_is_refused(rankwright, arguments, message):
    result = rankwright("compare", "data.txt", *arguments)
    assert result.code == 2
    assert message in result.stderr
