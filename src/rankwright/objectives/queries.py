"""One query with scores, to look at an objective's forces on it."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError

# Good and bad documents, some in the right order and some in the wrong one.
EXAMPLE_LABELS = (3.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 1.0)
EXAMPLE_SCORES = (0.6, 2.0, -0.4, 1.3, 0.1, -1.0, -1.7, -2.2)
IDS_SHOWN = 5


def example_query() -> tuple[RankingDataset, Float64Array]:
    """A query of eight documents without features, and scores that put some of them in the wrong order."""
    n_docs = len(EXAMPLE_LABELS)
    return RankingDataset.from_arrays(np.zeros((n_docs, 0)), EXAMPLE_LABELS, group=[n_docs]), np.array(EXAMPLE_SCORES)


def query_with_scores(
    documents: RankingDataset, query: str | None = None, scores: Float64Array | None = None, *, name: str = "the data"
) -> tuple[RankingDataset, Float64Array]:
    """The query of that id, by default the first, and the scores of its documents.

    `scores` has one for each document, in the caller's order; by default they are random. `name` is what errors call
    the data.
    """
    given = np.random.default_rng(0).normal(size=documents.n_docs) if scores is None else scores
    ids = [str(one) for one in documents.qid[documents.groups.offsets[:-1]]]
    if query is not None and query not in ids:
        more = ", …" if len(ids) > IDS_SHOWN else ""
        raise InputError(f"{name} has no query {query!r}; its queries are {', '.join(ids[:IDS_SHOWN])}{more}")
    chosen = 0 if query is None else ids.index(query)
    rows = documents.groups.rows_of(np.array([chosen]))
    return documents.take_queries([chosen]), documents.from_source_order(given)[rows]
