"""One line of JSON for each request: who asked for what, what came of it and how long it took. No contents."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from rankwright.web.messages import Request

FLUSH_SECONDS = 0.25


class AccessLog:
    """Lines that are collected and written together, several times a second; '-' is standard error."""

    def __init__(self, path: str | None) -> None:
        if path is not None and path != "-":
            Path(path).open("ab").close()  # a file that cannot be written is told now, and not by each process
        self._path = path
        self._lines: list[bytes] = []
        self._file: BinaryIO | None = None
        self._stopped = threading.Event()

    def start(self) -> None:
        """Open the file, which several processes may append to."""
        if self._path is None:
            return
        self._file = sys.stderr.buffer if self._path == "-" else Path(self._path).open("ab", buffering=0)  # noqa: SIM115
        threading.Thread(target=self._flush_often, name="access-log", daemon=True).start()

    def stop(self) -> None:
        """Write what is left, and close the file."""
        self._stopped.set()
        self.flush()
        if self._file is not None and self._path != "-":
            self._file.close()
        self._file = None

    def tell(self, request: Request, status: int, seconds: float, client: str, size: int) -> None:
        """Note a request; `request.noted` has what its handler said of it."""
        if self._file is None:
            return
        line: dict[str, Any] = {
            "time": time.time(),
            "client": client,
            "method": request.method,
            "path": request.path,
            "status": status,
            "ms": round(seconds * 1e3, 3),
            "bytes_in": len(request.body),
            "bytes_out": size,
            "process": os.getpid(),
        }
        self._lines.append(msgspec.json.encode(line | request.noted))

    def flush(self) -> None:
        """Write the lines so far, in one piece, so that those of other processes do not get in between."""
        lines, self._lines = self._lines, []
        if lines and self._file is not None:
            self._file.write(b"\n".join(lines) + b"\n")
            self._file.flush()

    def _flush_often(self) -> None:
        while not self._stopped.wait(FLUSH_SECONDS):
            self.flush()
