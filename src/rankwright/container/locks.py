"""What differs between systems where files are opened, locked and renamed.

The system releases a lock when its process ends, however it ends. On Windows, being open is a lock of its own: a file
that a process has open can be neither removed nor renamed, and a folder cannot be opened at all. Nobody has run the
package there yet; a test runs it here without what Windows lacks.
"""

from __future__ import annotations

import os
import sys

IS_WINDOWS = sys.platform == "win32"
# For os.open: bytes as they are, and not for processes that this one starts.
PLAIN = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOINHERIT", 0)

if sys.platform == "win32":
    import msvcrt

    PLACES = 2**31 - 1  # bytes that can be locked

    def lock_file(descriptor: int) -> None:
        """Do nothing: Windows protects a file while it is open."""

    def lock_byte(descriptor: int, place: int) -> None:
        """Lock the byte at that place, which need not exist; an OSError if another process has it."""
        os.lseek(descriptor, place, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)

    def unlock_byte(descriptor: int, place: int) -> None:
        """Release the byte."""
        os.lseek(descriptor, place, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    PLACES = 2**62

    def lock_file(descriptor: int) -> None:
        """Lock the file or folder; a BlockingIOError if another process has it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def lock_byte(descriptor: int, place: int) -> None:
        """Lock the byte at that place, which need not exist; an OSError if another process has it."""
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)

    def unlock_byte(descriptor: int, place: int) -> None:
        """Release the byte."""
        fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, place)
