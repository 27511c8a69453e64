"""CatBoost's ranking metrics, through `catboost.utils.eval_metric`."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.metrics.evaluation import evaluate

pytestmark = pytest.mark.oracle

TOPS = (1, 2, 3, 5, 10, 100)


def catboost_value(judged, labels, metric):
    utils = pytest.importorskip("catboost.utils")
    (value,) = utils.eval_metric(labels.astype(float), judged.scores, metric, group_id=judged.qid, thread_count=1)
    return value


CASES = [
    *[(f"NDCG:top={k}", f"ndcg@{k}", "catboost") for k in TOPS],
    *[(f"NDCG:top={k};type=Exp", f"ndcg@{k}", "catboost(gain=exp2)") for k in TOPS],
    *[(f"NDCG:top={k};denominator=Position", f"ndcg@{k}", "catboost(discount=reciprocal)") for k in TOPS],
    *[(f"DCG:top={k}", f"dcg@{k}", "catboost") for k in TOPS],
    *[(f"MAP:top={k}", f"map@{k}", "catboost") for k in TOPS],
    *[(f"PrecisionAt:top={k}", f"p@{k}", "catboost") for k in TOPS],
    *[(f"RecallAt:top={k}", f"recall@{k}", "catboost") for k in TOPS],
    *[(f"MRR:top={k}", f"mrr@{k}", "catboost") for k in TOPS],
    *[(f"MAP:top={k};border=1.5", f"map@{k}", "catboost(relevant>1.5)") for k in TOPS],
    ("NDCG", "ndcg", "catboost"),
    ("MAP", "map", "catboost"),
    ("MRR", "mrr", "catboost"),
]


@pytest.mark.parametrize(("theirs", "ours", "convention"), CASES)
def test_means_agree(judged, theirs, ours, convention):
    value = catboost_value(judged, judged.labels, theirs)
    result = evaluate(judged.scores, judged.data, [ours], convention)[ours]
    assert result.mean == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("top", TOPS)
def test_err_takes_labels_as_probabilities(judged, top):
    labels = judged.labels / 4
    value = catboost_value(judged, labels, f"ERR:top={top}")
    data = type(judged)(judged.scores, labels, judged.sizes).data
    assert evaluate(judged.scores, data, [f"err@{top}"], "catboost")[f"err@{top}"].mean == pytest.approx(
        value, rel=1e-9
    )


def test_fractional_labels_keep_their_order_and_gain(judged):
    labels = np.where(judged.labels > 0, judged.labels - 0.25, 0.0)
    data = type(judged)(judged.scores, labels, judged.sizes).data
    value = catboost_value(judged, labels, "NDCG:top=5;type=Exp")
    ours = evaluate(judged.scores, data, ["ndcg@5"], "catboost(gain=exp2)")["ndcg@5"]
    assert ours.mean == pytest.approx(value, rel=1e-9)
