"""The folder of a study: what it is about, and a growing list of records.

    study.json          what the study is about; another study in the folder is refused
    records/*.jsonl     one line per experiment, one file per process; lines are only added
    states/*.rw         the states of trials that may be continued
    searches/*.json     the trials of each search, in its order
    refit.json          the training with the chosen settings on all the data
    claims.lock         which process works on which experiment

A process that is killed may leave half a line at the end of its file. No process writes to that file again, and half a
line is no record.

A claim is a lock on one byte of claims.lock; the place of the byte stands for the experiment. The system releases the
lock when the process ends, however it ends: there is nothing to clean up, and nobody waits for a dead process.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.container import checks
from rankwright.container.atomic import atomic_file, errors_name, remove_unfinished
from rankwright.container.file import read_container, write_container
from rankwright.container.locks import PLACES, PLAIN, lock_byte, unlock_byte
from rankwright.container.outputs import check_output_folder, destination
from rankwright.errors import ContainerError, InputError
from rankwright.tuning.experiment import SavedState
from rankwright.tuning.trials import Experiment, Record, canonical, limit_of

IDENTITY = "study.json"
REFIT = "refit.json"
CLAIMS = "claims.lock"
STATE_KIND = "tuning-state"


class Claims:
    """Which experiments of a study this process works on.

    A process must not open a folder twice: locks of one process do not exclude each other.
    """

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / CLAIMS, os.O_RDWR | os.O_CREAT | PLAIN, 0o666)

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


class Store:
    """The records of a study; more can be added."""

    def __init__(self, folder: str | os.PathLike[str], identity: Mapping[str, Any]) -> None:
        check_output_folder(folder)
        self.folder = Path(folder)
        for name in ("records", "states", "searches"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
            destination(self.folder / name)  # a link of somebody else may have come meanwhile
        for place in (self.folder, self.folder / "states", self.folder / "searches"):
            remove_unfinished(place)
        self._agree(dict(identity))
        self.claims = Claims(self.folder)
        self._own: int | None = None  # the file this process writes to
        self._read: dict[Path, int] = {}  # how far each file was read
        self._records: dict[str, Record] = {}
        self._longest: dict[str, Record] = {}  # of each course, the record with the largest budget
        self.refresh()

    def _agree(self, identity: dict[str, Any]) -> None:
        path = self.folder / IDENTITY
        if not path.exists():
            _write(path, identity)
        found = read_identity(self.folder)
        if canonical(found) != canonical(identity):
            other = sorted(name for name in identity.keys() | found.keys() if found.get(name) != identity.get(name))
            raise InputError(
                f"{os.fspath(self.folder)} holds another study: its {checks.as_one_line(', '.join(other))} differ; "
                f"choose another folder, or the same command as before"
            )

    def refresh(self) -> None:
        """Read the records that other processes have added."""
        for path in sorted((self.folder / "records").glob("*.jsonl")):
            begin = self._read.get(path, 0)
            if path.stat().st_size <= begin:
                continue
            with path.open("rb") as file:
                file.seek(begin)
                lines, newline, _ = file.read().rpartition(b"\n")
            self._read[path] = begin + len(lines) + len(newline)
            for line in lines.splitlines():
                self._take_in(_record_of(line, path))

    def _take_in(self, record: Record) -> None:
        experiment = record.experiment
        self._records[experiment.key] = record
        longest = self._longest.get(experiment.course)
        if longest is None or limit_of(record.budget) > limit_of(longest.budget):
            self._longest[experiment.course] = record

    def find(self, experiment: Experiment) -> Record | None:
        """The record of the experiment, or of a smaller budget that left nothing to learn; None if there is none."""
        own = self._records.get(experiment.key)
        if own is not None:
            return own
        longest = self._longest.get(experiment.course)
        if longest is not None and longest.finished and limit_of(longest.budget) <= limit_of(experiment.budget):
            return longest
        return None

    def all_records(self) -> list[Record]:
        """Every record, in an order that does not depend on who wrote it when."""
        return [self._records[key] for key in sorted(self._records)]

    def add(self, record: Record, state: SavedState | None) -> None:
        """Keep a record, and the state to continue from if there is one; when this returns, both are on disk."""
        if state is not None:
            self._save_state(record.experiment, state)
        if self._own is None:
            path = self.folder / "records" / f"{os.getpid()}-{secrets.token_hex(4)}.jsonl"
            self._own = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | PLAIN, 0o666)
            self._read[path] = 2**62  # what is in it is known here
        line = memoryview((json.dumps(asdict(record)) + "\n").encode())
        with errors_name(self.folder):
            while line:
                line = line[os.write(self._own, line) :]
            os.fsync(self._own)
        self._take_in(record)

    def _save_state(self, experiment: Experiment, state: SavedState) -> None:
        files = {name: np.frombuffer(content, np.uint8) for name, content in state.items()}
        write_container(self._state_path(experiment), STATE_KIND, {"budget": experiment.budget}, files)

    def earlier(self, experiment: Experiment) -> tuple[SavedState | None, int]:
        """The state after a smaller budget, and how many steps had been taken; None and 0 if there is no such state."""
        path = self._state_path(experiment)
        if experiment.budget is None or not path.exists():
            return None, 0
        try:
            saved = read_container(path, STATE_KIND)
            budget, files = checks.read_integer(saved.header, "budget"), _files_of(saved.arrays)
        except (ContainerError, InputError):
            return None, 0  # it can be trained again
        if budget >= experiment.budget:
            return None, 0
        record = self._records.get(Experiment(experiment.settings, experiment.fold, experiment.seed, budget).key)
        return (None, 0) if record is None else (files, record.steps)

    def _state_path(self, experiment: Experiment) -> Path:
        return self.folder / "states" / f"{experiment.course}.rw"

    def write_search(self, name: str, document: Mapping[str, Any]) -> None:
        """Keep the trials of a search."""
        _write(self.folder / "searches" / f"{name}.json", document, indent=1)

    def close(self) -> None:
        """Release claims and close files."""
        self.claims.close()
        if self._own is not None:
            os.close(self._own)
            self._own = None


def _write(path: Path, document: Mapping[str, Any], indent: int = 2) -> None:
    with atomic_file(path) as file:
        file.write((json.dumps(document, indent=indent) + "\n").encode())


def read_identity(folder: str | os.PathLike[str]) -> dict[str, Any]:
    """What the study in a folder is about."""
    path = Path(folder) / IDENTITY
    if not path.exists():
        raise InputError(f"{os.fspath(folder)} holds no study: there is no {IDENTITY} in it")
    return _read_object(path)


def _read_object(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes())
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is damaged: {checks.as_one_line(str(error))}") from None
    if not isinstance(found, dict):
        raise InputError(f"{path} is damaged: it must hold an object, got {checks.as_one_line(repr(found))}")
    return found


def read_searches(folder: str | os.PathLike[str]) -> dict[str, dict[str, Any]]:
    """The searches that were made in a study, by name."""
    paths = sorted((Path(folder) / "searches").glob("*.json"))
    return {path.stem: _checked_search(_read_object(path), path) for path in paths}


def _checked_search(search: dict[str, Any], path: Path) -> dict[str, Any]:
    with checks.file_faults(path, "search"):
        trials = checks.read_list(search, "trials", dict)
        if not trials:
            raise InputError("there are no trials")
        for one in trials:
            checks.read_field(one, "settings", dict)
            checks.read_list(one, "experiments", str)
            if checks.read_any_field(one, "budget") is not None:
                checks.read_integer(one, "budget")
    return search


def read_records(folder: str | os.PathLike[str]) -> dict[str, Record]:
    """Every record of a study, by its experiment's key; nothing in the folder is changed."""
    records = []
    for path in sorted((Path(folder) / "records").glob("*.jsonl")):
        lines, _, _ = path.read_bytes().rpartition(b"\n")
        records += [_record_of(line, path) for line in lines.splitlines()]
    return {record.experiment.key: record for record in records}


