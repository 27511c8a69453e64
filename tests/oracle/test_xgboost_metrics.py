"""XGBoost's ndcg, map and pre, with and without the minus that makes queries with nothing relevant count 0."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.metrics.evaluation import evaluate

pytestmark = pytest.mark.oracle

CUTOFFS = (1, 2, 3, 5, 10, 100)


def xgboost_values(judged, labels, metrics):
    xgboost = pytest.importorskip("xgboost")
    matrix = xgboost.DMatrix(
        np.zeros((len(labels), 1)), labels, base_margin=judged.scores.astype(np.float32), qid=judged.qid
    )
    settings = {"objective": "rank:pairwise", "eval_metric": metrics, "nthread": 1, "base_score": 0.0}
    booster = xgboost.Booster(settings, [matrix])
    parts = booster.eval(matrix, "x", 0).split()[1:]
    return {name.removeprefix("x-"): float(value) for name, value in (part.split(":") for part in parts)}


@pytest.mark.parametrize("ending", ["", "-"])
@pytest.mark.parametrize(("theirs", "ours"), [("ndcg", "ndcg"), ("map", "map"), ("pre", "p")])
def test_means_agree(judged, theirs, ours, ending):
    labels = judged.labels if theirs == "ndcg" else np.minimum(judged.labels, 1)  # it takes binary labels alone there
    names = {f"{theirs}@{k}{ending}": f"{ours}@{k}" for k in CUTOFFS}
    values = xgboost_values(judged, labels, list(names))
    convention = "xgboost(empty=zero)" if ending else "xgboost"
    data = type(judged)(judged.scores, labels, judged.sizes).data
    evaluation = evaluate(judged.scores, data, list(names.values()), convention)
    assert values.keys() == names.keys()
    for name, value in values.items():
        assert evaluation[names[name]].mean == pytest.approx(value, rel=1e-5), name


def test_scores_that_single_precision_cannot_tell_apart_are_tied(judged):
    jitter = np.random.default_rng(0).uniform(0, 1e-10, size=len(judged.scores))
    close = type(judged)(judged.scores + jitter, judged.labels, judged.sizes)
    value = xgboost_values(close, close.labels, ["ndcg@5"])["ndcg@5"]
    assert evaluate(close.scores, close.data, ["ndcg@5"], "xgboost")["ndcg@5"].mean == pytest.approx(value, rel=1e-5)
