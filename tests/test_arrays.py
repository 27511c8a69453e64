from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.arrays import (
    as_features,
    as_ids,
    as_scores,
    as_vector,
    distinct_ids,
    ids_of_text,
    join_ids,
    real_number,
    share,
    text_ids,
    thread_count,
    whole_number,
)
from rankwright.errors import InputError, SettingError

ids_as_text = st.lists(
    st.one_of(st.integers(-(2**70), 2**70).map(str), st.text(max_size=5), st.from_regex(r"\A[-+0]?\d+\Z"))
)


def test_an_array_that_fits_is_not_copied():
    scores = np.array([1.0, 2.0])
    features = np.zeros((2, 3), np.float32)
    assert as_scores(scores) is scores
    assert as_features(features) is features


def test_scores_are_never_nan():
    with pytest.raises(InputError, match="score 1 is"):
        as_scores([0.0, np.nan])


def test_a_vector_has_one_dimension_and_its_length():
    with pytest.raises(InputError, match=r"labels must have one dimension, got shape \(1, 2\)"):
        as_vector([[1, 2]], name="labels", dtype=np.float32)
    with pytest.raises(InputError, match="labels must have 3 values, got 2"):
        as_vector([1, 2], name="labels", dtype=np.float32, length=3)


@pytest.mark.parametrize("ids", [[3, 1], [3.0, 1.0], np.array([3, 1], dtype=object), np.array([3, 1], np.uint8)])
def test_whole_numbers_become_integers(ids):
    assert as_ids(ids, name="qid").dtype == np.int64
    assert as_ids(ids, name="qid").tolist() == [3, 1]


def test_other_ids_stay_text():
    assert as_ids(["q1", "a rather longer name"], name="qid").tolist() == ["q1", "a rather longer name"]


def test_booleans_are_no_ids():
    with pytest.raises(InputError, match="got booleans"):
        as_ids([True, False], name="qid")


def test_threads_are_a_positive_whole_number_or_all():
    assert thread_count(3) == 3
    assert thread_count(None) >= 1
    with pytest.raises(SettingError, match="between 1 and 1,024, got 0"):
        thread_count(0)
    with pytest.raises(SettingError, match="whole number, got 'two'"):
        thread_count("two")  # type: ignore[arg-type]


@given(ids_as_text)
def test_ids_give_back_their_text(ids):
    assert text_ids(ids_of_text(ids)).tolist() == ids


@given(ids_as_text, ids_as_text)
def test_parts_join_to_the_ids_of_all(first, second):
    joined = join_ids([ids_of_text(first), ids_of_text(second)])
    together = ids_of_text(first + second)
    assert joined.dtype == together.dtype
    np.testing.assert_array_equal(joined, together)


@pytest.mark.parametrize("wrong", ["3", None, True, 2.5, 0, float("nan")])
def test_a_whole_number_is_one_and_large_enough(wrong):
    assert whole_number(np.int64(3), "n", least=1) == 3
    with pytest.raises(SettingError, match="n must be a whole number of 1 or more"):
        whole_number(wrong, "n", least=1)


@pytest.mark.parametrize("wrong", ["3", None, True, -1, float("nan"), float("inf")])
def test_a_number_is_finite_and_large_enough(wrong):
    assert real_number(np.float32(0.5), "x") == 0.5
    with pytest.raises(SettingError, match="x must be a finite number of 0 or more"):
        real_number(wrong, "x")


@pytest.mark.parametrize("wrong", ["0.5", None, True, 0, 1, float("nan")])
def test_a_share_lies_between_0_and_1(wrong):
    assert share(0.5, "level") == 0.5
    with pytest.raises(SettingError, match="level must lie between 0 and 1"):
        share(wrong, "level")


@pytest.mark.parametrize("count", [-1, 1025, 2**31, 2**64])
def test_numbers_of_threads_that_no_machine_has_are_refused(count, monkeypatch):
    with pytest.raises(SettingError, match=f"threads must be between 1 and 1,024, got {count}"):
        thread_count(count)
    monkeypatch.setenv("OMP_NUM_THREADS", str(2**31))
    with pytest.raises(SettingError, match="OMP_NUM_THREADS must be between 1 and 1,024, got 2147483648"):
        thread_count(None)


def test_distinct_ids_of_texts_in_two_sorted_runs():
    """An order on which NumPy's unstable sorts of texts end the process."""
    ids = np.sort(np.array([f"d{row}" for row in range(3000)], np.dtypes.StringDType()), kind="stable")
    twice = np.concatenate([ids, ids])
    distinct, places = distinct_ids(twice)
    assert (distinct == ids).all()
    assert (distinct[places] == twice).all()


def test_distinct_ids_are_those_of_numpy_for_numbers():
    ids = np.random.default_rng(0).integers(0, 20, 100)
    distinct, places = np.unique(ids, return_inverse=True)
    found = distinct_ids(ids)
    assert found[0].tolist() == distinct.tolist()
    assert found[1].tolist() == places.tolist()
    assert distinct_ids(ids[:0])[0].tolist() == []
