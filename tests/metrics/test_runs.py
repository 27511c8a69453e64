"""Runs against judgments: what was retrieved, what was not, what nobody judged."""

from __future__ import annotations

from math import log2

import pytest

from rankwright.errors import InputError
from rankwright.formats.trec import Qrels, Run
from rankwright.metrics.runs import evaluate_run

QRELS = Qrels(["q1", "q1", "q1", "q2", "q3"], ["a", "b", "c", "a", "x"], [2, 0, 1, 1, 1])
RUN = Run(["q1", "q1", "q9", "q1", "q2"], ["z", "a", "a", "b", "n"], [3, 2, 1, 1, 5])


def values(name, convention="trec", **settings):
    evaluation = evaluate_run(RUN, QRELS, [name], convention, **settings)
    return dict(zip(evaluation.query_ids.tolist(), evaluation[name].values.tolist(), strict=True))


def test_queries_of_both_count():
    assert list(values("map")) == ["q1", "q2"]
    assert list(values("map", complete=True)) == ["q1", "q2", "q3"]


def test_relevant_documents_that_were_not_retrieved_count_as_missed():
    # q1's list is z (unjudged), a (2), b (0); c (1) was not retrieved.
    assert values("map")["q1"] == (1 / 2) / 2
    assert values("recall@10")["q1"] == 1 / 2
    assert values("ndcg")["q1"] == pytest.approx((2 / log2(3)) / (2 + 1 / log2(3)))
    assert values("mean-ndcg")["q1"] == pytest.approx(
        (0 + (2 / log2(3)) / (2 + 1 / log2(3)) + (2 / log2(3)) / (2 + 1 / log2(3))) / 3
    )
    assert values("p@2")["q1"] == 1 / 2
    assert values("p@10", "ranklib")["q1"] == 1 / 3


def test_a_query_for_which_nothing_was_retrieved_has_nothing():
    for name in ("map", "ndcg", "ndcg@5", "mean-ndcg", "mrr", "p@5", "recall@5", "hit@5", "err@5", "dcg@5"):
        assert values(name, complete=True)["q3"] == 0, name


def test_pairs_with_a_document_that_was_not_retrieved():
    # Of a > b, a > c, c > b (and the unjudged z as 0: a > z, c > z): a stands before b and c; c is missing.
    assert values("pair-error")["q1"] == 3 / 5
    assert values("pair-error", "trec(unjudged=skip)")["q1"] == 1 / 3


def test_unjudged_documents_can_be_left_out():
    assert values("mrr")["q1"] == 1 / 2
    assert values("mrr", "trec(unjudged=skip)")["q1"] == 1


def test_ids_are_text_whatever_their_type():
    qrels = Qrels([7, 7], [1, 2], [1, 0])
    run = Run(["7", "7"], ["2", "1"], [1.0, 0.5])
    assert evaluate_run(run, qrels, ["mrr"])["mrr"].values.tolist() == [1 / 2]


def test_a_document_given_twice_is_refused():
    twice = Run(["q1", "q1"], ["a", "a"], [1.0, 2.0])
    with pytest.raises(InputError, match="the run retrieves document 'a' of query 'q1' twice"):
        evaluate_run(twice, QRELS)
    judged_twice = Qrels(["q1", "q1"], ["a", "a"], [1, 2])
    with pytest.raises(InputError, match="the qrels judge document 'a' of query 'q1' twice"):
        evaluate_run(RUN, judged_twice)


def test_nothing_in_common_leaves_nothing_to_count():
    qrels = Qrels(["other"], ["a"], [1])
    assert evaluate_run(RUN, qrels, ["map"]).n_queries == 0
