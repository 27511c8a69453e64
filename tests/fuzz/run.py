"""`make fuzz`: many mutants of model files (ours, and other tools' as `foreign`), checkpoints, studies and data files.

Each is judged in a process that can be ended.

    python -m tests.fuzz.run --mutants 20000 --kinds models --corpus out/fuzz

Findings are crashes, more than two seconds, more memory than 200 MB and 20 times the file, exceptions that are not the
library's, and files that were accepted although what they hold is no model. Each is kept in the corpus: a line in
`findings.jsonl`, and the mutant itself. A run that is ended goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from tests.fuzz.subject import generator
from tests.fuzz.subjects import SUBJECTS

SECONDS = 2.0  # that a mutant may take
SECONDS_TO_START = 120.0
SECONDS_TO_TELL = 60.0  # between progress lines
SLOW = "no answer"
LONGEST_LINE = 1 << 16


class Worker:
    """A worker process, and what it says."""

    def __init__(self, kind: str, seeds: Path, seed: int, first: int, last: int) -> None:
        command = [sys.executable, "-m", "tests.fuzz.worker", kind, str(seeds), str(seed), str(first), str(last)]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)
        self._rest = b""

    def hear(self, seconds: float) -> dict[str, Any] | None:
        """The next thing it says; None where it says nothing for so long, or has ended."""
        assert self.process.stdout is not None
        until = time.monotonic() + seconds
        while b"\n" not in self._rest:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0.0, until - time.monotonic()))
            more = os.read(self.process.stdout.fileno(), LONGEST_LINE) if ready else b""
            if not more:
                return None
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        said: dict[str, Any] = json.loads(line)
        return said

    def end(self) -> str:
        """End it, and tell how it went: still running, a signal, or the end of what it complained of."""
        running = self.process.poll() is None
        time.sleep(0.1)
        running = running and self.process.poll() is None
        self.process.kill()
        complaint = self.process.communicate()[1].decode(errors="replace")[-3000:]
        return f"{SLOW} in {SECONDS:g} s" if running else f"ended with {self.process.returncode}: {complaint}"


class Run:
    """The mutants of one kind, from the first that was not judged yet."""

    def __init__(self, kind: str, corpus: Path, seed: int, slower: float) -> None:
        self.kind, self.seed, self.slower, self.corpus = kind, seed, slower, corpus
        self.seeds = corpus / "seeds" / kind
        self.findings, self.place = corpus / "findings.jsonl", corpus / f"{kind}-{seed}.next"
        self.outcomes: Counter[str] = Counter()
        self.slow: int | None = None  # the last mutant that was given another try
        SUBJECTS[kind].prepare(self.seeds)

    @property
    def next_number(self) -> int:
        return int(self.place.read_text(encoding="ascii")) if self.place.exists() else 0

    def judge(self, last: int, until: float) -> None:
        told = time.monotonic()
        while self.next_number < last and time.monotonic() < until:
            worker = Worker(self.kind, self.seeds, self.seed, self.next_number, last)
            if worker.hear(SECONDS_TO_START * self.slower) is None:
                raise SystemExit(f"a worker does not start: {worker.end()}")
            number = self.next_number
            while number < last and time.monotonic() < until:
                heard = worker.hear(SECONDS_TO_START * self.slower)  # that it begins
                said = None if heard is None else worker.hear(SECONDS * self.slower)
                if said is None:
                    self._note_end(number, worker.end())
                    break
                self._note(number, said)
                number += 1
                if time.monotonic() - told > SECONDS_TO_TELL:
                    told = time.monotonic()
                    print(f"{self.kind}: {number} mutants, {dict(self.outcomes)}", flush=True)  # noqa: T201
            worker.process.kill()
            worker.process.communicate()

    def _note_end(self, number: int, told: str) -> None:
        """A worker that ended is a finding; one that was slow has another try, because the machine may be busy."""
        if told.startswith(SLOW) and self.slow != number:
            self.slow = number
        else:
            self._note(number, {"outcome": "finding", "told": told})

    def _note(self, number: int, said: dict[str, Any]) -> None:
        self.outcomes[said["outcome"]] += 1
        self.place.write_text(str(number + 1), encoding="ascii")
        if said["outcome"] == "finding":
            with self.findings.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"kind": self.kind, "seed": self.seed, "number": number} | said) + "\n")
            self._keep(number)

    def _keep(self, number: int) -> None:
        target = self.corpus / f"{self.kind}-{self.seed}-{number}.rw"
        if target.is_dir():
            shutil.rmtree(target)
        SUBJECTS[self.kind].make(self.seeds, generator(self.seed, number), number, target)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mutants", type=int, default=5000, help="how many of each kind")
    parser.add_argument("--kinds", nargs="+", choices=SUBJECTS, default=list(SUBJECTS))
    parser.add_argument("--seconds", type=float, default=float("inf"), help="how long each kind may take")
    parser.add_argument("--seed", type=int, default=0, help="another one makes other mutants")
    parser.add_argument("--corpus", type=Path, default=Path("out/fuzz"), help="where findings and progress are kept")
    parser.add_argument("--slower", type=float, default=1.0, help="times all limits of time, under a sanitizer")
    asked = parser.parse_args()
    asked.corpus.mkdir(parents=True, exist_ok=True)
    n_findings = 0
    for kind in asked.kinds:
        run = Run(kind, asked.corpus, asked.seed, asked.slower)
        run.judge(asked.mutants, time.monotonic() + asked.seconds)
        n_findings += run.outcomes["finding"]
        print(f"{kind}: {run.next_number} mutants in all; in this run {dict(run.outcomes)}")  # noqa: T201
    return 1 if n_findings else 0


if __name__ == "__main__":
    sys.exit(main())
