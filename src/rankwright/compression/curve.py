"""Making a trained model smaller: the curve of loss by size, and the model chosen on it.

The data is cut by queries into three parts: small models are fitted to the large one's scores on the first, chosen by
their metric on the second, and the chosen one is measured on the third, which no choice uses. The first part needs no
labels.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rankwright.compression.candidates import DEFAULT_MARGIN, Goal, ModelTrial, Point, made_of_trees
from rankwright.compression.distillation import StudentParams
from rankwright.compression.methods import MEANS, Candidate, Task
from rankwright.data.dataset import RankingDataset
from rankwright.data.frames import Tabular
from rankwright.errors import UnknownNameError, require
from rankwright.metrics.evaluation import MetricResult
from rankwright.metrics.significance import PairedTest, paired_test
from rankwright.progress.display import progress_shown
from rankwright.progress.stages import announce
from rankwright.rankers.ranker import Ranker
from rankwright.tables.text import ShownTable
from rankwright.training.loop import Listener

DEFAULT_MEANS = ("exact", "prune", "distill", "prune")
NEAREST = ": none is within it, and this one loses least"
HELD_OUT = 0.25  # share of the queries for each of the validation and test parts that is not given


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Compressed(Tabular):
    """The model chosen, every model that was tried, and the results on the test part.

    Attributes
    ----------
    model : Ranker
        The model chosen.
    metric : str
        The metric that models were compared by.
    goal : Goal
        What was asked of the model.
    points : tuple of Point
        The size, speed and quality of every model that was tried; the first is the model that was given.
    chosen : Point
        The point of the model chosen.
    before, after : MetricResult
        The metric of the given and of the chosen model on the test part.
    difference : PairedTest
        Whether the two differ by more than chance.
    """

    model: Ranker
    metric: str
    goal: Goal
    points: tuple[Point, ...]
    chosen: Point
    before: MetricResult
    after: MetricResult
    difference: PairedTest

    @property
    def original(self) -> Point:
        """The model that was given."""
        return self.points[0]

    @property
    def factor(self) -> float:
        """How many times fewer nodes the chosen model has; for nets, how many times fewer bytes."""
        if self.original.nodes and self.chosen.nodes:
            return self.original.nodes / self.chosen.nodes
        return self.original.bytes / self.chosen.bytes

    @property
    def file_factor(self) -> float:
        """How many times fewer bytes the file of the chosen model has."""
        return self.original.bytes / self.chosen.bytes

    @property
    def smaller(self) -> str:
        """How much smaller the chosen model is, by the bytes of its file and, where both are forests, by its nodes."""
        told = f"{self.file_factor:.1f} times smaller: {self.original.bytes:,} → {self.chosen.bytes:,} bytes"
        return f"{told}, {self.factor:.1f} times fewer nodes" if self.original.nodes and self.chosen.nodes else told

    @property
    def sign(self) -> float:
        """1 where a higher metric is better, else -1."""
        return 1.0 if self.before.measure.higher_is_better else -1.0

    def shown(self) -> ShownTable:
        """Return the models that were tried, as `rankwright compress` prints them.

        Returns
        -------
        ShownTable
            Size, speed and quality of each, a mark at the one chosen, and what that one is worth.
        """
        columns = ["means", "trees", "bytes", "µs/doc", "valid", "loss ± error", "test", ""]
        rows = [[*point.cells(), "*" if point is self.chosen else ""] for point in self.points]
        after, found = self.after, self.difference
        notes = [
            "* chosen",
            f"{self.smaller}; chosen for {self.goal.name}{'' if self.goal.allows(self.chosen) else NEAREST}",
            f"test: {self.metric} {after.mean:.4f}, 95 % interval {after.interval.low:.4f} to "
            f"{after.interval.high:.4f}, over {after.n_queries} queries; it was {self.before.mean:.4f}",
            f"difference {found.difference:+.4f}, 95 % interval {found.interval.low:+.4f} to "
            f"{found.interval.high:+.4f}, p {found.p_value:.3f}",
        ]
        return ShownTable(f"{self.metric} of smaller models", columns, rows, columns[1:-1], notes)

    def columns(self) -> dict[str, list[Any]]:
        """Return the size, speed and quality of every model that was tried.

        Returns
        -------
        dict
            The columns of `to_frame`, one row for each model.
        """
        points = [point.to_dict() | {"chosen": point is self.chosen} for point in self.points]
        return {name: [point[name] for point in points] for name in points[0]}

    def to_dict(self) -> dict[str, Any]:
        """Give the compression as `rankwright compress --json` prints it.

        Returns
        -------
        dict
            The goal, the curve, the model chosen and what it is worth.
        """
        return {
            "metric": self.metric,
            "goal": asdict(self.goal),
            "original": self.original.to_dict(),
            "chosen": self.chosen.to_dict(),
            "factor": self.factor,
            "file_factor": self.file_factor,
            "test": {name: getattr(self, name).to_dict() for name in ("before", "after", "difference")},
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
    verbose: bool = False,
) -> Compressed:
    """Make a model of trees, or a blend, smaller, at a loss that is measured.

    Give one goal: `max_loss`, `target_trees` or `target_bytes`.

    Parameters
    ----------
    model : Ranker
        A trained ranker whose model is one forest, such as LambdaMART or BL-MART; or a blend, which a forest learns
        from: without `exact`, and if need be with more loss than `max_loss`, which is told.
    data : RankingDataset
        Documents like those it will score. Labels are needed only where parts of it serve as `valid` or `test`.
    valid : RankingDataset, optional
        Judged documents on which the choice is made; a quarter of the queries of `data` unless given.
    test : RankingDataset, optional
        Judged documents on which the choice is measured; a quarter of the queries of `data` unless given.
    means : sequence of str, default ("exact", "prune", "distill", "prune")
        What is done, in turn; each starts from the best forest so far. `exact` drops nodes without effect, `prune`
        keeps a few trees with new weights, `distill` trains a small forest on the model's scores, and `net` a net.
    metric : str, default "ndcg@10"
        The metric that models are compared by.
    max_loss : float, optional
        Take the smallest model that loses at most this much of the metric; 0.002 where no goal is given.
    target_trees : int, optional
        Take the best model with at most this many trees.
    target_bytes : int, optional
        Take the best model whose file has at most this many bytes.
    margin : float, default 1.0
        With `max_loss`, how many standard errors are added to a model's loss: where queries are few, a model must be
        safer.
    student : StudentParams, optional
        How a forest or a net learns from the large model.
    seed : int, default 0
        The seed for drawing parts and made-up documents.
    threads : int, optional
        How many threads to use; every core unless given.
    listeners : sequence of functions, optional
        Each is called with a `Progress` after every step of training.
    verbose : bool, default False
        Whether to show what is being done, as `fit` does.

    Returns
    -------
    Compressed
        The model chosen, and the curve of all that were tried.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=30, seed=0)
    >>> train, rest = data.split(valid=0.5)
    >>> ranker = rw.LambdaMART(n_trees=20, max_leaves=7).fit(train)
    >>> small = rw.compress(ranker, rest, means=["exact", "prune"], target_trees=5)
    >>> small.model.n_trees_ <= 5
    True
    """
    goal = Goal(max_loss, target_trees, target_bytes, margin)
    _check_means(means, goal)
    trees = made_of_trees(model)
    fit, valid, test = _parts(data, valid, test, seed)
    model.warn_if_seen(test)
    student = student or StudentParams()
    trial = ModelTrial(trees, fit, valid, test, metric, student.synthetic, seed, threads)
    task = Task(trial, getattr(trees, "forest_", None), "", goal, student, seed, threads, listeners)
    with progress_shown(shows=verbose):
        tried = [Candidate(trial.point("none", model), model), *_tried(task, means)]
        points = tuple(candidate.point for candidate in tried)
        chosen = tried[goal.chosen(points) if task.forest is not None else _chosen_of_blend(points, goal)]
        before, after = trial.tested(model), trial.tested(chosen.ranker)
    return Compressed(chosen.ranker, metric, goal, points, chosen.point, before, after, paired_test(before, after))


def _chosen_of_blend(points: Sequence[Point], goal: Goal) -> int:
    """The index of the model that stands for a blend: one model, if need be one that loses more than was allowed."""
    smaller = points[1:]
    require(bool(smaller), "a blend has no trees of its own to drop: name distill, or net, among the means")
    if goal.max_loss is None or any(map(goal.allows, smaller)):
        return 1 + goal.chosen(smaller)
    return 1 + min(range(len(smaller)), key=lambda place: (smaller[place].loss, smaller[place].bytes))


def _tried(task: Task, means: Sequence[str]) -> Iterator[Candidate]:
    """What each of the means makes in turn, of the best forest that those before it made."""
    for name in means:
        announce(f"compressing: {name}")
        found = list(MEANS[name](task))
        yield from found
        task = _next(task, found)


def _check_means(means: Sequence[str], goal: Goal) -> None:
    require(bool(means), f"name one means or more of {', '.join(MEANS)}")
    for name in means:
        if name not in MEANS:
            raise UnknownNameError("means of compression", name, known=MEANS)
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
    """The task of the next means: it starts from the best forest on the validation part, the smallest of equals."""
    forests = [candidate for candidate in found if candidate.point.trees is not None]
    if not forests:
        return task
    best = min(forests, key=lambda candidate: (candidate.point.loss, candidate.point.bytes))
    made_by = "" if best.point.means == "exact" else best.point.means
    return replace(task, forest=made_of_trees(best.ranker).forest_, made_by=made_by)
