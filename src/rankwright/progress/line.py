"""The line that shows progress: what is being done, how far it is, the metric, and the time left."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from rankwright.progress.stages import Stage

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
