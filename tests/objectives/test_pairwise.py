"""Pairwise objectives by hand: the papers' equations, targets, preferences, truncation, norms, ties and samples."""

from __future__ import annotations

import os
from dataclasses import replace
from math import exp, inf, log, log2

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, SettingError
from rankwright.metrics.evaluation import evaluate
from rankwright.objectives import (
    Hinge,
    Lambdas,
    Logistic,
    PairwiseObjective,
    Spring,
    delta_named,
    lambdarank,
    paper_lambdarank,
    ranknet,
    spring,
)


def one_query(labels, **parts) -> RankingDataset:
    return RankingDataset.from_arrays(np.zeros((len(labels), 1)), labels, group=[len(labels)], **parts)


def pairs_alone(preferences: Preferences, n_docs: int) -> RankingDataset:
    return RankingDataset.from_arrays(np.zeros((n_docs, 1)), group=[n_docs], preferences=preferences)


def precise(objective, data):
    return objective.bind(data, dtype=np.float64)


N_COPIES = 1000


def by_copy(objective, labels, scores) -> Lambdas:
    """The forces on many copies of a query, each with random numbers of its own: a row a copy."""
    data = RankingDataset.from_arrays(
        np.zeros((N_COPIES * len(labels), 1)), np.tile(labels, N_COPIES), group=[len(labels)] * N_COPIES
    )
    found = objective.bind(data)(np.tile(scores, N_COPIES), key=11)
    return Lambdas(*(part.reshape(N_COPIES, -1) for part in found))


