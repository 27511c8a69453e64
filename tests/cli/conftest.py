"""What tests of commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rankwright.cli.app import main


@dataclass(frozen=True)
class Outcome:
    code: str | int
    stdout: str
    stderr: str


@pytest.fixture
def rankwright(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Outcome]:
    """Runs the command as the shell would, in this process."""

    # Nothing that a test says of stderr depends on how long a command takes.
    monkeypatch.setattr("rankwright.progress.display.SECONDS_BETWEEN_LINES", 3600.0)
    monkeypatch.delenv("COLUMNS", raising=False)  # nor on the terminal of whoever runs the tests

    def run(*arguments: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["rankwright", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        return Outcome(exit_.value.code or 0, *capsys.readouterr())

    return run


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two TREC runs and the judgments of their query, in the folder where the test runs."""
    monkeypatch.chdir(tmp_path)
    Path("a.run").write_text("q Q0 x 1 3 a\nq Q0 y 2 2 a\n")
    Path("b.run").write_text("q Q0 y 1 9 b\nq Q0 z 2 1 b\n")
    Path("qrels").write_text("q 0 y 1\nq 0 x 0\n")
