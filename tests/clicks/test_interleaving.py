"""Team-draft interleaving: propensities are the shares that coins give, and the sequential test may be looked at."""

from __future__ import annotations

from collections import Counter
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.clicks.interleaving import sequential_p_value, team_draft, team_draft_propensities


@given(st.permutations(range(5)), st.lists(st.integers(0, 7), unique=True, min_size=1, max_size=6), st.integers(1, 6))
def test_propensities_are_chances_over_all_coins(a, b, length):
    shown = team_draft(a, b, length, seed=1).documents
    chances = team_draft_propensities(a, b, shown)
    assert len(chances) == len(shown)
    assert all(0 < chance <= 1 for chance in chances)
    for place in range(len(shown)):  # whatever stands there, all chances add up to 1
        total = sum(team_draft_propensities(a, b, [*shown[:place], other])[place] for other in dict.fromkeys([*a, *b]))
        assert total == pytest.approx(1.0)


def test_propensities_are_the_shares_that_many_throws_give():
    a, b = list("abcdef"), list("bafxyz")
    rng = np.random.default_rng(0)
    lists = [team_draft(a, b, 5, seed=rng).documents for _ in range(4000)]
    for place in range(5):
        for document, count in Counter(one[place] for one in lists).items():
            example = next(one for one in lists if one[place] == document)
            chance = team_draft_propensities(a, b, example)[place]
            assert count / len(lists) == pytest.approx(chance, abs=4 * np.sqrt(chance / len(lists)))


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sequential_value_is_one_over_the_ratio_of_two_likelihoods(a_wins, b_wins):
    n = a_wins + b_wins
    ratio = 2**n / ((n + 1) * comb(n, a_wins))  # ∫ p^a (1 - p)^b dp over (1/2)^n
    assert sequential_p_value(a_wins, b_wins) == pytest.approx(min(1.0, 1 / ratio))


def looked_at_daily(chance: float, n_days: int, lists_a_day: int, seed: int) -> str | None:
    """Who is declared the winner on the first day on which the experiment is decided."""
    rng, wins = np.random.default_rng(seed), np.zeros(2, int)
    for _ in range(n_days):
        a_wins = int(rng.binomial(lists_a_day, chance))
        wins += a_wins, lists_a_day - a_wins
        if sequential_p_value(*wins.tolist()) <= 0.05:
            return "a" if wins[0] > wins[1] else "b"
    return None


def test_looking_every_day_declares_a_winner_by_chance_at_most_one_time_in_twenty():
    declared = [looked_at_daily(0.5, 100, 20, seed) for seed in range(1000)]
    assert sum(one is not None for one in declared) <= 0.05 * 1000


def test_the_better_one_wins():
    declared = [looked_at_daily(0.56, 200, 20, seed) for seed in range(1000)]
    assert declared.count("b") <= 0.05 * 1000
    assert declared.count("a") >= 0.9 * 1000
