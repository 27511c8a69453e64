"""Which of two positions a user preferred, by what was clicked: the rules, for the clicks of one list."""

from __future__ import annotations

from collections.abc import Sequence

from rankwright.errors import require


def skip_above(clicks: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of positions by the rule of Ganjisaffar's slides: a click is preferred to all that was skipped above it.

    Parameters
    ----------
    clicks : sequence of int
        The clicked positions of a list, counted from 1.

    Returns
    -------
    list of (int, int)
        The preferred position and the other one of each pair.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.clicks.skip_above([2, 5, 7])
    [(2, 1), (5, 1), (5, 3), (5, 4), (7, 1), (7, 3), (7, 4), (7, 6)]
    """
    clicked = _positions(clicks)
    return [(click, above) for click in clicked for above in range(1, click) if above not in clicked]


def last_click(clicks: Sequence[int]) -> list[tuple[int, int]]:
    """Pairs of positions of which the last click is preferred to all that was skipped above it.

    Parameters
    ----------
    clicks : sequence of int
        The clicked positions of a list, counted from 1. The last one is the lowest in the list.

    Returns
    -------
    list of (int, int)
        The preferred position and the other one of each pair.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.clicks.last_click([2, 5])
    [(5, 1), (5, 3), (5, 4)]
    """
    return [pair for pair in skip_above(clicks) if pair[0] == max(clicks)]


def next_skipped(clicks: Sequence[int], n_shown: int) -> list[tuple[int, int]]:
    """Pairs of positions of which a click is preferred to the next result, if that was not clicked.

    Parameters
    ----------
    clicks : sequence of int
        The clicked positions of a list, counted from 1.
    n_shown : int
        How many results the list has.

    Returns
    -------
    list of (int, int)
        The preferred position and the other one of each pair.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.clicks.next_skipped([2, 3, 5], n_shown=5)
    [(3, 4)]
    """
    clicked = _positions(clicks)
    return [(click, click + 1) for click in clicked if click < n_shown and click + 1 not in clicked]


def skip_above_and_next(clicks: Sequence[int], n_shown: int) -> list[tuple[int, int]]:
    """Pairs of positions by both rules: a click is preferred to what was skipped above it, and to the next result.

    Parameters
    ----------
    clicks : sequence of int
        The clicked positions of a list, counted from 1.
    n_shown : int
        How many results the list has.

    Returns
    -------
    list of (int, int)
        The preferred position and the other one of each pair.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.clicks.skip_above_and_next([2], n_shown=4)
    [(2, 1), (2, 3)]
    """
    return sorted(skip_above(clicks) + next_skipped(clicks, n_shown))


def _positions(clicks: Sequence[int]) -> list[int]:
    require(
        all(click >= 1 and click == int(click) for click in clicks),
        f"positions are whole numbers, counted from 1, got {list(clicks)}",
    )
    return sorted(set(map(int, clicks)))
