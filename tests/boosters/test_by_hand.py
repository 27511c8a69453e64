"""The boosters against their papers' statements, written plainly over all pairs and all thresholds."""

from __future__ import annotations

import math
from itertools import permutations, product

import numpy as np
import pytest

import rankwright as rw
from rankwright.boosters.boltzrank import BoltzRankLearner
from rankwright.boosters.climbing import measured_lists
from rankwright.boosters.model import Potentials
from rankwright.boosters.settings import BoltzRankSettings
from rankwright.data.dataset import RankingDataset


@pytest.fixture(params=[2, 4], ids=["two labels", "graded labels"])
def tiny(request):
    """Eight queries of up to seven documents; features have few values, and some are missing."""
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 8, 8)
    features = rng.integers(0, 4, (int(sizes.sum()), 3)).astype(np.float32)
    features[rng.random(features.shape) < 0.15] = np.nan
    labels = rng.integers(0, request.param, len(features))
    return RankingDataset.from_arrays(features, labels, qid=np.repeat(np.arange(8), sizes))


def pairs_of(data):
    return [
        (better, worse)
        for docs in data.groups.slices()
        for better, worse in product(range(docs.start, docs.stop), repeat=2)
        if data.labels[better] > data.labels[worse]
    ]


def stumps_of(data):
    """Whether each row stands above, for every feature, threshold between its values, and place of missing values."""
    for feature in range(data.n_features):
        values = data.features[:, feature]
        known = np.unique(values[~np.isnan(values)])
        for threshold, missing in product(known, (0.0, 1.0)):
            yield np.where(np.isnan(values), missing, values > threshold)


def rankboost_by_hand(data, n_rounds):
    pairs = pairs_of(data)
    D = np.full(len(pairs), 1 / len(pairs))
    H = np.zeros(data.n_docs)
    for _ in range(n_rounds):
        worth = [(sum(D[i] * (h[b] - h[w]) for i, (b, w) in enumerate(pairs)), h) for h in stumps_of(data)]
        r, h = max(worth, key=lambda one: abs(one[0]))
        alpha = 0.5 * math.log((1 + r) / (1 - r))
        H += alpha * h
        D = D * np.array([math.exp(alpha * (h[w] - h[b])) for b, w in pairs])
        D /= D.sum()
    return H


def pair_loss(scores, pairs, loss):
    return sum(loss(scores[better] - scores[worse]) for better, worse in pairs)


def test_rankboost_is_boosting_over_pairs(tiny):
    ranker = rw.RankBoost(n_rounds=6, max_bins=255).fit(tiny)
    # Stumps of the same r may differ, and so may the scores; not the loss that all of them lower.
    losses = [
        pair_loss(scores, pairs_of(tiny), lambda difference: math.exp(-difference))
        for scores in (ranker.predict(tiny), rankboost_by_hand(tiny, 6))
    ]
    assert ranker.n_rounds_ == 6
    assert losses[0] == pytest.approx(losses[1], rel=0.02)
    assert losses[0] < len(pairs_of(tiny))


def test_the_first_round_of_rankboost(tiny):
    (by_hand,) = {round(float(np.ptp(rankboost_by_hand(tiny, 1))), 6)}
    assert np.ptp(rw.RankBoost(n_rounds=1, max_bins=255).fit(tiny).predict(tiny)) == pytest.approx(by_hand, rel=1e-5)


def frank_by_hand(data, n_rounds):
    """One query's pairs count together as much as another's."""
    pairs = pairs_of(data)
    query = data.groups.query_of_row
    n_pairs = np.bincount([query[better] for better, _ in pairs], minlength=data.n_queries)
    D = np.array([1 / n_pairs[query[better]] for better, _ in pairs]) / (n_pairs > 0).sum()
    H = np.zeros(data.n_docs)
    for _ in range(n_rounds):
        P = np.array([1 / (1 + math.exp(H[w] - H[b])) for b, w in pairs])
        W = D * np.sqrt(P) * (1 - P)
        steepest: dict[int, tuple[float, float, np.ndarray]] = {}  # by feature
        n_stumps = [2 * len(np.unique(column[~np.isnan(column)])) for column in data.features.T]
        feature_of = np.repeat(np.arange(data.n_features), n_stumps)
        for feature, h in zip(feature_of, stumps_of(data), strict=True):
            right = 1e-4 + sum(W[i] for i, (b, w) in enumerate(pairs) if h[b] > h[w])
            wrong = 1e-4 + sum(W[i] for i, (b, w) in enumerate(pairs) if h[b] < h[w])
            if feature not in steepest or abs(right - wrong) > abs(steepest[feature][0] - steepest[feature][1]) + 1e-12:
                steepest[feature] = right, wrong, h
        right, wrong, h = max(steepest.values(), key=lambda one: abs(math.sqrt(one[0]) - math.sqrt(one[1])))
        H += 0.5 * math.log(right / wrong) * h
    return H


