from __future__ import annotations

import json
import subprocess
import sys

import pytest

from rankwright.cli.quickstart import report
from rankwright.experiments.quickstart import Quickstart, run_quickstart


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from rankwright.cli.app import main; main()"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def result() -> Quickstart:
    return run_quickstart()


def test_the_table_has_a_line_a_ranker(result):
    lines = list(report(result))
    assert lines[0].startswith("Synthetic web-search data, 136 features: train 150 queries")
    assert "convention standard: 50 queries" in lines[1]
    assert "ndcg@10" in lines[3]
    assert [line.partition("  ")[0] for line in lines[4:]] == list(result.evaluations)


def test_the_quickstart_says_the_same_each_time_and_writes_its_files(result, tmp_path):
    again = run("quickstart", "--json", "--out", str(tmp_path / "out"))
    assert again.returncode == 0
    assert json.loads(again.stdout) == result.to_dict()
    assert again.stderr.startswith("wrote train.txt, valid.txt, test.txt, feature_names.txt, model.rw, results.json")
    assert (tmp_path / "out" / "results.csv").exists()


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = run("quickstart", "--out", str(tmp_path / "file" / "folder"))
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
