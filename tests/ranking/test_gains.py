"""Gains, discounts and ideal gains."""

from __future__ import annotations

import pickle
from math import log2

import numpy as np
import pytest

from rankwright.data.groups import Groups
from rankwright.errors import InputError, SettingError
from rankwright.ranking.gains import DISCOUNTS, EXPONENTIAL, GAINS, LETOR, LINEAR, LOG2, Gain, ideal_gains


def labels(*values):
    return np.array(values, dtype=np.float32)


def test_gains_of_whole_and_fractional_labels():
    assert EXPONENTIAL(labels(0, 1, 4, 0.5)).tolist() == [0, 1, 15, 2**0.5 - 1]
    assert LINEAR(labels(0, 1, 4, 0.5)).tolist() == [0, 1, 4, 0.5]


def test_a_table_gives_what_it_holds_and_refuses_other_labels():
    table = Gain.of_table((0, 1, 3.5))
    assert table.name == "0/1/3.5"
    assert table(labels(2, 0, 1)).tolist() == [3.5, 0, 1]
    for unknown in (3, 0.5):
        with pytest.raises(InputError, match=f"label {unknown:g} is not in the table"):
            table(labels(0, unknown))
    with pytest.raises(SettingError):
        Gain.of_table((0, -1))


def test_a_gain_of_ones_own_must_be_finite_and_not_negative():
    assert Gain.of_function("square", np.square)(labels(3)).tolist() == [9]
    with pytest.raises(InputError, match="label 2 was given -2"):
        Gain.of_function("minus", np.negative)(labels(0, 2))
    with pytest.raises(InputError, match="no finite gain"):
        EXPONENTIAL(labels(2000))


def test_discounts():
    assert LOG2.table(4).tolist() == [1 / log2(2), 1 / log2(3), 1 / log2(4), 1 / log2(5)]
    assert LETOR.table(5).tolist() == [1, 1, 1 / log2(3), 1 / log2(4), 1 / log2(5)]
    assert DISCOUNTS["reciprocal"].table(3).tolist() == [1, 1 / 2, 1 / 3]


@pytest.mark.parametrize("discount", DISCOUNTS.values(), ids=lambda discount: discount.name)
def test_discounts_fall_and_a_shorter_table_is_the_start_of_a_longer_one(discount):
    table = discount.table(50)
    assert (np.diff(table) <= 0).all()
    for n in range(5):
        assert discount.table(n).tolist() == table[:n].tolist()


@pytest.mark.parametrize("value", [*GAINS.values(), *DISCOUNTS.values(), Gain.of_table((0, 1))], ids=lambda v: v.name)
def test_they_travel_to_other_processes(value):
    assert pickle.loads(pickle.dumps(value)) == value


def test_ideal_gains_sort_fractional_gains():
    groups = Groups.of_sizes([3, 0, 1])
    gains = np.array([0.5, 0.9, 0.0, 2.0])
    assert ideal_gains(gains, groups, np.array([1.0, 0.5])).tolist() == [0.9 + 0.5 * 0.5, 0.0, 2.0]
