"""Which process works on which experiment of a study.

A claim is a lock on one byte of a file; the place of the byte stands for the experiment. The system releases the lock
when the process ends, however it ends: there is nothing to clean up, and nobody waits for a dead process. The file
itself stays empty.
"""

from __future__ import annotations

import os
from pathlib import Path

from rankwright.container.locks import PLACES, PLAIN, lock_byte, unlock_byte

FILE_NAME = "claims.lock"


class Claims:
    """The claims of this process. It must not open a folder twice: locks of one process do not exclude each other."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / FILE_NAME, os.O_RDWR | os.O_CREAT | PLAIN, 0o666)

    def take(self, key: str) -> bool:
        """Claim the experiment of that key; False if another process works on it."""
        try:
            lock_byte(self._file, _place(key))
        except OSError:
            return False
        return True

    def give_back(self, key: str) -> None:
        """Release the experiment."""
        unlock_byte(self._file, _place(key))

    def close(self) -> None:
        """Release all claims."""
        os.close(self._file)


def _place(key: str) -> int:
    return int(key, 16) % PLACES
