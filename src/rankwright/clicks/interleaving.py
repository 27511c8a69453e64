"""Two rankers compared by clicks on one list made from both: team-draft interleaving."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, lgamma, log
from typing import Generic, TypeVar

import numpy as np

from rankwright.arrays import Seed
from rankwright.errors import require

Document = TypeVar("Document", bound=Hashable)
NOBODY = ""  # is still to choose in a round


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
        How likely so uneven a result is if users prefer neither: the two-sided sign test, exact. It is for one look at
        a number of lists that was fixed before.
    sequential_p_value : float
        The same for as many looks as wanted: if users prefer neither, the chance that it ever falls to 0.05 or below
        is at most 0.05, so that an experiment may be stopped on any day. See `sequential_p_value`.
    """

    a_wins: int
    b_wins: int
    ties: int
    preference: float
    p_value: float
    sequential_p_value: float


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
    ties = len(margins) - decided
    return InterleavingResult(a_wins, b_wins, ties, preference, p_value, sequential_p_value(a_wins, b_wins))


def sequential_p_value(a_wins: int, b_wins: int) -> float:
    """Tell whether an experiment is decided, however often it was looked at before.

    It is 1 over the ratio of two likelihoods: of the wins where a list is won by "a" with any chance, all alike, and
    where it is won with ½. That ratio is a fair game for whoever holds that neither is preferred, so that it ever
    grows to 20 with a chance of at most 1 in 20 (Ville 1939; Robbins 1970).

    Parameters
    ----------
    a_wins, b_wins : int
        How many lists each has won so far.

    Returns
    -------
    float
        At most 1; the experiment may end as soon as it is 0.05 or less.

    Examples
    --------
    >>> import rankwright as rw
    >>> round(rw.clicks.sequential_p_value(60, 40), 3), round(rw.clicks.sequential_p_value(70, 30), 5)
    (1.0, 0.00234)
    """
    require(min(a_wins, b_wins) >= 0, f"wins must be 0 or more, got {a_wins} and {b_wins}")
    n = a_wins + b_wins
    # The beta function of whole numbers, less n · log ½: the logarithm of the ratio.
    log_ratio = lgamma(a_wins + 1) + lgamma(b_wins + 1) - lgamma(n + 2) + n * log(2)
    return min(1.0, exp(-log_ratio))


def team_draft_propensities(a: Sequence[Document], b: Sequence[Document], shown: Sequence[Document]) -> list[float]:
    """Tell how likely team-draft interleaving was to show each document where it stands.

    Parameters
    ----------
    a, b : sequence
        The documents of both rankers, best first.
    shown : sequence
        The list that was made from them.

    Returns
    -------
    list of float
        For each document the chance, over all throws of the coins, that its place shows it: 0 where it cannot be.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.clicks.team_draft_propensities(["x", "y"], ["x", "z"], ["x", "y", "z"])
    [1.0, 0.5, 0.5]
    """
    # What comes next depends on which documents are taken, and on who is still to choose in this round.
    states: dict[tuple[frozenset[Document], str], float] = {(frozenset(), NOBODY): 1.0}
    sides, found = {"a": a, "b": b}, []
    for document in shown:
        after: dict[tuple[frozenset[Document], str], float] = defaultdict(float)
        chance = 0.0
        for (taken, owed), weight in states.items():
            for share, choice, then_owed in _next_choices(sides, taken, owed):
                chance += weight * share if choice == document else 0.0
                after[taken | {choice}, then_owed] += weight * share
        found.append(chance)
        states = after
    return found


def _next_choices(
    sides: Mapping[str, Sequence[Document]], taken: frozenset[Document], owed: str
) -> Iterator[tuple[float, Document, str]]:
    """What can be put next: its chance, the document, and who is still to choose in the round after it."""
    if owed != NOBODY:
        choice = _best_left(sides[owed], taken)
        if choice is not None:
            yield 1.0, choice, NOBODY
            return
    for first, second in (("a", "b"), ("b", "a")):
        for team, then_owed in ((first, second), (second, NOBODY)):  # whoever has nothing left passes
            choice = _best_left(sides[team], taken)
            if choice is not None:
                yield 0.5, choice, then_owed
                break


def _best_left(ranked: Sequence[Document], taken: frozenset[Document]) -> Document | None:
    return next((one for one in ranked if one not in taken), None)
