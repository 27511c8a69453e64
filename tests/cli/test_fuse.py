"""`rankwright fuse`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


@pytest.mark.usefixtures("runs")
def test_runs_are_fused_into_a_run(rankwright):
    result = rankwright("fuse", "a.run", "b.run", "--method", "combmnz", "--weights", "1,2", "--out", "fused.run")
    assert result.code == 0, result.stderr
    # y: 2 runs have it, with 0 of 1 and 1 of 1; x: 1 of 1 in one run; z: 0 in one.
    expected = ["q Q0 y 1 4.0 combmnz", "q Q0 x 2 1.0 combmnz", "q Q0 z 3 0.0 combmnz"]
    assert Path("fused.run").read_text().splitlines() == expected
    whole = rankwright("fuse", "a.run", "b.run", "--out", "-", "--tag", "mine")
    assert whole.stdout.splitlines()[0] == f"q Q0 y 1 {1 / 61 + 1 / 62!r} mine"


@pytest.mark.usefixtures("runs")
def test_what_was_fused_is_told_as_json(rankwright):
    result = rankwright("fuse", "a.run", "b.run", "--out", "fused.run", "--json")
    told = {"runs": ["a.run", "b.run"], "method": "rrf", "tag": "rrf", "queries": 1, "documents": 3}
    assert json.loads(result.stdout) == {"out": "fused.run"} | told
    assert result.stderr == ""


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.run", "b.run", "--out", "-", "--json"), "cannot both go to standard output"),
        (("a.run", "--out", "f"), "two systems or more, got 1"),
        (("a.run", "b.run", "--method", "comb", "--out", "f"), "unknown method of fusion 'comb'"),
        (("a.run", "b.run", "--weights", "1,x", "--out", "f"), "numbers separated by commas, found 'x'"),
        (("a.run", "b.run", "--weights", "1", "--out", "f"), "weights must have 2 values, got 1"),
        (("a.run", "b.run", "--normalisation", "max", "--out", "f"), "rrf looks at ranks"),
    ],
)
def test_what_cannot_be_fused_is_one_line(rankwright, arguments, message):
    result = rankwright("fuse", *arguments)
    assert result.code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path("f").exists()