def test_frank_lowers_the_fidelity_loss_as_stated(tiny):
    scores = rw.FRank(n_rounds=1, max_bins=255).fit(tiny).predict(tiny)
    assert np.ptp(scores) == pytest.approx(np.ptp(frank_by_hand(tiny, 1)), rel=1e-5)
    losses = [
        pair_loss(scores, pairs_of(tiny), lambda difference: 1 - math.sqrt(1 / (1 + math.exp(-difference))))
        for scores in (rw.FRank(n_rounds=5, max_bins=255).fit(tiny).predict(tiny), frank_by_hand(tiny, 5))
    ]
    assert losses[0] == pytest.approx(losses[1], rel=0.05)


def adarank_by_hand(data, metric, n_rounds, sharpness=1.0):
    """Every feature upwards, at most one use each."""
    kept = data.take_queries([q for q, docs in enumerate(data.groups.slices()) if len(set(data.labels[docs])) > 1])
    X = np.nan_to_num(kept.features).astype(float)

    def values(scores):
        return rw.evaluate(scores, kept, [metric], "standard(ties=averaged)")[metric].values

    P, w, left = np.full(kept.n_queries, 1 / kept.n_queries), np.zeros(X.shape[1]), set(range(X.shape[1]))
    for _ in range(n_rounds):
        best = max(sorted(left), key=lambda k: P @ values(X[:, k]))
        E = values(X[:, best])
        w[best] += 0.5 * math.log((P @ (1 + E)) / (P @ (1 - E)))
        left.remove(best)
        P = np.exp(-sharpness * values(X @ w))
        P /= P.sum()
    return w


@pytest.mark.parametrize("sharpness", [1.0, 4.0])
@pytest.mark.parametrize("metric", ["map", "ndcg@3", "mrr"])
def test_adarank_weighs_queries_by_what_they_reach(tiny, metric, sharpness):
    settings = {"metric": metric, "sharpness": sharpness, "downwards": False, "scaling": None, "select": "pair-error"}
    ranker = rw.AdaRank(n_rounds=3, **settings).fit(tiny)
    rounds = ranker.n_rounds_  # those up to the best are kept
    assert np.allclose(ranker.weights_, adarank_by_hand(tiny, metric, rounds, sharpness))


def test_sharp_adarank_leaves_a_strong_feature_for_the_queries_that_it_ranks_badly():
    """Nine lists that the first feature ranks right, and three that only the second does."""
    right, wrong = [[2.0, 0.0], [1.0, 0.0]], [[0.0, 2.0], [1.0, 1.0]]
    data = RankingDataset.from_arrays(np.array(9 * right + 3 * wrong), 12 * [1, 0], group=[2] * 12)
    used = {
        sharpness: rw.AdaRank(max_uses=None, sharpness=sharpness, n_rounds=2, scaling=None, metric="mrr").fit(data)
        for sharpness in (1.0, 8.0)
    }
    assert (used[1.0].weights_ != 0).tolist() == [True, False]
    assert (used[8.0].weights_ != 0).all()


def test_coordinate_ascent_leaves_no_better_step():
    rng = np.random.default_rng(3)
    data = RankingDataset.from_arrays(rng.normal(size=(60, 4)), rng.integers(0, 3, 60), qid=np.repeat(np.arange(10), 6))
    ranker = rw.CoordinateAscent(metric="ndcg", restarts=1, tolerance=0.0, scaling=None).fit(data)

    def mean(weights):
        scores = data.features.astype(float) @ weights
        return rw.evaluate(scores, data, ["ndcg"], "standard(ties=averaged)")["ndcg"].mean

    top = mean(ranker.weights_)
    assert np.abs(ranker.weights_).sum() == pytest.approx(1)
    steps = 0.001 * (2.0 ** np.arange(1, 11) - 1)
    for feature, step in product(range(4), [*steps, *-steps]):
        moved = ranker.weights_.copy()
        moved[feature] += step
        assert mean(moved) <= top + 1e-12


@pytest.mark.parametrize("metric", ["map", "err@5", "p@3", "pair-error", "ndcg@10:letor"])
def test_coordinate_ascent_climbs_any_metric(tiny, metric):
    measure, _, convention = metric.partition(":")
    start, end = (
        rw.evaluate(scores, tiny, [measure], convention or "standard")[measure].mean
        for scores in (
            np.nan_to_num(tiny.features).mean(axis=1),
            rw.CoordinateAscent(metric=metric).fit(tiny).predict(tiny),
        )
    )
    assert end <= start if measure == "pair-error" else end >= start


