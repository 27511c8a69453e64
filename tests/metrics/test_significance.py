"""Paired tests of two systems."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap, nct, permutation_test, t, ttest_1samp, ttest_rel, wilcoxon

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.metrics.evaluation import evaluate
from rankwright.metrics.significance import (
    LEVEL,
    POWER,
    effect_of,
    holm,
    paired_test,
    queries_needed,
    standard_error,
    wilcoxon_p_value,
    word_of,
)


def data_of(n_queries: int, seed: int = 0) -> RankingDataset:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, size=n_queries * 10)
    return RankingDataset.from_arrays(
        labels[:, None] + rng.normal(size=(len(labels), 2)), labels, group=[10] * n_queries
    )


def results(data, metric, *scores):
    return [evaluate(score, data, [metric])[metric] for score in scores]


def test_a_system_does_not_differ_from_itself():
    data = data_of(20)
    first, second = results(data, "ndcg@5", data.features[:, 0], data.features[:, 0])
    test = paired_test(first, second)
    assert (test.difference, test.p_value, test.wins, test.losses, test.queries) == (0, 1, 0, 0, 20)
    assert test.interval == (0, 0)


def test_a_clear_difference_is_significant_and_goes_both_ways():
    data = data_of(100)
    noise = np.random.default_rng(1).normal(size=data.n_docs)
    worse, better = results(data, "ndcg@5", noise, data.features[:, 0])
    there, back = paired_test(worse, better), paired_test(better, worse)
    assert there.difference == pytest.approx(better.mean - worse.mean)
    assert there.difference == pytest.approx(-back.difference)
    assert there.p_value == back.p_value < 0.001
    assert there.wins == back.losses > there.losses
    assert 0 < there.interval.low < there.difference < there.interval.high


def test_of_a_cost_the_lower_wins():
    data = data_of(50)
    noise = np.random.default_rng(1).normal(size=data.n_docs)
    test = paired_test(*results(data, "pair-error", noise, data.features[:, 0]))
    assert test.difference < 0
    assert test.wins > test.losses


def test_the_p_value_is_the_share_of_all_sign_flips():
    data = data_of(8, seed=3)
    first, second = results(data, "ndcg@5", data.features[:, 0], data.features[:, 1])
    differences = second.values - first.values
    flips = np.array(list(itertools.product([1, -1], repeat=8))) @ differences
    exact = (np.abs(flips) >= abs(differences.sum()) - 1e-12).mean()
    assert paired_test(first, second, randomisations=20_000).p_value == pytest.approx(exact, abs=0.02)


def test_chance_alone_is_seldom_significant():
    p_values = []
    for seed in range(100):
        data = data_of(30, seed)
        p_values.append(paired_test(*results(data, "ndcg@5", *data.features.T), randomisations=500).p_value)
    assert 1 <= sum(p < 0.1 for p in p_values) <= 20  # 10 expected


def test_threads_do_not_matter():
    data = data_of(40)
    tests = [
        paired_test(*(evaluate(score, data, ["map"], threads=threads)["map"] for score in data.features.T))
        for threads in (1, 2, 7)
    ]
    assert tests[0] == tests[1] == tests[2]


def test_only_like_can_be_compared():
    data = data_of(5)
    (first,) = results(data, "map", data.features[:, 0])
    with pytest.raises(InputError, match="same measure over the same queries"):
        paired_test(first, *results(data, "mrr", data.features[:, 0]))
    with pytest.raises(InputError, match="same measure over the same queries"):
        paired_test(first, *results(data_of(6), "map", data_of(6).features[:, 0]))


def test_the_standard_error_is_that_of_a_mean_of_independent_differences():
    data = data_of(50)
    rng = np.random.default_rng(4)
    first, second = results(data, "ndcg@5", *rng.random((2, data.n_docs)))
    differences = second.values - first.values
    assert standard_error(first, second) == pytest.approx(differences.std(ddof=1) / np.sqrt(50))
    assert standard_error(first, first) == 0
    one = data.take_queries([0])
    assert standard_error(*results(one, "ndcg@5", *rng.random((2, one.n_docs)))) == 0


def values_of(first, differences, weights=None):
    """Two results of the same measure whose values differ by the given differences."""
    n = len(differences)
    base = replace(first, values=np.zeros(n), weights=np.ones(n) if weights is None else np.asarray(weights, float))
    return base, replace(base, values=np.asarray(differences, np.float64))


@pytest.fixture
def some_result():
    data = data_of(5)
    return results(data, "map", data.features[:, 0])[0]


@given(st.lists(st.sampled_from([-0.5, -0.25, 0.0, 0.1, 0.25, 0.5, 0.7]), min_size=1, max_size=30), st.data())
def test_neither_the_order_of_queries_nor_that_of_systems_matters(differences, draw):
    data = data_of(5)
    some = results(data, "map", data.features[:, 0])[0]
    order = draw.draw(st.permutations(range(len(differences))))
    weights = draw.draw(st.lists(st.sampled_from([1.0, 2.0]), min_size=len(differences), max_size=len(differences)))
    first, second = values_of(some, differences, weights)
    there, back = paired_test(first, second, randomisations=99), paired_test(second, first, randomisations=99)
    moved = paired_test(
        *(replace(one, values=one.values[order], weights=one.weights[order]) for one in (first, second)),
        randomisations=99,
    )
    assert repr(moved) == repr(there)  # NaN equals NaN there
    assert (back.difference, back.p_value, back.wins, back.losses) == (
        -there.difference,
        there.p_value,
        there.losses,
        there.wins,
    )
    assert back.interval == (-there.interval.high, -there.interval.low)
    assert repr(replace(back.effect, size=-back.effect.size)) == repr(there.effect) or back.effect.size == 0


def test_the_bootstrap_interval_is_scipys(some_result):
    differences = np.random.default_rng(0).normal(0.05, 0.2, 200)
    first, second = values_of(replace(some_result, resamples=20_000), differences)
    found = paired_test(first, second).interval
    expected = bootstrap((differences,), np.mean, method="percentile", n_resamples=20_000, rng=1).confidence_interval
    assert found == pytest.approx((expected.low, expected.high), abs=0.001)


def test_the_p_values_are_scipys(some_result):
    differences = np.random.default_rng(1).normal(0.05, 0.2, 60)
    first, second = values_of(some_result, differences)
    test = paired_test(first, second, randomisations=20_000)
    assert test.effect.t_p_value == pytest.approx(ttest_rel(second.values, first.values).pvalue)
    assert wilcoxon_p_value(first, second) == pytest.approx(wilcoxon(differences).pvalue)
    expected = permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=20_000, rng=2).pvalue
    assert test.p_value == pytest.approx(expected, abs=0.01)


def test_wins_ties_and_losses_are_all_the_queries(some_result):
    test = paired_test(*values_of(some_result, [0.1, 0.0, -0.2, 0.3, np.nan]))
    assert (test.wins, test.ties, test.losses, test.queries) == (2, 1, 1, 4)


@pytest.mark.parametrize("differences", [[0.3], [0.3, -0.1], [0.0, 0.0, 0.0], [0.1] * 4])
def test_of_tiny_data_something_sensible_is_said(some_result, differences):
    test = paired_test(*values_of(some_result, differences))
    document = json.loads(json.dumps(test.to_dict(), allow_nan=False))
    assert document["queries"] == len(differences)
    assert 0 < test.p_value <= 1
    assert document["t_p_value"] is None if len(differences) == 1 else 0 <= document["t_p_value"] <= 1


def test_what_is_no_test_is_not_corrected():
    assert np.allclose(holm([0.01, np.nan, 0.04]), [0.02, np.nan, 0.04], equal_nan=True)


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
