"""LightGBM's lambdarank forces, as its trees show them: the value of a leaf is -sum(g) / (sum(h) + l2)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rankwright.data.dataset import RankingDataset
from rankwright.metrics.list_metrics import NDCG
from rankwright.objectives import Logistic, MetricDelta, PairwiseObjective

pytestmark = pytest.mark.oracle

N_DOCS, N_KINDS = 60, 4  # LightGBM guesses leaf counts from curvatures, and fails on leaves of a few documents


def leaves_of(lightgbm, kinds, labels, scores, settings) -> tuple[np.ndarray, np.ndarray]:
    """The leaf each document falls into, and that leaf's value."""
    params = {
        "objective": "lambdarank",
        "num_leaves": N_KINDS,
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 0.0,
        "learning_rate": 1.0,
        "verbose": -1,
        "num_threads": 1,
        **settings,
    }
    features = kinds.reshape(-1, 1).astype(float)
    data = lightgbm.Dataset(features, labels, group=[N_DOCS], init_score=scores, params=params)
    model = lightgbm.train(params, data, num_boost_round=1)
    return model.predict(features, pred_leaf=True).ravel(), model.predict(features, raw_score=True)


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("truncation", [5, 30])
@pytest.mark.parametrize("sigma", [1.0, 2.0])
@pytest.mark.parametrize("l2", [0.0, 0.1])  # two of them tell g from h
def test_lambdarank_is_ours_with_its_switches(norm, truncation, sigma, l2):
    lightgbm = pytest.importorskip("lightgbm")
    switches = {"lambdarank_norm": norm, "lambdarank_truncation_level": truncation, "sigmoid": sigma, "lambda_l2": l2}
    ours = PairwiseObjective(
        Logistic(sigma),
        MetricDelta(NDCG(truncation), tail=True),
        truncation=truncation,
        query_norm=norm,
        gap_norm=norm,
    )
    for seed in range(5):
        rng = np.random.default_rng(seed)
        labels, scores = rng.permutation(np.arange(N_DOCS) % 5), rng.normal(size=N_DOCS)
        kinds = rng.permutation(np.arange(N_DOCS) % N_KINDS)
        leaf, value = leaves_of(lightgbm, kinds, labels, scores, switches)
        data = RankingDataset.from_arrays(np.zeros((N_DOCS, 1)), labels, group=[N_DOCS])
        found = ours.bind(data)(scores)
        gradient, curvature = (np.bincount(leaf, part)[leaf] for part in (found.gradient, found.curvature))
        assert len(np.unique(leaf)) > 1
        assert_allclose(-gradient / (curvature + l2), value, rtol=1e-3, atol=1e-4)  # its sigmoid comes from a table
