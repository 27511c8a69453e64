"""What another policy would get, and two rankers compared by interleaving."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankwright import clicks
from rankwright.errors import RankwrightError


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
    assert clicks.expected_clicks(log.merged(), log.merged().ranks, [1.0, 0.5]).high == pytest.approx(found.high)
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


def test_an_order_of_documents_that_the_log_never_showed_is_refused():
    log = clicks.ClickLog.from_lists(["q"] * 60, [["a", "b"]] * 60, [[1], [2], []] * 20)
    with pytest.raises(clicks.NoSupportError, match="67% of the examination"):
        clicks.expected_clicks(log, np.where(log.ranks == 0, 0, -1), [1.0, 0.5])
    with pytest.raises(ValueError, match="no mean of 1"):
        clicks.expected_clicks(log, log.ranks, [1.0, 0.5], kind="self-normalised")


def test_intervals_of_rare_clicks_lean_to_where_the_truth_may_be():
    rewards = np.zeros(2000)
    rewards[:8] = 1
    found = clicks.estimate(rewards, np.ones(2000), np.ones(2000))
    assert found.high - found.value > 1.2 * (found.value - found.low)
    turned = clicks.estimate(1 - rewards, np.ones(2000), np.ones(2000))
    assert turned.high == pytest.approx(1 - found.low)
    hits = 0
    for seed in range(1000):
        drawn = np.random.default_rng(seed).random(2000) < 0.02
        one = clicks.estimate(drawn, np.ones(2000), np.ones(2000))
        hits += one.low <= 0.02 <= one.high
    assert 930 <= hits <= 970


def test_one_policy_of_a_shop_is_estimated_from_the_log_of_the_other(real_data):
    logs = {
        name: np.genfromtxt(
            real_data(f"open-bandit/{name}-men.csv.gz"), delimiter=",", skip_header=1, usecols=range(2, 6)
        )
        for name in ("random", "bts")
    }
    item, position, click, propensity = logs["bts"].T
    itself = clicks.estimate(logs["random"][:, 2], logs["random"][:, 3], logs["random"][:, 3])
    found = clicks.estimate(click, propensity, np.full(len(click), 1 / 34), positions=position.astype(int))
    assert found.effective_size < len(click) / 4
    assert set(found.at_position) == {1, 2, 3}
    assert found.low < itself.value < found.high
    only = np.where(item == 33, 1.0, 0.0) * (position == 1)  # one item at one place: few such rows
    with pytest.raises(clicks.NoSupportError):
        clicks.estimate(click, propensity, only, least_support=200)


def test_an_estimate_is_a_table():
    found = clicks.estimate([1, 0, 0, 1] * 20, [0.3] * 80, [0.3] * 80, positions=[1, 2, 3, 4] * 20)
    assert "What another policy would get (self-normalised): 0.5" in repr(found)
    assert "95 % interval" in repr(found)
    assert found.to_frame()["value"].tolist() == [0.5]


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"clip": "much"}, "clip must be a finite number of 0 or more, got 'much'"),
        ({"clip": 0}, "clip must be above 0, got 0"),
        ({"level": "high"}, "level must lie between 0 and 1, got 'high'"),
        ({"least_support": None}, "least_support must be a finite number"),
        ({"kind": "plain"}, "unknown kind of estimate"),
    ],
)
def test_wrong_settings_are_refused_in_a_sentence(settings, why):
    with pytest.raises(RankwrightError, match=why):
        clicks.estimate([1, 0], [1, 1], [1, 1], **settings)


def test_wrong_arguments_are_refused_in_a_sentence():
    log: Any = "log.jsonl"
    for call in (lambda: clicks.expected_clicks(log, [0], [1]), lambda: clicks.from_randomised(log)):
        with pytest.raises(RankwrightError, match="log must be a ClickLog, such as read_log gives, got str"):
            call()
    with pytest.raises(RankwrightError, match="rewards must be finite numbers"):
        clicks.estimate([1, np.nan], [1, 1], [1, 1])
