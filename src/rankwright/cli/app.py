"""The `rankwright` command.

Each command lives in its own file and is added here. Results go to stdout, as text or with `--json` as one JSON
document; talk goes to stderr; wrong usage or bad input prints one line and exits with 2, Ctrl-C with 130.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import typer
from typer.exceptions import TyperException

from rankwright.cli.data_options import as_option
from rankwright.cli.plain_help import PlainCommand, PlainGroup
from rankwright.cli.verbosity import with_verbosity
from rankwright.errors import RankwrightError
from rankwright.progress.display import wrapped

INTERRUPTED = 130  # what shells report for Ctrl-C

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


# In the order in which the help shows them: each command and its file, which has a function of the same name as the
# file, and EXAMPLES.
COMMANDS: Mapping[str, str] = {
    "quickstart": "quickstart",
    "inspect": "inspect",
    "convert": "convert",
    "clicks": "clicks",
    "train": "train",
    "tune": "tune",
    "cv": "cv",
    "benchmark": "benchmark",
    "bag": "bag",
    "score": "score",
    "evaluate": "evaluate",
    "compare": "compare",
    "fuse": "fuse",
    "explain": "explain",
    "compress": "compress",
    "export": "export",
    "reproduce": "reproduce",
    "list": "listing",
}


def reflowed(docstring: str) -> str:
    """A docstring with each paragraph on one line, so that the terminal can wrap it at its own width."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in docstring.split("\n\n"))


for name, file in COMMANDS.items():
    module = import_module(f"rankwright.cli.{file}")
    command = getattr(module, file)
    app.command(name, cls=PlainCommand, help=reflowed(command.__doc__), epilog=module.EXAMPLES)(with_verbosity(command))


def main() -> None:
    """Run the command line; the exit code is the answer."""
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
    except (RankwrightError, OSError, TyperException, MemoryError) as error:
        sys.stderr.write(wrapped(f"error: {describe(error)}") + "\n")
        try:
            sys.stdout.flush()
        except OSError:
            _drop_output()
        sys.exit(2)


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as errors are printed: one line, without the place in the code."""
    sys.stderr.write(wrapped(f"warning: {' '.join(str(message).split())}") + "\n")


def _drop_output() -> None:
    """Send what is still to be printed nowhere; otherwise Python tries to print it at its exit, and complains."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def describe(error: Exception) -> str:
    """The error's message on one line; for the system's errors, the file and what happened to it."""
    if isinstance(error, TyperException):
        message = error.format_message()
    elif isinstance(error, OSError) and not isinstance(error, RankwrightError) and error.strerror is not None:
        # Files that we read or write have names; what has none is where results are printed.
        message = f"{error.filename or 'standard output'}: {error.strerror.lower()}"
    elif isinstance(error, MemoryError):
        message = f"not enough memory: {error}"
    else:
        message = error.message.shown(as_option) if isinstance(error, RankwrightError) else str(error)
    return " ".join(message.split())
