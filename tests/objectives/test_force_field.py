"""The query that an objective is looked at on."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import InputError
from rankwright.objectives.force_field import example_query, query_with_scores


@pytest.fixture
def documents():
    """Queries b and a, whose rows do not stand together."""
    return rw.RankingDataset.from_arrays(np.arange(5.0)[:, None], [2, 0, 1, 1, 0], qid=["b", "a", "b", "a", "b"])


def test_the_example_has_a_document_a_score_and_errors_to_mend():
    query, scores = example_query()
    assert (query.n_queries, query.n_docs) == (1, len(scores))
    assert query.labels is not None
    assert np.argmax(query.labels) != np.argmax(scores)


@pytest.mark.parametrize(("query", "rows"), [("a", [1, 3]), ("b", [0, 2, 4])])
def test_the_query_of_an_id_has_its_own_scores(documents, query, rows):
    chosen, scores = query_with_scores(documents, query, np.arange(10.0, 15.0))
    assert chosen.features[:, 0].tolist() == rows
    assert scores.tolist() == [10 + row for row in rows]


def test_the_first_query_and_the_same_random_scores_are_the_default(documents):
    chosen, scores = query_with_scores(documents)
    assert chosen.n_queries == 1
    np.testing.assert_array_equal(scores, query_with_scores(documents)[1])


def test_an_unknown_query_is_told_with_the_known_ones(documents):
    with pytest.raises(InputError, match="the data has no query 'c'; its queries are "):
        query_with_scores(documents, "c")
