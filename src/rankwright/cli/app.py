"""The `rankwright` command.

Each command lives in its own file and is added here. Results go to stdout, as text or with `--json` as one JSON
document; talk goes to stderr; wrong usage or bad input prints one line and exits with 2, Ctrl-C with 130.
"""

from __future__ import annotations

import os
import sys
import warnings
from errno import EBADF, EDQUOT, EFBIG, EIO, ENOSPC
from functools import partial
from importlib import import_module
from typing import Any, Literal, get_origin

import typer
from typer.core import TyperCommand, TyperGroup
from typer.exceptions import TyperException

from rankwright.cli.did_you_mean import (
    COMMAND_MEANT,
    flags_of,
    left_over,
    option_before_command,
    unknown_option,
    what_is_missing,
)
from rankwright.cli.libraries import watch_room
from rankwright.cli.options import as_option, check_input_named, choice_given, number_given
from rankwright.cli.output import with_verbosity
from rankwright.cli.outputs import with_checked_outputs
from rankwright.errors import RankwrightError, UnknownNameError
from rankwright.escapes import escaped
from rankwright.progress.display import wrapped

INTERRUPTED = 130  # what shells report for Ctrl-C
WRITE_FAULTS = {EBADF, EDQUOT, EFBIG, EIO, ENOSPC}  # what can be wrong with what is open for writing
# How libraries tell that they could not be loaded, and Python that it could not start a thread.
NO_MEMORY = ("failed to map segment", "cannot allocate memory", "can't start new thread")

TEXTS, NUMBERS = (str, list[str]), (int, float)  # types of parameters
WORDS = {"int": "N", "float": "X", "str": "TEXT", "Path": "F"}  # what the help shows in place of `<int>` and the like