def mean_and_error(draws: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return draws.mean(axis=0), draws.std(axis=0) / np.sqrt(len(draws))


# The papers' equations


@pytest.mark.parametrize("gap", [-3.0, -0.5, 0.0, 0.5, 40.0])
@pytest.mark.parametrize("probability", [0.0, 0.25, 0.5, 1.0])
def test_ranknet_is_equation_3_of_paper_1(gap, probability):
    data = pairs_alone(Preferences([0], [1], probability), 2)
    found = precise(ranknet(), data)([gap, 0.0])
    assert found.cost[0] == pytest.approx(-probability * gap + log(1 + exp(gap)), abs=1e-14)
    modelled = exp(gap) / (1 + exp(gap))
    assert_allclose(found.gradient, [modelled - probability, probability - modelled], atol=1e-15)
    assert_allclose(found.curvature, modelled * (1 - modelled), atol=1e-15)


@pytest.mark.parametrize("margin", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("gap", [-2.0, -0.1, 0.0, 0.3, 0.5, 1.0, 1.5, 2.5])
def test_the_spring_is_equations_4_to_9_of_paper_2(margin, gap):
    found = precise(spring(margin=margin), one_query([1, 0]))([gap, 0.0])
    force = 1.0 if gap < 0 else margin - gap if gap <= margin else 0.0
    cost = -gap if gap < 0 else gap**2 / 2 - margin * gap if gap <= margin else -(margin**2) / 2
    assert_allclose(found.gradient, [-force, force], atol=1e-15)  # the paper's λ is the negative gradient
    assert_allclose(found.cost, cost, atol=1e-15)


def test_the_slides_formula_by_hand():
    labels, scores = np.array([0.0, 2.0, 1.0, 0.0]), np.array([0.9, 0.4, 0.6, -0.3])
    ranks = np.array([0, 2, 1, 3])
    discount = 1 / np.log2(2 + ranks)
    ideal = 3 * 1 + 1 / log2(3)
    gradient, curvature = np.zeros(4), np.zeros(4)
    for i in range(4):
        for j in range(4):
            if labels[i] > labels[j]:
                delta = abs(2 ** labels[i] - 2 ** labels[j]) * abs(discount[i] - discount[j]) / ideal
                rho = 1 / (1 + exp(scores[i] - scores[j]))
                gradient[i] -= rho * delta
                gradient[j] += rho * delta
                curvature[[i, j]] += rho * (1 - rho) * delta
    found = precise(paper_lambdarank("ndcg"), one_query(labels))(scores)
    assert_allclose(found.gradient, gradient, rtol=1e-12)
    assert_allclose(found.curvature, curvature, rtol=1e-12)


# Burges 2005, section 3: 1,000 documents, two relevant, one on top and one at the bottom.
WINNER, LAST = 0, 999
THOUSAND_LABELS = np.isin(np.arange(1000), [WINNER, LAST]).astype(float)
THOUSAND_SCORES = np.arange(1000)[::-1] / 50.0
# "The ranker can reduce the pair-wise error by 996 errors, by moving D2 up to rank 3 and by moving D1 down to rank 2."
MOVED_SCORES = THOUSAND_SCORES.copy()
MOVED_SCORES[WINNER] = THOUSAND_SCORES[1] - 0.005
MOVED_SCORES[LAST] = THOUSAND_SCORES[1] - 0.01


def test_the_move_of_paper_2_helps_pairs_and_ruins_the_winner():
    data = one_query(THOUSAND_LABELS)
    before, after = (
        {name: result.mean for name, result in evaluate(scores, data, ["pair-error", "wta"]).results.items()}
        for scores in (THOUSAND_SCORES, MOVED_SCORES)
    )
    n_pairs = 2 * 998
    assert (before["pair-error"] - after["pair-error"]) * n_pairs == pytest.approx(996)
    assert (before["wta"], after["wta"]) == (0.0, 1.0)


def test_pairs_want_that_move_and_winner_takes_all_resists_it():
    data = one_query(THOUSAND_LABELS)
    move = MOVED_SCORES - THOUSAND_SCORES
    pairs = ranknet().bind(data)(THOUSAND_SCORES).gradient
    winner = lambdarank("wta", truncation=None).bind(data)(THOUSAND_SCORES).gradient
    assert pairs @ move < 0 < winner @ move  # descent goes against the gradient
    assert winner[LAST] == 0.0  # nothing to be won by moving it
    assert winner[WINNER] < 0  # all that counts is to stay on top


def test_winner_takes_all_spends_nothing_below_the_top():
    # Now the better one stands at rank 2: swapping it with the first is all it takes.
    labels = np.isin(np.arange(1000), [1, LAST]).astype(float)
    pairs = ranknet().bind(one_query(labels))(THOUSAND_SCORES).gradient
    winner = PairwiseObjective(delta=delta_named("wta")).bind(one_query(labels))(THOUSAND_SCORES).gradient
    assert np.count_nonzero(pairs) == 1000
    assert_array_equal(np.flatnonzero(winner), [0, 1, LAST])
    assert abs(pairs[LAST] / pairs[1]) > 10  # pairs pull the hopeless one far harder than the one that can win
    assert abs(winner[LAST] / winner[1]) < 2.1


# The calculus of λ (Burges 2005, Eq. 11)


def jacobian(objective, labels, scores, step=1e-5) -> np.ndarray:
    bound = precise(objective, one_query(labels))
    columns = []
    for row in range(len(scores)):
        nudge = step * (np.arange(len(scores)) == row)
        columns.append((bound(scores + nudge).gradient - bound(scores - nudge).gradient) / (2 * step))
    return np.array(columns).T


@pytest.mark.parametrize("pair_loss", [Logistic(), Logistic(2.0), Spring(0.7), Spring(1.0), Hinge()])
def test_the_jacobian_is_symmetric_where_every_pair_counts_alike(pair_loss):
    rng = np.random.default_rng(0)
    found = jacobian(PairwiseObjective(pair_loss), rng.integers(0, 3, 8), rng.normal(size=8))
    assert_allclose(found, found.T, atol=1e-8)
    assert np.linalg.eigvalsh((found + found.T) / 2).min() > -1e-8  # and the cost convex


def test_the_jacobian_is_symmetric_between_rank_changes():
    rng = np.random.default_rng(0)
    found = jacobian(PairwiseObjective(delta=delta_named("ndcg")), rng.integers(0, 3, 8), rng.normal(size=8))
    assert_allclose(found, found.T, atol=1e-8)


def test_scaling_by_query_or_gap_breaks_symmetry_or_cost():
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 3, 8), rng.normal(size=8)
    found = jacobian(PairwiseObjective(query_norm=True), labels, scores)
    assert np.abs(found - found.T).max() > 1e-4
    assert np.isnan(PairwiseObjective(query_norm=True).bind(one_query(labels))(scores).cost).all()


# Targets and preferences


def test_equal_labels_attract_each_other_on_request():
    data = one_query([1, 1])
    assert_array_equal(ranknet().bind(data)([2.0, 0.0]).gradient, 0.0)
    found = precise(ranknet(pair_equal_labels=True), data)([2.0, 0.0])
    rho = 1 / (1 + exp(-2))
    assert_allclose(found.gradient, [rho - 0.5, 0.5 - rho])
    assert_array_equal(ranknet(pair_equal_labels=True).bind(data)([1.0, 1.0]).gradient, 0.0)


def test_certainty_makes_targets_from_label_differences():
    found = precise(ranknet(certainty=0.5), one_query([3, 1]))
    assert_allclose(found([1.0, 0.0]).gradient, 0.0, atol=1e-15)  # logistic(0.5 · 2) is what a gap of 1 models
    assert found([2.0, 0.0]).gradient[0] > 0 > found([0.5, 0.0]).gradient[0]


def test_preferences_replace_the_pairs_of_labels():
    labels = [2, 1, 0]
    data = one_query(labels, preferences=Preferences([2], [0], weight=[3.0]))
    found = precise(ranknet(), data)([0.0, 0.0, 0.0])
    assert_allclose(found.gradient, [1.5, 0.0, -1.5])


def test_preferences_may_contradict_each_other():
    data = pairs_alone(Preferences([0, 1, 2], [1, 2, 0]), 3)
    assert_allclose(precise(ranknet(), data)([1.0, 1.0, 1.0]).gradient, 0.0)
    assert_allclose(precise(ranknet(), data)([0.0, 0.0, 0.0]).cost, 3 * log(2))


def test_label_pairs_given_as_preferences_are_the_same_objective():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 4, size=30).astype(float)
    sizes = [10, 0, 7, 13]
    query = np.repeat(np.arange(4), sizes)
    better, worse = np.nonzero((labels[:, None] > labels) & (query[:, None] == query))
    mixed = rng.permutation(len(better))
    weights = rng.uniform(0.5, 2.0, 30)
    by_labels = RankingDataset.from_arrays(np.zeros((30, 1)), labels, group=sizes, document_weights=weights)
    by_pairs = RankingDataset.from_arrays(
        np.zeros((30, 1)),
        labels,
        group=sizes,
        document_weights=weights,
        preferences=Preferences(better[mixed], worse[mixed]),
    )
    scores = rng.normal(size=30)
    for objective in (ranknet(), lambdarank("ndcg@3", truncation=4), PairwiseObjective(Spring(), delta_named("map"))):
        mine, theirs = precise(objective, by_labels)(scores), precise(objective, by_pairs)(scores)
        assert_allclose(theirs.gradient, mine.gradient, atol=1e-12)
        assert_allclose(theirs.curvature, mine.curvature, atol=1e-12)
        assert_allclose(theirs.cost, mine.cost)


