"""Does a store lose or double a judgment where two writers add to it and are killed again and again?

    python -m benchmarks.judgments.store_kills [--kills 200]

Two processes add judgments and note each id in a file of their own once it was acknowledged. One of them is killed at
a random moment, and started again where it does not know whether the last one was added: it adds that one again.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.helpers.records import show

from rankwright.judgments import Judgment, JudgmentStore

LONGEST_LIFE = 0.25  # seconds between kills, once a writer is at work


def write_for_ever(store: str, notes: str, writer: str) -> None:
    """Add one judgment after another, and note each on the disk once it was acknowledged."""
    done = Path(notes).read_text().split() if Path(notes).exists() else []
    number = len(done)  # the first that was not acknowledged; it may be there already
    with JudgmentStore(store) as opened, Path(notes).open("a") as file:
        while True:
            name = f"{writer}-{number}"
            opened.add([Judgment(f"q{number % 50}", f"d{number}", writer, number % 4, id=name)])
            file.write(f"{name}\n")
            file.flush()
            os.fsync(file.fileno())
            number += 1


def started(folder: str, writer: str) -> subprocess.Popen[bytes]:
    """A writer, as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.judgments.store_kills", "--writer", writer, "--folder", folder]
    )


def whole_lines(path: Path) -> list[str]:
    """The ids that were noted; a kill may leave half a line at the end, which does not count."""
    return [line for line in path.read_text().split("\n")[:-1] if line] if path.exists() else []


def run(kills: int) -> dict[str, int]:
    """Kill writers at random, and count what is lost and what is doubled."""
    rng = random.Random(0)
    with TemporaryDirectory() as folder:
        writers = {name: started(folder, name) for name in ("ann", "bob")}
        for _ in range(kills):
            name = rng.choice(sorted(writers))
            noted = Path(folder, f"{name}.txt")
            size, waited = noted.stat().st_size if noted.exists() else 0, time.monotonic()
            while (not noted.exists() or noted.stat().st_size == size) and time.monotonic() - waited < 60:
                time.sleep(0.01)  # until it is at work
            time.sleep(rng.random() * LONGEST_LIFE)
            writers[name].send_signal(signal.SIGKILL)
            writers[name].wait()
            _cut_half_line(noted)
            writers[name] = started(folder, name)
        for process in writers.values():
            process.kill()
            process.wait()
        with JudgmentStore(Path(folder, "store.db"), create=False) as store:
            rows = list(store.rows())
        kept = [row.identity for row in rows]
        said = [line for name in writers for line in whole_lines(Path(folder, f"{name}.txt"))]
        documents = [(row.rater, row.document) for row in rows]
    return {
        "kills": kills,
        "acknowledged": len(said),
        "in the store": len(kept),
        "lost": len(set(said) - set(kept)),
        "doubled": len(documents) - len(set(documents)),
    }


def _cut_half_line(path: Path) -> None:
    content = path.read_bytes() if path.exists() else b""
    path.write_bytes(content[: content.rfind(b"\n") + 1])


def main() -> None:
    """Run the test, or be one of its writers."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--writer")
    parser.add_argument("--folder")
    given = parser.parse_args()
    if given.writer:
        folder = Path(given.folder)
        write_for_ever(str(folder / "store.db"), str(folder / f"{given.writer}.txt"), given.writer)
        return
    show("judgments store kills", "A store with two writers that are killed", [run(given.kills)])


if __name__ == "__main__":
    main()
