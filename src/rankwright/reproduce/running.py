"""Experiments run part by part on an engine; each part's result is kept as soon as it is known.

A run that was killed goes on where it was when it is started again, and what a run has is not computed again. A folder
belongs to one size, one seed and one set of data. A record (see `records`) takes finished parts to another machine.
"""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rankwright.arrays import core_count
from rankwright.cluster.engine import Engine, Report
from rankwright.cluster.opening import open_engine
from rankwright.container.atomic import atomic_file, remove_unfinished
from rankwright.errors import FileFormatError, InputError, MissingExtraError
from rankwright.progress.display import duration
from rankwright.progress.stages import announce
from rankwright.reproduce.experiment import QUICK, PaperExperiment, RunPart, Setup
from rankwright.reproduce.experiment_table import experiment_named, experiments_named
from rankwright.reproduce.outcome import Findings
from rankwright.reproduce.records import read_record, record_path, write_record

RUN_FILE, PARTS_FOLDER = "run.json", "parts"
PARTS_THAT_TELL, LONG = 10, 120.0  # parts, and seconds left, before the time is told beforehand
LEFT_OUT = "left_out"  # in a result: why there is none


@dataclass(frozen=True, slots=True)
class Reproduced:
    """An experiment that was run: what it found, on what, and how long its parts took together."""

    experiment: PaperExperiment
    setup: Setup
    outcome: Findings
    parts_of: Sequence[str]  # the experiments whose parts it takes
    n_parts: int
    n_wanted: int  # parts of the whole experiment
    seconds: float
    processor_seconds: float

    def to_dict(self) -> dict[str, Any]:
        """The whole of it, in types JSON can hold."""
        size, seed = self.setup.size, self.setup.seed
        options = [" --quick" if size == QUICK else "", f" --seed {seed}" if seed else ""]
        options.append(" --data DIR" if self.setup.given else "")
        return {
            "experiment": self.experiment.name,
            "paper": self.experiment.paper,
            "title": self.experiment.title,
            "size": size,
            "seed": seed,
            "command": f"rankwright reproduce {self.experiment.name}{''.join(options)}",
            "data": [source.to_dict() for source in self.experiment.sources(self.setup)],
            **self.outcome.to_dict(),
            "parts": self.n_parts,
            "parts_wanted": self.n_wanted,
            "parts_of": list(self.parts_of),
            "seconds": round(self.seconds, 2),
            "processor_seconds": round(self.processor_seconds, 2),
            "machine": machine(),
        }


def machine() -> dict[str, Any]:
    """What times depend on, and the versions that figures were computed with."""
    return {
        "processors": core_count(),
        "architecture": platform.machine(),
        "system": platform.system(),
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "rankwright": version("rankwright"),
    }