def test_a_metric_needs_labels_even_beside_preferences():
    data = pairs_alone(Preferences([0], [1]), 2)
    with pytest.raises(InputError, match="aiming at ndcg@10 needs labels"):
        lambdarank().bind(data)


@pytest.mark.parametrize("switch", [{"sampled_pairs": 2}, {"pair_equal_labels": True}, {"certainty": 1.0}])
def test_switches_of_label_pairs_are_refused_beside_preferences(switch):
    with pytest.raises(InputError, match="preferences, which are its pairs"):
        ranknet(**switch).bind(pairs_alone(Preferences([0], [1]), 2))


# Truncation and norms


def test_truncation_keeps_pairs_with_a_document_at_the_top():
    labels, scores = [0, 1, 0, 2], [4.0, 3.0, 2.0, 1.0]
    wide = Hinge(10.0)
    of_all = PairwiseObjective(wide).bind(one_query(labels))(scores)
    of_top = PairwiseObjective(wide, truncation=1).bind(one_query(labels))(scores)
    assert_array_equal(of_all.gradient, [2, -1 - 1 + 1, 2, -3])
    assert_array_equal(of_top.gradient, [2, -1, 0, -1])
    assert np.isnan(of_top.cost[0])  # which pairs count depends on the scores
    assert not np.isnan(of_all.cost[0])
    unaffected = PairwiseObjective(wide, truncation=3).bind(one_query(labels))(scores)
    assert_array_equal(unaffected.gradient, of_all.gradient)
    assert_array_equal(unaffected.cost, of_all.cost)


