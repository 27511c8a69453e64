"""RankBoost and FRank: rankers made of stumps, one more in each round, which learn from pairs that are never formed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float64Array, thread_count
from rankwright.boosters.settings import FRankSettings, RankBoostSettings, StumpSettings
from rankwright.boosters.stumps import FeatureCodes, Stump, StumpRounds, best_stumps
from rankwright.data.dataset import RankingDataset
from rankwright.data.keys import row_hashes
from rankwright.errors import InputError
from rankwright.kernels.records import LabelPairs
from rankwright.mart import forest_views
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.recipe import LessonRecipe, PreparedData, watched_lesson
from rankwright.rankers.views import View
from rankwright.training.driver import Learned, Lesson
from rankwright.trees.bins.binned import bins_of
from rankwright.trees.bins.binning import BinMapper, bin_columns, codes_by_row
from rankwright.trees.forests.forest import Tree, forest_of
from rankwright.trees.model import ForestModel

STUMPS_AT_A_TIME = 8  # whose pairs FRank's kernel counts in one pass: one for each bit
NOTHING_LEFT = 1e-9  # a stump that is worth so little, or weighs so little, is rounding
LARGEST_WORTH = 1 - 1e-6  # RankBoost would give an infinite weight to a stump that orders all pairs right
SMOOTHING = 1e-4  # added to both of FRank's sums, so that a stump without mistakes gets a finite weight


class BoostedPairs(LabelPairs):
    """The pairs with the weights of boosting: all weights add up to 1."""

    def potentials(
        self, scores: Float64Array, *, threads: int = 1, kernel: Callable[..., None] = kernels.pair_potentials
    ) -> tuple[Float64Array, Float64Array]:
        """For each row, the weight of pairs where it is better less where it is worse; and the weight of each query.

        The kernel says how pairs are weighed at these scores: as RankBoost does, or as FRank does.
        """
        potentials, totals = np.empty(len(self.labels)), np.empty(len(self.query_weights))
        kernel(scores, self, potentials, totals, threads)
        return potentials, totals


def boosted_pairs(data: RankingDataset, *, equal_queries: bool, name: str) -> BoostedPairs:
    """The pairs of `data` for the ranker of that name; with `equal_queries` each query's pairs count the same.

    Only the documents in the order of their labels are stored, never the pairs.
    """
    if data.labels is None or data.preferences is not None:
        raise InputError(f"{name} makes its pairs from labels: give y, and no preferences")
    judged = np.flatnonzero(~np.isnan(data.labels))
    query_of_row = data.groups.query_of_row
    counts = np.bincount(query_of_row[judged], minlength=data.n_queries)
    plain = BoostedPairs(
        labels=data.labels,
        weights=np.ones(data.n_docs) if data.document_weights is None else data.document_weights.astype(np.float64),
        query_weights=np.ones(data.n_queries),
        offsets=np.concatenate([[0], np.cumsum(counts)]),
        order=judged[np.lexsort((data.labels[judged], query_of_row[judged]))],
    )
    _, of_query = plain.potentials(np.zeros(data.n_docs))  # with equal scores: the number of pairs, weighted
    weights = np.ones(data.n_queries) if data.query_weights is None else data.query_weights.astype(np.float64)
    if equal_queries:
        weights = np.divide(weights, of_query, out=np.zeros_like(weights), where=of_query > 0)
    total = float(np.sum(weights * of_query))
    return replace(plain, query_weights=weights / total if total > 0 else np.zeros_like(weights))


@dataclass(frozen=True, slots=True)
class StumpRecipe(LessonRecipe):
    """One stump in each round: `next_stump(settings, documents, pairs, threads, scores)` chooses and weighs it.

    It gives None where there is nothing left to learn for a model with these scores.
    """

    next_stump: Callable[[Any, FeatureCodes, BoostedPairs, int, Float64Array], Stump | None]

    def lesson(self, prepared: PreparedData, settings: Any) -> Lesson:
        """The lesson that adds stumps."""
        threads, data, valid = thread_count(settings.threads), prepared.data, prepared.valid
        pairs = boosted_pairs(data, equal_queries=settings.equal_queries, name=settings.name)
        hashes = row_hashes(data.features, threads)
        mapper = bins_of(data, hashes, settings.max_bins, seed=settings.seed, threads=threads)
        documents = _codes_of(data, mapper, threads)
        watched = None if valid is None else _codes_of(valid, mapper, threads)
        rounds = StumpRounds(partial(self.next_stump, settings, documents, pairs, threads), documents, watched)

        def model_of(learned: Learned) -> ForestModel:
            stumps = rounds.stumps[: int(learned.model["n_stumps"][0])]
            return ForestModel(forest_of([_tree_of(stump, mapper, documents) for stump in stumps], mapper), 0.0)

        return watched_lesson(settings, rounds, model_of, data, valid, prepared.parts, lambda: rounds.watched_scores)


def _codes_of(data: RankingDataset, mapper: BinMapper, threads: int) -> FeatureCodes:
    by_row = codes_by_row(bin_columns(data.features, mapper, threads=threads), mapper.n_features)
    return FeatureCodes(np.ascontiguousarray(by_row.T, np.uint8), mapper.n_bins)


def _tree_of(stump: Stump, mapper: BinMapper, documents: FeatureCodes) -> Tree:
    """The stump as a tree, with the number of documents that reach each leaf."""
    n_above = int(np.count_nonzero(stump.above(documents)))
    threshold = mapper.thresholds(np.array([stump.feature]), np.array([stump.bin]))[0]
    return Tree(
        feature=np.array([stump.feature, -1, -1], np.int32),
        bin=np.array([stump.bin, 0, 0], np.int32),
        threshold=np.array([threshold, 0, 0], np.float32),
        left=np.array([1, -1, -1], np.int32),
        right=np.array([2, -1, -1], np.int32),
        missing_left=np.array([not stump.missing_above, False, False]),
        value=np.array([0, 0, stump.weight], np.float32),
        gain=np.array([stump.worth, 0, 0], np.float64),
        count=np.array([documents.n_docs, documents.n_docs - n_above, n_above], np.int64),
        categories=np.zeros((3, 0), np.uint32),
    )


class StumpRanker(Ranker, StumpSettings):
    """A ranker whose model is a forest of stumps."""

    model_kind = ForestModel
    forest_, base_score_, n_trees_ = forest_views.forest, forest_views.base_score, forest_views.n_trees
    feature_importances_, staged_predict = forest_views.feature_importances, forest_views.staged_predict
    n_rounds_ = View[int](
        lambda trained: trained.model.n_steps, "How many rounds the model keeps: with validation data, up to the best."
    )


def rankboost_stump(
    settings: RankBoostSettings,  # noqa: ARG001
    documents: FeatureCodes,
    pairs: BoostedPairs,
    threads: int,
    scores: Float64Array,
) -> Stump | None:
    """The stump that orders most of the weight of all pairs; None where no stump orders any.

    RankBoost (Freund, Iyer, Schapire and Singer 2003): AdaBoost over pairs of documents, which are never formed.

    D is a distribution over pairs. A weak ranker h, 0 or 1 for every document, is worth r = Σ D(worse, better) ·
    (h(better) - h(worse)); it gets the weight α = ½ ln((1 + r) / (1 - r)), and D is multiplied by exp(α (h(worse) -
    h(better))) and normalised. With the potential π of a document, the weight of the pairs in which it is the better
    less that of those in which it is the worse, r is the sum of π over the documents that h puts above: a histogram of
    π by bins finds the best threshold of a feature.

    After some rounds D(worse, better) is its first value times exp(H(worse) - H(better)), a product of one factor for
    each document. So potentials need sums over labels, not over pairs: with a query's documents sorted by label they
    take two passes, whether labels have two values (the paper's bipartite case) or many.
    """
    potentials, totals = pairs.potentials(scores, threads=threads)
    total = float(totals.sum())
    if total <= 0:
        return None
    best = best_stumps(documents, potentials, threads=threads)
    feature = int(np.argmax(np.abs(best.sums)))
    worth = float(best.sums[feature]) / total
    if abs(worth) <= NOTHING_LEFT:
        return None
    worth = max(-LARGEST_WORTH, min(LARGEST_WORTH, worth))
    return best.stump(feature, 0.5 * math.log((1 + worth) / (1 - worth)), abs(worth))


class RankBoost(StumpRanker, RankBoostSettings):
    """Each of `n_rounds` rounds adds the stump, a feature and one of its `max_bins` thresholds, that orders most of the
    weight of all pairs; pairs in the wrong order weigh more in the next round. Every two documents of a query with
    different labels are a pair, whose first weight is the product of the weights of its query and its two documents;
    with `equal_queries` the pairs of a query share a weight of 1, however many they are. Documents without the feature
    are put below or above, whichever orders pairs better (the paper's q_def).

    `metric` is what early stopping and the choice of rounds look at, unless `select` names another. `early_stopping` is
    the number of rounds without a better value after which to stop. Nothing in training is random; `seed` draws only
    the `unjudged` documents that are taken as irrelevant, and the rows that bins of large data are made from.
    """

    recipe = StumpRecipe(rankboost_stump)


def frank_stump(
    settings: FRankSettings, documents: FeatureCodes, pairs: BoostedPairs, threads: int, scores: Float64Array
) -> Stump | None:
    """The stump that lowers the loss most; None where none tells pairs apart.

    FRank (Tsai, Liu, Qin, Chen and Ma 2007): an additive model of stumps that lowers the fidelity loss of pairs.

    With P the logistic function of a pair's difference of scores, and 1 as its target, the fidelity loss is 1 - √P:
    unlike cross entropy it is never above 1, so an outlier cannot dominate a query; it falls to 0 for a pair in the
    right order. A stump h, 0 or 1 for every document, is added with the weight α. A pair's difference changes by α ·
    (h(better) - h(worse)), which is α, 0 or -α; with the weights W = D · √P · (1 - P) of pairs, twice the slope of
    their losses, the step that balances the pairs h orders rightly against those it orders wrongly is α = ½ ln(Σ_right
    W / Σ_wrong W).

    W is not a product of two factors, so kernels go through all pairs, without storing them. A document's potential is
    the weight of the pairs in which it is the better less that of those in which it is the worse; the sum over the
    documents that a stump puts above is Σ_right W - Σ_wrong W, which is how steeply the loss falls along it. The
    steepest stump of each feature is found, and for the eight steepest of these both sums. The stump whose square roots
    of the two sums differ most is added, because it gains most from its step.
    """
    potentials, _ = pairs.potentials(scores, threads=threads, kernel=kernels.fidelity_potentials)
    steepest = best_stumps(documents, potentials, threads=threads)
    features = np.argsort(-np.abs(steepest.sums), kind="stable")[:STUMPS_AT_A_TIME]
    above = np.zeros(documents.n_docs, np.uint8)
    for bit, feature in enumerate(features.tolist()):
        above |= steepest.stump(feature).above(documents).astype(np.uint8) << np.uint8(bit)
    agree, disagree = np.empty((2, len(pairs.query_weights), STUMPS_AT_A_TIME))
    kernels.fidelity_agreement(scores, pairs, above, agree, disagree, threads)
    right, wrong = agree.sum(axis=0) + SMOOTHING, disagree.sum(axis=0) + SMOOTHING
    apart = np.abs(np.sqrt(right) - np.sqrt(wrong))[: len(features)]
    best = int(np.argmax(apart))
    step = settings.learning_rate * 0.5 * math.log(right[best] / wrong[best])
    found = steepest.stump(int(features[best]), step, float(apart[best]) ** 2)
    return None if abs(found.weight) <= NOTHING_LEFT else found


class FRank(StumpRanker, FRankSettings):
    """Each of `n_rounds` rounds adds the stump, a feature and one of its `max_bins` thresholds, that gains most, with
    the paper's closed-form weight times `learning_rate`. Two documents of a query with different labels are a pair,
    weighted by both documents' weights. The query's weight is shared by its pairs, however many they are, as in the
    paper; with `equal_queries=False` every pair counts the same. A pair's loss is at most 1: hard pairs and outliers
    weigh less than in RankBoost. Documents without the feature are put below or above, whichever is better.

    `metric` is what early stopping and the choice of rounds look at, unless `select` names another. `early_stopping` is
    the number of rounds without a better value after which to stop. Nothing in training is random; `seed` draws only
    the `unjudged` documents that are taken as irrelevant, and the rows that bins of large data are made from.
    """

    recipe = StumpRecipe(frank_stump)
