"""The built site, and a browser to open it with."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from tests.site.browser import browser_program, open_browser

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the site, built as `make docs` builds it: a broken link or anchor is an error."""
    if find_spec("mkdocs") is None or find_spec("latex2mathml") is None:
        pytest.skip("mkdocs is not installed: pip install 'rankwright[docs]', or make docs")
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        check=True,
    )
    return folder


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    program = browser_program()
    if program is None:
        pytest.skip("no Chromium here")
    with open_browser(program, tmp_path_factory.mktemp("profile")) as found:
        yield found
