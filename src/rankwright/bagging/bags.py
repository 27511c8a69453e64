"""What all bagged rankers share: how their settings become bags, and how these are looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankwright.arrays import Float64Array, thread_count
from rankwright.bagging.bag_members import MemberTraining
from rankwright.bagging.bag_training import BagFiles, BagMaker, TrainedBags, train_bags
from rankwright.bagging.samples import BagPlan
from rankwright.bagging.settings import OF_BAGS
from rankwright.data.dataset import RankingDataset
from rankwright.rankers.recipe import TrainingRun, lasting_settings
from rankwright.rankers.trained import TrainedRanker
from rankwright.rankers.views import View
from rankwright.training.digest import run_identity


def bag_plan(ranker: Any) -> BagPlan:
    """How many bags there are, and how each draws its queries."""
    return BagPlan(**{name: getattr(ranker, name) for name in OF_BAGS}, seed=ranker.seed)


def bags_at_a_time(ranker: Any) -> int:
    """How many bags this process trains at a time."""
    return min(thread_count(ranker.threads), ranker.n_bags) if ranker.single().trains_beside_others else 1


def threads_of_a_bag(ranker: Any) -> int:
    """How many threads a bag is trained with."""
    engine = ranker.engine
    return thread_count(ranker.threads) // bags_at_a_time(ranker) if engine is None else int(engine.threads)


def train_members(
    ranker: Any,
    documents: RankingDataset,
    valid: RankingDataset | None,
    members: MemberTraining,
    digests: tuple[str, str | None],
    run: TrainingRun,
    parts: Mapping[str, int],
) -> TrainedBags:
    """The trained bags of a ranker; the metric watched after each bag is its history."""
    return train_bags(
        BagMaker(documents, valid, members, bag_plan(ranker), ranker.selected_metric),
        BagFiles(run.folder, run_identity(*digests, lasting_settings(ranker))),
        engine=ranker.engine,
        listeners=run.listeners,
        workers=bags_at_a_time(ranker),
        threads=thread_count(ranker.threads),
        parts=parts,
    )


def _oob_score_of(trained: TrainedRanker) -> float | None:
    score: float | None = trained.model.oob_score  # type: ignore[attr-defined]  # models of bags have one
    return score


n_bags_view = View[int](lambda trained: trained.model.n_steps, "How many bags were trained.")
oob_score_view = View[float | None](
    _oob_score_of, "The value of `select` on queries out of the bag; None where there is nothing to measure."
)
oob_scores_view = View[Float64Array | None](
    lambda trained: trained.findings.oob_scores, "The mean score of each training document out of the bag."
)
