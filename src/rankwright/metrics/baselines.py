"""What every ranker must beat: single features as rankers, and a random order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rankwright.arrays import Float64Array, Seed, generator
from rankwright.data.dataset import RankingDataset
from rankwright.metrics.convention import DEFAULT, Convention
from rankwright.metrics.evaluation import evaluate


@dataclass(frozen=True, slots=True)
class FeatureRanker:
    """One feature as a ranker: documents are ordered by its value, and those without a value come last."""

    column: int
    feature: str
    larger_is_better: bool

    @property
    def name(self) -> str:
        """The feature's name, and the direction where it is not the usual one."""
        return self.feature if self.larger_is_better else f"{self.feature}, lowest first"

    def scores(self, data: RankingDataset) -> Float64Array:
        """The score of each document, in the row order of the data's source."""
        values = data.features[:, self.column].astype(np.float64)
        scores = values if self.larger_is_better else -values
        scores[np.isnan(scores)] = -np.inf
        return data.in_source_order(scores)


def feature_rankers(
    data: RankingDataset, metric: str = "ndcg@10", convention: str | Convention = DEFAULT
) -> dict[FeatureRanker, float]:
    """Every feature as a ranker, in its better direction, with the mean that it reaches on `data`; the best first."""
    rankers = [
        FeatureRanker(column, name, larger_is_better)
        for larger_is_better in (True, False)
        for column, name in enumerate(data.names)
    ]
    mean_of = {ranker: evaluate(ranker.scores(data), data, [metric], convention)[metric].mean for ranker in rankers}
    best_first = sorted(rankers, key=lambda ranker: -mean_of[ranker])
    better_way_round = {ranker.column: ranker for ranker in reversed(best_first)}
    return {ranker: mean_of[ranker] for ranker in best_first if better_way_round[ranker.column] is ranker}


def random_scores(data: RankingDataset, seed: Seed = 0) -> Float64Array:
    """Random scores: what a ranker that knows nothing gives."""
    return generator(seed).random(data.n_docs)
