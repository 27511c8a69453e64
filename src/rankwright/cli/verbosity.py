"""How much a command says on stderr while it works: with -q only warnings, with -v every stage and the log."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum
from functools import wraps
from typing import Any

from rankwright.cli.options import opt
from rankwright.errors import require
from rankwright.progress.display import progress_shown, say

OWN_LOGGER = "rankwright"


class Verbosity(IntEnum):
    """How much is said."""

    QUIET = 0
    USUAL = 1
    VERBOSE = 2


_verbosity: ContextVar[Verbosity] = ContextVar("verbosity", default=Verbosity.USUAL)

VERBOSE = opt("Say more: every stage, and the log.", default=False, names=("--verbose", "-v"))
QUIET = opt("Show no progress; warnings and errors are still shown.", default=False, names=("--quiet", "-q"))


def with_verbosity(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options -v and -q, which it need not know of."""

    @wraps(command)
    def run(*arguments: Any, verbose: bool = False, quiet: bool = False, **options: Any) -> None:
        require(not (verbose and quiet), "give either --verbose or --quiet, not both")
        with saying(Verbosity.VERBOSE if verbose else Verbosity.QUIET if quiet else Verbosity.USUAL):
            command(*arguments, **options)

    signature = inspect.signature(command, eval_str=True)
    own = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=bool)
        for name, option in (("verbose", VERBOSE), ("quiet", QUIET))
    ]
    described: Any = run
    described.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *own])
    described.__annotations__ = {name: one.annotation for name, one in described.__signature__.parameters.items()}
    return run


@contextmanager
def saying(verbosity: Verbosity) -> Iterator[None]:
    """Say this much in the block; the library's log goes to stderr, above the line of progress."""
    logger, handler, token = logging.getLogger(OWN_LOGGER), _StderrHandler(), _verbosity.set(verbosity)
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if verbosity is Verbosity.VERBOSE else logging.WARNING)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]
        _verbosity.reset(token)


class _StderrHandler(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def tell(text: str) -> None:
    """Say a line on stderr, unless the command is quiet."""
    if _verbosity.get() is not Verbosity.QUIET:
        say(text)


@contextmanager
def progress() -> Iterator[None]:
    """Show what the block is doing, how far it is and how long it still takes, unless the command is quiet."""
    verbosity = _verbosity.get()
    with progress_shown(shows=verbosity is not Verbosity.QUIET, lists_stages=verbosity is Verbosity.VERBOSE):
        yield
