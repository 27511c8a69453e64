"""The interface that all rankers of boosted trees have besides that of a ranker."""

from __future__ import annotations

import copy
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

from rankwright.arrays import IntArray
from rankwright.mart import forest_views
from rankwright.mart.settings import ForestSettings
from rankwright.mart.sources import PreparedForest, prepared_bins
from rankwright.rankers.model import Model
from rankwright.rankers.ranker import Ranker, train_on
from rankwright.rankers.recipe import Recipe, TrainingRun
from rankwright.rankers.trained import TrainedRanker
from rankwright.rankers.views import for_the_library
from rankwright.training.loop import History, Listener
from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.forests.forest import Forest
from rankwright.trees.model import ForestModel


class GrowingRecipe(Recipe, Protocol):
    """A recipe that grows what it learns on bin codes."""

    def grow(self, ranker: Any, prepared: PreparedForest, run: TrainingRun) -> TrainedRanker:
        """The forest that is grown on prepared documents."""


class ForestRanker(Ranker, ForestSettings):
    """A ranker that makes a forest from bin codes: of a dataset, or of a file that memory never holds."""

    recipe: ClassVar[GrowingRecipe]

    takes_initial_scores: ClassVar[bool] = True
    takes_categories: ClassVar[bool] = True
    model_kind: ClassVar[type[Model]] = ForestModel

    forest_, base_score_, n_trees_ = forest_views.forest, forest_views.base_score, forest_views.n_trees
    feature_importances_, staged_predict = forest_views.feature_importances, forest_views.staged_predict
    on = train_on

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
        run = TrainingRun(listeners, None if checkpoint is None else Path(checkpoint), allow_empty)
        prepared = prepared_bins(self, data, valid, queries, watch_others, run)
        self.trained_ = self.recipe.grow(self, prepared, run)
        return self

    def with_forest(self, forest: Forest, base_score: float | None = None) -> ForestRanker:
        """Make a trained ranker with other trees, which is otherwise like this one but has no training history.

        Parameters
        ----------
        forest : Forest
            The other trees.
        base_score : float, optional
            What they are added to; None keeps the current base score.

        Returns
        -------
        ForestRanker
            The other ranker.
        """
        other, model = copy.copy(self), ForestModel(forest, self.base_score_ if base_score is None else base_score)
        other.trained_ = replace(self.trained_, model=model, history=History())
        return other

    @for_the_library
    def binning(self) -> dict[str, Any]:
        """Tell how this ranker bins features.

        Returns
        -------
        dict
            The options of `bin_dataset` and `bin_file`.
        """
        own: dict[str, Any] = {name: getattr(self, name) for name in ("max_bins", "seed", "threads")}
        return own | {"categorical": tuple(self.categorical or ())}
