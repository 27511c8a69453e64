"""Load by `wrk` (Debian's package of that name), on loopback only, and what servers spend on it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

SCRIPT = """
local file = io.open("{body}", "rb")
wrk.method, wrk.body = "POST", file:read("*all")
file:close()
wrk.headers["Content-Type"] = "{kind}"
{more}
local bad = 0
function done(summary, latency, requests)
    local e = summary.errors
    local form = '"requests": %d, "rate": %.1f, "p50_ms": %.3f, "p99_ms": %.3f, "wrong": %d, "broken": %d'
    io.write(string.format("FOUND {{" .. form .. "}}\\n",
        summary.requests, summary.requests / (summary.duration / 1e6), latency:percentile(50) / 1e3,
        latency:percentile(99) / 1e3, e.status, e.connect + e.read + e.write + e.timeout))
end
"""


@dataclass(frozen=True)
class Load:
    """One body, posted again and again by some connections."""

    url: str
    body: bytes
    kind: str
    folder: Path
    headers: tuple[tuple[str, str], ...] = ()
    core: int = 1

    def run(self, *, seconds: int, connections: int = 16) -> dict[str, Any]:
        """Requests, their rate, percentiles in milliseconds, and how many went wrong."""
        assert urlsplit(self.url).hostname == "127.0.0.1", "load is for loopback"
        body, script = self.folder / "body", self.folder / "load.lua"
        body.write_bytes(self.body)
        more = "\n".join(f'wrk.headers["{name}"] = "{value}"' for name, value in self.headers)
        script.write_text(SCRIPT.format(body=body, kind=self.kind, more=more))
        how = ["-t", "1", "-c", str(connections), "-d", f"{seconds}s", "--timeout", "10s", "-s", str(script)]
        command = ["taskset", "-c", str(self.core), "wrk", *how, self.url]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = next(line for line in told.splitlines() if line.startswith("FOUND "))
        return dict(json.loads(found.removeprefix("FOUND ")))


def wait_until_open(port: int, seconds: float = 30.0) -> None:
    """Wait until something listens at a port of this machine."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            time.sleep(0.3)
            return
    raise TimeoutError(f"nothing listens at port {port}")


def is_open(port: int) -> bool:
    """Whether something listens at a port of this machine."""
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def end_group(server: subprocess.Popen[bytes]) -> None:
    """End a server that leads a session of its own, with all that it started: some outlive their parent."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(server.pid, how)
        except ProcessLookupError:
            break
        time.sleep(1)
    server.wait()


def processes_below(pid: int) -> list[int]:
    """A process and all that it started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(one for child in children for one in processes_below(int(child)))]


def cpu_seconds(pid: int) -> float:
    """Processor time of a process and all that it started, so far."""
    spent = 0
    for one in processes_below(pid):
        fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        spent += int(fields[11]) + int(fields[12])
    return spent / os.sysconf("SC_CLK_TCK")
