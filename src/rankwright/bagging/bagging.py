"""Bagging of any ranker: copies of it, each trained on its own sample of queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

from numpy.typing import NDArray

from rankwright.arrays import Float64Array, thread_count
from rankwright.bagging.bagged import Bagged
from rankwright.bagging.copies import copy_of
from rankwright.bagging.forest_bags import ForestWork, choosing_part
from rankwright.bagging.model import BagModel
from rankwright.bagging.ranker_bags import RankerWork, own_module
from rankwright.bagging.settings import BaggingSettings
from rankwright.container.checks import read_field, read_optional_field
from rankwright.data.dataset import RankingDataset
from rankwright.errors import require, require_type
from rankwright.rankers.learning import TrainingRun
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.trained import TrainedRanker
from rankwright.settings.setting import restored_settings
from rankwright.training.digest import digests_of
from rankwright.training.driver import Lesson
from rankwright.trees.bins.binned import bin_dataset
from rankwright.trees.forest_ranker import ForestRanker
from rankwright.trees.lambdamart import LambdaMART


class Bagging(Bagged, BaggingSettings):
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

    validates_itself: ClassVar[bool] = True
    takes_categories: ClassVar[bool] = True  # where its ranker does
    model_kind = BagModel
    model_: BagModel
    oob_scores_: Float64Array

    @property
    def members_(self) -> list[Ranker]:
        """The trained copies."""
        single = self.single()
        return [type(single).of_trained(member, **own_module(single)) for member in self.model_.members]

    @property
    def looks_at_queries(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return self.model_.needs_queries if hasattr(self, "model_") else self._combines_ranks()

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
        require(
            not isinstance(member, Bagging), "bags cannot be bagged again: give the ranker itself, and a larger n_bags"
        )
        if self.select is not None:
            changes = changes | {"select": self.select}
        return copy_of(member, **changes)

    @property
    def selected_metric(self) -> str | Callable[..., Any]:
        """The metric by which copies choose among their steps."""
        return self.single().selected_metric

    def _learns_alone(self) -> bool:
        return self.single()._learns_alone()

    def _check_training_data(self, data: RankingDataset) -> None:
        super()._check_training_data(data)
        self.single()._check_training_data(data)

    def _combines_ranks(self) -> bool:
        return self.single().needs_qid if self.combine is None else self.combine == "rank"

    def _workers(self) -> int:
        return super()._workers() if self.single().trains_beside_others else 1

    def _learn(self, data: RankingDataset, valid: RankingDataset | None, run: TrainingRun) -> None:
        trained = self._train(data, valid, self._work(data, valid), digests_of(data, valid), run)
        self.oob_scores_ = data.in_source_order(trained.out_of_bag.scores())
        oob_score = trained.out_of_bag.measure(self.selected_metric, threads=thread_count(self.threads))
        members = tuple(replace(member.trained(), seen_queries=None) for member in trained.members)
        self.model_ = BagModel(members, self._combines_ranks(), oob_score)

    def _work(self, data: RankingDataset, valid: RankingDataset | None) -> RankerWork:
        single, forests, plan, threads = self.single(), None, self._plan(), self._threads_of_a_bag()
        if isinstance(single, ForestRanker) and single.scaling is None:
            binned = bin_dataset(data, **(single.binning() | {"seed": self.seed, "threads": self.threads}))
            watched = None if valid is None else bin_dataset(valid, binned.mapper, threads=self.threads)
            choosing_codes = choosing_part(watched, self.watched_parts_)
            # They share one binned matrix.
            forests = ForestWork(single, binned, watched, choosing_codes, plan, threads)
        choosing = valid
        if valid is not None and len(self.watched_parts_) > 1:
            choosing = valid.take_queries(range(next(iter(self.watched_parts_.values()))))
        return RankerWork(single, data, valid, choosing, plan, self._combines_ranks(), threads, forests)

    def _lesson(self, data: RankingDataset, valid: RankingDataset | None) -> Lesson:
        raise NotImplementedError("bags are trained by `_learn`")

    @classmethod
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

    def _read_member(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> TrainedRanker:
        single = self.single()
        return type(single).from_state(header, arrays, **own_module(single)).trained()
