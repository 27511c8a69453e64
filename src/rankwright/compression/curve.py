"""A trained model made smaller: the curve of what that costs, and the model chosen on it.

The data is cut by queries into three parts: small models are fitted to the large one's scores on the first, chosen by
their metric on the second, and the third, at which no choice looks, tells what the chosen one is worth. The first part
needs no labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from rankwright.compression.candidates import ModelTrial, made_of_trees
from rankwright.compression.criteria import DEFAULT_MARGIN, Goal, Point
from rankwright.compression.distillation import StudentParams
from rankwright.compression.methods import MEANS, Candidate, Task
from rankwright.data.dataset import RankingDataset
from rankwright.errors import UnknownNameError, require
from rankwright.metrics.evaluation import MetricResult
from rankwright.metrics.significance import PairedTest, paired_test
from rankwright.nets.gradient_net import require_torch
from rankwright.nets.ranknet import RankNet
from rankwright.rankers.ranker import Ranker
from rankwright.training.loop import Listener

DEFAULT_MEANS = ("exact", "prune", "distill", "prune")
HELD_OUT = 0.25  # share of the queries for the validation part, and for the test part, where they are not given


@dataclass(frozen=True, slots=True, eq=False)
class Compressed:
    """The model chosen, every model that was tried, and what the choice is worth on the test part."""

    model: Ranker
    metric: str
    goal: Goal
    points: tuple[Point, ...]  # the first is the model that was given
    chosen: Point
    before: MetricResult  # the given model on the test part
    after: MetricResult  # the chosen one
    difference: PairedTest

    @property
    def original(self) -> Point:
        """The model that was given."""
        return self.points[0]

    @property
    def factor(self) -> float:
        """How many times fewer nodes the chosen model has; of nets, how many times fewer bytes."""
        if self.original.nodes and self.chosen.nodes:
            return self.original.nodes / self.chosen.nodes
        return self.original.bytes / self.chosen.bytes

    @property
    def sign(self) -> float:
        """1 where a higher metric is better, else -1."""
        return 1.0 if self.before.measure.higher_is_better else -1.0

    def to_dict(self) -> dict[str, Any]:
        """The compression as `rankwright compress --json` prints it."""
        return {
            "metric": self.metric,
            "goal": {
                "max_loss": self.goal.max_loss,
                "target_trees": self.goal.target_trees,
                "target_bytes": self.goal.target_bytes,
                "margin": self.goal.margin,
            },
            "original": self.original.to_dict(),
            "chosen": self.chosen.to_dict(),
            "factor": self.factor,
            "test": {
                "before": self.before.to_dict(),
                "after": self.after.to_dict(),
                "difference": self.difference.to_dict(),
            },
            "curve": [point.to_dict() for point in self.points],
        }


def compress(
    model: Ranker,
    data: RankingDataset,
    *,
    valid: RankingDataset | None = None,
    test: RankingDataset | None = None,
    means: Sequence[str] = DEFAULT_MEANS,
    metric: str = "ndcg@10",
    max_loss: float | None = None,
    target_trees: int | None = None,
    target_bytes: int | None = None,
    margin: float = DEFAULT_MARGIN,
    student: StudentParams | None = None,
    seed: int = 0,
    threads: int | None = None,
    listeners: Sequence[Listener] = (),
) -> Compressed:
    """A smaller model that ranks nearly as `model`, whose trees are one forest, does.

    `means` are taken in turn, each starting from the best forest that those before it made: `exact` drops what decides
    nothing, `prune` keeps a few trees and weighs them anew, `distill` teaches a small forest and `net` a net. The goal
    is the smallest model that loses at most `max_loss` of `metric` on the validation part (0.002 unless another goal is
    given), `margin` standard errors of the loss on top, or the best one of `target_trees` trees or `target_bytes` bytes
    of model file. Queries of `data` serve as the validation and the test part where those are not given.
    """
    goal = Goal(max_loss, target_trees, target_bytes, margin)
    _check_means(means, goal)
    trees = made_of_trees(model)
    fit, valid, test = _parts(data, valid, test, seed)
    student = student or StudentParams()
    trial = ModelTrial(trees, fit, valid, test, metric, student.synthetic, seed, threads)
    task = Task(trial, trees.forest_, "", goal, student, seed, threads, listeners)
    tried = [Candidate(trial.point("none", model), model)]
    for name in means:
        found = list(MEANS[name](task))
        tried += found
        task = _next(task, found)
    points = tuple(candidate.point for candidate in tried)
    chosen = tried[goal.chosen(points)]
    before, after = trial.tested(model), trial.tested(chosen.ranker)
    return Compressed(chosen.ranker, metric, goal, points, chosen.point, before, after, paired_test(before, after))


def _check_means(means: Sequence[str], goal: Goal) -> None:
    require(bool(means), f"name one means or more of {', '.join(MEANS)}")
    for name in means:
        if name not in MEANS:
            raise UnknownNameError("means of compression", name, known=MEANS)
    if "net" in means:
        require_torch(RankNet.name)
    require(goal.target_trees is None or "net" not in means, "a net has no trees: leave out target_trees, or net")


def _parts(
    data: RankingDataset, valid: RankingDataset | None, test: RankingDataset | None, seed: int
) -> tuple[RankingDataset, RankingDataset, RankingDataset]:
    """The parts to fit on, to choose on and to test on; those that are not given are cut off the data."""
    if valid is None and test is None:
        fit, valid, test = data.split(valid=HELD_OUT, test=HELD_OUT, seed=seed)
        return fit, valid, test
    if valid is None or test is None:
        fit, held_out = data.split(valid=HELD_OUT, seed=seed)
        return fit, held_out if valid is None else valid, held_out if test is None else test
    return data, valid, test


def _next(task: Task, found: Sequence[Candidate]) -> Task:
    """The task of the next means: to start from the best forest on the validation part, of equals the smallest."""
    forests = [candidate for candidate in found if candidate.point.trees is not None]
    if not forests:
        return task
    best = min(forests, key=lambda candidate: (candidate.point.loss, candidate.point.bytes))
    made_by = "" if best.point.means == "exact" else best.point.means
    return replace(task, forest=made_of_trees(best.ranker).forest_, made_by=made_by)
