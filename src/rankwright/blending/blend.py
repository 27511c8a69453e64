"""Blends of rankers, trained here or already trained."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import thread_count
from rankwright.bagging.bagging import Bagging
from rankwright.bagging.blmart import BLMART
from rankwright.blending.combining import Combining
from rankwright.blending.model import BlendModel, has_features
from rankwright.blending.settings import BlendSettings
from rankwright.blending.training import BlendRecipe, model_of
from rankwright.container.checks import read_field, read_list, read_optional_field
from rankwright.data.dataset import RankingDataset
from rankwright.data.keys import key_order
from rankwright.errors import InputError, require, require_type
from rankwright.mart.lambdamart import LambdaMART
from rankwright.nets.net_rankers import RankNet
from rankwright.rankers.known_features import KnownFeatures
from rankwright.rankers.ranker import Ranker, train_on
from rankwright.rankers.recipe import TrainingOutcome, trained_ranker
from rankwright.rankers.seen import SeenQueries
from rankwright.rankers.trained import TrainedRanker, TrainingFindings, read_trained
from rankwright.rankers.views import View, for_the_library
from rankwright.settings.setting import restored_settings
from rankwright.training.digest import data_digest
from rankwright.training.loop import History
from rankwright.trees.forests.forest import Forest
from rankwright.trees.model import ForestModel


def _model(trained: TrainedRanker) -> BlendModel:
    assert isinstance(trained.model, BlendModel)
    return trained.model


class Blend(Ranker, BlendSettings):
    """Rankers that err in different ways are better together: the mean of a bag of trees and a net beats both. Each is
    trained on all queries, and once without each fold of them; the scores of queries that it has not seen tell how much
    it should count. `rankwright.blend` joins rankers that are trained already.

    Attributes
    ----------
    rankers_ : list of Ranker
        The trained rankers.
    weights_ : array of float64
        How much each counts; they add up to 1.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=30, seed=0)
    >>> blend = rw.Blend([rw.LambdaMART(n_trees=20), rw.ListNet(epochs=20)]).fit(data)
    >>> [ranker.name for ranker in blend.rankers_]
    ['lambdamart', 'listnet']
    >>> bool(abs(blend.weights_.sum() - 1) < 1e-12)
    True
    """

    recipe = BlendRecipe()
    not_in_bags: ClassVar[str] = "blends are not bagged: blend bags, as in Blend([BLMART(), Bagging(RankNet())])"
    takes_categories: ClassVar[bool] = True  # where its rankers do
    model_kind = BlendModel
    weights_ = View[Any](lambda trained: _model(trained).weights, "How much each ranker counts.")
    on = train_on

    @property
    def needs_qid(self) -> bool:  # type: ignore[override]  # for other kinds it is a constant of the class
        """Whether a document's score depends on the rest of its list: where scores are compared within lists."""
        return not Combining.of(self.combine, self.scores).is_sum or any(one.needs_qid for one in self.each())

    @property
    def rankers_(self) -> list[Ranker]:
        """The trained rankers."""
        members = _model(self.trained_).members
        found = [copy.copy(one) for one in self.each()]
        for one, member in zip(found, members, strict=True):
            one.trained_ = member
        return found

    @property
    def looks_at_queries(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        if self.__sklearn_is_fitted__():
            return super().looks_at_queries
        is_sum = Combining.of(self.combine, self.scores).is_sum
        return not is_sum or any(one.looks_at_queries for one in self.each())

    @for_the_library
    def each(self) -> list[Ranker]:
        """Return the rankers to blend, as they were given.

        Returns
        -------
        list of Ranker
            Two or more.
        """
        rankers = [BLMART(), RankNet()] if self.rankers is None else self.rankers
        require_type(rankers, (list, tuple), "rankers", "a list of rankers, such as [BLMART(), RankNet()]")
        for one in rankers:
            require_type(one, Ranker, "rankers", "rankers, such as BLMART()")
        require(len(rankers) >= 2, f"a blend is of two rankers or more, got {len(rankers)}")
        told = "blends are not blended again: blend their rankers"
        require(not any(isinstance(one, Blend) for one in rankers), told)
        own_module = any(getattr(one, "module", None) is not None for one in rankers)
        require(not own_module, "a net with a module of your own cannot be blended: a file of it could not be read")
        return list(rankers)

    @for_the_library
    def with_forest(self, forest: Forest, base_score: float | None = None) -> LambdaMART:
        """Make a ranker of trees that stands for this blend, as one that learned from it does.

        Parameters
        ----------
        forest : Forest
            The trees.
        base_score : float, optional
            What they are added to; 0 unless given.

        Returns
        -------
        LambdaMART
            The other ranker.
        """
        other, before = LambdaMART(metric=self.metric, seed=self.seed, threads=self.threads), self.trained_
        other.trained_ = replace(
            before,
            ranker=other.name,
            settings=other.stored_settings(),
            model=ForestModel(forest, 0.0 if base_score is None else base_score),
            history=History(),
            findings=TrainingFindings(seen_queries=before.findings.seen_queries),
        )
        return other

    @classmethod
    @for_the_library
    def from_state(
        cls,
        header: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        *,
        kinds: Mapping[str, type[Ranker]] | None = None,
        **given: Any,
    ) -> Self:
        """Make the blend from the header and arrays of its model file.

        Parameters
        ----------
        header, arrays
            What `to_state` gave.
        kinds : mapping of str to classes, optional
            The rankers by name, to find those that the file names.
        **given
            Other settings that files do not hold.

        Returns
        -------
        Blend
            The trained blend.
        """
        stored, known = read_field(header, "settings", dict), kinds or {}
        described = read_optional_field(stored, "rankers", list)
        rankers = None
        if described is not None:
            rankers = [_restored(one, known) for one in read_list(stored, "rankers", dict)]
        ranker = restored_settings(cls, stored | {"rankers": rankers}, **given)
        ranker.trained_ = read_trained(header, arrays, BlendModel, ranker, partial(_read_member, known))
        return ranker


def blend(rankers: Sequence[Ranker], data: RankingDataset, **settings: Any) -> Blend:
    """Join trained rankers: weights are learned on judged queries that none of them was trained on.

    Parameters
    ----------
    rankers : sequence of Ranker
        Two or more trained rankers of the same features: of this library, imported ones, or both.
    data : RankingDataset
        Judged documents. The rankers should not have seen these queries; those that have look better than they are.
    **settings
        Settings of `Blend`, such as `combine` or `weights`.

    Returns
    -------
    Blend
        The trained blend.

    Examples
    --------
    >>> import rankwright as rw
    >>> train, rest = rw.synthetic.web_search(n_queries=40, seed=0).split(valid=0.5)
    >>> rankers = [rw.LambdaMART(n_trees=20).fit(train), rw.RankSVM(max_iter=5).fit(train)]
    >>> rw.blend(rankers, rest).weights_.shape
    (2,)
    """
    require_type(rankers, (list, tuple), "rankers", "a list of trained rankers")
    require_type(data, RankingDataset, "data", "a RankingDataset")
    joined = Blend(list(rankers), **settings)
    joined.check()
    members = [one.trained() for one in joined.each()]
    for one in rankers:
        one.warn_if_seen(data)
    keys = key_order(data, threads=joined.threads)
    data = data.in_key_order(keys).dense("a blend")
    for member in members:
        if not has_features(member, data.n_features):
            raise InputError(f"the data has {data.n_features} features, and a {member.ranker} {member.n_features}")
    threads = thread_count(joined.threads)
    unseen = None
    if data.labels is not None:
        unseen = np.column_stack([member.scores(member.aligned(data), threads=threads) for member in members])
    combining = Combining.of(joined.combine, joined.scores)
    model = model_of(joined, tuple(members), unseen, data, combining, threads=threads)
    found = TrainingFindings(seen_queries=SeenQueries.of_keys(keys.keys))
    outcome = TrainingOutcome(model, History(), data_digest(data), found)
    joined.trained_ = trained_ranker(joined, outcome, KnownFeatures.of(data))
    return joined


def _restored(described: Mapping[str, Any], kinds: Mapping[str, type[Ranker]]) -> Ranker:
    """The untrained ranker that settings describe."""
    settings = read_field(described, "settings", dict)
    inner = settings.get("ranker")
    if isinstance(inner, Mapping):  # what a bag is made of
        own = {name: value for name, value in inner.items() if name != "ranker"}
        settings = settings | {"ranker": restored_settings(kinds[read_field(inner, "ranker", str)], own)}
    return restored_settings(kinds[read_field(described, "name", str)], settings)


def _read_member(
    kinds: Mapping[str, type[Ranker]], header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> TrainedRanker:
    name = read_field(header, "ranker", str)
    given: dict[str, Any] = {"kinds": kinds} if name == Bagging.name else {}
    return kinds[name].from_state(header, arrays, **given).trained_
