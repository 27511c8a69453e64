"""Commands that are printed call the program as a shell finds it."""

from __future__ import annotations

import sys
from pathlib import Path

from rankwright.cli.program import program


def made_program(folder: Path) -> Path:
    folder.mkdir()
    found = folder / "rankwright"
    found.write_text("#!/bin/sh\n")
    found.chmod(0o755)
    return found


def test_by_its_name_where_a_shell_finds_it(tmp_path, monkeypatch):
    own, other = made_program(tmp_path / "own"), made_program(tmp_path / "an other")
    monkeypatch.setenv("PATH", str(own.parent))
    monkeypatch.setattr(sys, "argv", [str(own)])
    assert program() == "rankwright"
    monkeypatch.setattr(sys, "argv", [str(other)])  # one that the shell would not take
    assert program() == f"'{other}'"


def test_by_its_path_where_no_shell_finds_it(tmp_path, monkeypatch):
    own = made_program(tmp_path / "own")
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["own/rankwright", "quickstart"])
    assert program() == str(Path("own/rankwright"))
    monkeypatch.setattr(sys, "argv", ["pytest"])  # called from Python
    assert program() == "rankwright"
    assert own.exists()
