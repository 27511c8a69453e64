"""Training bag after bag, on threads or by the workers of an engine, so that a killed run goes on from its files.

Only the driver reads and writes the folder of finished bags, because workers may run on machines that do not see it. A
saved bag is sent to its worker, and a bag that comes back is saved here at once.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float64Array, thread_count
from rankwright.bagging.bag_members import ForestMembers, RankerMembers
from rankwright.bagging.samples import BagPlan, OutOfBag, QuerySample, can_choose
from rankwright.bagging.settings import OF_BAGS
from rankwright.cluster.engine import Done, Engine, Report
from rankwright.cluster.in_process import ThreadEngine
from rankwright.container.checks import file_faults
from rankwright.container.file import Container
from rankwright.data.dataset import RankingDataset
from rankwright.metrics.metric_table import as_measure
from rankwright.progress.stages import announce, is_followed
from rankwright.rankers.recipe import TrainingRun, lasting_settings
from rankwright.rankers.trained import TrainedRanker
from rankwright.training.digest import run_identity
from rankwright.training.driver import Checkpoint, Lesson, Watches, appender, learn, watches_of
from rankwright.training.loop import History, Listener, LoopPlan, Progress, Watch

# Where nobody says how many trees a bag has, so many bags look for it. The others are grown on samples of the same
# kind: they have as many as these have on average, and grow none beyond.
N_THAT_SEARCH = 5


class BagTask(NamedTuple):
    """A bag to make: its number, what an earlier run saved of it, and its number of steps, where others found it."""

    number: int
    saved: Container | None
    n_steps: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Bag:
    """A trained member, its sample, and its scores of documents it did not see."""

    member: TrainedRanker
    sample: QuerySample
    others: Float64Array | None
    valid: Float64Array | None


@dataclass(frozen=True, slots=True, eq=False)
class BagMaker:
    """Makes any bag of a plan."""

    documents: RankingDataset
    valid: RankingDataset | None
    members: ForestMembers | RankerMembers
    plan: BagPlan
    select: str | Callable[..., Any]

    @property
    def n_that_search(self) -> int:
        """How many bags look for their own number of steps; the others take up what these find."""
        return N_THAT_SEARCH if self.members.have_one_length and not self.plan.overfit else self.plan.n_bags

    def make(self, task: BagTask, listener: Listener) -> Bag:
        """The bag of a task: trained now, or loaded from what an earlier run saved."""
        number, saved, n_steps = task
        sample = self.plan.sample(number, self.documents.n_queries)
        if saved is None:
            chooses = n_steps is None and not self.plan.overfit and self.valid is None
            watch_others = chooses and can_choose(self.documents, sample.others, self.select, threads=1)
            return self._scored(self.members.train(number, sample, watch_others, listener, n_steps), sample)
        with file_faults(saved.path, "checkpoint"):
            return self._scored(self.members.restore(saved.header, saved.arrays), sample)

    def _scored(self, member: TrainedRanker, sample: QuerySample) -> Bag:
        others = self.members.score_others(member, sample)
        return Bag(member, sample, others, None if self.valid is None else self.members.score_valid(member))


@dataclass(frozen=True, slots=True)
class BagFiles:
    """The files of finished bags in a checkpoint folder; without a folder nothing is kept."""

    folder: Path | None
    identity: Mapping[str, Any]

    def saved(self, number: int) -> Container | None:
        """The bag that an earlier run of the same identity saved, None where there is none."""
        return None if self.folder is None else self._file(self.folder, number).load()

    def save(self, number: int, member: TrainedRanker) -> None:
        """Keep a trained member."""
        if self.folder is not None:
            self._file(self.folder, number).save(*member.to_state())

    def _file(self, folder: Path, number: int) -> Checkpoint:
        return Checkpoint(folder / f"bag-{number:04d}", self.identity)


@dataclass(frozen=True, slots=True, eq=False)
class TrainedBags:
    """The members, the history of the metric watched, and the scores of queries out of the bag.

    `watched` has what was measured after each bag on further parts of the validation data.
    """

    members: list[TrainedRanker]
    history: History
    out_of_bag: OutOfBag
    watched: Mapping[str, list[float]]


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


def train_bags(
    ranker: Any,
    documents: RankingDataset,
    valid: RankingDataset | None,
    members: ForestMembers | RankerMembers,
    digests: tuple[str, str | None],
    run: TrainingRun,
    parts: Mapping[str, int],
) -> TrainedBags:
    """The trained bags of a ranker, by the workers of its engine or on threads; the result is the same.

    After each bag the mean of the bags so far is measured, on validation data or else on queries out of the bag; of
    several `parts` of the validation data, which have so many queries, the first is that of the history. A bag
    that an earlier run saved is not trained again. Ctrl-C keeps the finished bags.
    """
    plan = bag_plan(ranker)
    maker = BagMaker(documents, valid, members, plan, ranker.selected_metric)
    files = BagFiles(run.folder, run_identity(*digests, lasting_settings(ranker)))
    with closing(BagsOnEngine(ranker.engine or ThreadEngine(bags_at_a_time(ranker)), maker, files)) as bags:
        learner = BagLearner(maker, bags.result, thread_count(ranker.threads))
        watch, others = learner.watches(plan.sample(0, documents.n_queries), parts)
        watched: dict[str, list[float]] = {name: [] for name in others}
        appending = [appender(other.measure, watched[name]) for name, other in others.items()]
        lesson = Lesson(learner=learner, model=lambda learned: learned, digests=lambda: ("", None), watch=watch)
        try:
            heard = [bags.hear, *appending, *run.listeners]
            history = learn(lesson, LoopPlan(plan.n_bags, what=""), chooses=False, listeners=heard).history
        except KeyboardInterrupt:  # before the first bag: later ones may be finished
            history = History(interrupted=True, chosen=False)
        if history.interrupted:
            for bag in bags.finished().values():
                learner.take(bag)
                if watch is not None:
                    history.watched, history.higher_is_better = watch.name, watch.higher_is_better
                    history.values.append(watch.measure())
                for name, other in others.items():
                    watched[name].append(other.measure())
    if not learner.members:
        raise KeyboardInterrupt  # nothing was trained that could be kept
    return TrainedBags(learner.members, history, learner.out_of_bag, watched)


class BagLearner:
    """The bags so far; each step of the training loop adds the next one, which was made elsewhere."""

    def __init__(self, maker: BagMaker, result: Callable[[int], Bag], threads: int) -> None:
        self.members: list[TrainedRanker] = []
        self.out_of_bag = OutOfBag(maker.documents)
        self._valid, self._select, self._result, self._threads = maker.valid, maker.select, result, threads
        self._valid_scores = np.zeros(0 if maker.valid is None else maker.valid.n_docs)

    def take_step(self, step: int) -> bool:
        """Wait for the bag of that number and add it."""
        self.take(self._result(step))
        return True

    def model(self) -> Arrays:
        """How many bags there are; the bags themselves are `members`."""
        return {"n_bags": np.array([len(self.members)])}

    def memory(self) -> Arrays:
        """Nothing: every bag has a file of its own."""
        return {}

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Nothing to do: bags of an earlier run come from their files."""

    def take(self, bag: Bag) -> None:
        """Add a bag."""
        self.members.append(bag.member)
        if bag.others is not None:
            self.out_of_bag.add(bag.sample.others, bag.others)
        if bag.valid is not None:
            self._valid_scores += bag.valid

    def watches(self, first: QuerySample, parts: Mapping[str, int]) -> Watches:
        """What is watched of the bags so far; nothing where the first bag leaves nothing to measure on."""
        if self._valid is not None:
            return watches_of(self._select, self._valid, parts, self._mean_scores, threads=self._threads)
        if not can_choose(self.out_of_bag.documents, first.others, self._select, threads=self._threads):
            return Watches()
        measure = as_measure(self._select)
        return Watches(Watch(measure.name, self._measure_out_of_bag, measure.higher_is_better))

    def _mean_scores(self) -> Float64Array:
        assert self._valid is not None
        means = self._valid_scores / len(self.members)
        return means if self._valid.initial_scores is None else means + self._valid.initial_scores

    def _measure_out_of_bag(self) -> float:
        found = self.out_of_bag.measure(self._select, threads=self._threads)
        assert found is not None  # the first bag left queries to measure
        return found


