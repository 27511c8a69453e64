"""Clicks simulated on judged data: users of a known kind look at the lists of a logging ranker.

The same seed gives a query the same users, whatever the other queries and their order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float64Array, IdArray, IntArray, Uint64Array, as_scores
from rankwright.clicks.logs.click_log import ClickLog, id_codes
from rankwright.clicks.models.behaviour import Behaviour, Chain, PositionBased, Shown, UserBrowsing, drawn_clicks
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, UnknownNameError, require
from rankwright.kernels.naive.common import mix, unit_interval
from rankwright.ranking.order import rank

# The literature's constants: how likely each rank is examined (Joachims 2005, as in Ai et al. 2018), and how likely a
# user who examines a document of grade 0 to 4 clicks it, with one click in ten on what is irrelevant.
EXAMINATION = np.array([0.68, 0.61, 0.48, 0.34, 0.28, 0.20, 0.11, 0.10, 0.08, 0.06])
CLICKS_OF_GRADES = (0.1, 0.16, 0.28, 0.52, 1.0)
PERSISTENCE = 0.9  # of users of the dynamic Bayesian network
CONTINUATION = 0.7  # after a click, of users with dependent clicks; it falls as examination does


def _browsing(examination: Float64Array) -> UserBrowsing:
    """Examination falls with the distance to the last click, or to the top."""
    ranks, last = np.mgrid[0 : len(examination), 0 : len(examination) + 1]
    return UserBrowsing(examination[np.maximum(ranks - last, 0)])


# Each kind of user by the name of its click model, made from chances of examination.
USERS: Mapping[str, Callable[[Float64Array], Behaviour]] = {
    "rank-rate": lambda examination: PositionBased(examination * np.mean(CLICKS_OF_GRADES[:3]), attracts=False),
    "document-rate": lambda _: PositionBased(np.ones(1)),
    "cascade": lambda _: Chain(np.zeros(1)),
    "dcm": lambda examination: Chain(CONTINUATION * examination / examination[0]),
    "sdbn": lambda _: Chain(np.ones(1), satisfies=True),
    "pbm": PositionBased,
    "ubm": _browsing,
    "dbn": lambda _: Chain(np.full(1, PERSISTENCE), persistence=PERSISTENCE, satisfies=True),
}


def click_chances(labels: ArrayLike, noise: float = 0.1, largest: float | None = None) -> Float64Array:
    """How likely a user who examines a document clicks it, by its label.

    Parameters
    ----------
    labels : array-like
        Labels, 0 or more.
    noise : float, default 0.1
        The chance of a click on what is irrelevant.
    largest : float, optional
        The label that is clicked for certain; by default the largest one.

    Returns
    -------
    array of float64
        noise + (1 - noise) · (2^label - 1) / (2^largest - 1).

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.clicks.click_chances([0, 1, 2, 3, 4]).round(2).tolist()
    [0.1, 0.16, 0.28, 0.52, 1.0]
    """
    values = np.asarray(labels, np.float64)
    top = float(values.max(initial=0)) if largest is None else largest
    require(top > 0, "no label is above 0: there is nothing to click on")
    require(0 <= noise < 1, f"noise must be 0 or more and below 1, got {noise}")
    return noise + (1 - noise) * (2**values - 1) / (2**top - 1)


def simulate(
    data: RankingDataset,
    scores: ArrayLike,
    *,
    users: str = "pbm",
    sessions: int = 100,
    depth: int = 10,
    eta: float = 1.0,
    noise: float = 0.1,
    examination: Sequence[float] | None = None,
    largest: float | None = None,
    swaps: float = 0.0,
    seed: int = 0,
) -> ClickLog:
    """Simulate clicks on judged data.

    Parameters
    ----------
    data : RankingDataset
        Documents with labels; an unjudged one counts as irrelevant.
    scores : array-like
        A score for each row, by which the logging ranker ordered the documents.
    users : str, default "pbm"
        How users behave: the name of a click model (`rank-rate`, `document-rate`, `cascade`, `dcm`, `sdbn`, `pbm`,
        `ubm`, `dbn`).
    sessions : int, default 100
        How many users see the list of each query.
    depth : int, default 10
        How many documents are shown.
    eta : float, default 1.0
        The power that chances of examination are raised to: 0 is no bias.
    noise : float, default 0.1
        The chance of a click on what is irrelevant and examined.
    examination : sequence of float, optional
        The chance of examination of each rank; by default .68 .61 .48 .34 .28 .20 .11 .10 .08 .06.
    largest : float, optional
        The label that attracts and satisfies for certain; by default the largest one of the data.
    swaps : float, default 0.0
        How likely each pair of neighbours is shown the other way round, drawn anew for every user: what shows how
        clicks depend on the place.
    seed : int, default 0
        The same seed gives the same clicks.

    Returns
    -------
    ClickLog
        A list for each user. Documents are known by their ids, or without ids by their row.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(5, docs_per_query=20, seed=1)
    >>> log = rw.clicks.simulate(data, -data.features[:, 0], sessions=20)
    >>> log.n_lists, log.n_shown
    (100, 860)
    """
    if users not in USERS:
        raise UnknownNameError("kind of user", users, known=USERS)
    require(sessions >= 1 and depth >= 1, f"sessions and depth must be 1 or more, got {sessions} and {depth}")
    require(0 <= swaps <= 1, f"swaps must lie between 0 and 1, got {swaps}")
    require(0 <= noise < 1, f"noise must be 0 or more and below 1, got {noise}")
    if data.labels is None:
        raise InputError("clicks are simulated on labels, and the dataset has none")
    chances = _examination(EXAMINATION if examination is None else examination, eta)
    labels = np.nan_to_num(data.labels.astype(np.float64), nan=0.0)
    relevance = np.minimum(click_chances(labels, 0.0, largest), 1.0)
    attraction = noise + (1 - noise) * relevance
    ranked = rank(as_scores(scores, length=data.n_docs), data.groups)
    sizes = np.minimum(data.groups.sizes, depth)
    keys = _keys(known_queries(data), seed)
    rows = np.full((data.n_queries, depth), -1, np.int64)
    there = np.arange(depth) < sizes[:, None]
    rows[there] = ranked.rows[np.repeat(data.groups.offsets[:-1], sizes) + _within(sizes)]
    queries = np.repeat(np.arange(data.n_queries), sessions)
    users_of = mix(mix(keys)[queries] ^ np.tile(np.arange(sessions, dtype=np.uint64), data.n_queries))
    shown_rows = _swapped(rows[queries], there[queries], users_of, swaps)
    shown = Shown(attraction[shown_rows], relevance[shown_rows])
    random = np.stack([unit_interval(mix(users_of ^ np.uint64(place + 1))) for place in range(depth)], axis=1)
    clicked = drawn_clicks(USERS[users](chances), shown, random)
    return _as_log(data, queries, shown_rows, there[queries], clicked)


def _examination(chances: ArrayLike, eta: float) -> Float64Array:
    """The chances of examination to the power `eta`."""
    given = np.atleast_1d(np.asarray(chances, np.float64))
    wanted = f"examination must be chances from 0 to 1, one for each rank, got {np.array2string(given, threshold=10)}"
    require(given.size > 0 and bool(((given >= 0) & (given <= 1)).all()), wanted)
    require(0 <= eta < np.inf, f"eta must be 0 or more, got {eta}")
    return given**eta


def known_queries(data: RankingDataset) -> IdArray:
    """The ids of queries, or where there are none, their numbers."""
    return np.arange(data.n_queries) if data.query_ids is None else data.query_ids


def known_documents(data: RankingDataset) -> IdArray:
    """The ids of documents, or where there are none, the numbers of their rows."""
    return np.arange(data.n_docs) if data.document_ids is None else data.document_ids


def _as_log(
    data: RankingDataset, queries: IntArray, rows: IntArray, there: np.ndarray, clicked: np.ndarray
) -> ClickLog:
    query_ids, of_query = id_codes(known_queries(data), "query ids")
    document_ids, of_row = id_codes(known_documents(data), "document ids")
    return ClickLog(
        queries=of_query[queries],
        offsets=np.concatenate([np.zeros(1, np.int64), np.cumsum(there.sum(axis=1))]),
        documents=of_row[rows[there]],
        clicked=np.ascontiguousarray(clicked[there]),
        query_ids=query_ids,
        document_ids=document_ids,
    )


def _within(sizes: IntArray) -> IntArray:
    """The numbers from 0 on, anew in each group of these sizes."""
    return np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)


def _swapped(rows: IntArray, there: np.ndarray, users: Uint64Array, swaps: float) -> IntArray:
    """The lists with neighbours swapped here and there: pairs begin at the first or the second rank, by chance."""
    if swaps == 0:
        return rows
    rows = rows.copy()
    start = (mix(users ^ np.uint64(1 << 40)) >> np.uint64(63)).astype(np.int64)
    for upper in range(rows.shape[1] - 1):
        drawn = unit_interval(mix(users ^ np.uint64((1 << 41) + upper))) < swaps
        chosen = np.flatnonzero((upper % 2 == start) & there[:, upper + 1] & drawn)
        rows[chosen[:, None], [upper, upper + 1]] = rows[chosen[:, None], [upper + 1, upper]]
    return rows


def _keys(ids: IdArray, seed: int) -> Uint64Array:
    """A random number for each query, which depends on its id and the seed alone."""
    digests = (hashlib.blake2b(f"{seed} {one}".encode(), digest_size=8).digest() for one in ids.tolist())
    return np.frombuffer(b"".join(digests), np.uint64)
