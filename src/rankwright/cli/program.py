"""How the commands that are printed for people to paste call this program."""

from __future__ import annotations

import sys
from pathlib import Path
from shlex import quote
from shutil import which

NAME = "rankwright"


def program() -> str:
    """The program's name where a shell finds it by that, else the path by which it was called, as in a clone."""
    called = sys.argv[0]
    found = which(NAME)
    if Path(called).name != NAME or not Path(called).is_file():
        return NAME
    return NAME if found is not None and Path(found).samefile(called) else quote(called)
