"""The stages of a long call, told through the log: reading, binning, training, measuring.

Code that works announces what it does; whoever shows progress listens to the logger of this module. While nobody
listens, an announcement costs a comparison.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

log = logging.getLogger(__name__)

STAGE = "stage"  # the attribute of a log record that holds its `Stage`


@dataclass(frozen=True, slots=True)
class Stage:
    """What is being done, and how far it is.

    `total` is None where nobody knows it. `unit` is what is counted, and `note` what is worth seeing beside it, such as
    the metric. A stage that is `overall` stays on show while the stages within it come and go. One that `may_end_early`
    need not reach its total.
    """

    what: str
    done: int | None = None
    total: int | None = None
    unit: str = ""
    note: str = ""
    overall: bool = False
    may_end_early: bool = False

    def __str__(self) -> str:
        if self.done is None:
            return self.what
        of = "" if self.total is None else f" of {self.total:,}"
        unit = f" {self.unit}" if self.unit else ""
        return ", ".join(filter(None, [f"{self.what}: {self.done:,}{of}{unit}", self.note]))


def announce(
    what: str,
    done: int | None = None,
    total: int | None = None,
    *,
    unit: str = "",
    note: str = "",
    overall: bool = False,
    may_end_early: bool = False,
) -> None:
    """Tell what is being done now; the parameters are those of a `Stage`.

    The beginning of a stage is logged as information, and how far it is for debugging.
    """
    level = logging.INFO if done is None else logging.DEBUG
    if log.isEnabledFor(level):
        stage = Stage(what, done, total, unit, note, overall, may_end_early)
        log.log(level, "%s", stage, extra={STAGE: stage})


def is_followed() -> bool:
    """Whether somebody wants to know how far a stage is."""
    return log.isEnabledFor(logging.DEBUG)


@contextmanager
def diverted(logger: logging.Logger, handler: logging.Handler, level: int) -> Iterator[None]:
    """While the block lasts, what is logged from this level on goes to the handler, and not to loggers above."""
    earlier = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(level)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(earlier[0])
        logger.propagate = earlier[1]
