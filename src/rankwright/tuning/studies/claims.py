"""Who is at which experiment, among processes that work on one study.

A claim is a lock on one byte of a file, whose place stands for the experiment. The system gives locks back when the
process ends, however it ends: nothing is left behind to be cleaned up, and nobody waits for the dead.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

FILE_NAME = "claims.lock"
PLACES = 2**62  # bytes that can be locked; the file itself stays empty


class Claims:
    """The claims of this process. One process must not open two of a folder: its locks would not exclude each other."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / FILE_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)

    def take(self, key: str) -> bool:
        """Whether the experiment of that key is ours to run; not where another process is at it."""
        try:
            fcntl.lockf(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _place(key))
        except OSError:
            return False
        return True

    def give_back(self, key: str) -> None:
        """Let others have the experiment."""
        fcntl.lockf(self._file, fcntl.LOCK_UN, 1, _place(key))

    def close(self) -> None:
        """Give back all that is claimed."""
        os.close(self._file)


def _place(key: str) -> int:
    return int(key, 16) % PLACES
