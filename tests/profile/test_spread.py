"""A spread is the same for any order of rows and blocks; an index of 0 means alike, and shifts are found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from rankwright.errors import InputError
from rankwright.profile.spread import N_BINS, HashedSample, Spread, TrainingProfile, stability_index

VALUES = arrays(
    np.float32,
    array_shapes(min_dims=2, max_dims=2, max_side=30),
    elements=st.sampled_from([0.0, 1.0, -2.5, 7.0, np.nan]),
)


@given(VALUES, st.randoms())
def test_rows_in_any_order_give_the_same_spread(values, random):
    order = list(range(len(values)))
    random.shuffle(order)
    one, other = Spread.of(values), Spread.of(values[order])
    assert np.array_equal(one.edges, other.edges, equal_nan=True)
    assert np.array_equal(one.counts, other.counts)
    assert (one.counts.sum(axis=1) == len(values)).all()
    assert (one.counts[:, N_BINS] == np.isnan(values).sum(axis=0)).all()


@given(st.lists(st.integers(1, 40), min_size=1, max_size=6), st.randoms())
def test_a_sample_does_not_depend_on_blocks_or_their_order(sizes, random):
    values = np.random.default_rng(0).standard_normal((sum(sizes), 3)).astype(np.float32)
    blocks = np.split(values, np.cumsum(sizes)[:-1])
    random.shuffle(blocks)
    whole, parts = HashedSample(25), HashedSample(25)
    whole.take(values)
    for block in blocks:
        parts.take(block)
    assert np.array_equal(whole.rows(), parts.rows())
    assert len(whole.rows()) == min(25, len(values))


@pytest.mark.parametrize("shift", [-0.7, -0.3, 0.3, 0.7])
@pytest.mark.parametrize("values", [[0] * 60 + [1] * 40, [0] * 900 + list(range(1, 101)), list(range(6)) * 20])
def test_counts_that_are_no_longer_whole_are_in_other_bins(values, shift):
    """Between two counts there is nothing in training: what lies there now has moved."""
    column = np.array(values, np.float32)[:, None]
    spread = Spread.of(column)
    assert (spread.counts == spread.counted(column)).all()
    assert stability_index(spread.counts, spread.counted(column + np.float32(shift)))[0] > 0.5


def test_the_index_is_its_formula():
    before, now = np.array([[10, 30]]), np.array([[20, 20]])
    p, q = np.array([10.5, 30.5]) / 41, np.array([20.5, 20.5]) / 41
    assert stability_index(before, now)[0] == pytest.approx(((p - q) * np.log(p / q)).sum())
    assert stability_index(before, before)[0] == 0


def test_a_profile_survives_a_file_and_what_is_wrong_in_one_is_told():
    values = np.random.default_rng(0).standard_normal((100, 2)).astype(np.float32)
    profile = TrainingProfile(Spread.of(values), None)
    again = TrainingProfile.of_arrays(profile.arrays(), 2)
    assert again is not None
    assert again.scores is None
    assert np.array_equal(again.features.counts, profile.features.counts)
    assert TrainingProfile.of_arrays({}, 2) is None
    edges, counts = profile.features.edges, profile.features.counts
    wrongs: list[dict[str, Any]] = [
        {"profile.edges": edges[:, ::-1].copy(), "profile.counts": counts},
        {"profile.edges": edges, "profile.counts": -counts},
        {"profile.edges": edges},
        {"profile.other": edges},
        {"profile.edges": edges[:1], "profile.counts": counts},
    ]
    for wrong in wrongs:
        with pytest.raises(InputError):
            TrainingProfile.of_arrays(wrong, 2)