class PlainCommand(TyperCommand):
    """A command whose help says `N` and not `<int>`, and leaves out `<bool>`, and whose errors say what to type."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters, plainly shown and read."""
        return _plain(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the words of the command line; what has no place among them is answered with what to type."""
        given = list(args)
        ctx.allow_extra_args = True  # so that they come back, and can be looked at
        try:
            extra = super().parse_args(ctx, args)
        except TyperException as error:
            if hasattr(error, "param_type"):  # which only errors of what is missing have
                raise what_is_missing(self, getattr(error, "param", None)) from None
            if (option := _unknown_option(error)) is None:
                raise
            homes = [name for name, other in ctx.parent.command.commands.items() if option in flags_of(other)]
            raise unknown_option(self, option, given, homes) from None
        if extra:
            raise left_over(self, ctx.params, extra, given)
        return extra


class PlainGroup(TyperGroup):
    """The root of all commands, with options of its own."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters, plainly shown and read."""
        return _plain(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the options before a command; one that there is not is answered with what to type."""
        given = list(args)
        try:
            return super().parse_args(ctx, args)
        except TyperException as error:
            if (option := _unknown_option(error)) is None:
                raise
            raise option_before_command(self, option, given) from None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first word names; one that there is not is answered with what to type."""
        two_words = " ".join(args[:2])  # as in `judgments next`
        if two_words in self.commands:
            return super().resolve_command(ctx, [two_words, *args[2:]])
        if args[0] not in self.commands:
            raise UnknownNameError("command", args[0], self.commands, COMMAND_MEANT.get(args[0]))
        return super().resolve_command(ctx, args)


def _unknown_option(error: TyperException) -> str | None:
    """The option that there is not, where the error is about one."""
    # Only errors of unknown options have possibilities.
    return getattr(error, "option_name", None) if hasattr(error, "possibilities") else None


def _plain(params: list[Any]) -> list[Any]:
    for param in params:
        # The library asks the parameter itself, and has no setting for it.
        param.display_type_rich = partial(_value_of, param)
        param.get_runtime_param = _AsGiven
    return params


class _AsGiven:
    """The value of a parameter as it was given, where it is a text or was not given at all, and numbers.

    For all other values the library asks a validation library, which takes longer to load than most commands run.
    """

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value, of the type that the command expects."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if param.type_descriptor.annotation in TEXTS:
            check_input_named(param, value)
            return list(value) if param.multiple or param.nargs == -1 else value
        if get_origin(param.type_descriptor.annotation) is Literal:
            return choice_given(value, param.type_descriptor.annotation, param.opts[0])
        if param.type_descriptor.annotation in NUMBERS:
            return number_given(value, param.type_descriptor.annotation, param.opts[0], param.min, param.max)
        return type(param).get_runtime_param(param).coerce(value, param=param, ctx=ctx)


def _value_of(param: Any, ctx: Any) -> str | None:
    if param.param_type_name == "argument" or getattr(param, "is_flag", False):
        return None
    if param.metavar is not None:
        return str(param.metavar)
    shown = str(type(param).display_type_rich(param, ctx=ctx) or "")
    return WORDS.get(shown.strip("<>"), shown)


app = typer.Typer(
    name="rankwright",
    cls=PlainGroup,
    help="Learning to rank: read, measure, train, explain and deploy.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(
    context: typer.Context, version: bool = typer.Option(False, "--version", help="Print the version and exit.")
) -> None:
    """Handle the options before a command, and show the help where there is no command."""
    if version:
        from rankwright import __version__

        typer.echo(f"rankwright {__version__}")
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


# In the order in which the help shows them. Each has a file with EXAMPLES and a function of the same name as the file.
COMMANDS = (
    *("quickstart", "inspect", "convert", "split", "clicks", "index", "features", "search"),
    *("judgments", "judgments combine", "judgments next"),
    *("train", "tune", "cv", "benchmark", "bag", "blend", "auto"),
    *("score", "evaluate", "compare", "fuse", "explain", "compress", "export", "serve", "drift", "reproduce", "list"),
)
# Where a file cannot be called as its command.
FILES = {"list": "listing", "judgments combine": "judgments_combine", "judgments next": "judgments_next"}


def reflowed(docstring: str) -> str:
    """A docstring with each paragraph on one line, so that the terminal can wrap it at its own width."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in docstring.split("\n\n"))


for name in COMMANDS:
    file = FILES.get(name, name)
    module = import_module(f"rankwright.cli.{file}")
    command = getattr(module, file)
    whole = with_verbosity(with_checked_outputs(command))
    app.command(name, cls=PlainCommand, help=reflowed(command.__doc__), epilog=module.EXAMPLES)(whole)


def main() -> None:
    """Run the command line; the exit code is the answer."""
    watch_room()
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            code = app(prog_name="rankwright", standalone_mode=False)
        if code == INTERRUPTED:  # typer's code for Ctrl-C
            raise KeyboardInterrupt
        sys.stdout.flush()
        sys.exit(code)
    except BrokenPipeError:
        # The reader of our output went away, as `head` does: nothing is wrong, and nothing more can be said.
        _drop_output()
        sys.exit(0)
    except KeyboardInterrupt:
        sys.stderr.write("interrupted: what was not finished was not written\n")
        sys.exit(INTERRUPTED)
    except Exception as error:
        if not isinstance(error, RankwrightError | OSError | TyperException) and not lacks_memory(error):
            raise
        sys.stderr.write(wrapped(f"error: {describe(error)}") + "\n")
        try:
            sys.stdout.flush()
        except OSError:
            _drop_output()
        sys.exit(2)


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as errors are printed: one line, without the place in the code."""
    sys.stderr.write(wrapped(f"warning: {escaped(' '.join(str(message).split()))}") + "\n")


def lacks_memory(error: Exception) -> bool:
    """Whether there was no memory, for data, for a library or for a thread, because of a limit such as `ulimit -v`."""
    if isinstance(error, ImportError | RuntimeError):
        return any(sign in str(error).lower() for sign in NO_MEMORY)
    return isinstance(error, MemoryError)


def _drop_output() -> None:
    """Send what is still to be printed nowhere; otherwise Python tries to print it at its exit, and complains."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def describe(error: Exception) -> str:
    """The error's message on one line, safe to print; for the system's errors, the file and what happened to it."""
    if isinstance(error, TyperException):
        message = error.format_message()
    elif isinstance(error, OSError) and not isinstance(error, RankwrightError) and error.strerror is not None:
        # Files that we read or write have names; what has none and could be written to is where results are printed.
        where = error.filename or ("standard output" if error.errno in WRITE_FAULTS else "")
        message = f"{where}: {error.strerror.lower()}" if where else error.strerror
    elif lacks_memory(error):
        *_, told = str(error).rstrip().splitlines() or [""]  # NumPy's has a page of advice before it
        message = f"not enough memory: {told}".removesuffix(": ")
    else:
        message = error.message.shown(as_option) if isinstance(error, RankwrightError) else str(error)
    return escaped(" ".join(message.split()))
