"""Bagging of any ranker: copies of it, each trained on its own sample of queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from rankwright.arrays import thread_count
from rankwright.bagging.bag_members import ForestMembers, RankerMembers, choosing_part, copy_of, own_module
from rankwright.bagging.bag_models import BagModel, n_bags_view, oob_score_view, oob_scores_view
from rankwright.bagging.bag_training import bag_plan, threads_of_a_bag, train_bags
from rankwright.bagging.settings import BaggingSettings
from rankwright.container.checks import read_field, read_optional_field
from rankwright.errors import require, require_type
from rankwright.mart.forest_ranker import ForestRanker
from rankwright.mart.lambdamart import LambdaMART
from rankwright.mart.recipe import ForestRecipe
from rankwright.rankers.ranker import Ranker, train_on
from rankwright.rankers.recipe import Given, PreparedData, TrainingOutcome, TrainingRun, prepare, trained_ranker
from rankwright.rankers.stages import refuse
from rankwright.rankers.trained import TrainedRanker, TrainingFindings
from rankwright.rankers.views import for_the_library
from rankwright.settings.setting import restored_settings
from rankwright.training.digest import digests_of
from rankwright.trees.bins.binned import bin_dataset


class BaggingRecipe:
    """Copies of a ranker, each trained on its own sample of queries."""

    def learns_alone(self, ranker: Any, found: TrainingFindings) -> bool:
        """Whether the copies learn from each label by itself."""
        single = ranker.single()
        return bool(single.recipe.learns_alone(single, found))

    def train(self, ranker: Any, given: Given, run: TrainingRun) -> TrainedRanker:
        """The bag of trained copies."""
        prepared = prepare(ranker, given.dataset(ranker), given, run)
        data, valid, single = prepared.data, prepared.valid, ranker.single()
        refuse(single, data, prepared.findings)
        members, digests = bag_members(ranker, single, prepared), digests_of(data, valid)
        bags = train_bags(ranker, data, valid, members, digests, run, prepared.parts)
        oob_score = bags.out_of_bag.measure(ranker.selected_metric, threads=thread_count(ranker.threads))
        oob_scores = data.in_source_order(bags.out_of_bag.scores())
        found = replace(prepared.findings, watched=bags.watched, oob_scores=oob_scores)
        copies = tuple(replace(member, findings=replace(member.findings, seen_queries=None)) for member in bags.members)
        model = BagModel(copies, combines_ranks(ranker), oob_score)
        return trained_ranker(ranker, TrainingOutcome(model, bags.history, digests[0], found), prepared.features)


def bag_members(ranker: Any, single: Ranker, prepared: PreparedData) -> RankerMembers:
    """How the copies are trained; forests share one binned matrix."""
    data, valid, parts = prepared.data, prepared.valid, prepared.parts
    plan, threads, forests = bag_plan(ranker), threads_of_a_bag(ranker), None
    if isinstance(single, ForestRanker) and isinstance(single.recipe, ForestRecipe) and single.scaling is None:
        binned = bin_dataset(data, **(single.binning() | {"seed": ranker.seed, "threads": ranker.threads}))
        watched = None if valid is None else bin_dataset(valid, binned.mapper, threads=ranker.threads)
        forests = ForestMembers(single, binned, watched, choosing_part(watched, parts), plan, threads)
    choosing = valid
    if valid is not None and len(parts) > 1:
        choosing = valid.take_queries(range(next(iter(parts.values()))))
    return RankerMembers(single, data, valid, choosing, plan, combines_ranks(ranker), threads, forests)


def combines_ranks(ranker: Any) -> bool:
    """Whether ranks are averaged, not scores."""
    return bool(ranker.single().needs_qid) if ranker.combine is None else ranker.combine == "rank"


class Bagging(Ranker, BaggingSettings):
    """Bags draw queries as in BL-MART; a query drawn twice is in the bag twice.

    Attributes
    ----------
    members_ : list of Ranker
        The trained copies.
    n_bags_ : int
        How many there are.
    oob_scores_ : array of float64
        For each training document, in the caller's row order, the mean score, or rank, by the bags that never saw its
        query; NaN where all did. It is not part of the model file.
    oob_score_ : float or None
        The value of the copies' `select` for these scores.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=30, seed=0)
    >>> bags = rw.Bagging(rw.RankSVM(max_iter=5), n_bags=3).fit(data)
    >>> [member.name for member in bags.members_]
    ['ranksvm', 'ranksvm', 'ranksvm']
    """

    recipe = BaggingRecipe()
    validates_itself: ClassVar[bool] = True
    not_in_bags: ClassVar[str] = "bags cannot be bagged again: give the ranker itself, and a larger n_bags"
    takes_categories: ClassVar[bool] = True  # where its ranker does
    model_kind = BagModel
    n_bags_, oob_score_, oob_scores_ = n_bags_view, oob_score_view, oob_scores_view
    on = train_on

    @property
    def members_(self) -> list[Ranker]:
        """The trained copies."""
        single, model = self.single(), self.trained_.model
        assert isinstance(model, BagModel)
        return [type(single).of_trained(member, **own_module(single)) for member in model.members]

    @property
    def looks_at_queries(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return super().looks_at_queries if self.__sklearn_is_fitted__() else combines_ranks(self)

    def single(self, **changes: Any) -> Ranker:
        """Make an untrained copy of the bagged ranker, to compare bagging with.

        Parameters
        ----------
        **changes
            Settings to change from those of `ranker`.

        Returns
        -------
        Ranker
            The copy.
        """
        member: Ranker = LambdaMART() if self.ranker is None else self.ranker
        require_type(member, Ranker, "ranker", "a ranker, such as LambdaMART()")
        require(not member.not_in_bags, member.not_in_bags)
        if self.select is not None:
            changes = changes | {"select": self.select}
        return copy_of(member, **changes)

    @property
    def selected_metric(self) -> str | Callable[..., Any]:
        """The metric by which copies choose among their steps."""
        return self.single().selected_metric

    @classmethod
    @for_the_library
    def from_state(
        cls,
        header: Mapping[str, Any],
        arrays: Mapping[str, NDArray[Any]],
        *,
        kinds: Mapping[str, type[Ranker]] | None = None,
        module: Any = None,
        **given: Any,
    ) -> Self:
        """Make the bag from the header and arrays of its model file.

        Parameters
        ----------
        header, arrays
            What `to_state` gave.
        kinds : mapping of str to classes, optional
            The rankers by name, to find the bagged one that the file names.
        module : torch.nn.Module, optional
            The module of a net of your own, where such nets are bagged.
        **given
            Other settings that files do not hold.

        Returns
        -------
        Bagging
            The trained bag.
        """
        stored = read_field(header, "settings", dict)
        described = read_optional_field(stored, "ranker", dict)
        single = None
        if described is not None:
            settings = {name: value for name, value in described.items() if name != "ranker"}
            own = {} if module is None else {"module": module}
            single = restored_settings((kinds or {})[read_field(described, "ranker", str)], settings, **own)
        with_single = dict(header) | {"settings": stored | {"ranker": single}}
        return super().from_state(with_single, arrays, **given)

    @for_the_library
    def member_reader(self) -> Callable[[Mapping[str, Any], Mapping[str, NDArray[Any]]], TrainedRanker]:
        """Return what reads a copy from its part of the model file.

        Returns
        -------
        function
            From a header and arrays to a trained copy.
        """
        single = self.single()
        return lambda header, arrays: type(single).from_state(header, arrays, **own_module(single)).trained_
