"""A progress bar on stderr while a ranker trains: steps done, the watched metric, time left."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rankwright.training.loop import Listener, Progress
    from rankwright.tuning.study import StudyListener, StudyProgress


@contextmanager
def training_progress() -> Iterator[list[Listener]]:
    """The listeners that draw the bar; none where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield []
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=None)

        def show(progress: Progress) -> None:
            text = (
                "training" if progress.value is None else f"valid {progress.value:.4f}, best {progress.best_value:.4f}"
            )
            bar.update(task, completed=progress.step + 1, total=progress.n_steps, description=text)

        yield [show]


@contextmanager
def study_progress() -> Iterator[list[StudyListener]]:
    """The listeners that draw a bar of experiments; none where stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield []
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("experiments", total=None)

        def show(progress: StudyProgress) -> None:
            text = f"experiments, the last {progress.record.value:.4f}"
            bar.update(task, completed=progress.done, total=progress.asked, description=text)

        yield [show]
