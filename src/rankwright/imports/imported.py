"""The ranker of a forest that another tool trained."""

from __future__ import annotations

import copy
import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.data.categories import Categories
from rankwright.errors import InputError, require_type
from rankwright.imports.assembly import ForeignForest
from rankwright.imports.imported_settings import ImportedForestSettings
from rankwright.mart import forest_views
from rankwright.rankers.known_features import KnownFeatures
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.trained import TrainedRanker
from rankwright.training.loop import History
from rankwright.trees.forests.forest import Forest
from rankwright.trees.forests.merging import merge_forests
from rankwright.trees.model import ForestModel

LOG = logging.getLogger(__name__)
NOT_KNOWN = ""  # the fingerprint of training data that another tool saw


class ImportedForest(Ranker, ImportedForestSettings):  # noqa: D101  # from its settings
    model_kind = ForestModel
    forest_, base_score_, n_trees_ = forest_views.forest, forest_views.base_score, forest_views.n_trees
    feature_importances_, staged_predict = forest_views.feature_importances, forest_views.staged_predict

    def with_forest(self, forest: Forest, base_score: float | None = None) -> ImportedForest:
        """Make a trained ranker with other trees, which is otherwise like this one.

        Parameters
        ----------
        forest : Forest
            The trees.
        base_score : float, optional
            What they are added to; this ranker's unless given.

        Returns
        -------
        ImportedForest
            The other ranker.
        """
        other = copy.copy(self)
        model = ForestModel(forest, self.base_score_ if base_score is None else base_score)
        other.trained_ = replace(self.trained_, model=model)
        return other

    def fit(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: another tool trained this forest."""
        raise InputError("an imported forest cannot be trained: train a ranker of this library, such as LambdaMART")

    def facts(self) -> dict[str, Any]:
        """Tell what the model is made of, and where it came from."""
        return {"source": self.source} | super().facts()


def imported(foreign: ForeignForest) -> ImportedForest:
    """The ranker of a forest that was read."""
    for note in foreign.notes:
        LOG.info("%s: %s", foreign.source, note)
    ranker = ImportedForest(source=foreign.source, any_width=not foreign.knows_width)
    trained = TrainedRanker(
        ranker=ranker.name,
        settings=ranker.stored_settings(),
        model=ForestModel(foreign.forest, foreign.base_score),
        scaling=None,
        features=KnownFeatures(foreign.forest.n_features, tuple(foreign.feature_names), foreign.categories),
        history=History(),
        training_data=NOT_KNOWN,
    )
    return ImportedForest.of_trained(trained)


def mean_of(rankers: Sequence[Any], weights: Sequence[float] | None = None) -> ImportedForest:
    """Make one forest whose scores are the mean of several forests' scores.

    Parameters
    ----------
    rankers : sequence of rankers
        Trained rankers made of trees of the same features: imported ones, ones of this library, or both.
    weights : sequence of float, optional
        What each ranker's scores are multiplied by; the default is one divided by their number.

    Returns
    -------
    ImportedForest
        A bag: it is scored, saved, compressed and exported as one forest.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=20, seed=0)
    >>> first, second = (rw.LambdaMART(n_trees=2, max_leaves=4, seed=seed).fit(data) for seed in (0, 1))
    >>> rw.mean_of([first, second]).n_trees_
    4
    """
    require_type(rankers, (list, tuple), "rankers", "a list of trained rankers")
    if not rankers or not all(hasattr(ranker, "forest_") for ranker in rankers):
        raise InputError("the mean is of one trained ranker or more, all made of trees")
    if any(getattr(ranker, "scaling_", None) is not None for ranker in rankers):
        raise InputError("a ranker that scales features cannot be part of one forest")
    factors = np.full(len(rankers), 1 / len(rankers)) if weights is None else np.asarray(weights, np.float64)
    width = max(int(ranker.n_features_in_) for ranker in rankers)
    if any(int(ranker.n_features_in_) != width and not getattr(ranker, "any_width", False) for ranker in rankers):
        raise InputError(f"rankers must be of the same features, got {[int(one.n_features_in_) for one in rankers]}")
    forests = [widened(ranker.forest_, width) for ranker in rankers]
    base: Float64Array = factors * [ranker.base_score_ for ranker in rankers]
    names = next((tuple(one.feature_names_in_) for one in rankers if hasattr(one, "feature_names_in_")), ())
    return imported(
        ForeignForest(
            source="mean of " + ", ".join(sorted({str(getattr(one, "source", one.name)) for one in rankers})),
            forest=merge_forests(forests, factors),
            base_score=float(base.sum()),
            feature_names=names if len(names) == width else (),
            knows_width=not all(getattr(ranker, "any_width", False) for ranker in rankers),
            categories=_categories_of(rankers),
        )
    )


def _categories_of(rankers: Sequence[Any]) -> Categories | None:
    """The categories of the rankers' texts, which all must have given the same codes."""
    first, *others = (ranker.trained_.features.categories or {} for ranker in rankers)
    if any(other != first for other in others):
        raise InputError("rankers must have the same categories of texts, in the same order")
    return first or None


def widened(forest: Forest, n_features: int) -> Forest:
    """The forest with more features, none of which it splits."""
    more = n_features - forest.n_features
    if more == 0:
        return forest
    offsets = np.concatenate([forest.category_offsets, np.full(more, forest.category_offsets[-1])])
    readings = None if forest.readings is None else np.concatenate([forest.readings, np.zeros(more, np.uint8)])
    return replace(forest, n_features=n_features, category_offsets=offsets, readings=readings)
