"""Which documents to judge to improve the data to train on.

A ranker learns from pairs of documents of a query, so that documents are proposed a query at a time: some near its top,
where mistakes cost most, and some further and further down, which are the contrast. A judgment is worth more the less
sure the document's grade is, and the higher a ranker puts it: the standard deviation of its gain times the discount of
its rank. Documents that nobody judged are as unsure as grades of others at their rank. Queries come first of which most
is open; those of which as much is open, such as all that nobody judged, come at random.
"""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float64Array, IntArray, text_ids
from rankwright.errors import InputError
from rankwright.judgments.choosing.judging_plan import random_numbers
from rankwright.judgments.combining.combined_labels import CombinedLabels
from rankwright.metrics.convention import ScorePrecision
from rankwright.metrics.evaluation import ScoredLists
from rankwright.ranking.gains import EXPONENTIAL, LOG2

IMAGINED_LABELS = 10.0  # at each rank, of the usual grades
MOST_RANKS = 100  # ranks further down count as this one
# Ranks that are judged first, from 0: one query judged like this teaches about as much as one judged to depth ten or
# twenty, where the two first documents of many queries teach less.
JUDGED_RANKS = (0, 1, 2, 3, 4, 6, 9, 14, 22, 34)
SETTLED = 1e-9  # what a judgment is worth where the grade is sure


def training_order(lists: ScoredLists, labels: CombinedLabels, *, seed: int = 0) -> tuple[IntArray, Float64Array]:
    """Put documents in the order in which their judgments improve the data to train on.

    Parameters
    ----------
    lists : ScoredLists
        What a ranker ranked.
    labels : CombinedLabels
        What was judged so far; judgments of one rater will do.
    seed : int, default 0
        What decides between queries that are worth the same.

    Returns
    -------
    tuple of array of int64 and array of float64
        Rows of the lists, first things first, and what the judgment of each is worth.
    """
    if lists.query_ids is None or lists.document_ids is None:
        raise InputError("the documents have no ids, by which they are judged: name the column of document ids")
    query, names = lists.groups.query_of_row, text_ids(lists.query_ids)
    ranks = lists.ranking(ScorePrecision.DOUBLE, 1).ranks()
    places = _places_of(labels, names[query].tolist(), text_ids(lists.document_ids).tolist())
    if not (places >= 0).any():
        raise InputError("no document that was judged is among those ranked: the ids of both must be the same")
    usual = _chances_by_rank(ranks, places, labels)
    discounts = LOG2.table(len(ranks))[ranks]
    unjudged = _spread(usual, labels.scale)[np.minimum(ranks, MOST_RANKS - 1)] * discounts
    worth = np.where(places >= 0, _spread(labels.chances, labels.scale)[places] * discounts, unjudged)
    comes_first = np.isin(ranks, JUDGED_RANKS)
    turn = np.where(worth <= SETTLED, 2, np.where(comes_first, 0, 1))
    open_share = _sums(query, worth * comes_first) / np.maximum(_sums(query, unjudged * comes_first), SETTLED)
    by_chance = random_numbers(names, names, seed)
    order = np.lexsort((ranks, by_chance[query], -open_share[query], turn))
    return order, worth[order]


def _sums(query: IntArray, values: Float64Array) -> Float64Array:
    return np.asarray(np.bincount(query, weights=values), np.float64)


def _spread(chances: Float64Array, scale: Float64Array) -> Float64Array:
    """The standard deviation of the gain, where grades have these chances."""
    gains = np.asarray(EXPONENTIAL(np.maximum(scale, 0).astype(np.float32)), np.float64)
    return np.sqrt(np.maximum(chances @ gains**2 - (chances @ gains) ** 2, 0.0))


def _places_of(labels: CombinedLabels, queries: list[str], documents: list[str]) -> IntArray:
    """Where the label of each row stands; -1 where nobody judged it."""
    known_queries = text_ids(labels.query_ids[labels.queries]).tolist()
    known_documents = text_ids(labels.document_ids[labels.documents]).tolist()
    place_of = {pair: place for place, pair in enumerate(zip(known_queries, known_documents, strict=True))}
    return np.array([place_of.get(pair, -1) for pair in zip(queries, documents, strict=True)], np.int64)


def _chances_by_rank(ranks: IntArray, places: IntArray, labels: CombinedLabels) -> Float64Array:
    """How likely each grade is at each rank, by the documents that were judged."""
    judged = places >= 0
    totals = np.tile(IMAGINED_LABELS * labels.chances.mean(axis=0), (MOST_RANKS, 1))
    np.add.at(totals, np.minimum(ranks[judged], MOST_RANKS - 1), labels.chances[places[judged]])
    return np.asarray(totals / totals.sum(axis=1, keepdims=True), np.float64)
