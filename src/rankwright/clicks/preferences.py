"""From a log and features to data that rankers train on."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from rankwright.arrays import Float64Array, IdArray, IntArray, text_ids
from rankwright.clicks.logs.click_log import ClickLog, check_log
from rankwright.clicks.simulation import known_documents, known_queries
from rankwright.clicks.votes import Log, PairVotes, count_votes
from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, require_type


@dataclass(frozen=True, slots=True, eq=False)
class ClickData:
    """A dataset with preferences from clicks, and what became of the votes.

    Attributes
    ----------
    data : RankingDataset
        The documents of the queries that got votes, with preferences in place of labels. Labels, if there are any,
        are those of the features' file.
    votes : PairVotes
        The votes.
    n_pairs : int
        How many pairs of documents got preferences.
    n_lost : int
        How many pairs got votes, but have a document without features.
    """

    data: RankingDataset
    votes: PairVotes
    n_pairs: int
    n_lost: int


def with_preferences(
    features: RankingDataset,
    log: Log | PairVotes,
    *,
    rule: str = "skip-above",
    correct: bool = False,
    smoothing: float = 1.0,
    threads: int | None = None,
) -> ClickData:
    """Give documents the preferences that clicks speak for.

    The two documents of a pair are trained to rank with the smoothed share of their votes as the probability, and the
    number of votes as the weight. Votes that contradict each other stay in: together they make a probability near ½.

    Parameters
    ----------
    features : RankingDataset
        The documents, with ids of queries and documents that are those of the log.
    log : ClickLog, LogFile, path, sequence of paths or PairVotes
        The log, or votes that were counted already.
    rule, correct, threads
        As for `count_votes`.
    smoothing : float, default 1.0
        As for `PairVotes.preferred`.

    Returns
    -------
    ClickData
        The dataset to train on, and how much of the log it covers.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.RankingDataset.from_arrays([[0.1], [0.9]], qid=["q", "q"], document_ids=["a", "b"])
    >>> log = rw.clicks.ClickLog.from_lists(["q"], [["a", "b"]], [[2]])
    >>> pairs = rw.clicks.with_preferences(data, log).data.preferences
    >>> pairs.better.tolist(), pairs.worse.tolist(), round(float(pairs.probability[0]), 3)
    ([1], [0], 0.667)
    """
    require_type(features, RankingDataset, "features", "a RankingDataset")
    votes = log if isinstance(log, PairVotes) else count_votes(log, rule, correct=correct, threads=threads)
    rows_of_pairs = row_lookup(features, votes.query_ids, votes.document_ids)
    first, second = rows_of_pairs(votes.queries, votes.first), rows_of_pairs(votes.queries, votes.second)
    probability, weight = votes.preferred(smoothing)
    known = (first >= 0) & (second >= 0) & (weight > 0)
    if not known.any():
        raise InputError(
            "no pair of documents with votes has features: the ids of queries and documents must be those of the log"
        )
    flipped = probability < 0.5
    better, worse = np.where(flipped, second, first)[known], np.where(flipped, first, second)[known]
    target = np.where(flipped, 1 - probability, probability)[known]
    order = np.lexsort((worse, better))
    pairs = Preferences(better[order], worse[order], target[order], weight[known][order])
    query_of_row = features.groups.query_of_row
    queries = np.unique(query_of_row[better])
    data = replace(features, preferences=pairs).take_queries(queries)
    return ClickData(data, votes, len(pairs), int((~known & (weight > 0)).sum()))


def row_lookup(data: RankingDataset, query_ids: IdArray, document_ids: IdArray):  # type: ignore[no-untyped-def]
    """A function from places among ids of a log to rows of the data, -1 where it has none."""
    query_of_row = _places(known_queries(data), query_ids)[data.groups.query_of_row]
    keys = query_of_row << 32 | _places(known_documents(data), document_ids)
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]

    def rows_of(queries: IntArray, documents: IntArray) -> IntArray:
        wanted = queries.astype(np.int64) << 32 | documents.astype(np.int64)
        place = np.minimum(np.searchsorted(ordered, wanted), len(ordered) - 1)
        return np.where(ordered[place] == wanted, order[place], -1)

    return rows_of


def _places(ids: IdArray, among: IdArray) -> IntArray:
    """The place of each id among others, which are each there once; a large number where it is not among them."""
    if ids.dtype != among.dtype:
        ids, among = text_ids(ids), text_ids(among)
    place_of = {one: place for place, one in enumerate(among.tolist())}
    nowhere = 2**31 - 1
    return np.fromiter((place_of.get(one, nowhere) for one in ids.tolist()), np.int64, len(ids))


def document_sums(data: RankingDataset, log: ClickLog) -> dict[str, Float64Array]:
    """How often each row of the data was shown and clicked (`shown`, `clicks`), and the sum of its `ranks`."""
    rows_of = row_lookup(data, log.query_ids, log.document_ids)
    lists = log.list_of_row
    rows = rows_of(log.queries[lists], log.documents)
    known, times = rows >= 0, log.list_counts[lists].astype(np.float64)
    return {
        name: np.bincount(rows[known], weights=(times * values)[known], minlength=data.n_docs).astype(np.float64)
        for name, values in (("shown", 1.0), ("clicks", log.clicked), ("ranks", log.ranks))
    }


def vote_sums(data: RankingDataset, votes: PairVotes) -> Float64Array:
    """How far votes speak for each row of the data: by how much its pairs prefer it, each by its weight."""
    rows_of = row_lookup(data, votes.query_ids, votes.document_ids)
    first, second = rows_of(votes.queries, votes.first), rows_of(votes.queries, votes.second)
    probability, weight = votes.preferred()
    known, lead = (first >= 0) & (second >= 0), weight * (probability - 0.5)
    sums = (np.bincount(rows[known], weights=lead[known], minlength=data.n_docs) for rows in (first, second))
    return (next(sums) - next(sums)).astype(np.float64)


def click_rates(data: RankingDataset, log: ClickLog) -> RankingDataset:
    """Give documents their click rates in a log as labels.

    Parameters
    ----------
    data : RankingDataset
        The documents, with ids of queries and documents that are those of the log.
    log : ClickLog
        The log.

    Returns
    -------
    RankingDataset
        The documents of the queries of the log; a document that was never shown is unjudged. `positions` are the ranks
        at which documents were shown, rounded to the nearest where they were several.
    """
    require_type(data, RankingDataset, "data", "a RankingDataset")
    check_log(log)
    sums = document_sums(data, log)
    shown = sums["shown"] > 0
    if not shown.any():
        wanted = "no document of the log has features: the ids of queries and documents must be those of the log"
        raise InputError(wanted)
    divisor = np.maximum(sums["shown"], 1)
    labels = np.where(shown, sums["clicks"] / divisor, np.nan).astype(np.float32)
    unseen = int(log.ranks.max()) + 1  # below everything that was shown
    positions = np.where(shown, np.rint(sums["ranks"] / divisor), unseen).astype(np.int64)
    labelled = replace(data, labels=labels, positions=positions)
    return labelled.take_queries(np.unique(data.groups.query_of_row[shown]))
