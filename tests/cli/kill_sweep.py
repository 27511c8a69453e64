"""Commands killed at their n-th write, for many n: a program, so that it can fork before anything has threads.

    python kill_sweep.py FOLDER CASES     cases are JSON, as `test_kills.py` makes them; what was found is printed

Writes are all that changes a file or a folder below FOLDER: making, opening for writing, writing (the kill comes when
half of it is written), syncing, renaming and removing.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from importlib import import_module
from io import FileIO
from pathlib import Path
from typing import Any

from tests.here_engine import HereEngine

from rankwright.catalog import training
from rankwright.cli.app import main
from rankwright.cluster.opening import open_engine
from rankwright.container import atomic
from rankwright.container.atomic import UNFINISHED
from rankwright.experiments import fold_comparison
from rankwright.training import driver
from rankwright.tuning import cross_validation, tuner

# What commands load when they need it; typer loads pydantic at the first option it reads.
PRELOADED = (
    "pydantic.type_adapter",
    *(
        f"rankwright.{name}"
        for name in ("compression.curve", "formats.parquet", "linear.perceptrons", "mart.lambdamart")
    ),
)
CHANGES = {"os.rename": 0, "os.mkdir": 0, "os.remove": 0, "os.rmdir": 0}  # the place of the path in the event
LOGS = ("stdout", "stderr")


class Writes:
    """Counts the writes of this process below `root`, and ends it at the one numbered `last`, from 1; 0 is never."""

    def __init__(self, root: Path, last: int) -> None:
        self.root, self.last, self.count = f"{root}{os.sep}", last, 0

    def watch(self) -> None:
        write, sync, write_output = os.write, os.fsync, FileIO.write

        def count_write(descriptor: int, content: Any) -> int:
            if self._is_below(_path_of(descriptor)):
                self._count(lambda: write(descriptor, content[: len(content) // 2]))
            return write(descriptor, content)

        def count_sync(descriptor: int) -> None:
            if self._is_below(_path_of(descriptor)):
                self._count()
            sync(descriptor)

        def count_output(file: FileIO, content: Any) -> int:
            self._count(lambda: write_output(file, bytes(content)[: len(content) // 2]))
            return write_output(file, content)

        os.write, os.fsync = count_write, count_sync  # type: ignore[assignment]
        atomic.NamedOutput.write = count_output  # type: ignore[method-assign]
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event in CHANGES:
            path = arguments[CHANGES[event]]
        elif event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            path = arguments[0]
        else:
            return
        if isinstance(path, str | os.PathLike) and self._is_below(Path(path).absolute()):
            self._count()

    def _is_below(self, path: Path) -> bool:
        return f"{path}{os.sep}".startswith(self.root) and path.name not in LOGS

    def _count(self, do_half: Callable[[], object] = lambda: None) -> None:
        self.count += 1
        if self.count == self.last:
            do_half()
            os.kill(os.getpid(), signal.SIGKILL)


def _path_of(descriptor: int) -> Path:
    return Path(f"/proc/self/fd/{descriptor}").readlink()


def run(command: list[str], place: Path, *, last: int = 0) -> tuple[int, int]:
    """How the command ended in the folder `place` (minus the signal, or the exit code), and how much it wrote."""
    counted, other = os.pipe()
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = _run_here(command, place, last, other)
        finally:
            os._exit(code)
    os.close(other)
    with os.fdopen(counted, "rb") as pipe:
        count = int(pipe.read() or 0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), count


def _run_here(command: list[str], place: Path, last: int, pipe: int) -> int:
    os.chdir(place)
    os.lseek(0, 0, os.SEEK_SET)  # every run gets all of standard input
    for number, name in enumerate(LOGS, start=1):
        os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    os.environ["TMPDIR"] = tempfile.tempdir = str(place / "tmp")
    writes = Writes(place, last)
    writes.watch()
    sys.argv = ["rankwright", *command]
    try:
        main()
    except SystemExit as ending:
        sys.stdout.flush()
        os.write(pipe, str(writes.count).encode())
        return int(ending.code or 0)
    except BaseException:
        traceback.print_exc()
    return 98


def new_place(folder: Path, name: str, old: dict[str, str]) -> Path:
    """A folder with the files that were there before the command, and a place for temporary ones."""
    place = folder / name
    (place / "tmp").mkdir(parents=True)
    for target, content in old.items():
        (place / target).write_text(content)
    return place


def outputs(place: Path, unlike: list[str]) -> dict[str, bytes]:
    """All files of a place, without those that hold times or depend on who wrote them."""
    files = sorted(path for path in place.rglob("*") if path.is_file() and path.name != "stderr")
    named = {str(path.relative_to(place)): path for path in files}
    return {name: path.read_bytes() for name, path in named.items() if not any(part in name for part in unlike)}


def faults_of_kill(case: dict[str, Any], folder: Path, last: int, wanted: dict[str, bytes]) -> Iterator[str]:
    """What is wrong after a kill at write `last`, and after the command was run again."""
    place = new_place(folder, f"kill-{last}", case["old"])
    ending, _ = run(case["command"], place, last=last)
    if ending != -signal.SIGKILL:
        yield f"ended with {ending}, not by the kill: {(place / 'stderr').read_text()}"
    for target, content in case["old"].items():
        if (place / target).read_bytes() not in (content.encode(), wanted[target]):
            yield f"{target} is neither the old file nor the new one"
    ending, _ = run(case["command"], place)
    if ending != 0:
        yield f"the next run ended with {ending}: {(place / 'stderr').read_text()}"
    found = outputs(place, case["unlike"])
    yield from (f"{name} is not as in a run without a kill" for name in wanted if found.get(name) != wanted[name])
    left = [path for path in place.rglob("*") if UNFINISHED.fullmatch(path.name) or path.parent.name == "tmp"]
    yield from (f"{name} is left" for name in [*left, *sorted(found.keys() - wanted.keys())])
    shutil.rmtree(place)


def sweep(folder: Path, case: dict[str, Any]) -> dict[str, Any]:
    """The number of writes of the command, those it was killed at, and the faults found."""
    place = new_place(folder, "whole", case["old"])
    ending, n_writes = run(case["command"], place)
    if ending != 0:
        return {"writes": n_writes, "killed": [], "faults": [(place / "stderr").read_text()]}
    wanted = outputs(place, case["unlike"])
    step = 1 if case["kills"] is None else max(1, n_writes // case["kills"])
    killed = list(range(n_writes, 0, -step))
    faults = [f"write {n}: {fault}" for n in killed for fault in faults_of_kill(case, folder, n, wanted)]
    return {"writes": n_writes, "killed": killed, "faults": faults}


def _open_engine(cluster: str | None, workers: int | None) -> Any:
    """Tasks run here unless processes are asked for, which take long to start."""
    return HereEngine() if workers is None else open_engine(cluster, workers)


def prepare() -> None:
    """Load what commands load, have tasks run here, and have checkpoints written after every step."""
    driver.SECONDS_BETWEEN = -1.0
    for module in (training, tuner, cross_validation, fold_comparison):
        module.open_engine = _open_engine  # type: ignore[attr-defined]
    for name in PRELOADED:
        import_module(name)


if __name__ == "__main__":
    prepare()
    found = {name: sweep(Path(sys.argv[1], name), case) for name, case in json.loads(sys.argv[2]).items()}
    sys.stdout.write(json.dumps(found))
