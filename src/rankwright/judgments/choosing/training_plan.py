"""Which documents to judge to improve the data to train on.

A judgment is worth more the less sure the document's grade is, and the higher a ranker puts it: near the top, a wrong
grade costs a metric more, and a ranker learns from it more. Its worth is the standard deviation of its gain times the
discount of its rank. Documents that nobody judged are as unsure as grades of others at their rank.
"""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float64Array, IntArray, text_ids
from rankwright.errors import InputError
from rankwright.judgments.choosing.judging_plan import random_numbers
from rankwright.judgments.combining.combined_labels import CombinedLabels
from rankwright.metrics.evaluation import ScoredLists
from rankwright.ranking.gains import EXPONENTIAL, LOG2

IMAGINED_LABELS = 10.0  # at each rank, of the usual grades
MOST_RANKS = 100  # ranks further down count as this one


def training_order(lists: ScoredLists, labels: CombinedLabels, *, seed: int = 0) -> tuple[IntArray, Float64Array]:
    """Put documents in the order in which their judgments improve the data to train on.

    Parameters
    ----------
    lists : ScoredLists
        What a ranker ranked.
    labels : CombinedLabels
        What was judged so far; judgments of one rater will do.
    seed : int, default 0
        What decides between documents that are worth the same.

    Returns
    -------
    tuple of array of int64 and array of float64
        Rows of the lists, and what the judgment of each is worth, largest first.
    """
    if lists.query_ids is None or lists.document_ids is None:
        raise InputError("the documents have no ids, by which they are judged: name the column of document ids")
    queries = text_ids(lists.query_ids)[lists.groups.query_of_row]
    documents = text_ids(lists.document_ids)
    ranks = _ranks(lists)
    chances = _chances(queries.tolist(), documents.tolist(), ranks, labels)
    gains = np.asarray(EXPONENTIAL(np.maximum(labels.scale, 0).astype(np.float32)), np.float64)
    spread = np.sqrt(np.maximum(chances @ gains**2 - (chances @ gains) ** 2, 0.0))
    worth = spread * LOG2.table(len(ranks))[ranks]
    order = np.lexsort((random_numbers(queries, documents, seed), -worth))
    return order, worth[order]


def _ranks(lists: ScoredLists) -> IntArray:
    """The rank of each row in its query."""
    from rankwright.metrics.convention import ScorePrecision

    ranking = lists.ranking(ScorePrecision.DOUBLE, 1)
    ranks = np.empty(len(lists.labels), np.int64)
    ranks[ranking.rows] = np.arange(len(ranks)) - np.repeat(lists.groups.offsets[:-1], lists.groups.sizes)
    return ranks


def _chances(queries: list[str], documents: list[str], ranks: IntArray, labels: CombinedLabels) -> Float64Array:
    """How likely each grade is, for each row: from its judgments, or from those of others at its rank."""
    known_queries, known_documents = (
        text_ids(ids[places]).tolist()
        for ids, places in ((labels.query_ids, labels.queries), (labels.document_ids, labels.documents))
    )
    place_of = {pair: row for row, pair in enumerate(zip(known_queries, known_documents, strict=True))}
    places = np.array([place_of.get(pair, -1) for pair in zip(queries, documents, strict=True)], np.int64)
    judged = places >= 0
    usual = labels.chances.mean(axis=0)
    at_rank = np.tile(IMAGINED_LABELS * usual, (MOST_RANKS, 1))
    np.add.at(at_rank, np.minimum(ranks[judged], MOST_RANKS - 1), labels.chances[places[judged]])
    at_rank /= at_rank.sum(axis=1, keepdims=True)
    chances = at_rank[np.minimum(ranks, MOST_RANKS - 1)]
    chances[judged] = labels.chances[places[judged]]
    return np.asarray(chances, np.float64)
