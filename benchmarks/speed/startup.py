"""How long it takes until a command does its work: processor time of `--help`, `list` and `score`, and of the imports.

Each command runs in a process of its own, several times; the least processor time counts, because whatever else runs on
the machine only adds to it. The first run, which is not counted, leaves compiled Python in a folder for the others, as
an installed package has it; `--no-bytecode` measures runs that compile all source anew.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.helpers.records import leave

import rankwright as rw

GOAL = 0.4  # seconds
MOST_SHOWN = 12  # modules


def command(*arguments: str) -> list[str]:
    """A command line that runs Rankwright with these arguments."""
    return [sys.executable, "-c", "from rankwright.cli.app import main; main()", *arguments]


def processor_seconds(arguments: list[str], folder: Path, environment: dict[str, str]) -> float:
    """The processor time of a process and of what it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(arguments, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def environment_of(folder: Path, bytecode: bool) -> dict[str, str]:
    """The variables of processes that keep compiled Python in the folder, or nowhere."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    prefix = {"PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    return kept | (prefix if bytecode else {"PYTHONDONTWRITEBYTECODE": "1"})


def slowest_imports(arguments: list[str], folder: Path, environment: dict[str, str]) -> list[tuple[float, str]]:
    """The modules that take the longest to load by themselves, in milliseconds."""
    timed = [arguments[0], "-X", "importtime", *arguments[1:]]
    done = subprocess.run(timed, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    lines = done.stderr.splitlines()
    parts = [line.removeprefix("import time:").split("|") for line in lines if line.count("|") == 2]
    own = [(float(part[0]) / 1000, part[2].strip()) for part in parts if part[0].strip().isdecimal()]
    return sorted(own, reverse=True)[:MOST_SHOWN]


def main() -> None:
    """Print the times of the commands, and the slowest imports."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--no-bytecode", action="store_true")
    options = parser.parse_args()
    with TemporaryDirectory() as name:
        folder = Path(name)
        rng = np.random.default_rng(0)
        data = rw.RankingDataset.from_arrays(rng.normal(size=(100, 20)), rng.integers(0, 3, size=100), group=[10] * 10)
        rw.write(data, folder / "data.txt")
        rw.LambdaMART(n_trees=20, min_docs_in_leaf=5).fit(data).save(folder / "model.rw")
        commands = {
            "--help": command("--help"),
            "list rankers": command("list", "rankers"),
            "list metrics": command("list", "metrics"),
            "score of 100 documents": command("score", "model.rw", "data.txt", "--out", os.devnull),
        }
        environment = environment_of(folder, bytecode=not options.no_bytecode)
        for arguments in commands.values():
            processor_seconds(arguments, folder, environment)
        found = {
            title: min(processor_seconds(arguments, folder, environment) for _ in range(options.repeats))
            for title, arguments in commands.items()
        }
        imports = slowest_imports(commands["score of 100 documents"], folder, environment)
    for title, seconds in found.items():
        print(f"{title:24} {seconds:6.3f} s of processor time  {'' if seconds <= GOAL else f'more than {GOAL} s'}")
    print("\nthe slowest imports of score, each without what it imports itself:")
    for milliseconds, module in imports:
        print(f"{milliseconds:8.1f} ms  {module}")
    rows = [{"command": title, "processor seconds": seconds} for title, seconds in found.items()]
    leave("startup", "Until a command has done its work: processor time", rows=rows, notes={})


if __name__ == "__main__":
    main()
