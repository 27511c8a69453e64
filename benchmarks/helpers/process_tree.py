"""What a command costs with all its processes: time, processor time, and memory at the most.

Processes are looked at several times a second. Memory is what is resident of all processes that run at a time; a page
that several of them map, such as that of a library, is divided among them ("proportional set size").
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

SECONDS_BETWEEN = 0.5
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Cost:
    """Of one command."""

    seconds: float = 0.0
    peak: int = 0  # bytes, of all processes together
    peaks: dict[int, int] = field(default_factory=dict)  # of each process
    spent: dict[int, float] = field(default_factory=dict)  # processor time of each process
    printed: str = ""

    @property
    def processor(self) -> float:
        """The processor time of all processes."""
        return sum(self.spent.values())

    @property
    def told(self) -> str:
        return f"{self.seconds:.0f} s, {self.processor:.0f} s of processor time, {self.peak / 1e9:.2f} GB at the most"


def run_watched(*command: str, environment: dict[str, str] | None = None, python: str = sys.executable) -> Cost:
    """Run Python with these arguments to its end."""
    cost, start = Cost(), time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen([python, *command], stdout=out, env=os.environ | (environment or {}))
        watcher = threading.Thread(target=_watch, args=(process, cost), daemon=True)
        watcher.start()
        code = process.wait()
        watcher.join()
        out.seek(0)
        cost.printed = out.read()
    cost.seconds = time.perf_counter() - start
    if code:
        raise SystemExit(f"{' '.join(command)} ended with {code}\n{cost.printed}")
    return cost


def _watch(process: subprocess.Popen[bytes], cost: Cost) -> None:
    while process.poll() is None:
        found = tree_of(process.pid)
        for pid, (spent, _) in found.items():
            cost.spent[pid] = max(spent, cost.spent.get(pid, 0.0))
        for pid, (_, resident) in found.items():
            cost.peaks[pid] = max(resident, cost.peaks.get(pid, 0))
        cost.peak = max(cost.peak, sum(resident for _, resident in found.values()))
        time.sleep(SECONDS_BETWEEN)


def tree_of(root: int) -> dict[int, tuple[float, int]]:
    """The processor time and the resident bytes of a process and all its descendants, by process."""
    children, spent = defaultdict[int, list[int]](list), dict[int, float]()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parts = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        children[int(parts[1])].append(int(folder.name))
        spent[int(folder.name)] = (int(parts[11]) + int(parts[12])) / TICKS
    found, waiting = {}, [root]
    while waiting:
        pid = waiting.pop()
        waiting += children[pid]
        if pid in spent:
            found[pid] = spent[pid], _resident(pid)
    return found


def _resident(pid: int) -> int:
    """The bytes that a process has in memory, with its part of those that others have too; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
