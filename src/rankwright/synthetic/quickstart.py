"""The small data set of the quickstart."""

from __future__ import annotations

from rankwright.data.dataset import RankingDataset
from rankwright.synthetic.web_search import web_search

N_QUERIES = 250
DOCS_PER_QUERY = 40.0
PART_SHARE = 0.2  # of the queries to validate on, and to test on


def quickstart(seed: int = 0) -> tuple[RankingDataset, RankingDataset, RankingDataset]:
    """Web-search-like data to train on (150 queries), to validate on (50) and to test on (50); 10,000 documents."""
    data = web_search(N_QUERIES, docs_per_query=DOCS_PER_QUERY, seed=seed)
    train, valid, test = data.split(valid=PART_SHARE, test=PART_SHARE, seed=seed)
    return train, valid, test
