"""Metrics of small lists, worked out by hand."""

from __future__ import annotations

from math import isnan, log2

import numpy as np
import pytest

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.metrics.evaluation import evaluate


def value(name, labels, convention="standard", scores=None, **parts):
    """The metric of one query whose documents stand in the order given, or in that of their scores."""
    scores = -np.arange(len(labels)) if scores is None else scores
    data = RankingDataset.from_arrays(np.zeros((len(labels), 1)), labels, group=[len(labels)], **parts)
    return evaluate(scores, data, [name], convention)[name].values[0]


# Labels 2, 0, 1 from the top have gains 3, 0, 1; the ideal order is 3, 1, 0.
STANDARD = [
    ("dcg@2", 3 / log2(2) + 0 / log2(3)),
    ("dcg@3", 3 / log2(2) + 0 / log2(3) + 1 / log2(4)),
    ("ndcg@1", 3 / 3),
    ("ndcg@2", 3 / (3 + 1 / log2(3))),
    ("ndcg", (3 + 1 / log2(4)) / (3 + 1 / log2(3))),
    ("ndcg@10", (3 + 1 / log2(4)) / (3 + 1 / log2(3))),
    ("mean-ndcg", (1 + 3 / (3 + 1 / log2(3)) + (3 + 1 / log2(4)) / (3 + 1 / log2(3))) / 3),
    ("map", (1 / 1 + 2 / 3) / 2),
    ("map@1", (1 / 1) / 1),
    ("map@2", (1 / 1) / 2),
    ("p@2", 1 / 2),
    ("p@10", 2 / 10),
    ("recall@1", 1 / 2),
    ("recall@10", 2 / 2),
    ("hit@1", 1),
    ("mrr", 1 / 1),
    ("wta", 0),
    ("err@3", 3 / 16 / 1 + (1 - 3 / 16) * 0 / 2 + (1 - 3 / 16) * 1 / 16 / 3),
    ("pair-accuracy", 2 / 3),
    ("pair-error", 1 / 3),
]


@pytest.mark.parametrize(("name", "expected"), STANDARD)
def test_three_documents(name, expected):
    assert value(name, [2, 0, 1]) == pytest.approx(expected, rel=1e-15)


NOT_FIRST = [("mrr", 1 / 3), ("mrr@2", 0), ("mrr@3", 1 / 3), ("hit@2", 0), ("hit@3", 1), ("wta", 1), ("err@2", 0)]


@pytest.mark.parametrize(("name", "expected"), NOT_FIRST)
def test_the_first_relevant_document_stands_third(name, expected):
    assert value(name, [0, 0, 1, 1]) == expected


# The two official scripts: ranks 1 and 2 count in full, then 1 / log2(p); NDCG@k of a list shorter than k is 0;
# MeanNDCG is the mean over the list's own depths; P@k takes what the list lacks for irrelevant.
IDEAL = 3 + 1 / 1  # of labels 2, 1, 0
MEAN_NDCG = (3 / 3 + 3 / IDEAL + (3 + 1 / log2(3)) / IDEAL) / 3
THREE_GRADES = (1 + 15 + 7 / log2(3)) / (15 + 7 + 1 / log2(3))
FRACTIONS = (2**0.5 - 1) / (2**1.5 - 1)
SCRIPTS = [
    ("ndcg@1", [2, 0, 1], 3 / 3, 3 / 3),
    ("ndcg@2", [2, 0, 1], 3 / IDEAL, 3 / IDEAL),
    ("ndcg@3", [2, 0, 1], (3 + 1 / log2(3)) / IDEAL, (3 + 1 / log2(3)) / IDEAL),
    ("ndcg@4", [2, 0, 1], 0, 0),
    ("mean-ndcg", [2, 0, 1], MEAN_NDCG, MEAN_NDCG),
    ("p@1", [2, 0, 1], 1, 1),
    ("p@3", [2, 0, 1], 2 / 3, 1 / 3),
    ("p@5", [2, 0, 1], 2 / 5, 1 / 5),
    ("map", [2, 0, 1], (1 / 1 + 2 / 3) / 2, 1 / 1),
    ("map", [0, 1, 2], (1 / 2 + 2 / 3) / 2, 1 / 3),
    ("ndcg@2", [0, 0, 0], 0, 0),
    ("mean-ndcg", [0, 0, 0], 0, 0),
    ("map", [0, 0, 0], 0, 0),
    ("p@2", [0, 0, 0], 0, 0),
    ("map", [1, 1, 0], 1, 0),
    ("ndcg@1", [1], 1, 1),
    ("ndcg@2", [1], 0, 0),
    ("mean-ndcg", [1], 1, 1),
    ("p@2", [1], 1 / 2, 0),
    ("ndcg@1", [0], 0, 0),
    ("ndcg@4", [4, 3, 2, 1], 1, 1),
    ("ndcg@3", [1, 4, 3], THREE_GRADES, THREE_GRADES),
    ("ndcg@2", [0.5, 1.5], 1, 1),
    ("ndcg@1", [0.5, 1.5], FRACTIONS, FRACTIONS),
    ("map", [0.5, 1.5], 1 / 2, 0),
]


@pytest.mark.parametrize(("name", "labels", "letor", "mslr"), SCRIPTS)
def test_the_letor_and_mslr_scripts(name, labels, letor, mslr):
    assert value(name, labels, "letor") == pytest.approx(letor, rel=1e-14)
    assert value(name, labels, "mslr") == pytest.approx(mslr, rel=1e-14)


