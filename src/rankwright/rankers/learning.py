"""How a ranker learns: from what `fit` is given to a model."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np

from rankwright.arrays import Float32Array, thread_count
from rankwright.clicks.weights import weighed_by_propensity
from rankwright.data.columns import listed
from rankwright.data.dataset import RankingDataset
from rankwright.data.judged import call_irrelevant
from rankwright.data.keys import key_order
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, Message, Parameter, require
from rankwright.features.scaling import FittedScaling, parse_scaling
from rankwright.formats.data_file import DataFile, as_data_file
from rankwright.progress.display import progress_shown
from rankwright.progress.stages import announce
from rankwright.rankers.frames import columns_of
from rankwright.rankers.inputs import (
    refuse_beside_a_dataset,
    training_data,
    validation_data,
)
from rankwright.rankers.lessons import check_something_to_learn
from rankwright.rankers.seen import SeenQueries
from rankwright.rankers.state import RankerState
from rankwright.training.checkpoints import Checkpoint
from rankwright.training.digest import data_digest, earlier_identity, run_identity
from rankwright.training.driver import Lesson, learn
from rankwright.training.loop import Listener, LoopPlan, Watch
from rankwright.training.watch import appender, watch_metric, watch_parts

UNJUDGED_STREAM = 0x756E  # added to the seed, so that draws here do not depend on those of training


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRun:
    """How a training run is followed: what is called after every step, and where its progress is saved."""

    listeners: Sequence[Listener] = ()
    folder: Path | None = None  # of the checkpoint
    allow_empty: bool = False  # whether a model may come out that learned nothing


class LearningRanker(RankerState):
    """A ranker that can be trained."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        label: str | None = None,
        group: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        position: Any = None,
        propensity: Any = None,
        preferences: Preferences | None = None,
        initial_scores: Any = None,
        valid: Any = None,
        listeners: Sequence[Listener] = (),
        checkpoint: str | os.PathLike[str] | None = None,
        allow_empty: bool = False,
        verbose: bool = False,
    ) -> Self:
        """Train this ranker.

        Parameters
        ----------
        X : RankingDataset, path, list of paths, DataFile, array, frame or sparse matrix
            The documents to train on: a dataset, a file of one, or rows of features in any order. A frame may hold
            labels and query ids as well: `fit(frame)`, or `fit(frame, label="stars", qid="search")` where its columns
            do not have the usual names.
        y : array of numbers, optional
            A label for each row, 0 or more, NaN where nobody judged; datasets and files hold their own, as well as ids,
            weights and the like.
        qid : array of whole numbers or strings, or str, optional
            The query id of each row, or the name of the frame's column that has them. Likewise for `sample_weight`,
            `query_weight`, `position` and `propensity`.
        label : str, optional
            The name of the frame's column of labels.
        group : array of whole numbers, optional
            Instead of `qid`, how many rows each query has, if the rows of a query are next to each other.
        sample_weight : array of numbers, optional
            How much each row counts.
        query_weight : array of numbers, optional
            How much each query counts, in the order in which queries first appear.
        position : array of whole numbers, optional
            The rank, from 0, at which each row was shown. Rankers with the setting `debias` learn from it, where labels
            are clicks; others refuse it.
        propensity : array of numbers, optional
            How likely each row was examined where it was shown, above 0 and at most 1: labels are then clicks. Rankers
            with the setting `debias` correct labels by them as far as held-out clicks support it; with `debias="none"`,
            and in other rankers, a clicked row counts 1 / propensity, at most 20 times, and nothing is checked
            (`rankwright.clicks.propensity_weights`).
        preferences : Preferences, optional
            Pairs of rows of which one should rank above the other; they replace the pairs made from labels.
        initial_scores : array of numbers, optional
            What training starts from, one value per row: the model learns what to add, and `predict` gives that alone.
        valid : RankingDataset, file, frame, (X, y, qid), (X, y, qid, initial_scores), or several by name, optional
            What early stopping and the choice of the best step look at. Of several, in a mapping from names, it is the
            first; the others are watched, and `watched_` has their values. Training data may be among them.
        listeners : sequence of functions, optional
            Each is called with a `Progress` after every step. One that returns True ends the training; the model is
            that of the best step so far, or of the last one where nothing is watched.
        checkpoint : path, optional
            A folder in which progress is saved. A run that was killed continues from there.
        allow_empty : bool, default False
            Whether data with nothing to learn from, such as labels that are all equal, gives a model that tells nothing
            apart. Otherwise it is an error that says why.
        verbose : bool, default False
            Whether to show what is being done, how far it is, the metric and the time left: in one line on a terminal
            or in a notebook, elsewhere in a line every few seconds.

        Returns
        -------
        self
            The ranker, trained.
        """
        self.check()
        beside = {
            "qid": qid, "label": label, "group": group, "sample_weight": sample_weight, "query_weight": query_weight,
            "position": position, "propensity": propensity, "preferences": preferences,
            "initial_scores": initial_scores,
        }  # fmt: skip
        self.columns_, self.watched_parts_, self.watched_ = columns_of(X, y, beside), {}, {}
        self.compressed_from_ = self.propensity_weights_ = None
        run = TrainingRun(listeners, None if checkpoint is None else Path(checkpoint), allow_empty)
        file = as_data_file(X)
        with progress_shown(shows=verbose):
            if file is not None:
                refuse_beside_a_dataset({"y": y} | beside)
                self._learn_from_file(file, valid, run)
            else:
                self._learn_scaled(training_data(self, X, y, beside), valid, run)
        return self

    def _weighed(self, data: RankingDataset) -> RankingDataset:
        """The data with its clicks weighed by inverse propensity, if it has propensities."""
        weighed, found = weighed_by_propensity(data)
        self.propensity_weights_ = found or self.propensity_weights_
        return weighed

    def _with_some_judged(self, data: RankingDataset) -> RankingDataset:
        """The data with the share `unjudged` of its unjudged documents made irrelevant."""
        return call_irrelevant(data, self.unjudged, seed=np.random.default_rng([self.seed, UNJUDGED_STREAM]))

    def _scaling_for(self, data: RankingDataset) -> FittedScaling | None:
        """The scaling to train with: fitted on `data`, or that of the model which a warm start continues."""
        name = self.scaling_name
        chosen = None if name is None else parse_scaling(name)
        if self._optional("warm_start") and self.__sklearn_is_fitted__():
            before = None if self.scaling_ is None else self.scaling_.scaling
            require(chosen == before, f"warm_start goes on with the scaling it began with: {before and before.name}")
            return self.scaling_
        return None if chosen is None else chosen.fit(data, threads=self.threads)

    def _lasting_settings(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued; the number of steps may grow."""
        settings = {"kind of ranker": self.name} | self.stored_settings()
        return {name: value for name, value in settings.items() if name not in (self.budget, "warm_start")}

    def _learn_from_file(self, file: DataFile, valid: Any, run: TrainingRun) -> None:
        self._learn_scaled(training_data(self, file.read(), None, {}), valid, run)

    def _learn_scaled(self, data: RankingDataset, valid: Any, run: TrainingRun) -> None:
        watched = validation_data(self, valid)
        data = self._weighed(data)
        self._check_training_data(data)
        order = key_order(data, threads=self.threads)
        data = self._with_some_judged(data.in_key_order(order))
        self._check_lesson(data, run)
        self.seen_queries_ = SeenQueries.of_keys(order.keys)
        if self.scaling_name is not None:
            announce("scaling features")
        self.scaling_ = self._scaling_for(data)
        data = self.seen_by_model(data)
        self._learn(data, None if watched is None else self.seen_by_model(watched), run)

    def _check_training_data(self, data: RankingDataset) -> None:
        """Raise if the data has something that this ranker cannot learn from."""
        if data.initial_scores is not None and not self.takes_initial_scores:
            raise InputError(f"{self.name} cannot start from initial scores: leave them out")
        if not self.takes_document_weights and not _are_equal(data.document_weights):
            raise InputError(
                f"{self.name} measures whole lists, in which a document's weight has no meaning: weigh queries "
                f"(query_weight), or leave document weights out"
            )
        if data.categories and not self.takes_categories:
            names = listed(list(data.categories))
            raise InputError(
                Message(
                    f"{self.name} learns from numbers, and {names} holds texts: leave it out with ",
                    Parameter("drop"),
                    ", turn it into numbers, or train trees, which take categories",
                )
            )
        if data.positions is not None and not self.takes_positions:
            raise InputError(
                Message(
                    f"{self.name} does not learn from positions, and was given them: leave position out, or drop that "
                    f"column with ",
                    Parameter("drop"),
                )
            )

    def _check_lesson(self, data: RankingDataset, run: TrainingRun) -> None:
        """Raise if there is nothing in the data to learn from, unless the caller expects that."""
        if not run.allow_empty:
            check_something_to_learn(self.name, data, alone=self._learns_alone())

    def _learns_alone(self) -> bool:
        """Whether it learns from each label by itself; otherwise it needs a query's documents to differ in label."""
        return False

    def _learn(self, data: RankingDataset, valid: RankingDataset | None, run: TrainingRun) -> None:
        self._follow(self._lesson(data, valid), run)
        self.data_digest_ = data_digest(data)

    @abstractmethod
    def _lesson(self, data: RankingDataset, valid: RankingDataset | None) -> Lesson:
        """The lesson that learns from `data`, which is scaled, with some unjudged documents made irrelevant already."""

    def _follow(self, lesson: Lesson, run: TrainingRun) -> None:
        """Drive the learner and keep its model."""
        learned = learn(
            lesson,
            self._loop_plan(lesson.watch is not None),
            chooses=self.chooses_steps,
            smoothing=self._optional("smoothing", 0.0),
            checkpoint=self._checkpoint(lesson, run.folder),
            listeners=[*self._part_listeners, *run.listeners],
        )
        self._part_listeners = ()
        self.model_ = lesson.model(learned)
        self.history_ = learned.history

    def _checkpoint(self, lesson: Lesson, folder: Path | None) -> Checkpoint | None:
        """The checkpoint of a lesson in that folder, if there is one."""
        if folder is None:
            return None
        settings = self._lasting_settings()
        return Checkpoint(
            folder, run_identity(*lesson.digests(), settings), earlier_identity(lesson.earlier_digests, settings)
        )

    def _loop_plan(self, watched: bool) -> LoopPlan:  # noqa: ARG002
        """How long to train, whether or not something is watched meanwhile."""
        what = f"training {self.name}"
        return LoopPlan(self._n_steps_wanted(), self._optional("early_stopping"), what=what, unit=self._unit())

    def _n_steps_wanted(self) -> int:
        """How many steps to take: one if no setting counts them."""
        return 1 if self.budget is None else int(self.value_of(self.budget))

    def _unit(self) -> str:
        """What a step of this ranker is called: trees, epochs, rounds."""
        budget = self.budget or ""
        return budget.removeprefix("n_") if budget.startswith("n_") or budget == "epochs" else "steps"

    def _watch(self, watched: RankingDataset | None, scores: Any) -> Watch | None:
        """A watch over the selected metric; `scores()` gives the learner's current scores of the watched documents."""
        if watched is None:
            return None
        threads = thread_count(self.threads)
        if not self.watched_parts_:
            return watch_metric(self.selected_metric, watched.labels, watched.groups, scores, threads=threads)
        parts = watch_parts(self.selected_metric, watched, self.watched_parts_, scores, threads=threads)
        first, *others = parts.items()
        self.watched_ = {name: [] for name, _ in others}
        self._part_listeners = tuple(appender(watch.measure, self.watched_[name]) for name, watch in others)
        return first[1]

    _part_listeners: tuple[Listener, ...] = ()  # which measure further validation data after each step


def _are_equal(weights: Float32Array | None) -> bool:
    return weights is None or len(weights) == 0 or bool((weights == weights[0]).all())
