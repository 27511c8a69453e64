"""What another policy would get, and two rankers compared by interleaving."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright import clicks


def logged(rng: np.random.Generator, n: int = 400):
    """Three actions with known chances of reward, logged by one policy, and wanted by another."""
    reward, old, new = np.array([0.1, 0.3, 0.6]), np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    actions = rng.choice(3, n, p=old)
    return rng.random(n) < reward[actions], old[actions], new[actions], float(new @ reward)


@pytest.mark.parametrize("kind", ["ips", "self-normalised"])
def test_intervals_hold_the_true_value_as_often_as_they_say(kind):
    rng, hits = np.random.default_rng(0), 0
    for _ in range(1000):
        rewards, old, new, true = logged(rng)
        found = clicks.estimate(rewards, old, new, kind=kind)
        hits += found.low <= true <= found.high
    assert 930 <= hits <= 970


def test_the_same_policy_gets_what_it_got():
    rewards = [1, 0, 0, 1] * 20
    found = clicks.estimate(rewards, [0.3] * 80, [0.3] * 80, positions=[1, 2, 3, 4] * 20)
    assert (found.value, found.clipped_share) == (0.5, 0.0)
    assert found.effective_size == pytest.approx(80)
    assert found.at_position == {1: 1.0, 2: 0.0, 3: 0.0, 4: 1.0}


def test_a_log_without_support_is_refused():
    rewards, old = np.zeros(1000), np.full(1000, 0.001)
    new = np.zeros(1000)
    new[:3] = 1
    with pytest.raises(clicks.NoSupportError, match="1000 observations count as 3"):
        clicks.estimate(rewards, old, new)


def test_clipping_cuts_large_weights():
    found = clicks.estimate([1] * 100, [0.01] * 50 + [1.0] * 50, [1.0] * 100, kind="clipped", clip=10.0)
    assert found.clipped_share == 0.5
    assert found.value == (50 * 10 + 50) / 100


def test_expected_clicks_of_the_shown_order_are_the_clicks():
    log = clicks.ClickLog.from_lists(["q"] * 60, [["a", "b"]] * 60, [[1], [2], []] * 20)
    found = clicks.expected_clicks(log, log.ranks, [1.0, 0.5])
    assert found.value == pytest.approx(2 / 6)
    turned = clicks.expected_clicks(log, 1 - log.ranks, [1.0, 0.5], kind="ips")
    assert turned.value == pytest.approx((20 * 0.5 + 20 * 2) / 120)


def test_team_draft_takes_turns_and_repeats_nothing():
    a, b = list("abcdef"), list("fedcba")
    for seed in range(50):
        found = clicks.team_draft(a, b, 4, seed=seed)
        assert len(set(found.documents)) == 4
        assert found.teams.count("a") == found.teams.count("b") == 2


def test_interleaving_is_fair_to_equal_rankers_and_finds_the_better_one():
    rng = np.random.default_rng(1)
    lists = [clicks.team_draft(list("abcd"), list("cdab"), 4, seed=rng) for _ in range(300)]
    blind = [[int(rng.integers(1, 5))] for _ in lists]
    assert clicks.interleaving_result(lists, blind).p_value > 0.01
    wants_a = [[one.documents.index("a") + 1] for one in lists]
    won = clicks.interleaving_result(lists, wants_a)
    assert won.a_wins > won.b_wins
    assert won.p_value < 1e-6
    assert clicks.interleaving_result(lists[:2], [[], []]).ties == 2
