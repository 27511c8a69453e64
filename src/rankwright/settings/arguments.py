"""Calls that give a function what it does not take: the answer says what to write instead."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from inspect import Parameter, signature
from typing import Any, ParamSpec, TypeVar

from rankwright.errors import InputTypeError
from rankwright.settings.other_names import meant_by

Given = ParamSpec("Given")
Result = TypeVar("Result")


def answers_strangers(
    other_names: Mapping[str, str] | None = None,
) -> Callable[[Callable[Given, Result]], Callable[Given, Result]]:
    """A method that says what to write where it is given an argument that it does not have.

    `other_names` are what others call its arguments, each with what to write here.
    """

    def answering(method: Callable[Given, Result]) -> Callable[Given, Result]:
        by_place, by_name = _parameters(method)

        @wraps(method)
        def called(*places: Given.args, **names: Given.kwargs) -> Result:
            owner = _owner(places, method)
            if len(places) > len(by_place):
                raise InputTypeError(_told_of_places(owner, by_place[1:], by_name))
            check_names(owner, names, [*by_place[1:], *by_name], other_names)
            return method(*places, **names)

        return called

    return answering


def check_names(
    owner: str, names: Iterable[str], known: Sequence[str], other_names: Mapping[str, str] | None = None
) -> None:
    """Raise where one of the names is not among those that `owner` knows; the message says what to write."""
    for name in names:
        if name not in known:
            raise InputTypeError(_told_of_name(owner, name, known, other_names or {}))


def _parameters(method: Callable[..., Any]) -> tuple[list[str], list[str]]:
    """The parameters that may be given by place, the object among them, and those by name alone."""
    found = signature(method).parameters.values()
    by_place = [one.name for one in found if one.kind is Parameter.POSITIONAL_OR_KEYWORD]
    return by_place, [one.name for one in found if one.kind is Parameter.KEYWORD_ONLY]


def _owner(places: Sequence[object], method: Callable[..., Any]) -> str:
    """What is called: the class, or a method of it."""
    kind = type(places[0]).__name__ if places else ""
    return kind if method.__name__ == "__init__" else f"{kind}.{method.__name__}"


def _told_of_places(owner: str, by_place: Sequence[str], by_name: Sequence[str]) -> str:
    call = owner.rpartition(".")[2]
    if not by_place:
        return f"{owner} takes its settings by name, each as NAME=VALUE. It has {', '.join(by_name)}"
    return f"{owner} takes {' and '.join(by_place)} alone by place: {call}({', '.join(by_place)}, {by_name[0]}=…)"


def _told_of_name(owner: str, name: str, known: Sequence[str], other_names: Mapping[str, str]) -> str:
    near = meant_by(name, known)
    meant = other_names.get(name) or (f"{near}=…" if near else None)
    hint = f"; did you mean {meant}?" if meant else "."
    return f"{owner} has no argument {name!r}{hint} It has {', '.join(known)}"
