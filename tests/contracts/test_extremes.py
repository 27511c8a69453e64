"""Laws of extreme features: denormal numbers, and those near the end of single precision."""

from __future__ import annotations

import re
from contextlib import nullcontext, suppress

import numpy as np
import pytest
from tests.contracts.trained import learnable, quick, trained

import rankwright as rw
from rankwright.catalog.rankers import RANKERS
from rankwright.errors import InputError

LABELS, SIZES = np.tile([0, 1, 2, 0, 1, 2], 4), np.full(4, 6)
PLAIN = np.random.default_rng(0).normal(size=(24, 3)).astype(np.float32)
DENORMAL, HUGE = LABELS * np.float32(1e-40), np.where(LABELS > 1, np.float32(3e38), np.float32(-3e38))
EXTREME = {
    "a denormal column": np.column_stack([DENORMAL, PLAIN]),
    "denormal columns": PLAIN * np.float32(1e-40),
    "a huge column": np.column_stack([HUGE, PLAIN]),
    "huge columns": PLAIN * np.float32(1e38),
    "one huge value": np.where(np.arange(72).reshape(24, 3) == 10, np.float32(-3e38), PLAIN),
    "both": np.column_stack([DENORMAL, HUGE]),
}


def documents(features: np.ndarray) -> rw.RankingDataset:
    return rw.RankingDataset.from_arrays(features, LABELS, group=SIZES)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", RANKERS)
class TestRankers:
    def test_training_gives_finite_scores_or_names_the_feature(self, name):
        for what, features in EXTREME.items():
            told, found = "", np.zeros(1)
            try:
                found = quick(name, threads=1).fit(documents(features)).predict(documents(features))
            except InputError as error:
                told = str(error)
            assert np.isfinite(found).all()
            assert not told or re.fullmatch(r"(feature \d has the value|row \d+ has) -?3e\+38.* leads beyond.*", told)
            assert not told or "denormal" not in what

    def test_scoring_gives_finite_scores_or_one_line(self, name):
        for value in (1e-40, -1e-40, 3e38, -3e38):
            for columns in ([0], [0, 1, 2, 3]):
                features = learnable().features[:24].copy()
                features[:, columns] = value
                with suppress(InputError) if abs(value) > 1 else nullcontext():
                    assert np.isfinite(trained(name).predict(documents(features))).all()
