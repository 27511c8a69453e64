"""What is missing or changed in a description compared with a recorded one; additions are allowed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any


def differences(recorded: Any, found: Any, where: str) -> Iterator[str]:
    """A line for each recorded thing that is missing or different."""
    if isinstance(recorded, dict) and isinstance(found, dict):
        for name, told in recorded.items():
            if name in found:
                yield from differences(told, found[name], f"{where} · {name}")
            else:
                yield f"{where} · {name} is missing"
    elif isinstance(recorded, list) and isinstance(found, list):
        yield from (f"{where} {problem}" for problem in changed_parameters(recorded, found))
    elif recorded != found:
        yield f"{where} was {recorded!r} and is {found!r}"


def changed_parameters(recorded: list[str], found: list[str]) -> Iterator[str]:
    """New parameters must have a default, and come after the positional ones."""
    yield from (f"has lost or changed {one!r}" for one in recorded if one not in found)
    yield from (f"asks for {one!r}" for one in found if one not in recorded and "=" not in one and "…" not in one)
    placed, now = ([one for one in ones if not one.startswith("*")] for ones in (recorded, found))
    if now[: len(placed)] != placed and set(placed) <= set(now):
        yield f"has {placed} in another order: {now}"


def unexplained(lines: Iterable[str], explained: Mapping[str, str]) -> list[str]:
    """The lines that begin with none of the explained places, in which `*` stands for anything."""
    return [line for line in lines if not any(fnmatchcase(line, f"{place}*") for place in explained)]
