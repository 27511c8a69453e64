"""`rankwright evaluate`, as a user runs it."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from rankwright.metrics.convention import CONVENTIONS

DATA = "2 qid:1 1:0.5\n0 qid:1 1:0.9\n1 qid:2 1:0.1\n0 qid:2 1:0.2\n1 qid:1 1:0.1\n0 qid:3 1:1\n"
SCORES = "3\n2\n1\n2\n1\n0\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.txt").write_text(DATA)
    (tmp_path / "scores.txt").write_text(SCORES)
    return tmp_path


@pytest.mark.usefixtures("files")
def test_a_table_with_the_convention_and_the_count_of_empty_queries(rankwright):
    result = rankwright("evaluate", "data.txt", "--scores", "scores.txt", "--metrics", "mrr,map:letor")
    assert result.code == 0, result.stderr
    assert "convention standard: 3 queries, 1 with nothing relevant; 6 documents" in result.stdout
    assert f"{(1 + 1 / 2 + 0) / 3:.4f}" in result.stdout
    assert "map:letor" in result.stdout


def test_json_on_stdout_and_scores_from_stdin(tmp_path):
    data = tmp_path / "data.txt"
    data.write_text(DATA)
    arguments = ("evaluate", str(data), "--scores", "-", "--metrics", "mrr", "--convention", "skip-empty", "--json")
    command = [sys.executable, "-c", "from rankwright.cli.app import main; main()", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, input=SCORES, check=True)
    document = json.loads(result.stdout)
    assert document["convention"] == "skip-empty"
    assert document["queries"] == 3
    assert document["nothing_relevant"] == 1
    assert document["metrics"]["mrr"]["mean"] == pytest.approx((1 + 1 / 2) / 2)
    assert document["metrics"]["mrr"]["queries"] == 2


def test_per_query_values_in_a_file(files, rankwright):
    arguments = ("--metrics", "mrr,p@1", "--convention", "skip-empty", "--per-query", "queries.tsv")
    assert rankwright("evaluate", "data.txt", "--scores", "scores.txt", *arguments).code == 0
    lines = (files / "queries.tsv").read_text().splitlines()
    assert lines == ["query\tdocuments\tmrr\tp@1", "1\t3\t1.0\t1.0", "2\t2\t0.5\t0.0", "3\t1\t\t"]
    assert sorted(path.name for path in files.iterdir()) == ["data.txt", "queries.tsv", "scores.txt"]


@pytest.mark.usefixtures("files")
def test_every_convention_side_by_side(rankwright):
    arguments = ("evaluate", "data.txt", "--scores", "scores.txt", "--metrics", "ndcg@2", "--convention", "all")
    text = rankwright(*arguments).stdout
    assert all(name in text for name in CONVENTIONS)
    assert "why it differs" in text
    document = json.loads(rankwright(*arguments, "--json").stdout)
    assert document["conventions"]["letor"]["metrics"]["ndcg@2"]["mean"] == pytest.approx((3 / 4 + 1 + 0) / 3)


def test_a_trec_run_against_qrels(files, rankwright):
    (files / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 0\nq1 0 c 1\n")
    (files / "run.txt").write_text("q1 Q0 b 1 2.0 tag\nq1 Q0 a 2 1.0 tag\n")
    result = rankwright("evaluate", "qrels.txt", "--run", "run.txt", "--metrics", "map", "--json")
    document = json.loads(result.stdout)
    assert document["convention"] == "trec"
    assert document["metrics"]["map"]["mean"] == (1 / 2) / 2


WRONG = [
    (["--scores", "missing.txt"], "missing.txt: no such file"),
    ([], "--scores"),
    (["--scores", "scores.txt", "--run", "x"], "leave out --scores"),
    (["--scores", "short.txt"], "short.txt: has 1 scores, but the data has 6 documents"),
    (["--scores", "data.txt"], "data.txt:1: a score must be a number, found '2 qid:1 1:0.5'"),
    (["--scores", "scores.txt", "--metrics", "ndgc@10"], "unknown metric 'ndgc@10'"),
    (["--scores", "scores.txt", "--metrics", ","], "--metrics names no metric"),
    (["--scores", "scores.txt", "--convention", "leter"], "did you mean 'letor'"),
    (["--scores", "scores.txt", "--convention", "all", "--per-query", "x"], "--per-query needs one convention"),
    (["--scores", "scores.txt", "--per-query", "nowhere/x.tsv"], "nowhere"),
    (["--scores", "scores.txt", "--threads", "0"], "threads must be between 1 and 1,024"),
    (["--scores", "scores.txt", "--metrics", "err@5", "--convention", "catboost"], "there is a label 2"),
]


@pytest.mark.parametrize(("arguments", "message"), WRONG)
def test_what_is_wrong_is_said_on_one_line_with_exit_code_2(files, rankwright, arguments, message):
    (files / "short.txt").write_text("1\n")
    result = rankwright("evaluate", "data.txt", *arguments)
    assert result.code == 2
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert result.stdout == ""


def test_help_has_an_example(rankwright):
    assert "Example: rankwright evaluate" in rankwright("evaluate", "--help").stdout


def test_interleaved_queries_are_scored_in_the_order_of_lines(files, rankwright):
    lines = DATA.splitlines()
    order = np.random.default_rng(0).permutation(len(lines))
    (files / "mixed.txt").write_text("".join(lines[row] + "\n" for row in order))
    (files / "mixed-scores.txt").write_text("".join(SCORES.splitlines()[row] + "\n" for row in order))
    means = [
        json.loads(rankwright("evaluate", data, "--scores", scores, "--metrics", "ndcg", "--json").stdout)
        for data, scores in (("data.txt", "scores.txt"), ("mixed.txt", "mixed-scores.txt"))
    ]
    assert means[0]["metrics"]["ndcg"]["mean"] == pytest.approx(means[1]["metrics"]["ndcg"]["mean"])
