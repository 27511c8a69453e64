"""`rankwright quickstart`."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

from rankwright.cli.quickstart import report, what_next
from rankwright.experiments.quickstart import write_quickstart


def test_the_table_has_a_line_a_ranker(quickstart):
    lines = list(report(quickstart))
    assert lines[0].startswith("Synthetic web-search data, 136 features: train 150 queries")
    assert "convention standard: 50 queries" in lines[1]
    assert "ndcg@10" in lines[3]
    assert [line.partition("  ")[0] for line in lines[4:]] == list(quickstart.evaluations)


def test_the_quickstart_says_the_same_each_time_and_writes_its_files(quickstart, rankwright, tmp_path):
    again = rankwright("quickstart", "--json", "--out", str(tmp_path / "out"))
    assert again.code == 0
    report = str(tmp_path / "out" / "report.html")
    assert json.loads(again.stdout) == quickstart.to_dict() | {"report": report}
    assert Path(report).stat().st_size < 4_000_000
    assert again.stderr.startswith("wrote train.txt, valid.txt, test.txt, feature_names.txt, model.rw, results.json")
    assert (tmp_path / "out" / "results.csv").exists()


def test_the_commands_to_try_next_run(quickstart, rankwright, tmp_path, monkeypatch):
    write_quickstart(quickstart, tmp_path)
    monkeypatch.chdir(tmp_path)
    title, *commands = what_next(tmp_path)
    assert title.strip() == "Try next:"
    assert len(commands) > 2
    for command in commands:
        command = command.replace("--budget 2m", "--trials 1 --folds 2")  # the same search, soon at its end
        assert rankwright(*shlex.split(command, comments=True)[1:]).code == 0, command


def test_without_files_there_is_nothing_to_try_next():
    assert list(what_next(None)) == []


def test_a_folder_that_cannot_be_made_is_one_clear_line(rankwright, tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = rankwright("quickstart", "--out", str(tmp_path / "file" / "folder"))
    assert result.code == 2
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
