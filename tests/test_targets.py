"""Burges et al. 2005, section 3.1: how posteriors combine, the theorem, the lemma, and contradictions."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from rankwright import targets
from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, SettingError
from rankwright.objectives import ranknet
from rankwright.targets import DENSE_UP_TO

posterior = st.floats(0.0, 1.0)
uncertain = st.floats(1e-9, 1.0 - 1e-9)
# A chain may be certain one way, and not the other as well.
chains = st.one_of(
    st.lists(st.one_of(uncertain, st.just(1.0)), min_size=1, max_size=12),
    st.lists(st.one_of(uncertain, st.just(0.0)), min_size=1, max_size=12),
)


# Equation 5


@given(uncertain, uncertain)
def test_combining_is_equation_five_and_adds_log_odds(p, q):
    found = targets.combine(p, q)
    assert found == pytest.approx(p * q / (1 + 2 * p * q - p - q))
    assert targets.log_odds(found) == pytest.approx(targets.log_odds(p) + targets.log_odds(q), abs=1e-6)


@given(posterior)
def test_doubt_and_certainty_combine_exactly(p):
    assert targets.combine(p, 0.5) == targets.combine(0.5, p) == pytest.approx(p, rel=1e-15)
    if p < 1:
        assert targets.combine(p, 0.0) == targets.combine(0.0, p) == 0.0
    if p > 0:
        assert targets.combine(p, 1.0) == targets.combine(1.0, p) == 1.0
    for fixed in (0.0, 0.5, 1.0):
        assert targets.combine(fixed, fixed) == fixed


@given(uncertain)
def test_confidence_builds(p):
    found = targets.combine(p, p)
    assert found > p if p > 0.5 else found < p if p < 0.5 else found == p


def test_certainty_both_ways_is_undefined():
    for first, second in ((0.0, 1.0), (1.0, 0.0), ([0.3, 0.0], [0.3, 1.0])):
        with pytest.raises(InputError, match="contradicts itself"):
            targets.combine(first, second)
    for function in (targets.chain_posterior, targets.chain_posteriors):
        with pytest.raises(InputError, match="contradicts itself"):
            function([1.0, 0.4, 0.0])


# The theorem: one posterior for every pair of neighbours, in any order of the documents, gives all the others


@given(chains, st.randoms(use_true_random=False))
def test_adjacency_posteriors_give_every_posterior(chain, random):
    order = list(range(len(chain) + 1))
    random.shuffle(order)
    found = targets.chain_posteriors(chain, order)
    assert ((found >= 0) & (found <= 1)).all()
    assert_allclose(found + found.T, 1.0, atol=1e-15)
    for (k, j), given_one in zip(pairwise(order), chain, strict=True):  # those given are among them
        assert found[k, j] == pytest.approx(given_one, rel=1e-12, abs=1e-15)
    for a, b in combinations(range(len(order)), 2):  # and every other is what its chain combines to
        assert found[order[a], order[b]] == pytest.approx(targets.chain_posterior(chain[a:b]), rel=1e-9)


@given(st.lists(st.floats(0.01, 0.99), min_size=2, max_size=8), st.randoms(use_true_random=False))
def test_the_posteriors_are_unique(chain, random):
    """Whichever adjacency posteriors of a full set are kept, along any other order, the same full set comes back."""
    whole = targets.chain_posteriors(chain)
    order = list(range(len(whole)))
    random.shuffle(order)
    again = targets.chain_posteriors([whole[k, j] for k, j in pairwise(order)], order)
    assert_allclose(again, whole, rtol=1e-8)


@pytest.mark.parametrize("step", [1.0, 1.0 - 2.0**-53, 0.999, 0.5, 1e-300, 5e-324, 0.0])
def test_a_chain_of_a_thousand_steps_does_not_overflow(step):
    found = targets.chain_posteriors(np.full(1000, step))
    assert found[0, -1] == targets.chain_posterior(np.full(1000, step)) == np.sign(step - 0.5) / 2 + 0.5
    assert found[0, 1] == pytest.approx(step, rel=1e-12)
    assert np.isfinite(found).all()


def test_nearly_certain_steps_up_are_undone_by_as_many_down():
    p = 1.0 - 2.0**-20  # both p and 1 - p are exact
    found = targets.chain_posteriors([p] * 500 + [1 - p] * 500)
    assert found[0, -1] == pytest.approx(0.5, abs=1e-9)


# The lemma


@given(uncertain, st.integers(1, 20))
def test_equal_steps_follow_the_lemma(p, n):
    here, further = targets.posterior_at_distance(p, n), targets.posterior_at_distance(p, n + 1)
    assert targets.posterior_at_distance(p, 1) == p
    assert here == pytest.approx(targets.chain_posterior([p] * n), rel=1e-9)
    if p == 0.5:
        assert here == further == 0.5
    elif p > 0.5:
        assert p <= here <= further <= 1.0
        assert here < further or here > 1 - 1e-15  # strictly, as far as floats reach
    else:
        assert p >= here >= further >= 0.0
        assert here > further


def test_the_lemma_at_the_ends_and_for_arrays():
    assert targets.posterior_at_distance(1.0, 1000) == 1.0
    assert targets.posterior_at_distance(0.0, 1000) == 0.0
    odds = 0.6 / 0.4
    n = np.arange(1, 6)
    assert_allclose(targets.posterior_at_distance(0.6, n), odds**n / (1 + odds**n))


@pytest.mark.parametrize("distance", [0, -1, 1.5])
def test_a_distance_is_a_whole_number_of_steps(distance):
    with pytest.raises(SettingError, match="whole number of 1 or more"):
        targets.posterior_at_distance(0.6, distance)


# Consistency


def all_pairs(n: int) -> np.ndarray:
    return np.array(list(combinations(range(n), 2))).T


@given(chains)
def test_posteriors_of_a_chain_are_consistent(chain):
    whole = targets.chain_posteriors(chain)
    a, b = all_pairs(len(whole))
    fit = targets.fit_consistent(a, b, whole[a, b])
    assert fit.worst < 1e-6
    assert targets.is_consistent(a, b, whole[a, b])
    assert_allclose(fit.posteriors(), whole, atol=1e-6)


def test_three_posteriors_that_contradict():
    first, second, given_ones = [0, 1, 0], [1, 2, 2], [0.6, 0.6, 0.9]
    assert not targets.is_consistent(first, second, given_ones)
    assert targets.is_consistent(first, second, [0.6, 0.6, targets.combine(0.6, 0.6)])
    fit = targets.fit_consistent(first, second, given_ones)
    assert fit.probability[2] == pytest.approx(targets.combine(fit.probability[0], fit.probability[1]))
    assert_allclose(fit.residual, given_ones - fit.probability)
    # At the greatest likelihood no document is pulled any more: what is missing over it is missing under it.
    assert_allclose(fit.residual[0] + fit.residual[2], 0.0, atol=1e-12)
    assert_allclose(fit.residual[1] - fit.residual[0], 0.0, atol=1e-12)


def test_the_fit_is_where_ranknets_force_vanishes():
    rng = np.random.default_rng(0)
    a, b = all_pairs(7)
    wanted, weight = rng.random(len(a)), rng.integers(1, 9, len(a))
    fit = targets.fit_consistent(a, b, wanted, weight)
    data = RankingDataset.from_arrays(np.zeros((7, 1)), None, group=[7], preferences=Preferences(a, b, wanted, weight))
    assert_allclose(ranknet().bind(data, dtype=np.float64)(fit.outputs).gradient, 0.0, atol=1e-6)


def test_a_circle_of_certainties_is_fitted_by_doubt():
    fit = targets.fit_consistent([0, 1, 2], [1, 2, 0], [1, 1, 1])
    assert_allclose(fit.probability, 0.5)
    assert fit.worst == pytest.approx(0.5)


def test_certain_posteriors_part_the_documents():
    # 0 certainly above 1 and 2, which are uncertain among themselves; 3 certainly below 2; 4 was never compared.
    fit = targets.fit_consistent([0, 1, 3, 4, 0], [1, 2, 2, 5, 2], [1, 0.7, 0, 0.5, 1])
    assert fit.worst < 1e-12
    found = fit.posteriors()
    assert_allclose(found[0, :4], [0.5, 1, 1, 1])
    assert found[1, 2] == pytest.approx(0.7)
    assert_array_equal(found[3, :4], [0, 0, 0, 0.5])
    assert np.isnan(found[:4, 4:]).all()
    assert found[4, 5] == 0.5


def test_the_certain_ranking_of_three_that_bradley_and_terry_cannot_express():
    assert targets.is_consistent([0, 1, 0], [1, 2, 2], [1, 1, 1])
    assert not targets.is_consistent([0, 1, 0], [1, 2, 2], [1, 1, 0.9])


def test_both_ways_to_solve_agree():
    n_docs = DENSE_UP_TO + 1
    ring = np.arange(n_docs)
    wanted = np.random.default_rng(0).uniform(0.3, 0.7, n_docs)
    fit = targets.fit_consistent(ring, np.roll(ring, -1), wanted)
    # Around a ring every pair is missed by as much as the next.
    assert_allclose(fit.residual, fit.residual[0], atol=1e-9)
    alone = targets.fit_consistent(ring[:40], np.roll(ring[:40], -1), wanted[:40])
    assert_allclose(alone.residual, alone.residual[0], atol=1e-9)


def test_a_pair_of_no_weight_says_nothing():
    fit = targets.fit_consistent([0, 0, 1], [1, 1, 2], [0.8, 0.1, 0.3], [2, 0, 1])
    assert_allclose(fit.probability[[0, 2]], [0.8, 0.3])
    assert fit.residual[1] == pytest.approx(0.1 - 0.8)


def test_no_pairs_at_all():
    fit = targets.fit_consistent([], [], [])
    assert fit.worst == 0.0
    assert fit.posteriors().shape == (0, 0)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (([0], [0], [0.5]), "pair 0 joins a document to itself"),
        (([0], [-1], [0.5]), "numbered from 0"),
        (([0], [1], [1.5]), "between 0 and 1, got 1.5"),
        (([0], [1], [np.nan]), "between 0 and 1, got nan"),
        (([0], [1], [0.5], -1.0), "weight must be 0 or more"),
        (([0, 1], [1, 2], [0.5]), "must have 2 values"),
    ],
)
def test_pairs_that_make_no_sense(arguments, problem):
    with pytest.raises(InputError, match=problem):
        targets.fit_consistent(*arguments)


def test_orders_that_make_no_sense():
    for order in ([0, 1], [0, 0, 1], [1, 2, 3]):
        with pytest.raises(InputError, match="each of 0 to 2 once"):
            targets.chain_posteriors([0.5, 0.5], order)


# Votes


def test_votes_become_target_probabilities():
    found = targets.preferences_from_votes([0, 1, 0], [1, 2, 2], [3, 0, 0], [1, 0, 5])
    assert_array_equal(found.better, [0, 0])  # nobody voted on the second pair
    assert_array_equal(found.worse, [1, 2])
    assert_allclose(found.probability, [3 / 4, 0])
    assert_allclose(found.weight, [4, 5])


def test_a_prior_keeps_few_votes_from_being_certain():
    found = targets.preferences_from_votes([0], [1], [2], [0], prior=1)
    assert_allclose(found.probability, [(2 + 1) / (2 + 2)])
    assert_allclose(found.weight, [2])


def test_votes_that_make_no_sense():
    with pytest.raises(InputError, match="votes_for_second must be 0 or more"):
        targets.preferences_from_votes([0], [1], [1], [-1])
    with pytest.raises(SettingError, match="prior must be 0 or more"):
        targets.preferences_from_votes([0], [1], [1], [1], prior=-1)
