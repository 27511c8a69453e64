"""The small dataset of the quickstart."""

from __future__ import annotations

from rankwright.data.dataset import RankingDataset
from rankwright.synthetic.web_search import web_search

N_QUERIES = 250
DOCS_PER_QUERY = 40.0
PART_SHARE = 0.2  # of the queries to validate on, and to test on


def quickstart(seed: int = 0) -> tuple[RankingDataset, RankingDataset, RankingDataset]:
    """A small web-search dataset, split into three parts: 10,000 documents in all.

    Parameters
    ----------
    seed : int, default 0
        The same seed gives the same data.

    Returns
    -------
    train, valid, test : RankingDataset
        150 queries to train on, 50 to validate on and 50 to test on.

    Examples
    --------
    >>> import rankwright as rw
    >>> train, valid, test = rw.synthetic.quickstart()
    >>> train.n_queries, valid.n_queries, test.n_queries
    (150, 50, 50)
    """
    data = web_search(N_QUERIES, docs_per_query=DOCS_PER_QUERY, seed=seed)
    train, valid, test = data.split(valid=PART_SHARE, test=PART_SHARE, seed=seed)
    return train, valid, test
