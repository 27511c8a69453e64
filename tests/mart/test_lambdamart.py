"""The forces of LambdaMART."""

from __future__ import annotations

import rankwright as rw
from rankwright.mart.lambdamart import lambda_forces
from rankwright.objectives.families import UsualForces
from rankwright.rankers.trained import TrainingFindings


def test_the_usual_forces_know_how_many_leaves_were_asked_for():
    for ranker in (rw.LambdaMART(), rw.LambdaMART(max_leaves=255)):
        assert lambda_forces(ranker, TrainingFindings()) == UsualForces(ranker.metric, ranker.max_leaves)
