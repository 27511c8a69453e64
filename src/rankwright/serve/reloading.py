"""Models that are replaced while they are served: read whole, checked, warmed up, and only then taken.

A file that changed is read for each process that serves by one beside it. What cannot be read, takes other features, or
does worse on the check sample is not taken: the old model goes on, and the log and metrics say so.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, RankwrightError, require
from rankwright.metrics.evaluation import evaluate
from rankwright.serve.models import ModelShelf, ServedModel
from rankwright.serve.reading import ProcessBeside
from rankwright.web.metrics import MetricBoard

log = logging.getLogger(__name__)

STEP_DOCUMENTS, STEP_SECONDS = 25, 1e-3
Signature = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class CheckSample:
    """Labelled documents on which a new model may be worse than the old one by `most_lost` at most."""

    data: RankingDataset
    metric: str = "ndcg@10"
    most_lost: float = 0.05

    def __post_init__(self) -> None:
        require(self.data.labels is not None, "a check sample needs labels")
        require(0 <= self.most_lost <= 1, f"what may be lost lies between 0 and 1, got {self.most_lost}")

    def value(self, model: ServedModel) -> float:
        """What the model reaches on the sample."""
        scores = model.trained.predict(self.data, threads=model.threads)
        return evaluate(scores, self.data, metrics=[self.metric], resamples=1)[self.metric].mean


def check_successor(new: ServedModel, old: ServedModel, sample: CheckSample | None) -> None:
    """Raise unless the new model can take the place of the old one."""
    if new.features != old.features:
        raise InputError(f"it takes other features than the one in use: {_difference(new, old)}")
    if sample is None:
        return
    reached, before = sample.value(new), sample.value(old)
    if reached < before - sample.most_lost:
        raise InputError(
            f"its {sample.metric} on the check sample is {reached:.4f}, that of the one in use {before:.4f}"
        )


def _difference(new: ServedModel, old: ServedModel) -> str:
    added = sorted(set(new.features) - set(old.features))
    gone = sorted(set(old.features) - set(new.features))
    if not added and not gone:
        return "in another order"
    return f"{len(added)} new ({', '.join(added[:3])}), {len(gone)} gone ({', '.join(gone[:3])})"


@dataclass(frozen=True, slots=True)
class FileChange:
    """What came of a changed file: another model, or why there is none; neither, where it holds what it held before."""

    name: str
    model: ServedModel | None = None
    refused: str | None = None
    seconds: float = 0.0  # that it took


class Reloader:
    """Looks at the models' files again and again, and takes those that changed and pass.

    It reads in a process beside the one that serves, where `fork` was called, and else in a thread.
    """

    def __init__(
        self,
        shelf: ModelShelf,
        board: MetricBoard,
        *,
        sample: CheckSample | None = None,
        seconds: float = 1.0,
        taken: Callable[[ServedModel], None] | None = None,
    ) -> None:
        self._shelf, self._board, self._sample, self._seconds = shelf, board, sample, seconds
        self._taken = taken
        self._seen: dict[str, Signature | None] = {model.name: signature(model.path) for model in shelf}
        self._stopped = threading.Event()
        self._beside: ProcessBeside | None = None
        self._places = {
            (model.name, outcome): board.counter(
                "rankwright_reloads_total",
                "Changed model files that were taken, and those that were not.",
                (("model", model.name), ("outcome", outcome)),
            )
            for model in shelf
            for outcome in ("taken", "refused")
        }

    def fork(self) -> None:
        """Have a process beside this one read; this one must have no threads yet."""
        self._beside = ProcessBeside(self._found_beside)

    def start(self) -> None:
        """Look at the files from now on."""
        self._stopped.clear()
        threading.Thread(target=self._watch, name="reloader", daemon=True).start()

    def stop(self) -> None:
        """Leave them."""
        self._stopped.set()
        if self._beside is not None:
            self._beside.end()

    def look(self) -> None:
        """Take the models whose files changed since the last look, if they pass."""
        for change in self._changes():
            self._settle(change)

    def _watch(self) -> None:
        for change in self._beside or ():
            if change.model is not None:
                warm_up_in_steps(change.model)
            self._settle(change)
        if self._beside is not None and not self._stopped.is_set():
            log.warning("the process that reads changed models has ended: they are read in this one")
        for change in self._found(self._stopped.wait):
            self._settle(change)

    def _found_beside(self, ended: Callable[[float], bool]) -> Iterator[FileChange]:
        for change in self._found(ended):
            yield change
            if change.model is not None:
                self._shelf.replace(change.model)  # in the process beside: the next one is compared with it

    def _found(self, ended: Callable[[float], bool]) -> Iterator[FileChange]:
        """What changes, until a function that waits some seconds says that this is the end."""
        while not ended(self._seconds):
            try:
                yield from self._changes()
            except Exception:
                log.exception("looking at model files failed")

    def _changes(self) -> Iterator[FileChange]:
        for old in self._shelf:
            found = signature(old.path)
            if found is not None and found != self._seen[old.name]:
                self._seen[old.name] = found
                yield self._read(old)

    def _read(self, old: ServedModel) -> FileChange:
        started = time.perf_counter()
        try:
            new = ServedModel.read(old.name, old.path, threads=old.threads)
            if new.version == old.version:
                return FileChange(old.name)
            check_successor(new, old, self._sample)
        except (RankwrightError, OSError, MemoryError) as error:
            return FileChange(old.name, refused=str(error))
        return FileChange(old.name, new, seconds=time.perf_counter() - started)

    def _settle(self, change: FileChange) -> None:
        """Take the new model, or say why not."""
        old, new = self._shelf.named(change.name), change.model
        self._board.add(self._places[change.name, "taken" if change.refused is None else "refused"])
        if change.refused is not None:
            told = "%s: version %s goes on; %s was not taken: %s"
            log.warning(told, old.name, old.version, old.path, change.refused)
        elif new is not None:
            self._shelf.replace(new)
            if self._taken is not None:
                self._taken(new)
            log.info("%s: version %s is taken, after %.3f s", new.name, new.version, change.seconds)


def warm_up_in_steps(model: ServedModel) -> None:
    """Touch a model's memory in this process, and let requests through between two steps."""
    documents = model.warm_documents()
    for first in range(0, len(documents), STEP_DOCUMENTS):
        model.scores(documents[first : first + STEP_DOCUMENTS])
        time.sleep(STEP_SECONDS)


def signature(path: str) -> Signature | None:
    """What changes whenever a file is replaced or written to; None where there is none."""
    try:
        state = Path(path).stat()
    except OSError:
        return None
    return state.st_ino, state.st_mtime_ns, state.st_size
