"""Every example a reader may copy runs: in README, in docs/ and in docstrings.

Examples find these files in their working folder: `train.txt.gz`, `valid.txt`, `test.txt` (LETOR text) and
`scores.txt` (one score a line for `test.txt`). A block in a language other than python or sh is not run.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import rankwright

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks_of(page: Path, language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(page.read_text()) if found == language]


def commands_of(page: Path) -> Iterator[list[str]]:
    for block in blocks_of(page, "sh"):
        for line in block.replace("\\\n", " ").splitlines():
            if line.startswith("rankwright "):
                yield shlex.split(line, comments=True)[1:]


@pytest.fixture(scope="module")
def examples_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("examples")
    data = rankwright.synthetic.web_search(n_queries=60, seed=0)
    train, valid, test = data.split(valid=0.2, test=0.2, seed=0)
    for part, name in ((train, "train.txt.gz"), (valid, "valid.txt"), (test, "test.txt")):
        rankwright.write(part, folder / name)
    np.savetxt(folder / "scores.txt", test.features[:, 0], fmt="%.6g")
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_run(page, examples_folder, monkeypatch):
    monkeypatch.chdir(examples_folder)
    namespace: dict[str, object] = {}
    for block in blocks_of(page, "python"):
        exec(compile(block, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_shell_examples_run(page, examples_folder):
    for arguments in commands_of(page):
        result = subprocess.run(
            [sys.executable, "-c", "from rankwright.cli.app import main; main()", *arguments],
            cwd=examples_folder,
            env=os.environ | {"COLUMNS": "120"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert result.returncode == 0, f"{page.name}: rankwright {shlex.join(arguments)}: {result.stderr}"


def test_the_readme_has_examples():
    assert blocks_of(ROOT / "README.md", "python")
    assert list(commands_of(ROOT / "README.md"))


SOURCE = Path(rankwright.__file__).parent
# A module without an example cannot fail.
MODULES = sorted(
    ".".join(("rankwright", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


def test_there_are_examples_in_docstrings():
    assert len(MODULES) > 10


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name):
    module = import_module(name)
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).failed == 0
