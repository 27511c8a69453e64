"""Scores of documents by forests that were not grown on their queries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankwright.arrays import Float64Array, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.data.splits import k_fold
from rankwright.objectives.objective import Objective
from rankwright.progress.stages import announce
from rankwright.trees.bins.binned import bin_dataset
from rankwright.trees.boosting import Boosting, BoostingParams
from rankwright.trees.forests.forest import Forest
from rankwright.trees.params import TreeParams

N_FOLDS = 5
TREE = TreeParams(max_leaves=15, learning_rate=0.08, min_docs_in_leaf=20)  # large leaves, since clicks are noisy
MAX_BINS = 255
FEATURE_FRACTION = 0.3
FEW_FEATURES = 20  # of which each tree sees all: fewer would make trees that are blind to what matters


def held_out_scores(
    data: RankingDataset, objective: Objective, stages: Sequence[int], *, what: str, seed: int, threads: int | None
) -> Float64Array:
    """Each document's scores by forests that were grown on other queries: a row for each number of trees.

    `what` is the stage of the work that is shown meanwhile.
    """
    scores = np.zeros((len(stages), data.n_docs))
    share = max(FEATURE_FRACTION, min(FEW_FEATURES / max(data.n_features, 1), 1.0))
    params = BoostingParams(tree=TREE, feature_fraction=share, seed=seed)
    folds = list(k_fold(data.groups, min(N_FOLDS, data.n_queries), seed=seed))
    announce(what)
    for done, fold in enumerate(folds):
        announce(what, done, len(folds), unit="forests")
        train, test = np.sort(fold.train), np.sort(fold.test)
        forest = quick_forest(data.take_queries(train), objective, params, stages[-1], threads)
        held_out, rows = data.take_queries(test), data.groups.rows_of(test)
        for stage, n_trees in enumerate(stages):
            fewer = forest.truncated(min(n_trees, forest.n_trees))
            scores[stage, rows] = fewer.predict(held_out.features, threads=threads)
    announce(what, len(folds), len(folds), unit="forests")
    return scores


def quick_forest(
    data: RankingDataset, objective: Objective, params: BoostingParams, n_trees: int, threads: int | None
) -> Forest:
    """A forest of at most so many trees that follows the objective's forces."""
    binned = bin_dataset(data, max_bins=MAX_BINS, seed=params.seed, threads=threads)
    n_threads = thread_count(threads)
    boosting = Boosting(binned, objective.bind(binned, threads=n_threads), params, base_score=0.0, threads=n_threads)
    for step in range(n_trees):
        if not boosting.take_step(step):
            break
    return boosting.forest()
