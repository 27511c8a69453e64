"""The line that shows progress, and where it is shown.

The line tells what is being done, how far it is, the metric, and the time left. It is redrawn on a terminal or in a
notebook; elsewhere it is a new line every few seconds.
"""

from __future__ import annotations

import logging
import os
import shutil
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from typing import Any

from rankwright.escapes import escaped, escaped_line
from rankwright.progress.stages import STAGE, Stage, diverted, log

SECONDS_BETWEEN_LINES = 5.0
REDRAWN_PER_SECOND = 4
NOTEBOOK_WIDTH = 100  # letters
FULL, EMPTY = "━", "─"
LEAST_BAR, MOST_BAR = 6, 40  # letters
SURE_AFTER = 1.0  # seconds before an estimate of the time left means anything


@dataclass(slots=True)
class _Followed:
    """A stage, and the times from which its speed is estimated."""

    stage: Stage
    began: float
    first: tuple[float, int] | None = None  # when it was first counted, and how much was done then

    def heard(self, stage: Stage, now: float) -> None:
        self.stage = stage
        if stage.done is not None and self.first is None:
            # What is done at the first count was done since the beginning, unless an earlier run did it.
            self.first = (now, stage.done) if stage.done > 1 else (self.began, 0)

    def left(self, now: float) -> float | None:
        """The seconds that the rest takes at the speed so far."""
        stage = self.stage
        if self.first is None or stage.total is None or stage.done is None:
            return None
        began, before = self.first
        if stage.done <= before or now - began < SURE_AFTER:
            return None
        return (now - began) / (stage.done - before) * max(stage.total - stage.done, 0)


@dataclass(slots=True)
class ProgressLine:
    """Follows the stages of a call and says in one line where it is; `clock` gives seconds."""

    clock: Callable[[], float] = time.monotonic
    _overall: _Followed | None = field(default=None, init=False)
    _inner: _Followed | None = field(default=None, init=False)
    _last: Stage | None = field(default=None, init=False)  # of those that were counted
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        self._began = self.clock()

    def hear(self, stage: Stage) -> bool:
        """Take in a stage; True where it is a new one, and not progress of the last."""
        now = self.clock()
        stage = replace(stage, what=escaped_line(stage.what), note=escaped_line(stage.note))  # may name files
        last = self._overall if stage.overall else self._inner
        is_new = last is None or (last.stage.what != stage.what and not stage.overall)
        if is_new or last is None:
            last = _Followed(stage, now)
        last.heard(stage, now)
        if stage.total is not None:
            self._last = stage
        if stage.overall:
            finished = stage.total is not None and stage.done == stage.total
            self._overall, self._inner = None if finished else last, None
        else:
            self._inner = last
        return is_new

    @property
    def shown(self) -> _Followed | None:
        """The stage on show: the one that is overall, if there is one."""
        return self._overall or self._inner

    @property
    def _note(self) -> str:
        if self._overall is None or self._inner is None:
            return "" if self.shown is None else self.shown.stage.note
        inner = self._inner.stage
        return inner.what if inner.total is None else f"{_count(inner)} {inner.unit}".rstrip()

    def drawn(self, width: int) -> str:
        """The line for a terminal of that width, with a bar where the end is known."""
        followed = self.shown
        if followed is None:
            return ""
        stage = followed.stage
        before, after = _shortened(stage.what, max(width // 3, 12)), [_count(stage), self._note, self._time(followed)]
        rest = "  ".join(filter(None, after))
        if stage.total is None or stage.done is None:
            return f"{before}  {rest}".rstrip()[:width]
        room = min(width - len(before) - len(rest) - 4, MOST_BAR)
        if room < LEAST_BAR:
            return f"{_shortened(stage.what, max(width - len(rest) - 2, 1))}  {rest}"[:width]
        full = round(room * stage.done / max(stage.total, 1))
        return f"{before}  {FULL * full}{EMPTY * (room - full)}  {rest}"

    def written(self) -> str:
        """The line for a log: words, no bar."""
        followed = self.shown
        if followed is None:
            return ""
        stage, left = followed.stage, followed.left(self.clock())
        so_far = duration(self.clock() - followed.began)
        time_of = f"{so_far} so far" if left is None else _left(stage, duration(left))
        count = _count(stage).replace("/", " of ")
        if stage.total is not None and count:
            count = f"{count} {stage.unit}".rstrip()
        return f"{stage.what}: " + ", ".join(filter(None, [count, self._note, time_of]))

    def finished(self) -> str:
        """What is left to say at the end: the last stage, if possible one that was counted, and how long all took."""
        last = self._last or (None if self.shown is None else self.shown.stage)
        return "" if last is None else f"{last}, {duration(self.clock() - self._began)}"

    def _time(self, followed: _Followed) -> str:
        now = self.clock()
        left = followed.left(now)
        return clock_time(now - followed.began) if left is None else _left(followed.stage, clock_time(left))


def _left(stage: Stage, time_left: str) -> str:
    """The time left in words; it is the most there can be where the stage may end before its total."""
    return f"at most {time_left} left" if stage.may_end_early else f"{time_left} left"


def _count(stage: Stage) -> str:
    if stage.done is None:
        return ""
    if stage.total is None:
        return f"{stage.done:,} {stage.unit}".rstrip()
    return f"{stage.done:,}/{stage.total:,}"


def _shortened(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def clock_time(seconds: float) -> str:
    """Seconds as a clock shows them: 0:08, 2:10, 1:02:10."""
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


def duration(seconds: float) -> str:
    """Seconds in words: 0.4 s, 8 s, 2 min 10 s, 1 h 2 min."""
    if seconds < 1:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    hours, minutes, rest = whole // 3600, whole // 60 % 60, whole % 60
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


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
    (_shown.get() or Place()).say(wrapped(escaped(text)))


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
            self._place.say(escaped(stage.what))
        self._place.changed()
