"""How large a difference is, and how small a one so many queries could show."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import nct, t, ttest_1samp

from rankwright.metrics.comparison.effects import LEVEL, POWER, effect_of, queries_needed, word_of


@given(st.integers(2, 300), st.floats(-1, 1), st.integers(0, 10_000))
def test_the_t_test_is_scipys_and_the_size_is_the_mean_in_standard_deviations(n, shift, seed):
    differences = np.random.default_rng(seed).normal(shift, 1, n)
    found = effect_of(differences, np.ones(n))
    assert found.t_p_value == pytest.approx(ttest_1samp(differences, 0).pvalue, rel=1e-9)
    assert found.size == pytest.approx(differences.mean() / differences.std(ddof=1))
    assert found.standard_error == pytest.approx(differences.std(ddof=1) / math.sqrt(n))


def test_equal_weights_of_any_size_are_no_weights():
    differences = np.random.default_rng(0).normal(0.3, 1, 40)
    one, seven = (effect_of(differences, np.full(40, weight)) for weight in (1.0, 7.0))
    assert one.t_p_value == pytest.approx(seven.t_p_value)
    assert one.detectable == pytest.approx(seven.detectable)
    assert one.needed == seven.needed


def test_queries_of_little_weight_tell_little():
    differences = np.random.default_rng(0).normal(0.3, 1, 40)
    weights = np.r_[np.ones(10), np.full(30, 1e-9)]
    found, alone = effect_of(differences, weights), effect_of(differences[:10], np.ones(10))
    assert found.t_p_value == pytest.approx(alone.t_p_value, rel=1e-6)
    assert found.detectable == pytest.approx(alone.detectable, rel=1e-6)


@pytest.mark.parametrize("n", [10, 50, 1000])
def test_what_is_detectable_is_found_as_often_as_promised(n):
    differences = np.random.default_rng(n).normal(0, 1, n)
    found = effect_of(differences, np.ones(n))
    threshold, distance = t.ppf(1 - LEVEL / 2, n - 1), found.detectable / found.standard_error
    power = nct.sf(threshold, n - 1, distance) + nct.cdf(-threshold, n - 1, distance)
    assert power == pytest.approx(POWER, abs=0.02)


@pytest.mark.parametrize("size", [0.01, 0.1, 0.35, 1.0, 4.0])
def test_so_many_queries_are_needed_and_not_one_less(size):
    needed = queries_needed(size)
    assert needed is not None

    def found_with(n: int) -> float:
        return float((t.ppf(1 - LEVEL / 2, n - 1) + t.ppf(POWER, n - 1)) / math.sqrt(n))

    assert found_with(needed) <= size
    assert needed == 2 or found_with(needed - 1) > size
    assert queries_needed(-size) == needed


def test_what_a_single_query_says_of_chance():
    found = effect_of(np.array([0.5]), np.ones(1))
    assert math.isnan(found.t_p_value)
    assert math.isnan(found.size)
    assert found.needed is None


def test_all_ties_and_the_same_difference_everywhere():
    ties = effect_of(np.zeros(5), np.ones(5))
    assert (ties.t_p_value, ties.size, ties.detectable, ties.needed) == (1.0, 0.0, 0.0, None)
    same = effect_of(np.full(5, -0.1), np.ones(5))
    assert (same.t_p_value, same.size, same.needed) == (0.0, -math.inf, 2)


@pytest.mark.parametrize(
    ("size", "word"),
    [(0.0, "tiny"), (-0.19, "tiny"), (0.2, "small"), (-0.5, "medium"), (0.8, "large"), (math.inf, "large")],
)
def test_sizes_have_words(size, word):
    assert word_of(size) == word
    assert word_of(math.nan) == ""
