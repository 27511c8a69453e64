"""The check of what a command will write, made before it runs: `--force`, inputs that stay, files of other kinds."""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping
from functools import wraps
from itertools import combinations
from pathlib import Path
from typing import Any

from rankwright.cli.options import Command, flag, options_in, taking
from rankwright.cli.output_kinds import STANDARD, Output
from rankwright.container.outputs import check_output, check_output_folder, inputs_kept
from rankwright.errors import SettingError

FORCE = flag("--force", "Replace files that exist even if they are of another kind than what is written.")
NO_FILES = ("tag", "name")  # what the output itself is called


def with_checked_outputs(command: Command) -> Command:
    """The command with `--force`, if it writes anything; it runs only if what it writes harms no input."""
    defaults = {name: one.default for name, one in inspect.signature(command).parameters.items()}
    writes = {name: default.writes for name, default in defaults.items() if getattr(default, "writes", None)}
    if not writes:
        return command

    @wraps(command)
    def run(*, force: bool = False, **options: Any) -> None:
        inputs = inputs_in({name: value for name, value in options.items() if name not in (*writes, *NO_FILES)})
        asked = ((name, os.fspath(value)) for name in writes if (value := options[name]) is not None)
        with inputs_kept(inputs):
            outputs = [output for name, path in asked for output in writes[name](path, options)]
            check_outputs([output for output in outputs if output.path != STANDARD], force=force)
            command(**options)

    return taking(run, {"force": (bool, FORCE)})


def inputs_in(options: Mapping[str, Any]) -> Iterator[str]:
    """All texts among the options, since any may name a file: alone, or as NAME=FILE; also those in `--config`."""
    values = [*options.values(), *(options_in(config).values() if (config := options.get("config")) else ())]
    texts = [text for value in values for text in (value if isinstance(value, list) else [value])]
    for text in texts:
        if isinstance(text, str | Path):
            yield os.fspath(text)
            yield os.fspath(text).partition("=")[2]


def check_outputs(outputs: list[Output], *, force: bool) -> None:
    """Raise where an output cannot be written, would replace an input or another output, or a file of another kind."""
    for first, second in combinations(outputs, 2):
        if os.path.realpath(first.path) == os.path.realpath(second.path):
            raise SettingError(f"{first.told} and {second.told} cannot both be written to {second.path}")
    for output in outputs:
        (check_output_folder if output.is_folder else check_output)(output.path)
        if not (force or _is_free(output.path) or output.fits(output.path)):
            raise SettingError(_told_of_others(output))


def _is_free(path: str) -> bool:
    """Whether nothing of worth is at a path: nothing at all, an empty file or folder, a device or a pipe."""
    place = Path(path)
    if place.is_dir():
        return not any(place.iterdir())
    return not place.is_file() or place.stat().st_size == 0


def _told_of_others(output: Output) -> str:
    if output.is_folder:
        others = f"{output.path} has files that {output.told} would replace, and they are not its own"
        return f"{others}: name a new folder, or give --force to replace them"
    return f"{output.path} exists and is not {output.told}: name another file, or give --force to replace it"
