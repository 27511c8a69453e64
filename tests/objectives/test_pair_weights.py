"""Weights of pairs that are means over noisy orders or over orders of tied documents, and mixtures with RankNet's."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, SettingError
from rankwright.kernels import reference
from rankwright.mart.lambdamart import LambdaMART
from rankwright.mart.lambdamart import lambda_forces as forest_forces
from rankwright.nets.net_rankers import LambdaRank
from rankwright.nets.net_rankers import lambda_forces as net_forces
from rankwright.objectives import (
    Decay,
    Hinge,
    Logistic,
    PairwiseObjective,
    delta_named,
    lambdarank,
    objective_named,
    ranknet,
    yetirank,
)
from rankwright.rankers.trained import TrainingFindings

LABELS = np.array([2.0, 0.0, 1.0, 0.0, 3.0])
KNOWN_MEANS = ["ndcg", "ndcg@3", "dcg@3", "p@2", "recall@2", "wta"]
METRICS = ["ndcg@3", "dcg", "map", "mrr", "err", "p@2", "wta"]
ALWAYS = Hinge(margin=1e6)  # every pair is pushed with force 1, so that gradients are sums of weights


def queries(labels, n_queries: int = 1, **parts) -> RankingDataset:
    labels = np.tile(labels, n_queries)
    return RankingDataset.from_arrays(
        np.zeros((len(labels), 1)), labels, group=[len(labels) // n_queries] * n_queries, **parts
    )


def gradient(objective: Any, scores: Any, labels: Any = LABELS, key: int = 0) -> Any:
    return objective.bind(queries(labels), dtype=np.float64)(np.asarray(scores, float), key=key).gradient


def weighed(metric: str, **switches) -> PairwiseObjective:
    return PairwiseObjective(ALWAYS, delta_named(metric), **switches)


def random_lists(n_docs: int, seed: int = 0) -> tuple[RankingDataset, np.ndarray]:
    rng = np.random.default_rng(seed)
    labels = rng.choice([0, 0, 0, 1, 2], size=n_docs)
    return queries(labels), rng.normal(size=n_docs)


def same_as_twin(objective, data, scores) -> None:
    bound = objective.bind(data, dtype=np.float64)
    found = bound(scores, key=3)
    wanted = replace(bound, kernel=getattr(reference, bound.kernel.__name__))(scores, key=3)
    assert np.abs(found.gradient).max() > 0
    assert_allclose(found.gradient, wanted.gradient, rtol=1e-9, atol=1e-12)
    assert_allclose(found.curvature, wanted.curvature, rtol=1e-9, atol=1e-12)


class TestTies:
    @pytest.mark.parametrize("metric", KNOWN_MEANS)
    @pytest.mark.parametrize("truncation", [None, 1, 3])
    @pytest.mark.parametrize("scores", [[0, 0, 0, 0, 0], [1, 0, 0, 1, 0], [2, 1, 1, 1, 0], [4, 3, 2, 1, 0]])
    def test_expected_forces_are_the_mean_over_all_orders_of_tied_documents(self, metric, truncation, scores):
        orders = np.array(list(permutations(range(len(LABELS)))))
        in_row_order = weighed(metric, truncation=truncation, shuffle_ties=False)
        data = queries(LABELS, len(orders))
        moved = replace(data, labels=np.concatenate([LABELS[order] for order in orders]).astype(np.float32))
        forces = in_row_order.bind(moved, dtype=np.float64)(np.array(scores, float)[orders].ravel()).gradient
        mean = np.zeros(len(LABELS))
        for order, of_order in zip(orders, forces.reshape(len(orders), -1), strict=True):
            mean[order] += of_order / len(orders)
        expected = weighed(metric, truncation=truncation, expected_ties=True)
        assert_allclose(gradient(expected, scores), mean, atol=1e-12)

    def test_without_ties_expected_forces_are_the_plain_ones(self):
        data, scores = random_lists(60)
        for truncation in (None, 7):
            plain = lambdarank("ndcg@10", truncation=truncation)
            found = replace(plain, expected_ties=True).bind(data, dtype=np.float64)(scores).gradient
            assert_allclose(found, plain.bind(data, dtype=np.float64)(scores).gradient, rtol=1e-12)

    def test_expected_forces_depend_on_no_key(self):
        expected = lambdarank("ndcg@10", expected_ties=True)
        assert_array_equal(gradient(expected, np.zeros(5), key=1), gradient(expected, np.zeros(5), key=2))

    @pytest.mark.parametrize("metric", METRICS)
    def test_perturbations_without_noise_shuffle_tied_documents_only(self, metric):
        objective = weighed(metric, perturbations=4, noise=0.0)
        assert_allclose(gradient(objective, [3, 1, 2, 5, 4]), gradient(weighed(metric), [3, 1, 2, 5, 4]), atol=1e-12)
        tied = [gradient(replace(objective, perturbations=4000), np.zeros(5), key=key) for key in (1, 2)]
        assert_allclose(tied[0], tied[1], atol=0.1 * np.abs(tied[0]).max())
        assert (tied[0] != tied[1]).any()


@cache
def noisy_orders(scores, noise):
    """The orders that noise makes of documents with these scores, and how often it makes each."""
    rng = np.random.default_rng(1)
    noisy = np.array(scores) + noise * rng.logistic(size=(200_000, len(scores)))
    return np.unique(np.argsort(-noisy, axis=1), axis=0, return_counts=True)


class TestNoise:
    @pytest.mark.parametrize("metric", METRICS)
    @pytest.mark.parametrize("truncation", [None, 1, 2])
    def test_many_perturbations_give_the_mean_over_the_orders_that_noise_makes(self, metric, truncation):
        scores, noise = np.array([0.5, 1.5, 0.0, 1.0, -0.5]), 0.7
        orders, counts = noisy_orders(tuple(scores), noise)
        ranks = np.argsort(orders, axis=1)
        plain = weighed(metric, truncation=truncation)
        forces = plain.bind(queries(LABELS, len(orders)), dtype=np.float64)(-ranks.ravel().astype(float)).gradient
        mean = (counts[:, None] * forces.reshape(len(orders), -1)).sum(axis=0) / counts.sum()
        # The hinge pushes with the same force whatever the gap, so only weights differ from order to order.
        found = gradient(replace(plain, perturbations=40_000, noise=noise), scores)
        assert_allclose(found, mean, atol=0.02 * np.abs(mean).max())

    @pytest.mark.parametrize("metric", METRICS)
    @pytest.mark.parametrize("noise", [0.0, 1e-9])
    def test_no_noise_to_speak_of_gives_the_plain_forces(self, metric, noise):
        data, scores = random_lists(60)
        for truncation in (None, 3, 20):
            plain = lambdarank(metric, truncation=truncation)
            found = replace(plain, perturbations=3, noise=noise).bind(data, dtype=np.float64)(scores).gradient
            assert_allclose(found, plain.bind(data, dtype=np.float64)(scores).gradient, rtol=1e-9, atol=1e-12)

    def test_forces_follow_the_gaps_of_the_true_scores(self):
        scores = np.array([0.3, -0.4])
        for noise in (0.1, 10.0):  # two documents: a swap changes the same in both orders
            perturbed = PairwiseObjective(Logistic(), delta_named("ndcg"), perturbations=5, noise=noise)
            plain = PairwiseObjective(Logistic(), delta_named("ndcg"))
            assert_allclose(gradient(perturbed, scores, [0, 1]), gradient(plain, scores, [0, 1]), rtol=1e-12)

    def test_another_key_is_another_noise(self):
        objective = lambdarank("ndcg@3", perturbations=2)
        scores = np.array([0.5, 1.5, 0.0, 1.0, -0.5])
        assert_array_equal(gradient(objective, scores, key=1), gradient(objective, scores, key=1))
        assert (gradient(objective, scores, key=1) != gradient(objective, scores, key=2)).any()

    @pytest.mark.parametrize("n_docs", [511, 700])  # ranks are counted up to 512 documents, and sorted beyond
    @pytest.mark.parametrize("truncation", [3, 200])  # lists that are long and short for their truncation
    def test_long_lists_do_as_the_twin_does(self, n_docs, truncation):
        data, scores = random_lists(n_docs)
        same_as_twin(lambdarank("map", truncation=truncation, perturbations=2), data, scores)

    def test_noise_too_small_for_a_float_leaves_row_order(self):
        data, _ = random_lists(40)
        same_as_twin(lambdarank("ndcg@10", truncation=5, perturbations=2, noise=1e-300), data, np.zeros(40))

    def test_preferences_are_weighed_by_noisy_orders_too(self):
        data, scores = random_lists(24)
        labels = np.asarray(data.labels)
        better, worse = np.nonzero(labels[:, None] > labels)
        given = replace(data, preferences=Preferences(better, worse))
        for switches in ({"perturbations": 3}, {"expected_ties": True}, {"constant_share": 0.4}):
            for truncation in (None, 5):
                objective = replace(lambdarank("ndcg@10", truncation=truncation), **switches)
                by_label, by_preference = (objective.bind(one, dtype=np.float64)(scores) for one in (data, given))
                assert_allclose(by_preference.gradient, by_label.gradient, rtol=1e-9, atol=1e-12)
                same_as_twin(objective, given, np.round(scores))


class TestNeighbours:
    def test_neighbours_count_their_labels_times_a_power_of_the_decay(self):
        objective = replace(yetirank(decay=0.6, noise=0.0, perturbations=3), pair_loss=ALWAYS)
        scores = [5, 4, 3, 2, 1]  # labels 2 0 1 0 3: differences 2, 1, 1, 3
        pushes = np.array([2, 1, 1, 3]) * 0.6 ** np.arange(4) * [-1, 1, -1, 1]
        assert_allclose(gradient(objective, scores), np.append(pushes, 0) - np.append(0, pushes), rtol=1e-12)

    def test_neighbours_of_a_metric_count_what_a_swap_changes(self):
        for metric in METRICS:
            few = gradient(weighed(metric, perturbations=1, noise=0.0, neighbours=True), [1.0, 0.0], [0, 1])
            assert_allclose(few, gradient(weighed(metric), [1.0, 0.0], [0, 1]), rtol=1e-12)

    def test_truncation_keeps_neighbours_at_the_top(self):
        objective = replace(yetirank(noise=0.0, truncation=1, perturbations=1), pair_loss=ALWAYS)
        assert_allclose(gradient(objective, [5, 4, 3, 2, 1]), [-2, 2, 0, 0, 0])

    def test_yetirank_reads_its_name(self):
        assert objective_named("yetirank") == yetirank() == yetirank(decay=0.85)
        assert yetirank().delta == Decay(0.85)
        assert objective_named("yetirank:map", perturbations=3) == yetirank("map", perturbations=3)
        with pytest.raises(SettingError, match="decay shapes YetiRank's own weights"):
            yetirank("map", decay=0.9)
        with pytest.raises(SettingError, match="persistence must be above 0 and below 1, got 1"):
            yetirank(decay=1.0)


class TestMixtures:
    @pytest.mark.parametrize("switches", [{}, {"truncation": 2}, {"perturbations": 3}, {"expected_ties": True}])
    def test_both_shares_have_the_same_sum(self, switches):
        scores = [3, 1, 2, 2, 2]
        sizes = []
        for share in (0.0, 0.3, 1.0):
            objective = weighed("ndcg", **switches, constant_share=share)
            bound = objective.bind(queries(LABELS), dtype=np.float64)(np.array(scores, float))
            sizes.append(bound.curvature.sum())  # the hinge's curvature is 1: this is twice the sum of weights
        assert_allclose(sizes, sizes[0], rtol=1e-12)

    def test_a_share_of_one_is_ranknet_up_to_a_factor(self):
        data, scores = random_lists(40)
        alike = PairwiseObjective(Logistic(), delta_named("err"), constant_share=1.0)
        found, wanted = (one.bind(data, dtype=np.float64)(scores).gradient for one in (alike, ranknet()))
        assert_allclose(found / np.abs(found).sum(), wanted / np.abs(wanted).sum(), rtol=1e-9, atol=1e-15)

    def test_a_share_between_lies_between(self):
        data, scores = random_lists(40)
        none, half, all_alike = (
            PairwiseObjective(Logistic(), delta_named("map"), truncation=5, constant_share=share)
            .bind(data, dtype=np.float64)(scores)
            .gradient
            for share in (0.0, 0.5, 1.0)
        )
        assert_allclose(half, (none + all_alike) / 2, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"perturbations": -1}, "perturbations must be 0 or more, got -1"),
        ({"noise": -0.5}, "noise must be 0 or more, and finite, got -0.5"),
        ({"noise": np.inf}, "noise must be 0 or more, and finite, got inf"),
        ({"constant_share": 1.5}, "constant_share must be from 0 to 1, got 1.5"),
        ({"delta": "constant", "perturbations": 4}, "perturbations is for weights by a metric"),
        ({"delta": "constant", "expected_ties": True}, "expected_ties is for weights by a metric"),
        ({"delta": "constant", "constant_share": 0.5}, "constant_share is for weights by a metric"),
        ({"neighbours": True}, "neighbours are those of noisy orders: set perturbations"),
        ({"neighbours": True, "perturbations": 2, "sampled_pairs": 3}, "sampled_pairs and constant_share do not go"),
        ({"neighbours": True, "perturbations": 2, "constant_share": 0.1}, "sampled_pairs and constant_share do not go"),
        ({"expected_ties": True, "perturbations": 2}, "two ways to average over orders"),
        ({"delta": "map", "expected_ties": True}, "not known for map.*perturbations=8 with noise=0"),
    ],
)
def test_settings_that_contradict_each_other(settings, problem):
    with pytest.raises(SettingError, match=problem):
        PairwiseObjective(**({"delta": delta_named(settings.pop("delta", "ndcg"))} | settings))


def test_neighbours_are_refused_beside_preferences():
    data = replace(queries([1.0, 0.0]), preferences=Preferences([0], [1]))
    with pytest.raises(InputError, match="neighbours shape pairs made from labels, but this dataset has preferences"):
        yetirank().bind(data)


@pytest.mark.parametrize(
    ("kind", "forces"),
    [(LambdaMART, lambda ranker: forest_forces(ranker, TrainingFindings())), (LambdaRank, net_forces)],
)
def test_rankers_hand_their_settings_to_the_objective(kind, forces):
    assert forces(kind(perturbations=8, noise=0.5)) == replace(lambdarank(), perturbations=8, noise=0.5)
    assert forces(kind(perturbations=8, noise=0.0)).noise == 0.0
    mixed = forces(kind(expected_ties=True, constant_share=0.2))
    assert mixed == replace(lambdarank(), expected_ties=True, constant_share=0.2)
    with pytest.raises(SettingError, match="noise is for noisy orders: set perturbations"):
        forces(kind(noise=0.5))


def test_an_objective_of_its_own_takes_no_settings_of_weights():
    with pytest.raises(SettingError, match="truncation, sigma, perturbations and mode shape LambdaRank's forces"):
        forest_forces(LambdaMART(objective="ranknet", perturbations=4), TrainingFindings())
