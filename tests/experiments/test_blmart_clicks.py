"""The slides' example of clicks: its pairs, rankers trained on simulated clicks, and a log beside labels."""

from __future__ import annotations

import json

import pytest

from rankwright.cli.app import app
from rankwright.experiments.blmart_clicks import on_simulated_clicks

PAIRS = [(2, 1), (5, 1), (5, 3), (5, 4), (7, 1), (7, 3), (7, 4), (7, 6)]


def test_rankers_trained_on_simulated_clicks_stand_beside_judgments():
    table = on_simulated_clicks(queries=30, sessions=10, n_trees=3, threads=1)
    assert table.pairs == PAIRS
    assert list(table.rows)[-2:] == ["click rates, debiased", "judgments"]
    assert all(0 < row["ndcg@10"] < 1 for row in table.rows.values())
    assert "debiasing recovers" in table.note
    json.dumps(table.to_dict())


def test_a_log_is_compared_with_labels(tmp_path, capsys):
    events = [{"query": "q", "shown": ["a", "b", "c"], "clicks": [2]}] * 3
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, events)))
    (tmp_path / "labels.qrels").write_text("q 0 a 0\nq 0 b 2\nq 0 c 1\n")
    given = ["reproduce", "blmart-clicks", "--data", str(tmp_path / "log.jsonl")]
    app([*given, "--labels", str(tmp_path / "labels.qrels")], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "clicks at 2, 5 and 7: (2,1) (5,1)" in shown
    assert "skip-above " in shown
    assert "1.0000" in shown
    assert "0.5 is chance" in shown
    with pytest.raises(Exception, match="goes with --labels"):
        app(given, standalone_mode=False)
