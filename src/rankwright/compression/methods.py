"""The means of compression: each makes smaller models from a forest, from small to large where it can."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from rankwright.arrays import Float32Array, Float64Array
from rankwright.compression.candidates import Goal, ModelTrial, Point
from rankwright.compression.distillation import StudentForest, StudentParams
from rankwright.data.groups import Groups
from rankwright.nets.net_rankers import RankNet
from rankwright.rankers.ranker import Ranker
from rankwright.training.loop import Listener
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.refitting import refit_leaves
from rankwright.trees.forests.selection import select_trees
from rankwright.trees.forests.simplifying import merge_equal_shapes, simplified

MOST_SELECTED = 1024  # trees: choosing k of T takes T · k² steps
SELECTION_DOCS = 20_000  # documents that trees are chosen on
MOST_STUDENT_TREES = 512
REFIT_CELLS = 2**24  # documents × trees that leaves are fitted to
LEAST_LEAVES = 8  # in each tree of a student, however small the teacher's are
LEAVES_OF_BLENDS = 31  # the same where the teacher is a blend
STEP = 2**0.5  # ratio of one size to the one before
BEYOND = 2  # how many times larger than needed forests grow, to show more of the curve and give pruning a choice


@dataclass(frozen=True, slots=True)
class Candidate:
    """A model and its point on the curve."""

    point: Point
    ranker: Ranker


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """The input of a means: the forest to start from, the goal, and the trial that measures its models."""

    trial: ModelTrial
    forest: Forest | None  # None of a blend, which is several models: a forest learns from it first
    made_by: str  # the means that made the forest; "" where its scores are the given model's
    goal: Goal
    student: StudentParams
    seed: int
    threads: int | None
    listeners: Sequence[Listener]

    def candidate(self, means: str, forest: Forest, *, same_level: bool = False) -> Candidate:
        """The given model with that forest."""
        ranker = self.trial.small(means, forest, same_level=same_level)
        return Candidate(self.trial.point(means, ranker), ranker)

    def documents(self, n_docs: int) -> tuple[Float32Array, Groups, Float64Array]:
        """Features, groups and the given model's scores of queries drawn at random, with about `n_docs` documents."""
        lesson = self.trial.tree_lesson
        target = np.asarray(lesson.labels, np.float64)
        if lesson.n_docs <= n_docs:
            return lesson.features, lesson.groups, target
        drawn = np.random.default_rng(self.seed).permutation(lesson.n_queries)
        n_queries = max(1, int(np.searchsorted(np.cumsum(lesson.groups.sizes[drawn]), n_docs)))
        queries = np.sort(drawn[:n_queries])
        rows = lesson.groups.rows_of(queries)
        return lesson.features[rows], Groups.of_sizes(lesson.groups.sizes[queries]), target[rows]

    def refitted(self, forest: Forest) -> Forest:
        """The forest with its leaves fitted to the given model's scores."""
        return refit_leaves(forest, *self.documents(REFIT_CELLS // max(forest.n_trees, 1)), threads=self.threads)


def exact(task: Task) -> Iterator[Candidate]:
    """A forest with fewer nodes and exactly the same scores; then one with equal shapes merged, which rounds scores."""
    if task.forest is None:
        return
    smaller = simplified(task.forest)
    yield task.candidate("exact", smaller, same_level=True)
    merged = merge_equal_shapes(smaller)
    if merged.n_trees < smaller.n_trees:
        yield task.candidate("exact", merged, same_level=True)


def prune(task: Task) -> Iterator[Candidate]:
    """A few of the trees, with leaves fitted anew to the given model's scores."""
    if task.forest is None:
        return
    features, groups, target = task.documents(SELECTION_DOCS)
    most = _most_trees(task.forest.n_trees, MOST_SELECTED, task.goal)
    selection = select_trees(task.forest, features, groups, target, most, threads=task.threads)
    if selection.n_trees:
        name = f"{task.made_by}+prune" if task.made_by else "prune"
        yield from _growing(name, selection.best, selection.n_trees, task)


def distill(task: Task) -> Iterator[Candidate]:
    """Forests that learned from the given model."""
    lesson, teacher = task.trial.tree_lesson, getattr(task.trial.model, "forest_", None)
    if teacher is None:
        most, categorical = MOST_STUDENT_TREES, [lesson.names.index(name) for name in lesson.categories or ()]
        usual = LEAVES_OF_BLENDS
    else:
        most, categorical = teacher.n_trees, np.flatnonzero(np.diff(teacher.category_offsets)).tolist()
        usual = max(int(teacher.n_leaves_of_trees().max(initial=0)), LEAST_LEAVES)
    student = StudentForest(
        lesson,
        task.student,
        max_leaves=task.student.max_leaves or usual,
        categorical=categorical,
        seed=task.seed,
        threads=task.threads,
    )
    yield from _growing("distill", student.of_size, _most_trees(most, MOST_STUDENT_TREES, task.goal), task)


def net(task: Task) -> Iterator[Candidate]:
    """Nets that learned from the given model, the smallest first, until one reaches the goal.

    They learn the same posterior as forests do: all pairs, with the logistic function of the teacher's difference.
    """
    trial = task.trial
    for hidden in task.student.hidden:
        ranker = RankNet(
            hidden=hidden,
            encoding="none",  # of pieces, a net would be several times as large
            learning_rate=0.003,
            weight_decay=0.0,
            ties=0.5,
            certainty=1.0,
            epochs=task.student.epochs,
            early_stopping=task.student.patience,
            metric=trial.metric,
            seed=task.seed,
            threads=task.threads,
        )
        ranker.fit(trial.lesson, valid=trial.valid, listeners=task.listeners)
        known = ranker.trained_.with_texts_of(trial.model.trained_)
        ranker.trained_ = replace(known, compressed_from=trial.note("net"))
        candidate = Candidate(trial.point("net", ranker), ranker)
        yield candidate
        if task.goal.is_reached(candidate.point):
            return


MEANS: Mapping[str, Callable[[Task], Iterator[Candidate]]] = {
    "exact": exact,
    "prune": prune,
    "distill": distill,
    "net": net,
}


def _growing(means: str, of_size: Callable[[int], Forest], most: int, task: Task) -> Iterator[Candidate]:
    """Forests with more and more trees, up to `BEYOND` times the size that reaches the goal.

    For a target in bytes, the largest forest that fits it is added at the end.
    """

    def refitted(n_trees: int) -> Forest:
        return task.refitted(of_size(n_trees))

    n_last, reached = most, False
    sizes = []
    for n_trees in _sizes(most, task.goal.target_trees):
        if n_trees > n_last:
            break
        forest = refitted(n_trees)
        candidate = task.candidate(means, forest)
        yield candidate
        sizes.append((n_trees, candidate.point.bytes))
        if forest.n_trees < n_trees:
            break  # there is nothing left to learn
        if not reached and task.goal.is_reached(candidate.point):
            n_last, reached = BEYOND * n_trees, True
    if task.goal.target_bytes is not None:
        target = task.goal.target_bytes
        n_within = _most_within(target, sizes, lambda n: task.trial.small(means, refitted(n)).file_size())
        if n_within is not None:
            yield task.candidate(means, refitted(n_within))


def _most_trees(there_are: int, usual: int, goal: Goal) -> int:
    """The most trees to try: no more than there are, and no more than `usual` unless the goal allows more."""
    return min(max(there_are, 1), max(usual, goal.target_trees or 0))


def _sizes(most: int, target: int | None) -> list[int]:
    """Numbers of trees from 1 up, each about √2 times the one before, including the target."""
    steps = int(np.ceil(np.log(max(most, 1)) / np.log(STEP)))
    sizes = {min(round(STEP**step), most) for step in range(steps + 1)}
    return sorted(sizes | {size for size in (target,) if size is not None and size <= most})


def _most_within(target: int, sizes: Sequence[tuple[int, int]], bytes_of: Callable[[int], int]) -> int | None:
    """The largest number of trees that fits the target, if it lies between two sizes that were tried; else None."""
    for (fits, small), (too_many, large) in pairwise(sizes):
        if small <= target < large:
            tried = fits
            while too_many - fits > 1:
                middle = (fits + too_many) // 2
                fits, too_many = (middle, too_many) if bytes_of(middle) <= target else (fits, middle)
            return None if fits == tried else fits
    return None
