"""How the help shows options, with `N` in place of `<int>`, and how their values are read."""

from __future__ import annotations

from functools import partial
from typing import Any

from typer.core import TyperCommand, TyperGroup

TEXTS = (str, list[str])  # types of parameters
WORDS = {"int": "N", "float": "X", "str": "TEXT", "Path": "F"}


class PlainCommand(TyperCommand):
    """A command whose help says `N` and not `<int>`, and leaves out `<bool>`."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters, plainly shown and read."""
        return _plain(super().get_params(ctx))


class PlainGroup(TyperGroup):
    """The root of all commands, with options of its own."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters, plainly shown and read."""
        return _plain(super().get_params(ctx))


def _plain(params: list[Any]) -> list[Any]:
    for param in params:
        # The library asks the parameter itself, and has no setting for it.
        param.display_type_rich = partial(_value_of, param)
        param.get_runtime_param = _AsGiven
    return params


class _AsGiven:
    """The value of a parameter as it was given, where it is a text or was not given at all.

    For all other values the library asks a validation library, which takes longer to load than most commands run.
    """

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value, of the type that the command expects."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if param.type_descriptor.annotation in TEXTS:
            return list(value) if param.multiple or param.nargs == -1 else value
        return type(param).get_runtime_param(param).coerce(value, param=param, ctx=ctx)


def _value_of(param: Any, ctx: Any) -> str | None:
    if param.param_type_name == "argument" or getattr(param, "is_flag", False):
        return None
    if param.metavar is not None:
        return str(param.metavar)
    shown = str(type(param).display_type_rich(param, ctx=ctx) or "")
    return WORDS.get(shown.strip("<>"), shown)
