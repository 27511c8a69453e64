"""A progress bar on stderr while a ranker trains or a search runs: what is done, the metric, the time left."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from rankwright.training.loop import Listener, Progress
    from rankwright.tuning.studies.study import StudyListener, StudyProgress

News = TypeVar("News")
Shown = tuple[int, int, str]  # how much is done, how much there is in all, the text before the bar


def training_progress() -> AbstractContextManager[list[Listener]]:
    """The listeners that draw a bar of steps; none where stderr is not a terminal."""
    return _bar("reading", _shown_of_training)


def study_progress() -> AbstractContextManager[list[StudyListener]]:
    """The listeners that draw a bar of experiments; none where stderr is not a terminal."""
    return _bar("experiments", _shown_of_study)


def _shown_of_training(progress: Progress) -> Shown:
    text = "training" if progress.value is None else f"valid {progress.value:.4f}, best {progress.best_value:.4f}"
    return progress.step + 1, progress.n_steps, text


def _shown_of_study(progress: StudyProgress) -> Shown:
    return progress.done, progress.asked, f"experiments, the last {progress.record.value:.4f}"


@contextmanager
def _bar(first_text: str, shown: Callable[[News], Shown]) -> Iterator[list[Callable[[News], None]]]:
    if not sys.stderr.isatty():
        yield []
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(first_text, total=None)

        def show(news: News) -> None:
            done, n_steps, text = shown(news)
            bar.update(task, completed=done, total=n_steps, description=text)

        yield [show]
