"""scikit-learn's dcg_score and ndcg_score, which average over ties."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.metrics.evaluation import evaluate

pytestmark = pytest.mark.oracle


@pytest.mark.parametrize("cutoff", [1, 2, 3, 5, 10, 100, None])
def test_every_query_agrees(judged, cutoff):
    metrics = pytest.importorskip("sklearn.metrics")
    name = "ndcg" if cutoff is None else f"ndcg@{cutoff}"
    dcg_name = f"dcg@{cutoff or 1000}"
    ours = evaluate(judged.scores, judged.data, [name, dcg_name], "sklearn")
    for query, rows in enumerate(judged.data.groups.slices()):
        labels, scores = judged.labels[None, rows], judged.scores[None, rows]
        if labels.size == 1:
            continue  # it refuses lists of one document
        dcg, ndcg = (score(labels, scores, k=cutoff) for score in (metrics.dcg_score, metrics.ndcg_score))
        assert ours[dcg_name].values[query] == pytest.approx(dcg, rel=1e-12)
        assert ours[name].values[query] == pytest.approx(ndcg, rel=1e-12)


def test_fractional_labels(judged):
    metrics = pytest.importorskip("sklearn.metrics")
    labels = (judged.labels * 0.3).astype(np.float32)
    data = type(judged)(judged.scores, labels, judged.sizes).data
    values = evaluate(judged.scores, data, ["ndcg@5"], "sklearn")["ndcg@5"].values
    for query, rows in enumerate(data.groups.slices()):
        if rows.stop - rows.start > 1:
            expected = metrics.ndcg_score(labels[None, rows], judged.scores[None, rows], k=5)
            assert values[query] == pytest.approx(expected, rel=1e-6)
