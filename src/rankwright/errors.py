"""The errors users meet.

Every one is a `RankwrightError` and also the built-in error it refines, and its message says where the trouble is,
what was found and what was wanted. The command line prints the message alone and exits with 2.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class RankwrightError(Exception):
    """The root of all errors raised on purpose."""


class SettingError(RankwrightError, ValueError):
    """A setting has a value it cannot have."""


class InputError(RankwrightError, ValueError):
    """An array or a table given by the caller does not fit."""


class InputTypeError(InputError, TypeError):
    """What the caller gave is of a type that cannot be used here."""


class UnknownQueryError(InputError, KeyError):
    """A dataset has no query of that id."""

    __str__ = Exception.__str__  # not KeyError's, which shows the message in quotes


class FileFormatError(RankwrightError, ValueError):
    """A file does not hold what its format promises."""

    def __init__(self, path: str, problem: str, line: int | None = None) -> None:
        self.path, self.problem, self.line = path, problem, line
        place = path if line is None else f"{path}:{line}"
        super().__init__(f"{place}: {problem}")

    def __reduce__(self) -> tuple[type[FileFormatError], tuple[str, str, int | None]]:
        return type(self), (self.path, self.problem, self.line)


class ContainerError(FileFormatError):
    """A model or checkpoint file is damaged, of an unknown version, or holds something other than what was wanted."""


class ModuleError(SettingError):
    """The module that a caller gave for a net is not of the kind that the model file holds."""


class ClusterError(RankwrightError, RuntimeError):
    """Workers could not be started or reached, or died with their tasks."""


class NotEnoughMemoryError(RankwrightError, MemoryError):
    """What was asked for needs more memory than is free."""


class MissingExtraError(RankwrightError, ImportError):
    """A feature needs a package that is not installed."""

    def __init__(self, purpose: str, package: str, extra: str) -> None:
        self.arguments = (purpose, package, extra)
        super().__init__(
            f"{purpose} needs {package}, which is not installed; pip install '{_own_source()}[{extra}]' brings it"
        )

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:
        return type(self), self.arguments


def _own_source() -> str:
    """What pip was told to install: `.` where that was a clone, and it is to be run there again, or the name."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        origin = distribution("rankwright").read_text("direct_url.json") or ""
    except PackageNotFoundError:
        return "."
    return "." if '"dir_info"' in origin else "rankwright"


class UnknownNameError(RankwrightError, ValueError):
    """A name is not in its table of names."""

    def __init__(self, kind: str, name: str, known: Iterable[str], meant: str | None = None) -> None:
        self.arguments = (kind, name, sorted(known), meant)
        near = get_close_matches(name, self.arguments[2], n=1) if meant is None else [meant]
        hint = f"; did you mean {near[0]!r}?" if near else "."
        super().__init__(f"unknown {kind} {name!r}{hint} Known: {', '.join(self.arguments[2])}")

    def __reduce__(self) -> tuple[type[UnknownNameError], tuple[str, str, list[str], str | None]]:
        return type(self), self.arguments


def require(condition: bool, message: str) -> None:
    """Raise a `SettingError` with `message` unless `condition` holds."""
    if not condition:
        raise SettingError(message)


def require_type(value: object, kinds: type | tuple[type, ...], name: str, wanted: str) -> None:
    """Raise an `InputTypeError` unless `value`, which the caller knows as `name`, is of one of these types."""
    if not isinstance(value, kinds):
        raise InputTypeError(f"{name} must be {wanted}, got {type(value).__name__}")
