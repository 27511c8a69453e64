"""What a log holds, and how much can be learned from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from rankwright.clicks.logs.click_log import ClickLog, check_log, pair_log
from rankwright.data.frames import Tabular
from rankwright.tables.text import ShownTable

DEEPEST = 10  # ranks whose click rates are told


@dataclass(frozen=True, slots=True, repr=False)
class LogSummary(Tabular):
    """What a click log holds. Print it for a table.

    Attributes
    ----------
    queries, lists, documents, pairs : int
        How many queries, shown lists, documents, and pairs of a query and one of its documents there are.
    clicks : int
        How many shown documents were clicked.
    lists_without_click : float
        Their share of the lists.
    click_rate_at : list of float
        The click rate of each rank.
    distinct_lists : float
        How many different lists a query has, on average.
    later_pages : int
        How many lists begin below the first rank.
    varied_share : float
        The share of the lists in which some document is also shown at another position for the same query. Without
        features, only such lists show whether a click is due to the position or to the document.
    clicked_share : float
        The share of the lists whose query has any click at all.
    policies : int
        How many policies made the lists, 0 where that is not known.
    has_propensities : bool
        Whether the log knows how likely documents were to be shown.
    problems : dict from str to int
        What was wrong in the files, and how often.
    """

    queries: int
    lists: int
    documents: int
    pairs: int
    clicks: int
    lists_without_click: float
    click_rate_at: list[float]
    distinct_lists: float
    later_pages: int
    varied_share: float
    clicked_share: float
    policies: int
    has_propensities: bool
    problems: dict[str, int]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in types that JSON can hold.

        Returns
        -------
        dict
            All attributes by name.
        """
        return asdict(self)

    def told(self) -> Iterator[tuple[str, str]]:
        """Tell the figures in words.

        Yields
        ------
        tuple of str
            The name of a figure, which is empty if the figure belongs to the line before, and the figure.
        """
        yield "queries", f"{self.queries:,}"
        yield "lists", f"{self.lists:,}, {self.lists_without_click:.1%} without a click"
        yield "distinct lists", f"{self.distinct_lists:.1f} a query"
        yield "documents", f"{self.documents:,}, in {self.pairs:,} pairs of a query and a document"
        yield "clicks", f"{self.clicks:,}"
        for rank, rate in enumerate(self.click_rate_at):
            yield ("click rate by position" if rank == 0 else ""), f"{rank + 1:>4}  {rate:6.2%}"
        if self.later_pages:
            yield "later pages", f"{self.later_pages:,}"
        yield "informative lists", f"{self.clicked_share:.1%} belong to queries with a click"
        yield "", f"{self.varied_share:.1%} show a document that also stood at another position"
        if self.policies:
            yield "policies", f"{self.policies}"
        yield "propensities", "yes" if self.has_propensities else "none"

    def shown(self) -> ShownTable:
        """Return the figures as people read them; see `Tabular.shown`."""
        notes = [f"found while reading: {problem}: {count:,}" for problem, count in self.problems.items()]
        return ShownTable("A click log", ["what", "figure"], [list(row) for row in self.told()], notes=notes)

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the click rate of each rank, from 0; see `Tabular.columns`."""
        return {"rank": list(range(len(self.click_rate_at))), "click_rate": self.click_rate_at}


def summarise_log(log: ClickLog) -> LogSummary:
    """Tell what a click log holds.

    Parameters
    ----------
    log : ClickLog
        The log.

    Returns
    -------
    LogSummary
        The figures.

    Examples
    --------
    >>> import rankwright as rw
    >>> log = rw.clicks.ClickLog.from_lists(["q", "q"], [["a", "b"], ["b", "a"]], [[1], []])
    >>> found = rw.clicks.summarise_log(log)
    >>> found.lists, found.click_rate_at, found.varied_share
    (2, [0.5, 0.0], 1.0)
    """
    check_log(log)
    counts = log.list_counts.astype(np.float64)
    n_lists = max(float(counts.sum()), 1.0)
    lists, ranks = log.list_of_row, log.ranks
    kept = ranks < DEEPEST
    shown = np.bincount(ranks[kept], weights=counts[lists][kept])
    clicks = np.bincount(ranks[kept], weights=(counts[lists] * log.clicked)[kept], minlength=len(shown))
    clicked_lists = np.zeros(len(counts), np.bool_)
    clicked_lists[lists[log.clicked]] = True
    clicked_queries = np.zeros(len(log.query_ids), np.bool_)
    clicked_queries[log.queries[clicked_lists]] = True
    n_shown_queries = max(len(np.unique(log.queries)), 1)
    varied, n_pairs, n_distinct = _varied(log)
    return LogSummary(
        queries=len(np.unique(log.queries)),
        lists=log.n_lists,
        documents=len(np.unique(log.documents)),
        pairs=n_pairs,
        clicks=log.n_clicks,
        lists_without_click=float(counts[~clicked_lists].sum() / n_lists),
        click_rate_at=(clicks / np.maximum(shown, 1)).tolist(),
        distinct_lists=n_distinct / n_shown_queries,
        later_pages=0 if log.first_ranks is None else int(counts[log.first_ranks > 0].sum()),
        varied_share=varied,
        clicked_share=float(counts[clicked_queries[log.queries]].sum() / n_lists),
        policies=0 if log.policy_ids is None else len(log.policy_ids),
        has_propensities=log.propensities is not None,
        problems=dict(log.problems),
    )


def _varied(log: ClickLog) -> tuple[float, int, int]:
    """The share of lists with a document that changes its position, and the numbers of pairs and of different lists."""
    numbered = pair_log(replace(log, clicked=np.zeros_like(log.clicked)))
    lists = numbered.lists
    sizes = np.diff(lists.offsets)
    ranks = np.arange(len(lists.pairs)) - np.repeat(lists.offsets[:-1], sizes)
    lowest, highest = np.full(numbered.n_pairs, np.iinfo(np.int64).max), np.full(numbered.n_pairs, -1)
    np.minimum.at(lowest, lists.pairs, ranks)
    np.maximum.at(highest, lists.pairs, ranks)
    moves = (highest > lowest)[lists.pairs]
    of_list = np.zeros(len(sizes), np.bool_)
    of_list[np.repeat(np.arange(len(sizes)), sizes)[moves]] = True
    total = max(int(lists.counts.sum()), 1)
    return float(lists.counts[of_list].sum() / total), numbered.n_pairs, len(sizes)
