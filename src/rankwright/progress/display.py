"""Where progress is shown: one line redrawn on a terminal or in a notebook, elsewhere a new line every few seconds."""

from __future__ import annotations

import logging
import os
import shutil
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from importlib import import_module
from typing import Any

from rankwright.progress.line import ProgressLine
from rankwright.progress.stages import STAGE, Stage, diverted, log

SECONDS_BETWEEN_LINES = 5.0
REDRAWN_PER_SECOND = 4
NOTEBOOK_WIDTH = 100  # letters


class Place:
    """Where progress is shown; this one shows lines that stay, and no progress."""

    def changed(self) -> None:
        """Called after the line of progress has changed."""

    def say(self, text: str) -> None:
        """Show a line of text that stays, above the line of progress."""
        sys.stderr.write(f"{text}\n")

    def close(self) -> None:
        """Remove the line of progress."""


class Terminal(Place):
    """A line at the bottom of a terminal; what is printed meanwhile goes above it."""

    def __init__(self, line: ProgressLine) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.text import Text

        self._console = console = Console(stderr=True, highlight=False)

        def text() -> Text:
            return Text(line.drawn(console.width - 1), no_wrap=True, overflow="crop")

        self._live = Live(get_renderable=text, console=console, transient=True, refresh_per_second=REDRAWN_PER_SECOND)
        self._live.start()

    def say(self, text: str) -> None:
        """Print a line above."""
        self._console.print(text, markup=False, soft_wrap=True)

    def close(self) -> None:
        """Remove the line."""
        self._live.stop()


class PlainLines(Place):
    """A line of text every few seconds, for files, pipes and CI; work that ends sooner prints nothing."""

    def __init__(self, line: ProgressLine, seconds: float | None = None) -> None:
        self._line, self._ended = line, threading.Event()
        self._seconds = SECONDS_BETWEEN_LINES if seconds is None else seconds
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._tell, name="rankwright-progress", daemon=True)
        self._thread.start()

    def _tell(self) -> None:
        while not self._ended.wait(self._seconds):
            text = self._line.written()
            if text:
                self.say(text)

    def say(self, text: str) -> None:
        """Print a line."""
        with self._lock:
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()

    def close(self) -> None:
        """End the lines."""
        self._ended.set()
        self._thread.join()


class Notebook(Place):
    """An output of the cell that is drawn anew in place, and stays with its last text."""

    def __init__(self, line: ProgressLine) -> None:
        display = import_module("IPython.display").display
        self._line, self._last = line, 0.0
        self._handle: Any = display(_Plain(""), display_id=True)

    def changed(self) -> None:
        """Draw the line anew, unless that was done a moment ago."""
        now = self._line.clock()
        if now - self._last >= 1 / REDRAWN_PER_SECOND:
            self._last = now
            self._handle.update(_Plain(self._line.drawn(NOTEBOOK_WIDTH)))

    def close(self) -> None:
        """Leave the last state of the line."""
        self._handle.update(_Plain(self._line.finished()))


class _Plain:
    """Text as a notebook shows it, without quotes."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def in_notebook() -> bool:
    """Whether this process runs the cells of a notebook."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return shell is not None and hasattr(shell, "kernel")


def on_terminal() -> bool:
    """Whether a line on stderr can be redrawn: on a terminal that is not that of a CI system."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI")


def place_of(line: ProgressLine) -> Place:
    """The place that suits this process."""
    if in_notebook():
        return Notebook(line)
    return Terminal(line) if on_terminal() else PlainLines(line)


_shown: ContextVar[Place | None] = ContextVar("shown", default=None)


def say(text: str) -> None:
    """Print a line on stderr: above the line of progress, where one is shown."""
    (_shown.get() or Place()).say(wrapped(text))


def wrapped(text: str) -> str:
    """The text as stderr takes it: on a terminal in lines that end between words, elsewhere as it is."""
    if not sys.stderr.isatty():
        return text
    width = shutil.get_terminal_size().columns
    fold = partial(textwrap.fill, width=width, break_long_words=False, break_on_hyphens=False)
    return "\n".join(map(fold, text.split("\n")))


@contextmanager
def progress_shown(
    *, shows: bool = True, lists_stages: bool = False, find_place: Callable[[ProgressLine], Place] = place_of
) -> Iterator[None]:
    """Show what the block is doing; within another such block this one changes nothing.

    With `lists_stages` every stage leaves a line behind. Only stages of this thread are shown: others are parts of one.
    """
    if not shows or _shown.get() is not None:
        yield
        return
    line = ProgressLine()
    place = find_place(line)
    token = _shown.set(place)
    try:
        with diverted(log, _StageListener(line, place, lists_stages), logging.DEBUG):
            yield
    finally:
        _shown.reset(token)
        place.close()


class _StageListener(logging.Handler):
    def __init__(self, line: ProgressLine, place: Place, lists_stages: bool) -> None:
        super().__init__()
        self._line, self._place, self._lists_stages = line, place, lists_stages
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        stage = getattr(record, STAGE, None)
        if not isinstance(stage, Stage) or record.thread != self._thread:
            return
        is_new = self._line.hear(stage)
        if is_new and self._lists_stages:
            self._place.say(stage.what)
        self._place.changed()
