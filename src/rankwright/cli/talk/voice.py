"""How much a command says on stderr while it works: -q for warnings alone, -v for every stage and the log."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwright.errors import require
from rankwright.progress.display import progress_shown, say

if TYPE_CHECKING:
    from rankwright.tuning.studies.study import StudyListener

OWN_LOGGER = "rankwright"


class Voice(IntEnum):
    """How much is said."""

    QUIET = 0
    USUAL = 1
    VERBOSE = 2


_voice: ContextVar[Voice] = ContextVar("voice", default=Voice.USUAL)

VERBOSE = Annotated[bool, typer.Option("--verbose", "-v", help="Say more: every stage, and the log.")]
QUIET = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress; warnings and errors are still shown.")]


def with_voice(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options -v and -q, which it need not know of."""

    @wraps(command)
    def speaking(*arguments: Any, verbose: bool = False, quiet: bool = False, **options: Any) -> None:
        require(not (verbose and quiet), "give either --verbose or --quiet, not both")
        with spoken(Voice.VERBOSE if verbose else Voice.QUIET if quiet else Voice.USUAL):
            command(*arguments, **options)

    signature = inspect.signature(command, eval_str=True)
    own = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=kind)
        for name, kind in (("verbose", VERBOSE), ("quiet", QUIET))
    ]
    described: Any = speaking
    described.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *own])
    described.__annotations__ = {name: one.annotation for name, one in described.__signature__.parameters.items()}
    return speaking


@contextmanager
def spoken(voice: Voice) -> Iterator[None]:
    """Speak like this in the block; the library's log goes to stderr, above the line of progress."""
    logger, handler, token = logging.getLogger(OWN_LOGGER), _Teller(), _voice.set(voice)
    before = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO if voice is Voice.VERBOSE else logging.WARNING)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(before[0])
        logger.propagate = before[1]
        _voice.reset(token)


class _Teller(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        say(record.getMessage())


def tell(text: str) -> None:
    """Say a line on stderr, unless the command is quiet."""
    if _voice.get() is not Voice.QUIET:
        say(text)


@contextmanager
def working() -> Iterator[None]:
    """Show what the block is doing, how far it is and how long it still takes, unless the command is quiet."""
    voice = _voice.get()
    with progress_shown(shows=voice is not Voice.QUIET, lists_stages=voice is Voice.VERBOSE):
        yield


def study_listeners() -> Sequence[StudyListener]:
    """The listeners that show how far a search is."""
    from rankwright.tuning.studies.study import announce_study

    return [announce_study]
