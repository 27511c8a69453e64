"""A process that judges mutants one after another, and tells of each before it begins and when it has ended.

What it writes to its output is read by tests/fuzz/run.py, which ends it where a mutant takes too long.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import traceback
from pathlib import Path
from typing import Any

from tests.fuzz.subject import Finding, Refused, Subject, generator
from tests.fuzz.subjects import SUBJECTS

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"  # what clear_refs takes to forget the most memory used so far
FIXED_MEMORY, MEMORY_PER_BYTE = 200 * 2**20, 20  # what a file may take, of its own size


def memory(kind: str) -> int:
    """The memory of this process in bytes, now (`VmRSS`) or at most (`VmHWM`); 0 where the system does not tell."""
    if not STATUS.exists():
        return 0
    lines = STATUS.read_text(encoding="ascii").splitlines()
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(kind)), 0)


def forget_peak() -> None:
    try:
        CLEAR.write_text(RESET_PEAK, encoding="ascii")
    except OSError:
        return


def judged(subject: Subject, target: Path, size: int) -> dict[str, Any]:
    """What became of a mutant: its outcome, and for findings what was found."""
    forget_peak()
    before = memory("VmRSS")
    found: dict[str, Any]
    try:
        subject.judge(target)
        found = {"outcome": "accepted"}
    except Refused as refusal:
        found = {"outcome": "refused", "told": str(refusal)}
    except Finding as finding:
        found = {"outcome": "finding", "told": str(finding)}
    except BaseException as error:
        found = {"outcome": "finding", "told": f"{type(error).__name__}: {error}", "trace": traceback.format_exc()}
    taken = memory("VmHWM") - before
    if taken > FIXED_MEMORY + MEMORY_PER_BYTE * size:
        found = {"outcome": "finding", "told": f"{taken / 2**20:.0f} MB of memory for {size} bytes"}
    return found


def size_of(target: Path) -> int:
    files = [target] if target.is_file() else [path for path in target.rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files)


def main(kind: str, seeds: Path, seed: int, numbers: range) -> None:
    subject = SUBJECTS[kind]
    subject.warm_up(seeds)
    tell({"ready": True})
    with tempfile.TemporaryDirectory(prefix="rankwright-fuzz-") as folder:
        for number in numbers:
            target = Path(folder) / "mutant.rw"
            if target.is_dir():
                shutil.rmtree(target)
            subject.make(seeds, generator(seed, number), number, target)
            tell({"begun": number})
            tell({"ended": number} | judged(subject, target, size_of(target)))


def tell(what: dict[str, Any]) -> None:
    print(json.dumps(what), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), range(int(sys.argv[4]), int(sys.argv[5])))
