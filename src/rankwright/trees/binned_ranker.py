"""Rankers that train on bin codes: of a dataset, of a file that memory never holds, or of binned data."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Self

from rankwright.arrays import IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.data.splits import Fold
from rankwright.errors import require
from rankwright.formats.blocks import errors_name_file
from rankwright.formats.data_file import DataFile, as_data_file
from rankwright.objectives.objective import Objective
from rankwright.progress.stages import announce
from rankwright.rankers.inputs import (
    check_features,
    file_for,
    remember_names,
    validation_data,
    with_something_to_learn,
)
from rankwright.rankers.learning import TrainingRun
from rankwright.rankers.seen import SeenQueries
from rankwright.training.driver import Lesson
from rankwright.training.loop import Listener, Watch
from rankwright.training.watch import watch_metric
from rankwright.trees.bins.binned import BinnedDataset, bin_dataset
from rankwright.trees.bins.binning import BinMapper
from rankwright.trees.bins.fingerprints import binned_digest, earlier_digest
from rankwright.trees.bins.from_file import bin_file
from rankwright.trees.boosting import Boosting, BoostingParams
from rankwright.trees.forest_face import ForestFace
from rankwright.trees.forests.forest import Forest
from rankwright.trees.label_sums import LabelSums, label_sums
from rankwright.trees.length import FoldedBoosting
from rankwright.trees.settings import ForestSettings


@dataclass(frozen=True, slots=True, eq=False)
class BinnedLists:
    """What a forest is grown on: all queries of the data or some, and what is watched meanwhile, if anything is.

    With `watch_others` the queries that are not trained on take the place of `valid`.
    """

    data: BinnedDataset
    valid: BinnedDataset | None = None
    queries: IntArray | None = None
    watch_others: bool = False

    @property
    def n_docs(self) -> int:
        """The number of documents to train on."""
        groups = self.data.groups
        return self.data.n_docs if self.queries is None else int(groups.sizes[self.queries].sum())

    def label_sums(self, *, relevant: bool) -> LabelSums:
        """The sums of the labels, or of 1 for each relevant document."""
        return label_sums(self.data, relevant=relevant)

    def boosting(self, objective: Objective, base_score: float, threads: int) -> Callable[..., Any]:
        """A function from parameters, and parts of `Boosting`, to a forest that is ready to grow."""
        lambda_fn = objective.bind(self.data, threads=threads)

        def begin(params: BoostingParams, **parts: Any) -> Boosting:
            return Boosting(self.data, lambda_fn, params, base_score=base_score, threads=threads, **parts)

        return begin

    def folded(self, grown: Callable[[IntArray], Any], folds: Sequence[Fold]) -> FoldedBoosting:
        """A forest without each fold, side by side."""
        return FoldedBoosting(grown, self.data.groups, folds)

    def watch_unseen(self, metric: Any, folded: FoldedBoosting, threads: int) -> Watch:
        """A watch over the queries that the forests of a length search were not grown on."""
        documents = self.data.documents.take_queries(folded.unseen)
        return watch_metric(metric, documents.labels, documents.groups, folded.unseen_scores, threads=threads)

    def digest(self) -> str:
        """The fingerprint of what is trained on."""
        return binned_digest(self.data)

    def digests(self) -> tuple[str, str | None]:
        """The fingerprints of what is trained on and of what is watched."""
        return self.digest(), None if self.valid is None else binned_digest(self.valid)

    def earlier_digests(self) -> tuple[str, str | None]:
        """The fingerprints of both as earlier versions made them: a checkpoint may have them."""
        return earlier_digest(self.data), None if self.valid is None else earlier_digest(self.valid)


class BinnedRanker(ForestFace, ForestSettings):
    """A ranker that makes a forest from bin codes. A subclass defines how (`_grow`)."""

    takes_initial_scores: ClassVar[bool] = True
    takes_categories: ClassVar[bool] = True

    @abstractmethod
    def _grow(self, lists: BinnedLists, run: TrainingRun) -> None:
        """Train on the lists, and set `model_`, `history_` and `data_digest_`."""

    @abstractmethod
    def with_forest(self, forest: Forest, base_score: float | None = None) -> BinnedRanker:
        """Make a trained ranker with other trees, which is otherwise like this one but has no training history.

        Parameters
        ----------
        forest : Forest
            The other trees.
        base_score : float, optional
            What they are added to; None keeps the current base score.

        Returns
        -------
        BinnedRanker
            The other ranker.
        """

    def fit_binned(
        self,
        data: BinnedDataset,
        valid: BinnedDataset | None = None,
        *,
        queries: IntArray | None = None,
        watch_others: bool = False,
        listeners: Sequence[Listener] = (),
        checkpoint: str | os.PathLike[str] | None = None,
        allow_empty: bool = False,
    ) -> Self:
        """Train this ranker on data that is binned already, for example by `bin_file`.

        Parameters
        ----------
        data : BinnedDataset
            The documents to train on, with bins of their own: `max_bins` and `categorical` have no effect here.
        valid : BinnedDataset, optional
            Documents with the same bins that early stopping and the choice of trees look at.
        queries : array of int64, optional
            The numbers, in ascending order, of the queries to train on, without a copy of their codes; all unless
            given.
        watch_others : bool, default False
            Whether the rest of the queries take the place of `valid`.
        listeners, checkpoint, allow_empty
            As for `fit`.

        Returns
        -------
        self
            The ranker, trained.
        """
        self.check()
        require(self.scaling is None, "scaling needs the features themselves, not their bins: leave it out here")
        remember_names(self, data.n_features, data.feature_names)
        self.categories_ = data.documents.categories
        self.scaling_ = self.compressed_from_ = None
        run = TrainingRun(listeners, None if checkpoint is None else Path(checkpoint), allow_empty)
        lists = BinnedLists(self._some_judged(data), valid, queries, watch_others)
        self._learn_lists(lists, run)
        return self

    def binning(self) -> dict[str, Any]:
        """Tell how this ranker bins features.

        Returns
        -------
        dict
            The options of `bin_dataset` and `bin_file`.
        """
        return {
            "max_bins": self.max_bins,
            "categorical": tuple(self.categorical or ()),
            "seed": self.seed,
            "threads": self.threads,
        }

    def _learn_scaled(self, data: RankingDataset, valid: Any, run: TrainingRun) -> None:
        if self.scaling_name is not None:
            super()._learn_scaled(data, valid, run)
            return
        self.scaling_ = self._scaling_for(data)
        announce("binning features")
        binned = bin_dataset(data, **self.binning())  # which puts codes in order, without a copy of the features
        self._learn_lists(BinnedLists(self._some_judged(binned), self._binned_valid(valid, binned.mapper)), run)

    def _learn_lists(self, lists: BinnedLists, run: TrainingRun) -> None:
        """Train on lists, after a check that there is something in them to learn from."""
        data = replace(lists.data, documents=self._weighed(lists.data.documents))
        lists = replace(lists, data=data)
        self._check_training_data(data.documents)
        self._check_lesson(data.documents, run)
        self.seen_queries_ = None if data.query_keys is None else SeenQueries.of_keys(data.query_keys)
        self._grow(lists, run)

    def _learn(self, data: RankingDataset, valid: RankingDataset | None, run: TrainingRun) -> None:
        require(
            not (self.categorical or data.categories) or self.scaling is None,
            "categories cannot be scaled: leave out scaling or categorical",
        )
        announce("binning features")
        binned = bin_dataset(data, **self.binning())
        watched = None if valid is None else bin_dataset(valid, binned.mapper, threads=self.threads)
        self._grow(BinnedLists(binned, watched), run)

    def _learn_from_file(self, file: DataFile, valid: Any, run: TrainingRun) -> None:
        # Codes straight from the file: the same as those of `_learn_scaled`, without its feature matrix in memory.
        # Scaling is fitted on that matrix.
        if self.scaling_name is not None:
            super()._learn_from_file(file, valid, run)
            return
        self.scaling_ = None
        binned = bin_file(file, **self.binning())
        with_something_to_learn(binned.documents)
        remember_names(self, binned.n_features, binned.feature_names)
        self.categories_ = binned.documents.categories
        self._learn_lists(BinnedLists(self._some_judged(binned), self._binned_valid(valid, binned.mapper)), run)

    def _binned_valid(self, valid: Any, mapper: BinMapper) -> BinnedDataset | None:
        """What `fit` was given to validate on, with the bins of the training data."""
        file = as_data_file(valid)
        if file is None:
            data = validation_data(self, valid)
            return None if data is None else bin_dataset(data, mapper, threads=self.threads)
        binned = bin_file(file_for(self, file), mapper, threads=self.threads)
        with errors_name_file(file.name):
            check_features(self, binned.n_features, binned.feature_names)
        return binned

    def _some_judged(self, data: BinnedDataset) -> BinnedDataset:
        return replace(data, documents=self._with_some_judged(data.documents))

    def _lesson(self, data: RankingDataset, valid: RankingDataset | None) -> Lesson:
        raise NotImplementedError("rankers on bin codes learn by `_grow`")
