"""How one bag is made, whether here, on a thread or by a worker of an engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rankwright.arrays import Float64Array
from rankwright.bagging.out_of_bag import can_choose
from rankwright.bagging.plan import BagPlan, QuerySample
from rankwright.container.checks import file_faults
from rankwright.container.file import Container
from rankwright.data.dataset import RankingDataset
from rankwright.rankers.ranker import Ranker
from rankwright.training.checkpoints import Checkpoint
from rankwright.training.loop import Listener


class BagWork(Protocol):
    """How members of one kind are trained and scored; engines send it to their workers."""

    def train(self, bag: int, sample: QuerySample, watch_others: bool, listener: Listener) -> Ranker:
        """The member trained on the sample."""

    def score_others(self, member: Ranker, sample: QuerySample) -> Float64Array | None:
        """The member's scores of the training documents it did not see, None where they are not needed."""

    def score_valid(self, member: Ranker) -> Float64Array:
        """The member's scores of the validation documents."""

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> Ranker:
        """The trained member that a file describes."""


@dataclass(frozen=True, slots=True, eq=False)
class Bag:
    """A trained member, its sample, and its scores of documents it did not see."""

    member: Ranker
    sample: QuerySample
    others: Float64Array | None
    valid: Float64Array | None


@dataclass(frozen=True, slots=True, eq=False)
class BagMaker:
    """Makes any bag of a plan."""

    documents: RankingDataset
    valid: RankingDataset | None
    work: BagWork
    plan: BagPlan
    select: str | Callable[..., Any]

    def make(self, number: int, saved: Container | None, listener: Listener) -> Bag:
        """The bag of that number: trained now, or loaded from what an earlier run saved."""
        sample = self.plan.sample(number, self.documents.n_queries)
        if saved is None:
            return self._scored(self.work.train(number, sample, self._watches_others(sample), listener), sample)
        with file_faults(saved.path, "checkpoint"):
            return self._scored(self.work.restore(saved.header, saved.arrays), sample)

    def _scored(self, member: Ranker, sample: QuerySample) -> Bag:
        others = self.work.score_others(member, sample)
        return Bag(member, sample, others, None if self.valid is None else self.work.score_valid(member))

    def _watches_others(self, sample: QuerySample) -> bool:
        if self.plan.overfit or self.valid is not None:
            return False
        return can_choose(self.documents, sample.others, self.select, threads=1)


@dataclass(frozen=True, slots=True)
class BagFiles:
    """The files of finished bags in a checkpoint folder; without a folder nothing is kept."""

    folder: Path | None
    identity: Mapping[str, Any]
    earlier: Callable[[], Mapping[str, Any]] | None = None  # see `Checkpoint`

    def saved(self, number: int) -> Container | None:
        """The bag that an earlier run of the same identity saved, None where there is none."""
        return None if self.folder is None else self._file(self.folder, number).load()

    def save(self, number: int, member: Ranker) -> None:
        """Keep a trained member."""
        if self.folder is not None:
            self._file(self.folder, number).save(*member.to_state())

    def _file(self, folder: Path, number: int) -> Checkpoint:
        return Checkpoint(folder / f"bag-{number:04d}", self.identity, self.earlier)