@pytest.mark.parametrize("convention", ["letor", "mslr"])
def test_the_scripts_break_ties_by_the_order_of_lines(convention):
    assert value("ndcg@1", [2, 3, 0], convention, scores=[1, 1, 0]) == 3 / 7
    assert value("ndcg@1", [3, 2, 0], convention, scores=[1, 1, 0]) == 1


ZERO_BY_THEMSELVES = {"p@2": 0, "mrr": 0, "hit@2": 0, "err@2": 0, "dcg@2": 0, "wta": 1}
NOTHING_RELEVANT = {
    "standard": {"ndcg@2": 0, "mean-ndcg": 0, "map": 0, "recall@2": 0},
    "lightgbm": {"ndcg@2": 1, "mean-ndcg": 1, "map": 1, "recall@2": 1},
    "xgboost": {"ndcg@2": 1, "mean-ndcg": 1, "map": 1, "recall@2": 1},
    "catboost": {"ndcg@2": 1, "mean-ndcg": 1, "map": 0, "recall@2": 1},
    "trec": {"ndcg@2": 0, "mean-ndcg": 0, "map": 0, "recall@2": 0},
    "sklearn": {"ndcg@2": 0, "mean-ndcg": 0, "map": 0, "recall@2": 0},
}


@pytest.mark.parametrize("convention", NOTHING_RELEVANT)
def test_a_query_with_nothing_relevant(convention):
    for name, expected in (NOTHING_RELEVANT[convention] | ZERO_BY_THEMSELVES).items():
        assert value(name, [0, 0], convention) == expected, name


def test_a_query_whose_labels_are_all_equal_has_no_pairs_and_does_not_count():
    for labels in ([0, 0], [2, 2, 2], [1]):
        assert isnan(value("pair-error", labels))
        assert isnan(value("pair-accuracy", labels, "lightgbm"))


def test_what_is_relevant():
    assert value("p@4", [0, 0.25, 1, 2]) == 3 / 4
    assert value("p@4", [0, 0.25, 1, 2], "lightgbm") == 2 / 4
    assert value("p@4", [0, 0.25, 1, 2], "mslr") == 1 / 4
    assert value("p@4", [0.5, 0.25, 1, 2], "catboost") == 2 / 4
    assert value("map", [0, 1, 2, 3], "standard(relevant>2)") == 1 / 4


def test_map_at_a_cutoff_is_over_what_could_be_reached_or_over_all():
    labels = [1, 0, 1, 1]
    assert value("map@2", labels) == (1 / 1) / 2
    assert value("map@2", labels, "trec") == (1 / 1) / 3


def test_precision_is_over_the_cutoff_or_over_a_shorter_list():
    assert value("p@5", [1, 0]) == 1 / 5
    assert value("p@5", [1, 0], "ranklib") == 1 / 2


def test_ties_of_two_documents_in_every_way():
    labels, scores, ids = [2, 0, 1], [1.0, 1.0, 0.5], ["a", "b", "c"]
    gains = {"input": (3, 0), "pessimistic": (0, 3), "optimistic": (3, 0), "averaged": (1.5, 1.5), "docid": (0, 3)}
    for ties, (first, second) in gains.items():
        found = value("dcg@3", labels, f"standard(ties={ties})", scores, document_ids=ids)
        assert found == pytest.approx(first / log2(2) + second / log2(3) + 1 / log2(4), rel=1e-15), ties


def test_pairs_that_tie():
    labels, scores = [1, 0, 2], [1.0, 1.0, 0.0]
    assert value("pair-error", labels, scores=scores) == 2 / 3
    assert value("pair-error", labels, "standard(ties=averaged)", scores) == 2.5 / 3
    assert value("pair-error", labels, "standard(ties=pessimistic)", scores) == 3 / 3


def test_paper_2s_example_of_pairs_against_the_winner():
    """Moving the last of 1,000 documents up to third and the first down to second mends 996 pairs and loses WTA."""
    n_pairs = 2 * 998
    before = [1, *[0] * 998, 1]
    after = [0, 1, 1, *[0] * 997]
    assert (value("pair-error", before), value("wta", before)) == (998 / n_pairs, 0)
    assert (value("pair-error", after), value("wta", after)) == (2 / n_pairs, 1)


def test_err_needs_labels_within_its_scale():
    assert value("err@2", [1.0, 0.5], "catboost") == 1
    assert value("err@2", [0.5, 0.5], "catboost") == 0.5 / 1 + 0.5 * 0.5 / 2
    assert value("err@1", [5], "standard(max_grade=5)") == 31 / 32
    with pytest.raises(InputError, match="label 5"):
        value("err@1", [5])
    with pytest.raises(InputError, match="from 0 to 1"):
        value("err@1", [2], "catboost")


def test_unjudged_documents_hold_their_rank_or_are_left_out():
    labels = [np.nan, 1, np.nan, 2]
    assert value("ndcg", labels) == pytest.approx((1 / log2(3) + 3 / log2(5)) / (3 + 1 / log2(3)))
    assert value("ndcg", labels, "standard(unjudged=skip)") == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))
    assert value("mrr", labels) == 1 / 2
    assert value("mrr", labels, "standard(unjudged=skip)") == 1


def test_scores_that_differ_too_little_for_single_precision_are_tied():
    close = [1.0, 1.0 + 1e-9]
    assert value("ndcg@1", [1, 0], scores=close) == 0
    assert value("ndcg@1", [1, 0], "xgboost", scores=close) == 1
    assert value("ndcg@1", [1, 0], "xgboost", scores=[1e300, 1e301]) == 1
