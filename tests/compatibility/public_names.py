"""What can be imported from `rankwright`, described in types JSON can hold.

A parameter is written as in a call: `y=None`, or with a star in front if it is keyword-only: `*qid=None`.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

import rankwright as rw

PACKAGE = "rankwright"
EVERY_RANKER = "every ranker"
PLAIN = (str, bool, int, float, type(None))
STARS: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "*…",
    inspect.Parameter.KEYWORD_ONLY: "*",
    inspect.Parameter.VAR_KEYWORD: "**…",
}

Description = dict[str, Any]


def describe_library() -> Description:
    return {name: describe(getattr(rw, name)) for name in rw.__all__}


def describe(thing: Any) -> Description:
    if isinstance(thing, ModuleType):
        return {"kind": "module", "names": {name: describe(getattr(thing, name)) for name in names_of(thing)}}
    if inspect.isclass(thing):
        return {"kind": "class", "constructor": constructor_of(thing), "members": dict(members_of(thing))}
    if inspect.isfunction(thing):
        return {"kind": "function", "parameters": parameters_of(thing)}
    if isinstance(thing, Mapping):
        return {"kind": "mapping", "keys": dict.fromkeys(sorted(thing), "key")}
    return {"kind": "value"}


def names_of(module: ModuleType) -> list[str]:
    """The names that a module declares public; if it declares none, the functions and classes defined in it."""
    if hasattr(module, "__all__"):
        return sorted(module.__all__)
    return [
        name
        for name, thing in sorted(vars(module).items())
        if not name.startswith("_") and getattr(thing, "__module__", None) == module.__name__
    ]


def constructor_of(kind: type) -> list[str] | None:
    """The parameters of a class's constructor; None if it has no signature, as abstract classes and errors."""
    try:
        return parameters_of(kind)
    except ValueError:
        return None


def members_of(kind: type) -> Iterator[tuple[str, Any]]:
    """The public members that the package gives a class, by name."""
    own = [part for part in kind.__mro__ if part.__module__.startswith(PACKAGE)]
    names = {name for part in own for name in (*vars(part), *inspect.get_annotations(part))}
    for name in sorted(names):
        if not name.startswith("_"):
            yield name, describe_member(inspect.getattr_static(kind, name, None))


def describe_member(member: Any) -> Any:
    """A method's parameters, or what else a member is."""
    if isinstance(member, classmethod | staticmethod):
        return parameters_of(member.__func__)
    if inspect.isfunction(member):
        return parameters_of(member)
    if isinstance(member, PLAIN) and member is not None:
        return f"= {member!r}"
    return "attribute"  # a property or a field: which of them does not matter


def parameters_of(called: Any) -> list[str]:
    return [text_of(one) for one in inspect.signature(called).parameters.values() if one.name not in ("self", "cls")]


def text_of(parameter: inspect.Parameter) -> str:
    default = "" if parameter.default is parameter.empty else f"={stable_repr(parameter.default)}"
    return f"{STARS.get(parameter.kind, '')}{parameter.name}{default}"


def stable_repr(value: Any) -> str:
    """A default as text, without the names and memory addresses of functions."""
    return re.sub(r"<function \S+ at 0x\w+>", "<function>", repr(value))


def folded(names: Description) -> Description:
    """The description with what all rankers share written once."""
    rankers = [name for name, told in names.items() if {"fit", "predict"} <= told.get("members", {}).keys()]
    first, *others = (names[name]["members"] for name in rankers)
    shared = {name: told for name, told in first.items() if all(other.get(name) == told for other in others)}
    own = {name: without_members(names[name], shared) for name in rankers}
    return {EVERY_RANKER: {"rankers": rankers, "members": shared}} | names | own


def unfolded(names: Description) -> Description:
    """The description that was folded."""
    everyone, others = names[EVERY_RANKER], {name: told for name, told in names.items() if name != EVERY_RANKER}
    for name in everyone["rankers"]:
        others[name] = others[name] | {"members": everyone["members"] | others[name]["members"]}
    return others


def without_members(kind: Description, shared: Description) -> Description:
    return kind | {"members": {name: told for name, told in kind["members"].items() if name not in shared}}