def test_the_gap_norm_divides_by_the_gap():
    data = one_query([1, 0])
    plain, normed = (precise(PairwiseObjective(gap_norm=norm), data) for norm in (False, True))
    assert_allclose(normed([0.5, 0.0]).gradient, plain([0.5, 0.0]).gradient / (0.01 + 0.5))
    assert_allclose(normed([0.0, 0.0]).gradient, plain([0.0, 0.0]).gradient)  # all equal: as LightGBM


def test_the_query_norm_tames_the_sum_of_forces():
    labels, scores = [2, 1, 0, 0], [0.0, 1.0, 2.0, 3.0]
    plain, normed = (precise(PairwiseObjective(query_norm=norm), one_query(labels))(scores) for norm in (False, True))
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)]
    total = sum(2 / (1 + exp(scores[i] - scores[j])) for i, j in pairs)
    assert_allclose(normed.gradient, plain.gradient * log2(1 + total) / total)
    assert_allclose(normed.curvature, plain.curvature * log2(1 + total) / total)


def test_query_weights_come_after_the_query_norm():
    labels, scores = [2, 1, 0, 0], [0.0, 1.0, 2.0, 3.0]
    single, double = (precise(lambdarank(), one_query(labels, query_weights=[weight]))(scores) for weight in (1.0, 2.0))
    assert_allclose(double.gradient, 2 * single.gradient)


# Ties of scores


def test_equal_scores_rank_in_row_order_where_that_is_asked():
    plain = PairwiseObjective(Hinge(), delta_named("ndcg@1"), shuffle_ties=False)
    found = plain.bind(one_query([0, 1, 0]))([5.0, 5.0, 5.0])
    assert_array_equal(found.gradient, [1, -1, 0])  # only a swap with the first row changes the top


def test_shuffled_ties_favour_no_row():
    labels = np.array([0.0, 0, 1, 0, 2, 0, 1, 0])
    objective = PairwiseObjective(delta=delta_named("ndcg@3"), truncation=3)
    (forward, error), (backward, _) = (
        mean_and_error(by_copy(objective, labels[order], np.zeros(8)).gradient[:, order])
        for order in (np.arange(8), np.arange(8)[::-1])
    )
    assert (np.abs(forward - backward) < 5 * error + 1e-9).all()
    assert_allclose(forward[labels == 0], forward[0], atol=5 * error.max())


def test_another_key_is_another_order():
    bound = PairwiseObjective(delta=delta_named("ndcg@3")).bind(one_query(np.arange(20)))
    assert not np.array_equal(bound(np.zeros(20), key=1).gradient, bound(np.zeros(20), key=2).gradient)


# Many documents


@pytest.mark.parametrize(
    "objective",
    [
        ranknet(sampled_pairs=2),
        ranknet(sampled_pairs=2, pair_equal_labels=True),
        PairwiseObjective(delta=delta_named("ndcg@5"), sampled_pairs=2),
        PairwiseObjective(Spring(), delta_named("map"), sampled_pairs=1),
    ],
    ids=lambda objective: objective.name,
)
def test_sampled_pairs_are_unbiased(objective):
    rng = np.random.default_rng(0)
    labels, scores = rng.choice([0, 0, 1, 2, np.nan], size=14), rng.normal(size=14)
    full = replace(objective, sampled_pairs=None).bind(one_query(labels))(scores)
    drawn = by_copy(objective, labels, scores)
    for part in ("gradient", "curvature", "cost"):
        mean, error = mean_and_error(getattr(drawn, part))
        if not np.isnan(mean).any():
            assert (np.abs(mean - getattr(full, part)) < 5 * error + 1e-6).all()


