"""A study on a Ray cluster of two nodes is the study of this machine, whatever becomes of a node."""

from __future__ import annotations

from typing import Any

import rankwright as rw
from rankwright.settings.spaces import Choice
from rankwright.tuning.strategies import TuningPlan
from rankwright.tuning.studies.store import read_records
from rankwright.tuning.studies.study import StudyProgress
from rankwright.tuning.tuner import tune

SPACE = {"max_leaves": Choice((3, 5, 8)), "learning_rate": Choice((0.05, 0.2))}
PLAN = TuningPlan(strategy="halving", folds=2, metric="ndcg@5")


def test_a_node_killed_in_the_middle_changes_nothing(two_nodes, learnable, here, tmp_path):
    def kill_in_the_middle(progress: StudyProgress) -> None:
        if progress.done == 5:
            two_nodes.kill_second()

    options: dict[str, Any] = {"space": SPACE, "plan": PLAN}
    ranker = rw.LambdaMART(n_trees=9)
    local = tune(ranker, learnable, study=tmp_path / "local", engine=here, **options)
    on_ray = tune(
        ranker, learnable, study=tmp_path / "ray", cluster=two_nodes.address, listeners=[kill_in_the_middle], **options
    )
    records = [
        {key: one.lasting() for key, one in read_records(tmp_path / study).items()} for study in ("local", "ray")
    ]
    assert records[0] == records[1]
    assert on_ray.settings == local.settings
    assert on_ray.ranker.forest_.equals(local.ranker.forest_)
