"""Objectives without pairs, by hand."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError
from rankwright.objectives import GainSoftmax, LogisticError, Softmax, SquaredError, objective_named, xendcg
from rankwright.ranking.gains import LINEAR


def one_query(labels, **parts) -> RankingDataset:
    return RankingDataset.from_arrays(np.zeros((len(labels), 1)), labels, group=[len(labels)], **parts)


def test_listnet_compares_two_softmaxes():
    found = Softmax().bind(one_query([1, 0, 0]), dtype=np.float64)([0.0, log(2), log(3)])
    target = np.array([exp(1), 1, 1]) / (exp(1) + 2)
    modelled = np.array([1, 2, 3]) / 6
    assert_allclose(found.gradient, modelled - target)
    assert_allclose(found.curvature, modelled * (1 - modelled))
    assert_allclose(found.cost, -(target * np.log(modelled)).sum())


def test_gains_are_shares_of_the_target():
    found = GainSoftmax().bind(one_query([2, 1, 0]), dtype=np.float64)([0.0, 0.0, 0.0])
    assert_allclose(found.gradient, [1 / 3 - 3 / 4, 1 / 3 - 1 / 4, 1 / 3])
    linear = GainSoftmax(LINEAR).bind(one_query([2, 1, 0]), dtype=np.float64)([0.0, 0.0, 0.0])
    assert_allclose(linear.gradient, [1 / 3 - 2 / 3, 1 / 3 - 1 / 3, 1 / 3])


def test_a_query_without_gains_feels_nothing():
    found = GainSoftmax().bind(one_query([0, 0]))([1.0, 0.0])
    assert_array_equal(found.gradient, 0.0)
    assert_array_equal(found.cost, 0.0)


def test_document_weights_multiply_shares():
    found = GainSoftmax().bind(one_query([1, 1], document_weights=[3, 1]), dtype=np.float64)([0.0, 0.0])
    assert_allclose(found.gradient, [1 / 2 - 3 / 4, 1 / 2 - 1 / 4])


def test_scores_far_apart_do_not_overflow():
    found = Softmax().bind(one_query([0, 1]), dtype=np.float64)([5000.0, 0.0])
    share = 1 / (1 + exp(1))
    assert_allclose(found.gradient, [1 - share, share - 1])
    assert found.cost[0] == pytest.approx((1 - share) * 5000)


def test_xendcg_raises_gains_anew_for_every_key():
    bound = xendcg().bind(one_query([1, 0]), dtype=np.float64)
    first, again, other = (bound([0.0, 0.0], key=key).gradient for key in (1, 1, 2))
    assert_array_equal(first, again)
    assert (first != other).all()
    targets = 0.5 - np.array([bound([0.0, 0.0], key=key).gradient for key in range(2000)])
    assert targets.min() > 0  # even a document without a gain has a share
    # The mean of (1 + u) / (1 + u + v), u and v uniform: the shares are 1 + u and v.
    grid = (np.arange(500) + 0.5) / 500
    wanted = ((1 + grid[:, None]) / (1 + grid[:, None] + grid)).mean()
    assert targets[:, 0].mean() == pytest.approx(wanted, abs=5 * targets[:, 0].std() / np.sqrt(2000))


def test_squared_error_by_hand():
    found = SquaredError().bind(one_query([2.5, np.nan]), dtype=np.float64)([1.0, 1.0])
    assert_allclose(found.gradient, [-1.5, 0.0])
    assert_allclose(found.curvature, [1.0, 0.0])
    assert_allclose(found.cost, 1.5**2 / 2)


def test_logistic_error_is_that_of_the_slides():
    # log(1 + e^(-yF)), its slope and its curvature, for y = ±1.
    for label, y in ((1, 1), (0, -1), (4, 1)):
        for score in (-30.0, -1.0, 0.0, 2.0, 30.0):
            found = LogisticError().bind(one_query([label]), dtype=np.float64)([score])
            slope = -y / (1 + exp(y * score))
            assert found.gradient[0] == pytest.approx(slope, rel=1e-14)
            assert found.curvature[0] == pytest.approx(abs(slope) * (1 - abs(slope)), rel=1e-3)
            assert found.cost[0] == pytest.approx(np.log1p(exp(-y * score)), rel=1e-14)


def test_what_counts_as_relevant_can_be_chosen():
    strict = LogisticError(relevant_above=1.0).bind(one_query([1, 2]))([0.0, 0.0])
    assert_array_equal(strict.gradient, [0.5, -0.5])


@pytest.mark.parametrize("name", ["softmax", "gain-softmax", "squared-error", "logistic-error"])
def test_they_need_labels(name):
    data = RankingDataset.from_arrays(np.zeros((2, 1)), group=[2], preferences=Preferences([0], [1]))
    with pytest.raises(InputError, match=f"{name} needs labels"):
        objective_named(name).bind(data)
