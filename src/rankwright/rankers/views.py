"""Fitted attributes as views of what a ranker has learned, and methods that only other folders of the library call."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, Generic, Self, TypeVar, overload

from rankwright.rankers.trained import TrainedRanker

Value = TypeVar("Value")
Function = TypeVar("Function", bound=Callable[..., Any])


class View(Generic[Value]):
    """A fitted attribute: what a function finds in the trained ranker, or what has that name there, with dots.

    An untrained ranker does not have it.
    """

    def __init__(self, find: Callable[[TrainedRanker], Value] | str, doc: str) -> None:
        self.find: Callable[[TrainedRanker], Value] = attrgetter(find) if isinstance(find, str) else find
        self.__doc__ = doc

    @overload
    def __get__(self, ranker: None, owner: type) -> Self: ...

    @overload
    def __get__(self, ranker: Any, owner: type) -> Value: ...

    def __get__(self, ranker: Any, owner: type) -> Self | Value:
        """Look at the trained ranker."""
        return self if ranker is None else self.find(ranker.trained_)

    def __set__(self, ranker: Any, value: Any) -> None:
        """Refuse: a value of its own would hide what was trained."""
        told = f"fitted attributes are views of trained_ and cannot be assigned, as was tried with {value!r}"
        raise AttributeError(told)


def for_the_library(method: Function) -> Function:
    """Mark a method that other folders of the library call: completing a name in a notebook does not offer it."""
    method.__dict__["for_the_library"] = True
    return method
