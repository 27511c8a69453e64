"""The same scores under every convention."""

from __future__ import annotations

import json

import numpy as np
import pytest

from rankwright.data.dataset import RankingDataset
from rankwright.metrics.convention import CONVENTIONS, RULES
from rankwright.metrics.convention_comparison import compare_conventions, phrase_of
from rankwright.metrics.evaluation import evaluate


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 15, size=50)
    n = int(sizes.sum())
    labels = rng.choice([0, 0, 0, 1, 2], size=n)
    ids = [f"d{row}" for row in range(n)]
    return RankingDataset.from_arrays(rng.integers(0, 5, size=(n, 1)), labels, group=sizes, document_ids=ids)


def test_each_convention_has_the_numbers_it_has_alone(data):
    scores = data.features[:, 0]
    comparison = compare_conventions(scores, data, ["ndcg@10", "map"])
    assert list(comparison.evaluations) == list(CONVENTIONS)
    for name, evaluation in comparison.evaluations.items():
        for metric in ("ndcg@10", "map"):
            assert evaluation[metric].mean == evaluate(scores, data, [metric], name)[metric].mean


def test_reasons_tell_what_differs_and_by_how_much(data):
    scores = data.features[:, 0]
    why = compare_conventions(scores, data, ["ndcg@10"]).why
    change = (
        evaluate(scores, data, ["ndcg@10"], "skip-empty")["ndcg@10"].mean
        - evaluate(scores, data, ["ndcg@10"])["ndcg@10"].mean
    )
    assert why["standard"] == "counts these metrics as standard does"
    assert why["skip-empty"] == f"a query with nothing relevant is left out (ndcg@10 {change:+.4f})"
    assert "NDCG@k of a list shorter than k is 0 (ndcg@10 -" in why["letor"]
    assert "relevant" not in why["mslr"].replace("nothing relevant", "")


def test_what_a_convention_cannot_count_is_missing_and_said(data):
    comparison = compare_conventions(data.features[:, 0], data, ["err@5", "mrr"])
    assert list(comparison.evaluations["catboost"].results) == ["mrr"]
    assert "no err@5: ERR under catboost takes labels from 0 to 1" in comparison.why["catboost"]
    assert comparison.table()[list(CONVENTIONS).index("catboost")][:2] == ["catboost", "-"]


def test_without_document_ids_ties_fall_back_to_input_order_and_it_is_said(small_data):
    comparison = compare_conventions(np.zeros(small_data.n_docs), small_data, ["mrr"])
    assert "trec(ties=input)" in comparison.evaluations
    assert "need ids, which this data lacks" in comparison.why["trec(ties=input)"]


def test_it_prints_and_serialises(data):
    comparison = compare_conventions(data.features[:, 0], data, ["ndcg@10", "map"])
    document = json.loads(json.dumps(comparison.to_dict(), allow_nan=False))
    assert list(document["conventions"]) == list(CONVENTIONS)
    assert document["conventions"]["letor"]["metrics"].keys() == {"ndcg@10", "map"}
    assert document["conventions"]["letor"]["why"] == comparison.why["letor"]
    text = str(comparison)
    assert "with nothing relevant" in text
    assert all(name in text for name in CONVENTIONS)


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_can_be_told_in_words(rule):
    for convention in CONVENTIONS.values():
        assert phrase_of(rule, convention)
