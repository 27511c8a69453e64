"""Training of the rankers whose learner takes steps: how many, watched on what, taken up from where."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from rankwright.arrays import Float64Array, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.rankers.ranker import Ranker
from rankwright.training.checkpoints import checkpoint_in
from rankwright.training.digest import data_digest
from rankwright.training.driver import Learned, Learner, learn
from rankwright.training.loop import Listener, LoopPlan
from rankwright.training.watch import watch_metric


def learn_by_steps(
    ranker: Ranker,
    learner: Learner,
    data: RankingDataset,
    watched: RankingDataset | None,
    scores: Callable[[RankingDataset], Float64Array],
    listeners: Sequence[Listener],
    checkpoint: str | os.PathLike[str] | None,
) -> Learned:
    """What the learner became in the steps that the ranker's settings allow: one, where it has no `budget`.

    `scores` is what the learner says now of the documents that are watched. `history_` and `data_digest_` are set.
    """
    plan = LoopPlan(1 if ranker.budget is None else getattr(ranker, ranker.budget), ranker.early_stopping)
    watch = None
    if watched is not None:
        watch = watch_metric(
            ranker._selected(),
            watched.labels,
            watched.groups,
            lambda: scores(watched),
            threads=thread_count(ranker.threads),
        )
    learned = learn(
        learner,
        plan,
        watch=watch,
        chooses=ranker.chooses_steps,
        checkpoint=checkpoint_in(checkpoint, data, watched, ranker._lasting_settings()),
        listeners=listeners,
    )
    ranker.history_, ranker.data_digest_ = learned.history, data_digest(data)
    return learned
