"""What tests of commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

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