class BagsOnEngine:
    """Gives the bags in order, while workers make later ones."""

    def __init__(self, engine: Engine, maker: BagMaker, files: BagFiles) -> None:
        self._files, self._waiting = files, dict[int, Bag]()
        self._restored, self._finished = set[int](), set[int]()
        self._n_bags, self._steps, self._steps_of_a_bag, self._note = maker.plan.n_bags, dict[int, int](), 0, ""
        announce(f"training {self._n_bags} bags")
        self._run = self._made(engine, maker)

    def _made(self, engine: Engine, maker: BagMaker) -> Generator[Done, None, None]:
        """The bags as they are ready: first those that look for their length, then the others, which have it."""
        shared, n_first = engine.share(maker), min(maker.n_that_search, self._n_bags)
        found: dict[int, Bag] = {}
        for done in self._part(engine, shared, range(n_first), None):
            found[done.number] = done.result
            yield done
        if n_first < self._n_bags:
            n_steps = maker.members.length_of([found[number].member for number in range(n_first)])
            yield from self._part(engine, shared, range(n_first, self._n_bags), n_steps)

    def _part(self, engine: Engine, shared: object, numbers: range, n_steps: int | None) -> Generator[Done, None, None]:
        def hear(place: int, progress: Progress) -> None:
            self._hear(numbers[place], progress)

        tasks = (BagTask(number, self._saved(number), n_steps) for number in numbers)
        listener = hear if is_followed() else None
        with closing(engine.run(make_bag, tasks, shared=shared, listener=listener)) as made:
            for done in made:
                yield replace(done, number=numbers[done.number])

    def _hear(self, number: int, progress: Progress) -> None:
        """Take in how far a bag is."""
        self._steps_of_a_bag = progress.n_steps
        self._steps[number] = progress.step + 1
        self._announce()

    def hear(self, progress: Progress) -> None:
        """Take in what the bags so far reach together."""
        self._note = f"bag {progress.step + 1}/{progress.n_steps}"
        if progress.value is not None:
            self._note += f", {progress.metric} {progress.value:.4f}"
        self._announce()

    def _announce(self) -> None:
        """Tell how far all bags are together; a finished one counts as if it had taken all its steps."""
        if self._steps_of_a_bag:
            done, total = len(self._finished) * self._steps_of_a_bag, self._n_bags * self._steps_of_a_bag
            done += sum(steps for number, steps in self._steps.items() if number not in self._finished)
            announce(f"training {self._n_bags} bags", done, total, unit="steps", note=self._note)

    def _saved(self, number: int) -> Container | None:
        saved = self._files.saved(number)
        if saved is not None:
            self._restored.add(number)
        return saved

    def result(self, number: int) -> Bag:
        """The bag of that number, once it is finished."""
        while number not in self._waiting:
            done = next(self._run)
            if done.number not in self._restored:
                self._files.save(done.number, done.result.member)
            self._waiting[done.number] = done.result
            self._finished.add(done.number)
            self._announce()
        return self._waiting.pop(number)

    def finished(self) -> dict[int, Bag]:
        """The finished bags that were not taken."""
        return dict(sorted(self._waiting.items()))

    def close(self) -> None:
        """End the bags that are still in the making."""
        self._run.close()


def make_bag(maker: BagMaker, task: BagTask, report: Report) -> Bag:
    """Make one bag, in a worker. It reports after each step, so that a thread no longer needed can stop."""
    return maker.make(task, report)