def reproduce(
    names: Iterable[str],
    setup: Setup,
    *,
    out: str | os.PathLike[str],
    record: str | os.PathLike[str] | None = None,
    so_far: bool = False,
    cluster: str | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> list[Reproduced]:
    """Run the named experiments, or go on with them, and write what they found to the folder `out`.

    `record` is a folder of records: parts that they have are not run again, and what was run is written to them. With
    `so_far` nothing is run, and experiments are concluded from the parts that are done. `cluster` and `workers` say
    where parts run, as in `open_engine`; or an engine that is open already is given.
    """
    chosen = experiments_named(names)
    kept = KeptParts(Path(out), setup, None if record is None else Path(record))
    work = {one.name: one.parts(setup) for one in chosen}
    for parts in work.values():
        kept.take_up(parts)
    found = []
    with ExitStack() as stack:
        is_missing = any(kept.result(part) is None for parts in work.values() for part in parts)
        if engine is None and is_missing and not so_far:
            engine = stack.enter_context(open_engine(cluster, workers))
        for number, one in enumerate(chosen):
            announce(one.name, number, len(chosen), unit="experiments", overall=True)
            try:
                if engine is not None and not so_far:
                    _run_missing(one, setup, work[one.name], kept, engine, tell)
            finally:  # Ctrl-C too: a record has all that is done
                done = [part for part in work[one.name] if kept.result(part) is not None]
                kept.write_records(done)
            if not all(part in done for part in work[one.name] if one.is_needed(setup, part)):
                tell(f"{one.name}: {len(done):,} of {len(work[one.name]):,} parts are done, too few to conclude from")
                continue
            found.append(_concluded(one, setup, done, len(work[one.name]), kept))
            kept.write(f"{one.name}.json", found[-1].to_dict())
            tell(f"{one.name}: {found[-1].outcome.verdict}; {found[-1].processor_seconds:.1f} processor seconds")
    return found


def _run_missing(
    experiment: PaperExperiment,
    setup: Setup,
    parts: Sequence[RunPart],
    kept: KeptParts,
    engine: Engine,
    tell: Callable[[str], None],
) -> None:
    """Run the parts of an experiment that are not kept, and keep them."""
    missing = [part for part in parts if kept.result(part) is None]
    pace = Pace(missing)
    for n_done, done in enumerate(engine.run(perform, [(setup, part) for part in missing]), 1):
        part = missing[done.number]
        announce(f"{part.of}, {part.key}", n_done, len(missing), unit="parts")
        kept.keep(part, done.result)
        if (foretold := pace.after(part)) is not None:
            tell(f"{experiment.name}: {foretold}")


class Pace:
    """How long the missing parts of an experiment will take, told once by those that are done first."""

    def __init__(self, missing: Sequence[RunPart], clock: Callable[[], float] = time.perf_counter) -> None:
        self._n_parts, self._work = len(missing), sum(part.cost for part in missing)
        self._clock, self._began = clock, clock()
        self._n_done, self._done = 0, 0.0

    def after(self, part: RunPart) -> str | None:
        """The time that is left after this part, when enough parts tell it and it is worth telling."""
        self._n_done += 1
        self._done += part.cost
        taken = self._clock() - self._began
        left = taken / self._done * (self._work - self._done)
        if self._n_done != PARTS_THAT_TELL or left < LONG:
            return None
        return (
            f"the first {PARTS_THAT_TELL} of {self._n_parts:,} parts took {duration(taken)}, so the rest will take "
            f"about {duration(left)}; it can be stopped at any time, and the same command continues it"
        )


def perform(_: Any, task: tuple[Setup, RunPart], __: Report) -> dict[str, Any]:
    """Run one part; a worker does it. Where a package is missing, the result says so."""
    setup, part = task
    start, processor = time.perf_counter(), time.process_time()
    try:
        result = dict(experiment_named(part.of).run(setup, part.values))
    except MissingExtraError as error:
        result = {LEFT_OUT: str(error)}
    return {
        "result": result,
        "seconds": time.perf_counter() - start,
        "processor_seconds": time.process_time() - processor,
    }


def _concluded(
    experiment: PaperExperiment, setup: Setup, parts: Sequence[RunPart], n_wanted: int, kept: KeptParts
) -> Reproduced:
    records = {part.key: kept.record(part) for part in parts}
    results = {key: record["result"] for key, record in records.items()}
    complete = {key: result for key, result in results.items() if LEFT_OUT not in result}
    outcome = experiment.conclude(setup, complete)
    left_out = [f"{key} was left out: {result[LEFT_OUT]}" for key, result in results.items() if LEFT_OUT in result]
    told = [source.told for source in experiment.sources(setup)]
    return Reproduced(
        experiment,
        setup,
        Findings(outcome.tables, outcome.claims, [*told, *outcome.notes, *left_out]),
        list(dict.fromkeys(part.of for part in parts)),
        len(parts),
        n_wanted,
        sum(record["seconds"] for record in records.values()),
        sum(record["processor_seconds"] for record in records.values()),
    )


class KeptParts:
    """The results in a folder, each in a file of its own, and those of records, where there are any."""

    def __init__(self, folder: Path, setup: Setup, records: Path | None = None) -> None:
        self.folder, self._setup, self._records = folder, setup, records
        self._known: dict[Path, dict[str, Any]] = {}
        (folder / PARTS_FOLDER).mkdir(parents=True, exist_ok=True)
        for place in (folder, *(folder / PARTS_FOLDER).iterdir()):
            remove_unfinished(place)
        told = setup.to_dict()
        if (folder / RUN_FILE).exists():
            earlier = _read(folder / RUN_FILE)
            if earlier != told:
                raise InputError(
                    f"{folder} holds results of another size, seed or data: they were computed with "
                    f"{_shortly(earlier)}, and {_shortly(told)} is wanted now; choose another --out"
                )
        else:
            self.write(RUN_FILE, told)

    def write(self, name: str, document: Mapping[str, Any]) -> None:
        """Write a document, whole or not at all."""
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(self.folder / name) as file:
            file.write(json.dumps(document, indent=1, allow_nan=False).encode() + b"\n")

    def take_up(self, parts: Sequence[RunPart]) -> None:
        """Take the results that records have of these parts; they count before those of the folder.

        A record may hold what several parts gave in one of them, so that its results go together.
        """
        for name, path in self._record_paths(parts).items():
            found = read_record(path, self._setup)
            of_keys = {part.key: part for part in parts if part.of == name}
            for key, document in found.items():
                if key in of_keys:
                    self._known[self.folder / self._name(of_keys[key])] = document

    def write_records(self, parts: Sequence[RunPart]) -> None:
        """Write what is known of these parts to their records."""
        for name, path in self._record_paths(parts).items():
            of_keys = {part.key: self.record(part) for part in parts if part.of == name}
            packed = experiment_named(name).packed({key: one["result"] for key, one in of_keys.items()})
            documents = {key: {**one, "result": packed[key]} for key, one in of_keys.items()}
            write_record(path, self._setup, documents)

    def _record_paths(self, parts: Sequence[RunPart]) -> dict[str, Path]:
        """The records of the experiments that run these parts, by name."""
        if self._records is None:
            return {}
        return {part.of: record_path(self._records, part.of, self._setup) for part in parts}

    def keep(self, part: RunPart, record: Mapping[str, Any]) -> None:
        """Keep what running a part gave."""
        document = {"part": dict(part.values), **record}
        self.write(self._name(part), document)
        self._known[self.folder / self._name(part)] = document

    def result(self, part: RunPart) -> Mapping[str, Any] | None:
        """The part's result; None where there is none, or one of a part that had other work to do."""
        path = self.folder / self._name(part)
        if path not in self._known and path.exists():
            self._known[path] = _read(path)
        found = self._known.get(path)
        if found is None or found.get("part") != json.loads(json.dumps(dict(part.values))):
            return None
        return dict(found["result"])

    def record(self, part: RunPart) -> dict[str, Any]:
        """The part's result with its times."""
        return self._known[self.folder / self._name(part)]

    def _name(self, part: RunPart) -> str:
        slug = "".join(letter if letter.isalnum() or letter in "-.+" else "_" for letter in part.key)
        return f"{PARTS_FOLDER}/{part.of}/{slug}.json"


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_bytes())
    except ValueError:
        raise FileFormatError(str(path), "is not a result that was kept here; remove it") from None
    return found


def _shortly(told: Mapping[str, Any]) -> str:
    data = ", ".join(one["name"] for one in told.get("data", [])) or "synthetic data"
    return f"size {told.get('size')}, seed {told.get('seed')}, {data}"