def test_small_queries_are_not_sampled():
    labels, scores = [0, 1, 2, 0, 1], np.random.default_rng(0).normal(size=5)
    sampled, full = ranknet(sampled_pairs=2).bind(one_query(labels)), ranknet().bind(one_query(labels))
    assert_array_equal(sampled(scores).gradient, full(scores).gradient)


def test_a_query_of_a_million_documents():
    n_docs = 1_000_000
    rng = np.random.default_rng(0)
    labels = (rng.random(n_docs) < 1e-4).astype(float)
    scores = rng.normal(size=n_docs)
    data = one_query(labels)
    found = lambdarank("ndcg@10", truncation=5).bind(data)(scores)
    top = np.argsort(-scores)[:5]
    assert (found.curvature[top] > 0).all()
    touched = np.flatnonzero(found.curvature)
    assert set(np.flatnonzero(labels == 1)) <= set(touched)  # every relevant document is pulled up
    assert found.gradient.sum(dtype=float) == pytest.approx(0.0, abs=1e-6)
    assert (found.gradient[labels == 1] < 0).all()


@pytest.mark.skipif(os.environ.get("RANKWRIGHT_KERNELS") == "reference", reason="the naive twin takes minutes")
def test_a_huge_query_draws_its_pairs():
    n_docs = 200_000  # twenty billion pairs
    rng = np.random.default_rng(0)
    labels, scores = rng.integers(0, 5, n_docs) + rng.choice([0.0, 0.25], n_docs), rng.normal(size=n_docs)
    found = ranknet(sampled_pairs=2).bind(one_query(labels))(scores, key=1)
    assert (found.curvature > 0).all()
    assert abs(found.gradient.sum(dtype=float)) < 1e-7 * np.abs(found.gradient).sum(dtype=float)
    assert found.gradient[labels == labels.max()].mean() < 0 < found.gradient[labels == 0].mean()


def test_a_large_sum_of_float32_keeps_its_digits():
    n_docs = 30_000
    labels = np.zeros(n_docs)
    labels[0] = 1
    data = one_query(labels)
    scores = np.random.default_rng(0).normal(size=n_docs)
    single, double = (ranknet().bind(data, dtype=dtype)(scores) for dtype in (np.float32, np.float64))
    assert single.gradient[0] == pytest.approx(double.gradient[0], rel=1e-6)
    assert single.cost[0] == pytest.approx(double.cost[0], rel=1e-6)


# What is refused


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"truncation": 0}, "truncation must be 1 or more"),
        ({"sampled_pairs": 0}, "sampled_pairs must be 1 or more"),
        ({"truncation": 3, "sampled_pairs": 3}, "choose one"),
        ({"certainty": 0.0}, "certainty must be above 0"),
        ({"delta": delta_named("ndcg"), "pair_equal_labels": True}, "swapping them never changes ndcg"),
    ],
)
def test_settings_that_make_no_sense(settings, problem):
    with pytest.raises(SettingError, match=problem):
        PairwiseObjective(**settings)


@pytest.mark.parametrize("make", [lambda: Logistic(0.0), lambda: Logistic(inf), lambda: Hinge(-1), lambda: Spring(-1)])
def test_losses_that_make_no_sense(make):
    with pytest.raises(SettingError):
        make()


@pytest.mark.parametrize(
    ("scores", "problem"),
    [
        ([1.0, 2.0], "must have 3 values, got 2"),
        ([1.0, np.nan, 0.0], "must not be NaN"),
        ([1.0, np.inf, 0.0], "score 1 is inf"),
    ],
)
def test_scores_that_make_no_sense(scores, problem):
    with pytest.raises(InputError, match=problem):
        ranknet().bind(one_query([0, 1, 2]))(scores)


def test_queries_that_are_not_there():
    with pytest.raises(InputError, match="between 0 and 0"):
        ranknet().bind(one_query([0, 1]))([0.0, 1.0], queries=[1])


def test_a_dtype_that_is_not_there():
    with pytest.raises(SettingError, match="float32 or float64"):
        ranknet().bind(one_query([0, 1]), dtype=np.float16)
