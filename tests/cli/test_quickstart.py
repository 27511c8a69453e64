from __future__ import annotations

import json
import subprocess
import sys


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from rankwright.cli.app import main; main()"
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


def test_the_quickstart_prints_a_table_and_writes_its_files(tmp_path):
    result = run("quickstart", "--out", str(tmp_path / "out"))
    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("Synthetic web-search data, 136 features: train 150 queries")
    assert "convention standard: 50 queries" in lines[1]
    assert "ndcg@10" in lines[3]
    assert lines[-1].startswith("random order")
    assert len(lines) == 4 + 5 + 1
    assert result.stderr.startswith(
        "wrote train.txt, valid.txt, test.txt, feature_names.txt, results.json, results.csv"
    )
    assert (tmp_path / "out" / "results.csv").exists()


def test_the_quickstart_speaks_json():
    result = run("quickstart", "--json")
    document = json.loads(result.stdout)
    assert result.stderr == ""
    assert document["data"]["train"]["queries"] == 150
    assert set(document["test"]["random order"]["metrics"]) == {"ndcg@10", "map", "mrr"}


def test_a_folder_that_cannot_be_made_is_one_clear_line(tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = run("quickstart", "--out", str(tmp_path / "file" / "folder"))
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
