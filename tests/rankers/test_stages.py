"""What data goes through before it is learned from."""

from __future__ import annotations

import pytest

import rankwright as rw
from rankwright.errors import InputError


@pytest.mark.parametrize("ranker", [rw.LambdaMART, rw.MART, rw.LambdaRank])
def test_labels_that_cannot_be_measured_are_refused(ranker):
    data = rw.RankingDataset.from_arrays([[1.0], [2.0], [3.0]], [0, 1, 2000], group=[3])
    with pytest.raises(InputError, match=r"label 2000 has no finite gain .* as in ndcg@10:standard\(gain=linear\)"):
        ranker(threads=1).fit(data)


def test_a_ranker_that_aims_at_no_metric_learns_from_them_with_a_warning(caplog):
    data = rw.RankingDataset.from_arrays([[1.0], [2.0], [3.0]], [0, 1, 2000], group=[3])
    rw.RankSVM(threads=1).fit(data)
    assert "ranksvm learns from it, but ndcg@10 cannot measure it" in caplog.text


def test_linear_gains_take_any_label():
    data = rw.RankingDataset.from_arrays([[1.0], [2.0], [3.0]], [0, 1, 2000], group=[3])
    linear = "ndcg@10:standard(gain=linear)"
    assert rw.LambdaMART(n_trees=1, min_docs_in_leaf=1, metric=linear, threads=1).fit(data).n_steps_ == 1
