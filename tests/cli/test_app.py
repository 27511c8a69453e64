from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest

import rankwright as rw
from rankwright.cli.app import COMMANDS, describe, lacks_memory, reflowed
from rankwright.errors import FileFormatError


def test_the_version_is_printed_by_a_process_of_its_own():
    from rankwright import __version__

    command = [sys.executable, "-c", "from rankwright.cli.app import main; main()", "--version"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (0, f"rankwright {__version__}\n")


def test_no_command_shows_the_help(rankwright):
    result = rankwright()
    assert result.code == 0
    assert "Usage: rankwright" in result.stdout


@pytest.mark.parametrize("arguments", [["no-such-command"], ["--no-such-option"]])
def test_wrong_usage_is_one_line_and_exit_code_2(rankwright, arguments):
    result = rankwright(*arguments)
    assert result.code == 2
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert arguments[0] in result.stderr


def test_an_error_is_described_on_one_line():
    assert describe(FileFormatError("a.txt", "found\nthis", line=2)) == "a.txt:2: found this"
    assert describe(FileNotFoundError(2, "No such file or directory", "b.txt")) == "b.txt: no such file or directory"


def test_paragraphs_of_a_help_text_are_broken_by_the_terminal_alone():
    assert reflowed("One line.\n\n    Two lines\n    that are one.\n    ") == "One line.\n\nTwo lines that are one."


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help_with_an_example_of_itself(rankwright, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = rankwright(name, "--help")
    assert shown.code == 0
    assert f"Example: rankwright {name} " in shown.stdout
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert not re.search(r"--[\w-]+…", shown.stdout)  # no name of an option is cut short


HEAVY = (
    *("numpy.ma", "scipy", "sklearn", "pandas", "polars", "pyarrow", "torch", "ray", "optuna", "matplotlib"),
    *("pydantic", "rich"),
)
LIGHT = [
    ["list", "rankers"],
    ["list", "settings", "ranknet"],
    ["list", "strategies"],
    ["score", "model.rw", "data.txt"],
]


def test_what_needs_no_heavy_library_loads_none(tmp_path):
    data = rw.RankingDataset.from_arrays(np.eye(4), [0, 1, 2, 0], group=[4])
    rw.LambdaMART(n_trees=1, min_docs_in_leaf=1).fit(data).save(tmp_path / "model.rw")
    rw.write(data, tmp_path / "data.txt")
    code = (
        "import contextlib, sys\n"
        "from rankwright.cli.app import main\n"
        f"for arguments in {LIGHT!r}:\n"
        "    sys.argv = ['rankwright', *arguments]\n"
        "    with contextlib.suppress(SystemExit):\n"
        "        main()\n"
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_library_that_memory_is_too_small_for_is_told_in_one_line():
    error = ImportError("libgomp.so.1: failed to map segment from shared object")
    assert lacks_memory(error)
    assert describe(error).startswith("not enough memory: libgomp.so.1")
    assert not lacks_memory(ImportError("No module named 'nothing'"))
