"""Two rankers compared by clicks on one list made from both: team-draft interleaving."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from rankwright.arrays import Seed
from rankwright.errors import require

Document = TypeVar("Document", bound=Hashable)


@dataclass(frozen=True, slots=True)
class Interleaved(Generic[Document]):
    """A list made from two, and whose choice each document was.

    Attributes
    ----------
    documents : tuple
        The list to show.
    teams : tuple of str
        Whose choice each document was: "a" or "b".
    """

    documents: tuple[Document, ...]
    teams: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InterleavingResult:
    """Which of two rankers users preferred.

    Attributes
    ----------
    a_wins, b_wins, ties : int
        On how many lists the choices of each got more clicks, and on how many as many.
    preference : float
        The share of the lists that one of them won, that "a" won; ½ where none was won.
    p_value : float
        How likely so uneven a result is if users prefer neither: the two-sided sign test, exact.
    """

    a_wins: int
    b_wins: int
    ties: int
    preference: float
    p_value: float


def team_draft(
    a: Sequence[Document], b: Sequence[Document], length: int = 10, *, seed: Seed = 0
) -> Interleaved[Document]:
    """Make one list from two by team-draft interleaving (Radlinski, Kurup, Joachims 2008).

    The two take turns, and a coin decides who is first in each round; each puts its best document that is not in the
    list yet.

    Parameters
    ----------
    a, b : sequence
        The documents of both rankers, best first.
    length : int, default 10
        How many documents to show.
    seed : int or numpy.random.Generator, default 0
        What coins are thrown with; give one generator for many lists.

    Returns
    -------
    Interleaved
        The list and its teams.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.clicks.team_draft(["x", "y"], ["x", "z"], 3, seed=0).documents[0]
    'x'
    """
    require(length >= 1, f"length must be 1 or more, got {length}")
    rng = np.random.default_rng(seed)
    taken: dict[Document, str] = {}
    sides = {"a": list(a), "b": list(b)}
    while len(taken) < length:
        order = ("a", "b") if rng.random() < 0.5 else ("b", "a")
        before = len(taken)
        for team in order:
            best = next((one for one in sides[team] if one not in taken), None)
            if best is not None and len(taken) < length:
                taken[best] = team
        if len(taken) == before:
            break
    return Interleaved(tuple(taken), tuple(taken.values()))


def interleaving_result(lists: Sequence[Interleaved[Document]], clicks: Sequence[Sequence[int]]) -> InterleavingResult:
    """Tell which ranker won, and whether that is more than chance.

    Parameters
    ----------
    lists : sequence of Interleaved
        The lists that were shown.
    clicks : sequence of sequences of int
        The clicked positions of each, counted from 1.

    Returns
    -------
    InterleavingResult
        Wins, and the sign test.

    Examples
    --------
    >>> import rankwright as rw
    >>> lists = [rw.clicks.team_draft(["x", "y"], ["z", "w"], 2, seed=n) for n in range(8)]
    >>> clicks = [[one.teams.index("a") + 1] for one in lists]
    >>> rw.clicks.interleaving_result(lists, clicks).p_value
    0.0078125
    """
    from scipy.stats import binomtest

    require(len(lists) == len(clicks), f"there are {len(lists)} lists and clicks of {len(clicks)}")
    margins = []
    for one, positions in zip(lists, clicks, strict=True):
        require(all(1 <= place <= len(one.teams) for place in positions), f"clicks {list(positions)} are not in a list")
        teams = [one.teams[place - 1] for place in set(positions)]
        margins.append(teams.count("a") - teams.count("b"))
    a_wins, b_wins = sum(margin > 0 for margin in margins), sum(margin < 0 for margin in margins)
    decided = a_wins + b_wins
    p_value = float(binomtest(a_wins, decided).pvalue) if decided else 1.0
    preference = a_wins / decided if decided else 0.5
    return InterleavingResult(a_wins, b_wins, len(margins) - decided, preference, p_value)
