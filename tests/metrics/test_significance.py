"""Paired tests of two systems."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.metrics.evaluation import evaluate
from rankwright.metrics.significance import paired_test, standard_error


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
