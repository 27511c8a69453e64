"""`rankwright split`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rankwright as rw


@pytest.fixture(autouse=True)
def data(small_data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rw.write(small_data, "judged.csv")


def test_a_file_is_split_into_three(rankwright):
    result = rankwright("split", "judged.csv", "--out", "parts", "--seed", "3")
    assert result.code == 0, result.stderr
    header, *rows = (line.split() for line in result.stdout.splitlines())
    assert header == ["file", "queries", "documents"]
    assert [row[:2] for row in rows] == [["parts/train.csv", "24"], ["parts/valid.csv", "8"], ["parts/test.csv", "8"]]


def test_folds_can_be_trained_on(rankwright):
    told = json.loads(rankwright("split", "judged.csv", "--folds", "3", "--out", "folds", "--json").stdout)
    assert told["format"] == "csv"
    assert told["parts"][1] == {
        "path": "folds/Fold1/vali.csv",
        "queries": 14,
        "documents": told["parts"][1]["documents"],
    }
    result = rankwright("cv", "folds", "--ranker", "prank", "--workers", "1", "--json")
    assert result.code == 0, result.stderr


def test_what_exists_is_kept(rankwright):
    Path("train.csv").write_text("mine")
    result = rankwright("split", "judged.csv", "--out", ".")
    assert (result.code, result.stdout) == (2, "")
    told = ". has files that this split would replace, and they are not its own: name a new folder, or give --force"
    assert result.stderr == f"error: {told} to replace them\n"
    assert Path("train.csv").read_text() == "mine"
    assert rankwright("split", "judged.csv", "--out", ".", "--force").code == 0
    assert Path("train.csv").read_text() != "mine"
