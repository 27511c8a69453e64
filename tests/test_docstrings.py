"""What users can import is documented as scikit-learn's is: a summary, every parameter, and what comes back."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import pytest

import rankwright as rw

UNNAMED = ("self", "cls")


def public_of(name: str) -> Iterator[tuple[str, Any]]:
    """The thing itself, what a module offers, and the public methods and properties of a class that are ours."""
    found = getattr(rw, name)
    if inspect.ismodule(found):
        for inner in getattr(found, "__all__", [n for n in vars(found) if is_own(getattr(found, n), found.__name__)]):
            yield from documented(f"{name}.{inner}", getattr(found, inner))
    else:
        yield from documented(name, found)


def is_own(thing: Any, module: str) -> bool:
    return (inspect.isfunction(thing) or inspect.isclass(thing)) and thing.__module__ == module and public(thing)


def is_protocol(thing: Any) -> bool:
    return bool(getattr(thing, "_is_protocol", False))


def public(thing: Any) -> bool:
    return not thing.__name__.startswith("_")


def documented(name: str, thing: Any) -> Iterator[tuple[str, Any]]:
    if inspect.isfunction(thing) or inspect.isclass(thing):
        yield name, thing
    if not inspect.isclass(thing):
        return
    for member, value in inspect.getmembers_static(thing):
        value = value.__func__ if isinstance(value, staticmethod | classmethod) else value
        ours = getattr(value.fget if isinstance(value, property) else value, "__module__", "") or ""
        is_told = inspect.isfunction(value) or isinstance(value, property)
        if is_told and not member.startswith("_") and ours.startswith("rankwright"):
            yield f"{name}.{member}", value


def section(docstring: str, title: str) -> str | None:
    match = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[^\n]*\n---|\Z)", docstring, re.MULTILINE | re.DOTALL)
    return None if match is None else match[1]


def explained(docstring: str, title: str = "Parameters") -> set[str]:
    """The names that stand at the beginning of the section's entries; several may share one."""
    heads = re.findall(r"^([\w*][\w, *]*?)(?: :.*)?$", section(docstring, title) or "", re.MULTILINE)
    return {name.strip(" *") for head in heads for name in head.split(",")}


def problems(name: str, thing: Any) -> Iterator[str]:
    docstring = inspect.getdoc(thing)
    if not docstring:
        yield f"{name} has no docstring"
        return
    summary = docstring.split("\n\n")[0]
    if len(summary) > 240 or not summary.rstrip().endswith((".", "?")):
        yield f"{name} does not begin with a one-line summary"
    is_made_by_users = inspect.isclass(thing) and not issubclass(thing, Exception) and not is_protocol(thing)
    if isinstance(thing, property) or (inspect.isclass(thing) and not is_made_by_users):
        return
    parameters = [one for one in inspect.signature(thing).parameters if one not in UNNAMED and not one.startswith("_")]
    if inspect.isclass(thing) and "Enum" in {base.__name__ for base in thing.__mro__}:
        return
    missing = set(parameters) - explained(docstring) - explained(docstring, "Attributes")
    refers = "; see `" in docstring or " See `" in docstring
    if missing and not refers:
        yield f"{name} does not explain {', '.join(sorted(missing))}"
    returns = inspect.isfunction(thing) and inspect.signature(thing).return_annotation not in ("None", None)
    if returns and parameters and not refers and section(docstring, "Returns") is section(docstring, "Yields") is None:
        yield f"{name} does not say what it returns"


@pytest.mark.parametrize("name", [name for name in rw.__all__ if name != "__version__"])
def test_it_is_documented(name):
    assert [problem for part, thing in public_of(name) for problem in problems(part, thing)] == []


def test_help_explains_every_setting_of_lambdamart():
    assert explained(inspect.getdoc(rw.LambdaMART) or "") == set(rw.LambdaMART.settings())
    assert len(rw.LambdaMART.settings()) == 36
