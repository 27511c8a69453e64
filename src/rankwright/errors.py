"""The errors users meet.

Every one is a `RankwrightError` and also the built-in error it refines, and its message says where the trouble is,
what was found and what was wanted. Where a message names a parameter as the remedy, it is a `Message`: in Python it
reads `drop=`, and the command line shows `--drop` in its place. The command line prints the message alone and exits
with 2.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches

DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter that a message names, with the value to give where there is one.

    Python shows it as `name=value`, or as the text `python` where that is another one.
    """

    name: str
    value: object = None
    python: str | None = None

    def __str__(self) -> str:
        if self.python is not None:
            return self.python
        return f"{self.name}=" if self.value is None else f"{self.name}={self.value!r}"


class Message(str):
    """A text in Python's words that still knows which of its parts are parameters."""

    parts: tuple[str | Parameter, ...]

    def __new__(cls, *parts: str | Parameter) -> Message:
        """The text made of these parts, of which some may be messages themselves."""
        made = super().__new__(cls, "".join(map(str, parts)))
        nested = (part.parts if isinstance(part, Message) else (part,) for part in parts)
        made.parts = tuple(part for own in nested for part in own)
        return made

    def shown(self, parameter: Callable[[Parameter], str | Parameter]) -> Message:
        """The message with each parameter shown as the function says."""
        return Message(*(parameter(part) if isinstance(part, Parameter) else part for part in self.parts))

    def filled(self, **values: object) -> Message:
        """The message with these values in place of the `{names}` in its texts."""
        return Message(*(part if isinstance(part, Parameter) else part.format(**values) for part in self.parts))


class RankwrightError(Exception):
    """The root of all errors raised on purpose."""

    arguments: tuple[object, ...] = ()  # of a class whose message is made of them: a copy is made of them, too

    def __reduce__(self) -> str | tuple[object, ...]:
        return (type(self), self.arguments) if self.arguments else super().__reduce__()

    @property
    def message(self) -> Message:
        """What is said, with the parameters it names."""
        return self.args[0] if self.args and isinstance(self.args[0], Message) else Message(str(self))

    @property
    def parameter(self) -> str | None:
        """The name of the parameter that the error is about: the first that its message names."""
        return next((part.name for part in self.message.parts if isinstance(part, Parameter)), None)


class SettingError(RankwrightError, ValueError):
    """A setting has a value it cannot have."""


class InputError(RankwrightError, ValueError):
    """An array or a table given by the caller does not fit; the message may be given in parts."""

    def __init__(self, *parts: str | Parameter) -> None:
        super().__init__(*(parts if len(parts) < 2 else [Message(*parts)]))


class InputTypeError(InputError, TypeError):
    """What the caller gave is of a type that cannot be used here."""


class UnknownQueryError(InputError, KeyError):
    """A dataset has no query of that id."""

    __str__ = Exception.__str__  # not KeyError's, which shows the message in quotes


class FileFormatError(RankwrightError, ValueError):
    """A file does not hold what its format promises."""

    def __init__(self, path: str, problem: str, line: int | None = None) -> None:
        self.path, self.problem, self.line = self.arguments = path, problem, line
        place = path if line is None else f"{path}:{line}"
        super().__init__(Message(f"{place}: ", problem))


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
        how = f"pip install '{_own_source()}[{extra}]' brings it"
        super().__init__(f"{purpose} needs {package}, which is not installed; {how}")


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
        names = sorted(known)
        self.arguments = kind, name, names, meant
        near = nearest(name, names) if meant is None else meant
        hint = "." if near is None else f"; did you mean {near!r}?"
        super().__init__(f"unknown {kind} {name!r}{hint} Known: {', '.join(names)}")


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant; upper case and the signs between words make no difference."""
    plain = {folded_name(one): one for one in known}
    near = get_close_matches(folded_name(name), plain, n=1)
    return plain[near[0]] if near else None


def folded_name(name: str) -> str:
    """The name in lower case, without the signs that separate its words."""
    return "".join(letter for letter in name.casefold() if letter not in "_- ")


def comma_hint(text: object) -> str:
    """What to add to a message about a text that is no number: how to write decimals, where it has a decimal comma."""
    return "; decimals are written with a point" if isinstance(text, str) and DECIMAL_COMMA.fullmatch(text) else ""


def require(condition: bool, message: str) -> None:
    """Raise a `SettingError` with `message` unless `condition` holds."""
    if not condition:
        raise SettingError(message)


def require_input(condition: bool, *parts: str | Parameter) -> None:
    """Raise an `InputError` with the message of these parts unless `condition` holds."""
    if not condition:
        raise InputError(*parts)


def require_type(value: object, kinds: type | tuple[type, ...], name: str, wanted: str) -> None:
    """Raise an `InputTypeError` unless `value`, which the caller knows as `name`, is of one of these types."""
    if not isinstance(value, kinds):
        raise InputTypeError(f"{name} must be {wanted}, got {type(value).__name__}")
