from __future__ import annotations

import json

import numpy as np
import pytest

import rankwright as rw
from rankwright.cli.inspect import data_rows
from rankwright.data.dataset import RankingDataset
from rankwright.profile.data_summary import summarise

LETOR = """\
2 qid:7 1:0.5 2:3 3:3 #docid = a
0 qid:7 1:0.25 2:4 3:4 #docid = b
0 qid:8 1:1 2:4 3:4 #docid = c
"""


@pytest.fixture
def path(tmp_path):
    (tmp_path / "data.txt").write_text(LETOR)
    return tmp_path / "data.txt"


def test_a_file_is_described(rankwright, path):
    result = rankwright("inspect", str(path))
    assert (result.code, result.stderr) == (0, "")
    assert "queries               2, 1 with nothing relevant" in result.stdout
    assert "documents             3" in result.stdout
    assert "duplicate features    2 = 3" in result.stdout
    assert "- 1 query has one document" in result.stdout


def test_a_file_is_described_as_json(rankwright, path):
    document = json.loads(rankwright("inspect", str(path), "--json").stdout)
    assert document["labels"] == {"0": 2, "2": 1}
    assert document["duplicate_features"] == [["2", "3"]]
    assert document["documents_per_query"] == {"smallest": 1, "median": 1.5, "mean": 1.5, "largest": 2}


@pytest.mark.parametrize("content", [b"", b"no data here\n", None])
def test_a_file_that_cannot_be_read_is_one_clear_line(rankwright, tmp_path, content):
    if content is not None:
        (tmp_path / "bad.txt").write_bytes(content)
    result = rankwright("inspect", str(tmp_path / "bad.txt"))
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    assert "bad.txt" in result.stderr


def test_the_help_has_an_example(rankwright):
    assert "rankwright inspect train.txt.gz" in rankwright("inspect", "--help").stdout


def test_the_report_tells_what_is_missing_and_what_labels_there_are(rankwright, tmp_path):
    features = np.ones((50, 3))
    features[:10, 1] = np.nan
    rw.write(RankingDataset.from_arrays(features, np.linspace(0, 1, 50), group=[50]), tmp_path / "data.csv")
    lines = rankwright("inspect", str(tmp_path / "data.csv")).stdout.splitlines()
    assert "labels                0 to 1, median 0.5, mean 0.5" in lines
    assert f"missing values        {10 / 150:.2%}, in 1 feature: 2 (20%)" in lines
    assert "constant features     1, 3" in lines
    assert "Worth a second look:" in lines


def test_a_long_list_is_cut_short():
    data = RankingDataset.from_arrays(np.ones((2, 14)), [0, 1], group=[2])
    assert dict(data_rows(summarise(data)))["constant features"] == "1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 4 more"


def test_the_column_of_queries_is_named_by_the_option_that_this_command_has(rankwright, tmp_path):
    (tmp_path / "own.csv").write_text("search,label,bm25\n1,1,0.5\n")
    path = str(tmp_path / "own.csv")
    assert "or a name given as --query-column NAME" in rankwright("inspect", path).stderr
    assert "or a name given as --query NAME" in rankwright("convert", path, str(tmp_path / "own.txt")).stderr
    assert rankwright("inspect", path, "--query-column", "search").code == 0