def write_refit(folder: str | os.PathLike[str], document: Mapping[str, Any]) -> None:
    """Keep the result of the final training."""
    _write(Path(folder) / REFIT, document)


def read_refit(folder: str | os.PathLike[str]) -> dict[str, Any] | None:
    """The result of the final training; None if there was none yet."""
    path = Path(folder) / REFIT
    if not path.exists():
        return None
    found = _read_object(path)
    with checks.file_faults(path, "final training"):
        checks.read_field(checks.read_field(found, "chosen", dict), "settings", dict)
        checks.read_field(found, "model", dict)
        checks.read_any_field(found, "steps")
    return found


def _record_of(line: bytes, path: Path) -> Record:
    try:
        return Record.from_dict(json.loads(line))
    except (ValueError, RecursionError) as error:
        told = f"{path} is damaged: a line is no record of an experiment: {checks.as_one_line(str(error))}"
        raise InputError(told) from None


def _files_of(arrays: Mapping[str, NDArray[Any]]) -> SavedState:
    """The files of a checkpoint folder, by their paths in it; none may lie outside."""
    found = {}
    for name in arrays:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in name:
            raise InputError(f"a state may hold files of its own folder, not {name!r}")
        found[name] = checks.read_array(arrays, name, np.uint8, (None,)).tobytes()
    return found
