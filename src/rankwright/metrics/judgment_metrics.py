"""Metrics that look at which documents were judged, and for which subtopics: bpref, judged@k, α-nDCG.

Other metrics see unjudged documents as the convention says. These see them as they are, so they are counted from the
labels before anything is decided about them.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IdArray, IntArray
from rankwright.errors import InputError, require
from rankwright.metrics.convention import Convention
from rankwright.metrics.metric import AtAnyCutoff, AtCutoff
from rankwright.ranking.gains import LOG2
from rankwright.ranking.order import Ranking, Ties, break_ties


@dataclass(frozen=True, slots=True, eq=False)
class Subtopics:
    """Which documents are relevant to which subtopics of their query: one row and one subtopic for each pair."""

    rows: IntArray
    subtopics: IntArray

    def of_rows(self, rows: slice) -> BoolArray:
        """A table of the documents of a query and their subtopics."""
        inside = (self.rows >= rows.start) & (self.rows < rows.stop)
        _, column = np.unique(self.subtopics[inside], return_inverse=True)
        table = np.zeros((rows.stop - rows.start, int(column.max(initial=-1)) + 1), np.bool_)
        table[self.rows[inside] - rows.start, column] = True
        return table


class JudgedQuery(NamedTuple):
    """The documents of one query: their labels, the ranked ones, and their subtopics."""

    labels: Float32Array  # NaN where nobody judged
    ranked: IntArray  # places among the labels, best first
    subtopics: BoolArray | None  # a row for each document and a column for each subtopic


@dataclass(frozen=True, slots=True)
class JudgmentMetric(AtAnyCutoff):
    """What these metrics share: they are counted query by query, on lists whose ties are broken."""

    depends_on: ClassVar[frozenset[str]] = frozenset({"ties", "scores", "relevant", "empty"})

    def per_query(
        self, ranking: Ranking, labels: Float32Array, convention: Convention, threads: int = 1
    ) -> Float64Array:
        """The metric of each query; NaN where the query does not count."""
        return self.of_judgments(ranking, labels, convention, threads=threads)

    def of_judgments(
        self,
        ranking: Ranking,
        labels: Float32Array,
        convention: Convention,
        *,
        document_ids: IdArray | None = None,
        subtopics: Subtopics | None = None,
        threads: int = 1,
    ) -> Float64Array:
        """The metric of each query, from labels that are NaN where nobody judged."""
        if convention.ties is Ties.AVERAGED:
            raise InputError(f"{self.name} has no average over the orders of tied documents: choose other ties")
        or_zero = np.where(np.isnan(labels), np.float32(0), labels)
        lists = break_ties(ranking, convention.ties, labels=or_zero, document_ids=document_ids, threads=threads)
        values = np.empty(lists.groups.n_queries)
        for query, rows in enumerate(lists.groups.slices()):
            ranked = lists.rows[rows.start : rows.start + int(lists.n_ranked[query])] - rows.start
            table = None if subtopics is None else subtopics.of_rows(rows)
            values[query] = self.of_query(JudgedQuery(labels[rows], ranked, table), convention)
        return values

    @abstractmethod
    def of_query(self, query: JudgedQuery, convention: Convention) -> float:
        """The metric of one query."""


@dataclass(frozen=True, slots=True)
class JudgedShare(AtCutoff, JudgmentMetric):
    """The share of the first `cutoff` documents that were judged: how far other metrics can be trusted."""

    family: ClassVar[str] = "judged"
    depends_on: ClassVar[frozenset[str]] = frozenset({"ties", "scores"})

    def of_query(self, query: JudgedQuery, convention: Convention) -> float:  # noqa: ARG002
        """The share of the query's top that has a label; 0 where nothing was ranked."""
        top = query.labels[query.ranked[: self.cutoff]]
        return float(np.mean(~np.isnan(top))) if len(top) else 0.0


@dataclass(frozen=True, slots=True)
class BPref(JudgmentMetric):
    """Binary preference (Buckley and Voorhees 2004): how seldom judged irrelevant documents stand above relevant ones.

    Unjudged documents do not count at all. It is counted as trec_eval counts it.
    """

    family: ClassVar[str] = "bpref"

    def __post_init__(self) -> None:
        require(self.cutoff is None, "metric bpref takes no cutoff")

    def of_query(self, query: JudgedQuery, convention: Convention) -> float:
        """The mean, over the relevant documents, of the share of irrelevant ones that are not above them."""
        judged = query.labels[~np.isnan(query.labels)]
        n_relevant = int(convention.relevant.of(judged).sum())
        if n_relevant == 0:
            return convention.empty.number
        top = query.labels[query.ranked]
        top = top[~np.isnan(top)]
        relevant = convention.relevant.of(top)
        above = np.cumsum(~relevant)[relevant]  # irrelevant documents above each relevant one
        bound = min(n_relevant, len(judged) - n_relevant)
        shares = np.minimum(above, n_relevant) / bound if bound else np.zeros(len(above))
        return float((1.0 - np.where(above > 0, shares, 0.0)).sum() / n_relevant)


@dataclass(frozen=True, slots=True)
class AlphaNDCG(JudgmentMetric):
    """α-nDCG (Clarke et al. 2008): a document is worth less for a subtopic that documents above it have covered.

    A subtopic that was covered c times counts (1 − α)ᶜ. The best order is found greedily, as ndeval finds it.
    """

    family: ClassVar[str] = "alpha-ndcg"
    depends_on: ClassVar[frozenset[str]] = frozenset({"ties", "scores", "empty"})

    alpha: float = 0.5

    @property
    def name_without_cutoff(self) -> str:
        """The metric's name, with its number in brackets unless that is the usual one."""
        return self.family if self.alpha == 0.5 else f"{self.family}({self.alpha:g})"

    def __post_init__(self) -> None:
        AtAnyCutoff.__post_init__(self)
        require(0 <= self.alpha <= 1, f"alpha must lie between 0 and 1, got {self.alpha}")

    def of_query(self, query: JudgedQuery, convention: Convention) -> float:
        """The discounted gain of new subtopics as a share of the most that is possible."""
        subtopics = query.subtopics
        if subtopics is None:
            raise InputError(
                "alpha-ndcg needs the subtopics of documents: read qrels whose second column names them with "
                "read_qrels(path, subtopics=True), or give --subtopics"
            )
        depth = min(self.depth, max(len(query.ranked), len(subtopics)))
        discounts = LOG2.table(depth)
        best_gains = _greedy(subtopics, 1.0 - self.alpha, depth)
        gains = _gains(subtopics[query.ranked][:depth], 1.0 - self.alpha)
        best, found = (float(some @ discounts[: len(some)]) for some in (best_gains, gains))
        return found / best if best else convention.empty.number


def _gains(table: BoolArray, left: float) -> Float64Array:
    """The gain of each document of a list, best first: for each subtopic, `left` to the power of times covered."""
    covered: Float64Array = np.cumsum(table, axis=0, dtype=np.float64) - table
    return np.asarray((table * left**covered).sum(axis=1), np.float64)


def _greedy(table: BoolArray, left: float, depth: int) -> Float64Array:
    """The gains of the list that takes the document with the largest gain each time."""
    worth, free, gains = np.ones(table.shape[1]), np.ones(len(table), np.bool_), []
    for _ in range(min(depth, len(table))):
        gain = np.where(free, table @ worth, -1.0)
        taken = int(np.argmax(gain))
        if gain[taken] <= 0:
            break
        gains.append(float(gain[taken]))
        free[taken] = False
        worth = np.where(table[taken], worth * left, worth)
    return np.array(gains)
