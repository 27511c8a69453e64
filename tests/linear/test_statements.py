"""Each linear ranker's own definition, said naively on tiny data, and held against the ranker."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import rankwright as rw
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.linear.crr import CombinedDescent, pairs_to_draw
from rankwright.linear.linear_ranker import JudgedRows, judged_rows, ordinal_levels
from rankwright.linear.newton import NewtonLearner
from rankwright.linear.ranksvm import SquaredPairHinge, margin_pairs, worth_of_levels
from rankwright.linear.settings import CRRSettings, SmoothRankSettings, SVMMAPSettings
from rankwright.linear.smoothrank import SmoothLearner
from rankwright.linear.structural_svms import CuttingPlanes, SwappedPairs, WorstAveragePrecision, solve_dual
from rankwright.nets.listnet import TopOneCost
from rankwright.nets.net_rankers import adjusted_targets


def tiny(seed=0, sizes=(4, 1, 6, 3), n_features=3, *, weights=False) -> Any:
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    return RankingDataset.from_arrays(
        rng.integers(-2, 3, size=(n, n_features)),
        rng.integers(0, 3, size=n),
        group=sizes,
        document_weights=rng.random(n) if weights else None,
        query_weights=rng.random(len(sizes)) if weights else None,
    )


def rows_of(data: RankingDataset) -> JudgedRows:
    return judged_rows(data, "this test")


def pairs_of(data: RankingDataset):
    """Every pair of one query with different labels, better first: query, better row, worse row, weight."""
    assert data.labels is not None
    of_documents = np.ones(data.n_docs) if data.document_weights is None else data.document_weights.astype(float)
    of_queries = np.ones(data.n_queries) if data.query_weights is None else data.query_weights.astype(float)
    for query, docs in enumerate(data.groups.slices()):
        for i, j in itertools.permutations(range(docs.start, docs.stop), 2):
            if data.labels[i] > data.labels[j]:
                yield query, i, j, of_queries[query] * of_documents[i] * of_documents[j]


class TestPRank:
    def test_it_is_crammer_and_singers_rule(self):
        data = replace(tiny().in_key_order(), source_rows=None)
        ranker = rw.PRank(epochs=3, scaling=None, seed=5).fit(data)
        weights, thresholds = np.zeros(3), np.zeros(2)
        for epoch in range(3):
            for row in np.random.default_rng([5, epoch]).permutation(data.n_docs):
                x, y = data.features[row].astype(float), int(data.labels[row])
                score, moves = weights @ x, np.zeros(2)
                for r in (0, 1):
                    side = 1 if y > r else -1
                    if (score - thresholds[r]) * side <= 0:
                        moves[r] = side
                weights += moves.sum() * x
                thresholds -= moves
        assert np.array_equal(ranker.coef_, weights)
        assert np.array_equal(ranker.arrays_["thresholds"], thresholds)
        levels = [sum(score >= b for b in sorted(thresholds)) for score in data.features @ weights]
        assert np.array_equal(ranker.predict_levels(data), levels)

    def test_thresholds_stay_in_order(self, small_data):
        assert (np.diff(rw.PRank(epochs=4).fit(small_data).arrays_["thresholds"]) >= 0).all()

    def test_a_committee_of_one_that_sees_everything_is_a_prank(self, small_data):
        alone, committee = rw.PRank(epochs=4), rw.OAPBPM(epochs=4, n_perceptrons=1, tau=1.0)
        assert np.array_equal(alone.fit(small_data).predict(small_data), committee.fit(small_data).predict(small_data))

    def test_the_form_of_all_products_is_the_quadratic_kernel(self):
        data = tiny(sizes=(8, 9, 7))
        given: dict[str, Any] = {"gamma": 0.5, "scaling": None, "epochs": 4}
        form = rw.KernelPRank(features="quadratic", **given).fit(data)
        kernel = rw.KernelPRank(kernel="quadratic", **given).fit(data)
        assert form.predict(data) == pytest.approx(kernel.predict(data))
        assert form.arrays_["thresholds"] == pytest.approx(kernel.arrays_["thresholds"])

    def test_the_support_stays_within_its_bound(self, small_data):
        ranker = rw.KernelPRank(max_support=7, epochs=3).fit(small_data)
        assert len(ranker.arrays_["support"]) <= 7

    def test_many_labels_become_levels_of_about_equal_size(self):
        labels = np.random.default_rng(0).random(1000).astype(np.float32)
        levels, lowest = ordinal_levels(labels, 10)
        assert np.bincount(levels).tolist() == [100] * 10
        assert all(labels[levels == level].min() == lowest[level] for level in range(10))


class TestRankSVM:
    @pytest.mark.parametrize("weights", [False, True])
    @pytest.mark.parametrize("per_query", [False, True])
    def test_its_cost_is_a_sum_over_pairs(self, per_query, weights):
        data = tiny(weights=weights)
        pairs = list(pairs_of(data))
        totals = np.zeros(data.n_queries)
        for query, _, _, weight in pairs:
            totals[query] += weight
        of_query = np.ones(data.n_queries) if data.query_weights is None else data.query_weights.astype(float)
        scores = np.random.default_rng(1).normal(size=data.n_docs)
        expected = 0.0
        for query, i, j, weight in pairs:
            share = of_query[query] * weight / totals[query] if per_query else weight
            expected += share * max(0.0, 1 - scores[i] + scores[j]) ** 2
        found = margin_pairs(rows_of(data), per_query=per_query, position_weights=False, threads=1)
        assert SquaredPairHinge(found, 3.0).evaluate(scores)[0] == pytest.approx(3 * expected)

    def test_newton_finds_the_minimum(self):
        data = tiny(sizes=(8, 9, 7))
        ranker = rw.RankSVM(C=0.3, per_query=False, scaling=None).fit(data)

        def cost(weights):
            scores = data.features @ weights
            hinges = [max(0.0, 1 - scores[i] + scores[j]) ** 2 for _, i, j, _ in pairs_of(data)]
            return 0.5 * weights @ weights + 0.3 * sum(hinges)

        assert ranker.coef_ == pytest.approx(minimize(cost, np.zeros(3)).x, abs=1e-3)

    def test_levels_are_worth_the_ndcg_their_swaps_lose(self):
        data = tiny(sizes=(5, 6))
        levels, _ = ordinal_levels(data.labels, 64)
        sums, counts = np.zeros((3, 3)), np.zeros((3, 3))
        for docs in data.groups.slices():
            ideal = np.sort(data.labels[docs])[::-1]
            best = rw.evaluate(-np.arange(len(ideal)), as_list(ideal), ["dcg@100"])["dcg@100"].mean
            for a, b in itertools.product(set(ideal.tolist()), repeat=2):
                losses = []
                for i, j in itertools.product(np.flatnonzero(ideal == a), np.flatnonzero(ideal == b)):
                    swapped = ideal.copy()
                    swapped[[i, j]] = swapped[[j, i]]
                    found = rw.evaluate(-np.arange(len(ideal)), as_list(swapped), ["dcg@100"])["dcg@100"].mean
                    losses.append(1 - found / best)
                sums[int(a), int(b)] += np.mean(losses)
                counts[int(a), int(b)] += 1
        expected = sums / np.maximum(counts, 1)
        worth = worth_of_levels(rows_of(data), levels)
        assert worth == pytest.approx(expected / expected[expected > 0].mean())

    def test_kernels_come_through_nystrom(self, small_data):
        ranker = rw.RankSVM(kernel="rbf", landmarks=30).fit(small_data)
        assert len(ranker.arrays_["weights"]) == 30
        assert not hasattr(ranker, "coef_")
        assert ranker.importances().tolist() == [0.0] * 5

    def test_given_pairs_are_what_it_learns(self, small_data):
        better, worse = np.argsort(small_data.features[:, 0])[[-1, 0]]
        pairs = rw.Preferences([better], [worse])
        data = replace(small_data, groups=Groups.of_sizes([small_data.n_docs]), query_ids=None, preferences=pairs)
        scores = rw.RankSVM().fit(data).predict(data)
        assert scores[better] > scores[worse]


def as_list(labels) -> RankingDataset:
    return RankingDataset.from_arrays(np.zeros((len(labels), 1)), labels, group=[len(labels)])


class TestStructuralSVMs:
    def test_the_oracle_of_pairs_breaks_the_constraints_most(self):
        data = tiny(sizes=(3, 4))
        scores = np.random.default_rng(0).normal(size=7)
        pairs = [(i, j) for _, i, j, _ in pairs_of(data)]
        best = max(
            sum((1 - scores[i] + scores[j]) * is_swapped for (i, j), is_swapped in zip(pairs, choice, strict=True))
            for choice in itertools.product((0, 1), repeat=len(pairs))
        )
        found = margin_pairs(rows_of(data), per_query=False, position_weights=False, threads=1)
        coefficients, loss = SwappedPairs(found)(scores)
        assert (loss - coefficients @ scores) * len(pairs) == pytest.approx(best)

    @pytest.mark.parametrize("seed", range(20))
    def test_the_oracle_of_map_breaks_the_constraints_most(self, seed):
        rng = np.random.default_rng(seed)
        scores, relevant = rng.normal(size=6) * rng.choice([0.1, 1.0]), rng.random(6) < 0.5
        relevant[:2] = [True, False]
        data = RankingDataset.from_arrays(np.zeros((6, 1)), relevant.astype(float), group=[6])
        coefficients, loss = WorstAveragePrecision(rows_of(data), relevant_above=0.0, threads=1)(scores)

        good, bad = np.flatnonzero(relevant), np.flatnonzero(~relevant)
        broken = []
        for order in itertools.permutations(range(6)):
            rank = np.argsort(order)
            precisions = [(rank[good] <= rank[i]).sum() / (rank[i] + 1) for i in good]
            swapped = sum((scores[i] - scores[j]) * (rank[j] < rank[i]) for i in good for j in bad)
            # Ψ(right) - Ψ(ranking) has twice each swapped pair's difference.
            broken.append(1 - np.mean(precisions) - 2 * swapped / (len(good) * len(bad)))
        assert loss - coefficients @ scores == pytest.approx(max(broken))

    def test_the_dual_is_solved(self):
        rng = np.random.default_rng(0)
        planes, losses = rng.normal(size=(6, 3)), rng.random(6)

        def primal(weights):
            return 0.5 * weights @ weights + 4.0 * max(0.0, (losses - planes @ weights).max())

        weights = solve_dual(planes, losses, 4.0) @ planes
        around = [primal(weights + step) for step in rng.normal(size=(500, 3)) * 0.01]
        assert primal(weights) <= min(around) + 1e-9

    def test_it_ends_at_the_minimum_over_all_pairs(self):
        data = tiny(sizes=(8, 9, 7))
        ranker = rw.RankSVMStruct(C=5.0, per_query=False, tolerance=1e-6, scaling=None).fit(data)
        n_pairs = len(list(pairs_of(data)))

        def cost(weights):
            scores = data.features @ weights
            hinges = [max(0.0, 1 - scores[i] + scores[j]) for _, i, j, _ in pairs_of(data)]
            return 0.5 * weights @ weights + 5.0 * sum(hinges) / n_pairs

        around = [cost(ranker.coef_ + step) for step in np.random.default_rng(0).normal(size=(300, 3)) * 0.02]
        assert cost(ranker.coef_) <= min(around) + 1e-5

    def test_nothing_to_break_is_nothing_to_learn(self):
        data = RankingDataset.from_arrays(np.ones((3, 2)), [1.0, 1.0, 1.0], group=[3])
        planes = CuttingPlanes(
            SVMMAPSettings(C=1.0, tolerance=1e-3),
            rows_of(data),
            WorstAveragePrecision(rows_of(data), relevant_above=0.0, threads=1),
            threads=1,
        )
        assert not planes.take_step(0)


class TestListNet:
    def test_its_cost_is_the_cross_entropy_of_top_one_probabilities(self):
        data = tiny()
        scores = np.random.default_rng(0).normal(size=data.n_docs)
        expected = 0.0
        for docs in data.groups.slices():
            wanted, found = (np.exp(v) / np.exp(v).sum() for v in (data.labels[docs].astype(float), scores[docs]))
            expected -= wanted @ np.log(found)
        assert TopOneCost(rows_of(data), threads=1).evaluate(scores)[0] == pytest.approx(expected / 4)

    @pytest.mark.parametrize("weights", [False, True])
    def test_its_second_derivatives_are_differences_of_the_first(self, weights):
        data = tiny(weights=weights)
        cost = TopOneCost(rows_of(data), threads=1)
        rng = np.random.default_rng(0)
        scores, direction = rng.normal(size=data.n_docs), rng.normal(size=data.n_docs)
        ahead, behind = (cost.evaluate(scores + step * direction)[1] for step in (1e-5, -1e-5))
        assert cost.curve(scores, direction) == pytest.approx((ahead - behind) / 2e-5, abs=1e-8)

    def test_the_linear_model_is_the_minimum(self):
        data = tiny(sizes=(8, 9, 7))
        ranker = rw.ListNet(weight_decay=0.1, scaling="none").fit(data)
        cost = TopOneCost(rows_of(data), threads=1)

        def penalised(weights):
            return cost.evaluate(data.features @ weights)[0] + 0.05 * weights @ weights

        assert ranker.weights_ == pytest.approx(minimize(penalised, np.zeros(3)).x, abs=1e-3)

    @pytest.mark.parametrize("hidden", [(), (4,)])
    def test_flat_lists_take_part_only_where_asked(self, hidden):
        data = tiny(sizes=(8, 9, 7, 5))
        flat = replace(data, labels=np.where(data.groups.query_of_row == 3, np.float32(1), data.labels))
        others = data.take_queries(np.arange(3))
        settings: dict[str, Any] = {"hidden": hidden, "scaling": "none", "epochs": 3, "weight_decay": 0.1}
        left_out = rw.ListNet(**settings).fit(flat).predict(data)
        assert np.array_equal(left_out, rw.ListNet(**settings).fit(others).predict(data))
        taking_part = rw.ListNet(flat_lists=True, **settings).fit(flat).predict(data)
        assert taking_part != pytest.approx(left_out, abs=1e-3)

    @pytest.mark.parametrize("hidden", [(), (4,)])
    def test_labels_count_by_their_scale(self, hidden):
        data = tiny(sizes=(8, 9, 7))
        settings: dict[str, Any] = {"hidden": hidden, "epochs": 3}
        scaled = rw.ListNet(label_scale=2.5, **settings).fit(data).predict(data)
        by_hand = rw.ListNet(**settings).fit(replace(data, labels=data.labels * np.float32(2.5))).predict(data)
        assert np.array_equal(scaled, by_hand)
        assert not np.array_equal(scaled, rw.ListNet(**settings).fit(data).predict(data))

    @pytest.mark.parametrize("scale", [0.0, -1.0, float("inf"), float("nan")])
    def test_a_scale_that_orders_nothing_is_refused(self, scale):
        with pytest.raises(rw.errors.SettingError, match="label_scale must be above 0"):
            rw.ListNet(label_scale=scale).fit(tiny())

    def test_a_net_of_it_is_the_net_of_its_objective(self, small_data):
        settings: dict[str, Any] = {"hidden": (6,), "epochs": 3, "weight_decay": 0.01}
        own = rw.ListNet(**settings).fit(small_data)
        assert own.weights_ is None
        other = rw.NetRanker("softmax", **settings).fit(small_data)
        # The general net has a constant, which a list does not see.
        order = rw.rank(own.predict(small_data), small_data.groups).rows
        assert np.array_equal(order, own.rank(small_data).rows)
        assert other.n_epochs_ == own.n_epochs_


class TestSmoothRank:
    def test_its_gradient_is_that_of_its_cost(self):
        data = tiny(sizes=(8, 9, 7))
        learner = SmoothLearner(SmoothRankSettings(metric="ndcg@3", sigma=1.0, l2=0.3), rows_of(data), threads=1)
        weights = np.random.default_rng(0).normal(size=3)
        found = learner.cost(weights, 0.7)[1]
        steps = np.eye(3) * 1e-6
        expected = [(learner.cost(weights + s, 0.7)[0] - learner.cost(weights - s, 0.7)[0]) / 2e-6 for s in steps]
        assert found == pytest.approx(expected, abs=1e-6)

    def test_without_softness_it_is_ndcg(self, small_data):
        learner = SmoothLearner(SmoothRankSettings(metric="ndcg@10", sigma=1.0, l2=0.0), rows_of(small_data), threads=1)
        weights = np.random.default_rng(0).normal(size=5)
        scores = small_data.features.astype(float) @ weights
        measured = rw.evaluate(scores, small_data, ["ndcg@10"])["ndcg@10"].mean
        assert -learner.cost(weights, 1e-14)[0] == pytest.approx(measured, abs=1e-6)

    def test_it_follows_ndcg_alone(self, small_data):
        with pytest.raises(ValueError, match="follows ndcg"):
            rw.SmoothRank(metric="map").fit(small_data)


class TestCRR:
    def test_partners_are_all_documents_of_other_labels(self):
        data = tiny(sizes=(5, 1, 6))
        found = pairs_to_draw(rows_of(data))
        drawn = set()
        for place, row in enumerate(found.by_label.tolist()):
            for chosen in range(found.pairs_before[place + 1] - found.pairs_before[place]):
                partner = found.query_first[place] + chosen
                if partner >= found.same_first[place]:
                    partner += found.same_last[place] - found.same_first[place]
                drawn.add((row, int(found.by_label[partner])))
        expected = {(i, j) for _, i, j, _ in pairs_of(data)}
        assert drawn == expected | {(j, i) for i, j in expected}

    def test_regression_alone_ends_near_ridge_regression(self):
        rng = np.random.default_rng(0)
        features = rng.normal(size=(500, 3)).astype(np.float32)
        labels = np.clip(features @ [0.5, -0.3, 0.0] + 2, 0, None).astype(np.float32)
        data = RankingDataset.from_arrays(features, labels - labels.min(), group=[500])
        rows = replace(rows_of(data), labels=(labels - labels.mean()).astype(np.float32))
        learner = CombinedDescent(CRRSettings(alpha=1.0, l2=0.01, loss="squared", seed=0), rows, threads=1)
        for step in range(60):
            learner.take_step(step)
        expected = np.linalg.lstsq(features, rows.labels, rcond=None)[0]
        assert learner.weights == pytest.approx(expected, abs=0.03)


class TestLinearRegression:
    def test_it_is_ridge_regression(self):
        data = tiny(sizes=(8, 9, 7), weights=True)
        ranker = rw.LinearRegression(l2=0.2, scaling=None).fit(data)
        weights = data.document_weights.astype(float) * np.repeat(data.query_weights, data.groups.sizes)
        shares = weights / weights.sum()
        x = data.features - shares @ data.features
        y = data.labels - shares @ data.labels
        expected = np.linalg.solve(x.T @ (shares[:, None] * x) + 0.2 * np.eye(3), x.T @ (shares * y))
        assert ranker.coef_ == pytest.approx(expected)
        assert shares @ ranker.predict(data) == pytest.approx(shares @ data.labels)


class TestRankProp:
    def test_targets_are_the_scores_in_the_wanted_order(self):
        scores, labels = np.array([0.9, 0.1, 0.5, 0.3]), np.array([0, 1, 1, 2], np.float32)
        targets = adjusted_targets(scores, labels, np.zeros(4, np.int64), 1e-12)
        # The lowest label has the lowest score; of the two in the middle, the higher one stays higher.
        assert targets == pytest.approx([0.1, 0.3, 0.5, 0.9])

    def test_ranks_draw_them(self):
        scores, labels = np.array([0.9, 0.1, 0.5, 0.3, 7.0]), np.array([0, 1, 1, 2, 1], np.float32)
        targets = adjusted_targets(scores, labels, np.array([0, 0, 0, 0, 1]), 1.0)
        assert targets == pytest.approx([0 / 3, 1.5 / 3, 1.5 / 3, 3 / 3, 0])

    def test_what_stands_right_stays(self):
        scores, labels = np.array([0.1, 0.5, 0.3]), np.array([0, 2, 1], np.float32)
        assert adjusted_targets(scores, labels, np.zeros(3, np.int64), 1e-12) == pytest.approx(scores)


class TestNewton:
    def test_a_step_never_raises_the_cost(self, small_data):
        rows = rows_of(small_data)
        pairs = margin_pairs(rows, per_query=True, position_weights=True, threads=1)
        cost = SquaredPairHinge(pairs, 10.0)
        learner = NewtonLearner(rows.features, cost, l2=1.0, threads=1)
        values = []
        for step in range(5):
            values.append(cost.evaluate(learner.scores)[0] + 0.5 * learner.weights @ learner.weights)
            if not learner.take_step(step):
                break
        assert (np.diff(values) < 0).all()
