"""LightGBM's ndcg and map, evaluated on given scores."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.metrics.evaluation import evaluate

pytestmark = pytest.mark.oracle

CUTOFFS = (1, 2, 3, 5, 10, 100)


def lightgbm_values(judged, metric):
    lightgbm = pytest.importorskip("lightgbm")
    settings = {"objective": "none", "metric": metric, "eval_at": list(CUTOFFS), "num_threads": 1, "verbosity": -1}
    train = lightgbm.Dataset(
        np.zeros((len(judged.labels), 1)),
        judged.labels,
        group=judged.sizes,
        init_score=judged.scores,
        params=settings | {"feature_pre_filter": False},
        free_raw_data=False,
    )
    booster = lightgbm.Booster(settings, train)
    return {name.removeprefix("training "): value for _, name, value, _ in booster.eval_train()}


@pytest.mark.parametrize("metric", ["ndcg", "map"])
def test_means_agree(judged, metric):
    theirs = lightgbm_values(judged, metric)
    ours = evaluate(judged.scores, judged.data, list(theirs), "lightgbm")
    assert sorted(theirs) == sorted(f"{metric}@{k}" for k in CUTOFFS)
    for name, value in theirs.items():
        assert ours[name].mean == pytest.approx(value, rel=1e-6), name
