"""Rankings, and the one place that breaks ties."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.arrays import as_ids
from rankwright.data.groups import Groups
from rankwright.errors import InputError
from rankwright.ranking.order import Ties, break_ties, order_of_ids, rank

GROUPS = Groups.of_sizes([4, 0, 3])
SCORES = [1.0, 2.0, 2.0, 1.0, 5.0, 5.0, 5.0]
LABELS = np.array([0, 1, 3, 2, 1, 0, 2], dtype=np.float32)


def test_equal_scores_stand_in_input_order():
    ranking = rank(SCORES, GROUPS)
    assert ranking.rows.tolist() == [1, 2, 0, 3, 4, 5, 6]
    assert ranking.tied.tolist() == [False, True, False, True, False, True, True]
    assert ranking.tie_blocks.tolist() == [0, 2, 4, 7]
    assert ranking.n_ranked.tolist() == [4, 0, 3]
    assert repr(ranking) == "Ranking(3 queries, 7 documents, 7 ranked)"


@pytest.mark.parametrize(
    ("ties", "rows"),
    [
        (Ties.INPUT, [1, 2, 0, 3, 4, 5, 6]),
        (Ties.PESSIMISTIC, [1, 2, 0, 3, 5, 4, 6]),
        (Ties.OPTIMISTIC, [2, 1, 3, 0, 6, 4, 5]),
        (Ties.DOCUMENT_ID, [2, 1, 3, 0, 4, 6, 5]),
    ],
)
def test_each_rule_orders_equal_scores(ties, rows):
    ids = as_ids(["a", "b", "c", "d", "z", "x", "y"], name="ids")
    assert break_ties(rank(SCORES, GROUPS), ties, labels=LABELS, document_ids=ids).rows.tolist() == rows


def test_ties_can_be_broken_again_by_another_rule():
    ranking = rank(SCORES, GROUPS)
    for first in (Ties.PESSIMISTIC, Ties.OPTIMISTIC, Ties.AVERAGED):
        broken = break_ties(ranking, first, labels=LABELS)
        assert broken.ties is first
        assert break_ties(broken, Ties.INPUT).rows.tolist() == ranking.rows.tolist()


def test_ids_compare_as_text_even_where_they_are_numbers():
    assert order_of_ids([9, 10, 100, 9]).tolist() == [2, 0, 1, 2]
    assert order_of_ids(["9", "10", "B", "a"]).tolist() == [1, 0, 2, 3]


def test_ids_are_asked_for_only_where_scores_are_equal():
    distinct = rank([3.0, 2.0, 1.0, 0.0, 3.0, 2.0, 1.0], GROUPS)
    assert break_ties(distinct, Ties.DOCUMENT_ID).ties is Ties.DOCUMENT_ID
    with pytest.raises(InputError, match="ties=input"):
        break_ties(rank(SCORES, GROUPS), Ties.DOCUMENT_ID)
    with pytest.raises(InputError, match="labels"):
        break_ties(rank(SCORES, GROUPS), Ties.PESSIMISTIC)


def test_infinite_scores_have_a_place_and_nan_has_none():
    assert rank([0.0, -np.inf, np.inf, -0.0], Groups.of_sizes([4])).rows.tolist() == [2, 0, 3, 1]
    assert rank([0.0, -0.0], Groups.of_sizes([2])).tied.tolist() == [False, True]
    with pytest.raises(InputError, match="score 1"):
        rank([0.0, np.nan], Groups.of_sizes([2]))


def test_rows_that_were_not_retrieved_stand_behind_and_are_tied_to_none():
    ranking = rank([1.0, -np.inf, 9.0, 9.0, 7.0, 8.0, 0.0], GROUPS, n_ranked=[2, 0, 3])
    assert ranking.rows.tolist() == [0, 1, 2, 3, 5, 4, 6]
    assert not ranking.has_ties
    with pytest.raises(InputError, match="n_ranked"):
        rank(SCORES, GROUPS, n_ranked=[5, 0, 0])


def test_ranks_are_the_inverse_of_rows():
    assert rank(SCORES, GROUPS).ranks().tolist() == [2, 0, 1, 3, 0, 1, 2]


def test_dropped_rows_close_ranks_and_keep_their_ties():
    ranking = rank(SCORES, GROUPS).of_rows(np.arange(7) != 5)
    assert ranking.rows.tolist() == [1, 2, 0, 3, 4, 6]
    assert ranking.tied.tolist() == [False, True, False, True, False, True]
    assert ranking.groups.sizes.tolist() == ranking.n_ranked.tolist() == [4, 0, 2]
    without_first = rank(SCORES, GROUPS).of_rows(np.arange(7) != 1)
    assert without_first.tied.tolist() == [False, False, True, False, True, True]
    assert without_first.ranks().tolist() == [1, -1, 0, 2, 0, 1, 2]
