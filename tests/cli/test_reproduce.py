"""`rankwright reproduce` on the command line."""

from __future__ import annotations

import json

import pytest

from rankwright.reproduce.experiment_table import EXPERIMENTS


@pytest.fixture
def run(rankwright, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return rankwright


def test_names_are_listed_with_what_they_compute(run):
    listed = run("reproduce", "--list")
    assert listed.code == 0
    assert [line.split()[0] for line in listed.stdout.splitlines()[1:]] == list(EXPERIMENTS)
    told = json.loads(run("reproduce", "--list", "--json").stdout)["experiments"]
    assert all(one["summary"] and one["paper"] for one in told)


def test_a_run_prints_tables_statements_and_a_verdict_and_keeps_them(run, tmp_path):
    first = run("reproduce", "ranknet-figure1", "--quick", "--workers", "1")
    assert first.code == 0
    assert "P̄ = 0.5" in first.stdout
    assert "Verdict: reproduced. 5 of 5 statements hold." in first.stdout
    kept = json.loads((tmp_path / "reproduced-quick" / "ranknet-figure1.json").read_text())
    again = run("reproduce", "ranknet-figure1", "--quick", "--json")
    assert json.loads(again.stdout)["experiments"] == [kept]


def test_several_end_with_a_table_of_verdicts(run):
    both = run("reproduce", "ranknet-figure1", "lambdarank-figure1", "--quick", "--workers", "1", "--out", "here")
    assert both.code == 0
    assert "parts that experiments share are counted once" in both.stdout


def test_an_unknown_name_suggests_the_nearest(run):
    result = run("reproduce", "sortnet-tabel1", "--quick")
    assert result.code == 2
    assert "did you mean 'sortnet-table1'" in result.stderr


def test_wrong_options_are_told_in_one_line(run):
    assert "name an experiment, or all" in run("reproduce").stderr
    result = run("reproduce", "sortnet-table1", "--data", ".")
    assert result.code == 2
    assert "holds no data set that is known here" in result.stderr
    assert run("reproduce", "ranknet-figure1", "--quick", "--workers", "1", "--out", "here").code == 0
    other = run("reproduce", "ranknet-figure1", "--quick", "--seed", "1", "--out", "here")
    assert (other.code, "choose another --out" in other.stderr) == (2, True)
