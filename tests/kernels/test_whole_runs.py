"""One small run of each family from end to end: what assertions in kernels are tried with on the debug build."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankwright as rw

NET: dict[str, Any] = {"epochs": 2, "hidden": (4,)}
FAMILIES: list[Any] = [
    rw.LambdaMART(n_trees=3, max_leaves=6, min_docs_in_leaf=5),
    rw.BagBoo(n_bags=2, n_trees=2, max_leaves=6, min_docs_in_leaf=5),
    rw.RankNet(**NET),
    rw.LambdaRank(**NET),
    rw.ListNet(epochs=2),
    rw.BoltzRank(epochs=2),
    rw.SortNet(max_iter=1, epochs=2, hidden=4),
    rw.LinearRegression(),
    rw.PRank(epochs=2),
    rw.KernelPRank(epochs=2, max_support=30),
    rw.CRR(epochs=2),
    rw.RankSVM(max_iter=3),
    rw.SmoothRank(max_iter=3),
    rw.RankSVMStruct(max_iter=5),
    rw.SVMMAP(max_iter=5),
    rw.AdaRank(n_rounds=3),
    rw.RankBoost(n_rounds=3),
    rw.FRank(n_rounds=3),
    rw.CoordinateAscent(n_sweeps=1),
]


@pytest.mark.parametrize("ranker", FAMILIES, ids=lambda ranker: type(ranker).__name__)
def test_a_file_is_learned_from_and_ranked(ranker, small_data, tmp_path):
    rw.write_svmlight(small_data, tmp_path / "train.txt")
    data = rw.read_svmlight(tmp_path / "train.txt")
    ranker.set_params(threads=2).fit(data)
    scores = ranker.predict(data)
    assert np.isfinite(scores).all()
    assert 0 < rw.evaluate(scores, data, ["ndcg@5", "map", "err@5", "mean-ndcg", "pair-error"])["ndcg@5"].mean <= 1
