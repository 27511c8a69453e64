"""What data goes through before it is learned from."""

from __future__ import annotations

import pytest

import rankwright as rw
from rankwright.errors import InputError


@pytest.mark.parametrize("ranker", [rw.LambdaMART, rw.MART, rw.LambdaRank])
def test_labels_that_cannot_be_measured_are_refused(ranker):
    data = rw.RankingDataset.from_arrays([[1.0], [2.0], [3.0]], [0, 1, 2000], group=[3])
    with pytest.raises(InputError, match=r"label 2000 has no finite gain .* metric=ndcg@10:standard\(gain=linear\)"):
        ranker(threads=1).fit(data)