def test_slack_keeps_weights_where_they_started(tiny):
    near, far = (rw.CoordinateAscent(slack=slack, restarts=1).fit(tiny).weights_ for slack in (10.0, 0.0))
    assert np.allclose(near, 1 / 3)
    assert not np.allclose(far, 1 / 3)


@pytest.mark.parametrize("ranker", [rw.AdaRank(metric="dcg@5"), rw.CoordinateAscent(metric="dcg@5")])
def test_a_metric_without_a_top_is_refused(ranker, tiny):
    with pytest.raises(ValueError, match="between 0 and 1"):
        ranker.fit(tiny)


def test_preferences_are_refused_with_a_hint(tiny):
    pair = rw.Preferences([0], [1])
    for kind in (rw.RankBoost, rw.FRank, rw.AdaRank, rw.CoordinateAscent):
        with pytest.raises(ValueError, match="labels: give y, and no preferences"):
            kind().fit(tiny.with_preferences(pair) if tiny.groups.sizes[0] > 1 else tiny.take_queries([1]))


def test_data_sorted_by_label_does_not_flatter_a_constant_column():
    features = np.column_stack([np.ones(6), [3, 1, 2, 3, 2, 1]])
    data = RankingDataset.from_arrays(features, [2, 1, 0, 2, 1, 0], group=[3, 3])
    ranker = rw.AdaRank(n_rounds=1, scaling=None).fit(data)
    assert ranker.weights_[0] == 0
    assert ranker.weights_[1] > 0


def test_boltzranks_scores_order_the_most_probable_ranking():
    """The energy as the paper states it, over pairs, is least for the order of the scores, of all orders there are."""
    rng = np.random.default_rng(2)
    m, n_features = 5, 3
    X, group = rng.normal(size=(m, n_features)).astype(np.float32), rw.Groups.of_sizes([m])
    own, unit, of_unit = rng.normal(size=n_features), rng.normal(size=n_features), 2.0
    flat = np.concatenate([own, unit, [of_unit]])
    scores = Potentials.of_flat(flat, n_features, 1).scores(X, group)[0]

    def psi(i, j):
        return of_unit * math.tanh(X[i] @ unit - X[j] @ unit)

    def energy(ranks):
        pairs = [(i, j) for i, j in product(range(m), repeat=2) if ranks[i] > ranks[j]]
        gaps = [(ranks[i] - ranks[j]) / (m + 1) * (X[i] @ own - X[j] @ own + psi(i, j)) for i, j in pairs]
        return 2 / (m * (m - 1)) * sum(gaps)

    best = min(permutations(range(1, m + 1)), key=energy)
    assert np.array_equal(np.argsort(best), np.argsort(-scores))


def test_boltzranks_slopes_are_those_of_its_loss(tiny):
    lists = measured_lists(tiny, "ndcg@5", name="boltzrank")
    learner = BoltzRankLearner(tiny.features, lists, BoltzRankSettings(n_samples=6, mix=0.3))
    scores = np.random.default_rng(0).normal(size=len(lists.rows))
    shares, values = learner._samples(0)
    labels = learner._target

    def probabilities(given, docs):
        likely = [math.exp(-sum(share[docs] * given[docs])) for share in shares]
        return np.array(likely) / sum(likely)

    def loss(given):
        total = 0.0
        for query, docs in enumerate(lists.groups.slices()):
            p, q = probabilities(given, docs), probabilities(labels, docs)
            total += 0.3 * (1 - p @ values[:, query]) + 0.7 * q @ np.log(q / p)
        return total / lists.n_queries

    slopes = learner.slopes(scores, 0)
    for row in range(0, len(scores), 5):
        nudge = np.zeros(len(scores))
        nudge[row] = 1e-5
        assert slopes[row] == pytest.approx((loss(scores + nudge) - loss(scores - nudge)) / 2e-5, rel=1e-4, abs=1e-9)


def test_boltzrank_with_pair_units_needs_the_list(tiny):
    ranker = rw.BoltzRank(pair_units=2, epochs=5).fit(tiny)
    with pytest.raises(ValueError, match="boltzrank looks at the documents of a query together: give qid"):
        ranker.predict(tiny.features)
    assert not np.array_equal(ranker.predict(tiny), rw.BoltzRank(epochs=5).fit(tiny).predict(tiny))
