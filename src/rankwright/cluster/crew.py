"""Crews: workers that keep their state from call to call, and talk to each other.

The tasks of an engine are too short for such work. A crew calls one function in all its members (its workers) at the
same time. Each member gets its own task, and a dictionary of its own that stays from call to call. The crew notices a
member that died or stopped answering, and can replace it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from rankwright.cluster.engine import Done
from rankwright.cluster.tasks import Failure
from rankwright.errors import ClusterError

MemberState = dict[str, Any]  # what a member keeps from call to call
CrewFunction = Callable[[MemberState, Any], Any]  # the member's state, its task -> result


class Seconds:
    """How long a crew waits."""

    BETWEEN_PINGS = 5.0
    TO_ANSWER = 60.0  # a member that is silent for longer counts as dead
    TO_START = 180.0  # libraries are loaded, on a machine that may be busy
    TO_MEET = 60.0  # in which members that have started find each other
    TO_GIVE_UP = 120.0  # in which the others notice that a member was lost


class PeerLostError(ClusterError):
    """A member cannot reach another one."""


class LostMembersError(ClusterError):
    """Members of a crew died, or cannot reach each other; `members` are the numbers of those that died."""

    def __init__(self, members: Sequence[int], why: str) -> None:
        super().__init__(why)
        self.members = tuple(members)


class NoRoomError(ClusterError):
    """A member cannot be started: no machine has room for it."""


@dataclass(frozen=True, slots=True)
class MeetingPlace:
    """Where a member finds the others: its number, how many there are, and the store that one of them keeps."""

    rank: int
    size: int
    store: tuple[str, int]  # host and port
    patience: float  # seconds


@dataclass(frozen=True, slots=True)
class Lost:
    """How a member of a crew died, in words that follow "worker 3"."""

    how: str


class Crew(Protocol):
    """Several workers that know each other by number, from 0."""

    @property
    def size(self) -> int:
        """How many members there are."""

    @property
    def threads(self) -> int:
        """How many threads each member should use."""

    def call(self, function: CrewFunction, tasks: Sequence[Any]) -> list[Any]:
        """Call `function(state, task)` in each member, with its own task, and return the results in their order.

        An error of the function is raised here. Where members died, `LostMembersError` is raised, once all others have
        answered.
        """

    def renew(self, members: Sequence[int]) -> None:
        """Replace the members that died by new ones, whose state is empty."""

    def close(self) -> None:
        """End all members."""


def raise_error_of(outcome: Done | Failure | Lost) -> None:
    """Raise the error that a member ended with, unless it only says that another one was lost."""
    if isinstance(outcome, Failure) and not isinstance(outcome.error, PeerLostError):
        outcome.raise_here()


def results_of(outcomes: Mapping[int, Done | Failure | Lost]) -> list[Any]:
    """The results in the order of the members; raises the error of a member, or one that says which were lost."""
    ordered = [outcomes[number] for number in sorted(outcomes)]
    for outcome in ordered:
        raise_error_of(outcome)
    lost = {number: f"worker {number} {one.how}" for number, one in sorted(outcomes.items()) if isinstance(one, Lost)}
    if lost:
        raise LostMembersError([*lost], ", ".join(lost.values()))
    for outcome in ordered:
        if isinstance(outcome, Failure):
            raise LostMembersError((), str(outcome.error))
    return [outcome.result for outcome in ordered if isinstance(outcome, Done)]
