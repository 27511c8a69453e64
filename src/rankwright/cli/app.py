"""The `rankwright` command.

Each command lives in its own file and is added here. Results go to stdout, as text or with `--json` as one JSON
document; talk goes to stderr; wrong usage or bad input prints one line and exits with 2.
"""

from __future__ import annotations

import sys

import typer

from rankwright.errors import RankwrightError

app = typer.Typer(
    name="rankwright",
    help="Learning to rank: read, measure, train, explain and deploy.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def root(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    """Take the options that stand before a command."""
    if version:
        from rankwright import __version__

        typer.echo(f"rankwright {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line; the exit code is the answer."""
    try:
        app()
    except (RankwrightError, OSError) as error:
        sys.stderr.write(f"error: {describe(error)}\n")
        sys.exit(2)


def describe(error: Exception) -> str:
    """The error's message on one line; for the system's errors, the file and what happened to it."""
    if isinstance(error, OSError) and not isinstance(error, RankwrightError) and error.filename is not None:
        return f"{error.filename}: {(error.strerror or 'cannot be used').lower()}"
    return " ".join(str(error).split())
