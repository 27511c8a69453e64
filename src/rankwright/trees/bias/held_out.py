"""What forests tell about documents of queries that they were not grown on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.data.splits import k_fold
from rankwright.objectives.objective import Objective
from rankwright.progress.stages import announce, hushed

N_FOLDS = 5
# Quick forests, whose leaves are large enough for noisy clicks.
FOREST: dict[str, Any] = {
    "max_leaves": 15, "learning_rate": 0.08, "min_docs_in_leaf": 20, "query_fraction": 1.0, "growth": "best-first",
}  # fmt: skip
FEATURE_FRACTION = 0.3
FEW_FEATURES = 20  # of which each tree sees all: fewer would make trees that are blind to what matters


def held_out_scores(
    data: RankingDataset, objective: Objective, stages: Sequence[int], *, what: str, seed: int, threads: int | None
) -> Float64Array:
    """Each document's scores by forests that were grown on other queries: a row for each number of trees.

    `what` is the stage of the work that is shown meanwhile, in place of the forests' own.
    """
    from rankwright.trees.lambdamart import LambdaMART

    scores = np.zeros((len(stages), data.n_docs))
    seen = max(FEATURE_FRACTION, min(FEW_FEATURES / max(data.features.shape[1], 1), 1.0))
    settings: dict[str, Any] = {"n_trees": stages[-1], "feature_fraction": seen, "seed": seed, "threads": threads}
    folds = list(k_fold(data.groups, min(N_FOLDS, data.n_queries), seed=seed))
    announce(what)
    for done, fold in enumerate(folds):
        announce(what, done, len(folds), unit="forests")
        train, test = np.sort(fold.train), np.sort(fold.test)
        ranker = LambdaMART(objective=objective, debias="none", **FOREST, **settings)
        with hushed():
            ranker.fit(data.take_queries(train), allow_empty=True)
        held, held_rows = data.take_queries(test), data.groups.rows_of(test)
        for stage, n_trees in enumerate(stages):
            fewer = ranker.with_forest(ranker.forest_.truncated(min(n_trees, ranker.n_trees_)))
            scores[stage, held_rows] = fewer.scores_in_place(held)
    announce(what, len(folds), len(folds), unit="forests")
    return scores
