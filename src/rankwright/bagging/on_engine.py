"""Bags made by the workers of an engine (threads, processes or other machines), taken in order.

Only the driver reads and writes the folder of finished bags, because workers may run on machines that do not see it. A
saved bag is sent to its worker, and a bag that comes back is saved here at once.
"""

from __future__ import annotations

from types import TracebackType
from typing import Self

from rankwright.bagging.bag_maker import Bag, BagFiles, BagMaker
from rankwright.cluster.engine import Engine, Report
from rankwright.container.file import Container
from rankwright.progress.stages import announce, is_followed
from rankwright.training.loop import Progress


class BagsOnEngine:
    """Gives the bags in order, while workers make later ones."""

    def __init__(self, engine: Engine, maker: BagMaker, files: BagFiles) -> None:
        self._files, self._waiting = files, dict[int, Bag]()
        self._restored = set[int]()
        self._n_bags, self._steps, self._steps_of_a_bag, self._note = maker.plan.n_bags, dict[int, int](), 0, ""
        announce(f"training {self._n_bags} bags")
        tasks = (self._task(number) for number in range(maker.plan.n_bags))
        listener = self._hear if is_followed() else None
        self._run = engine.run(make_bag, tasks, shared=engine.share(maker), listener=listener)

    def _hear(self, number: int, progress: Progress) -> None:
        """Take in how far a bag is."""
        self._steps_of_a_bag = progress.n_steps
        self._steps[number] = progress.step + 1
        self._announce()

    def hear(self, progress: Progress) -> None:
        """Take in what the bags so far reach together."""
        self._note = f"bag {progress.step + 1}/{progress.n_steps}"
        if progress.value is not None:
            self._note += f", {progress.metric} {progress.value:.4f}"
        self._announce()

    def _announce(self) -> None:
        """Tell how far all bags are together; a finished one counts as if it had taken all its steps."""
        if self._steps_of_a_bag:
            done, total = sum(self._steps.values()), self._n_bags * self._steps_of_a_bag
            announce(f"training {self._n_bags} bags", done, total, unit="steps", note=self._note)

    def _task(self, number: int) -> tuple[int, Container | None]:
        saved = self._files.saved(number)
        if saved is not None:
            self._restored.add(number)
        return number, saved

    def result(self, number: int) -> Bag:
        """The bag of that number, once it is finished."""
        while number not in self._waiting:
            done = next(self._run)
            if done.number not in self._restored:
                self._files.save(done.number, done.result.member)
            self._waiting[done.number] = done.result
            self._steps[done.number] = self._steps_of_a_bag
            self._announce()
        return self._waiting.pop(number)

    def finished(self) -> dict[int, Bag]:
        """The finished bags that were not taken."""
        return dict(sorted(self._waiting.items()))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run.close()


def make_bag(maker: BagMaker, task: tuple[int, Container | None], report: Report) -> Bag:
    """Make one bag, in a worker. It reports after each step, so that a thread no longer needed can stop."""
    number, saved = task
    return maker.make(number, saved, report)
