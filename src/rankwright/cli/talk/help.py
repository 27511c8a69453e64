"""How the help of a command is shown: what a value is in a word, and nothing beside options that take none."""

from __future__ import annotations

from functools import partial
from typing import Any

from typer.core import TyperCommand

WORDS = {"int": "N", "float": "X", "str": "TEXT", "Path": "F"}


class PlainHelp(TyperCommand):
    """A command whose help says `N` and not `<int>`, and leaves out `<bool>`."""

    def get_params(self, ctx: Any) -> Any:
        """The parameters, each with the text that stands for its value."""
        params = super().get_params(ctx)
        for param in params:
            # The library asks the parameter itself, and has no setting for it.
            setattr(param, "display_type_rich", partial(_value_of, param))  # noqa: B010
        return params


def _value_of(param: Any, ctx: Any) -> str | None:
    if param.param_type_name == "argument" or getattr(param, "is_flag", False):
        return None
    if param.metavar is not None:
        return str(param.metavar)
    shown = str(type(param).display_type_rich(param, ctx=ctx) or "")
    return WORDS.get(shown.strip("<>"), shown)
