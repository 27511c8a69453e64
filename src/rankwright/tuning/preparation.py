"""What all experiments of a study share: its folds, or for trees their bins, which are made once per fold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rankwright.cluster.engine import Engine
from rankwright.data.dataset import RankingDataset
from rankwright.mart.forest_ranker import ForestRanker
from rankwright.rankers.ranker import Ranker
from rankwright.settings.spaces import Space
from rankwright.trees.bins.binned import BinnedDataset, bin_dataset
from rankwright.tuning.folds import FoldData, Folds

# Settings that change the bins, or need the features themselves.
NOT_WITH_BINS = {"max_bins", "categorical", "scaling"}


@dataclass(frozen=True, slots=True, eq=False)
class BinnedFold:
    """The documents of a fold, binned: `judged` is what is measured, without features."""

    train: BinnedDataset
    watched: BinnedDataset | None
    measured: BinnedDataset

    @property
    def judged(self) -> RankingDataset:
        """The measured documents without their features."""
        return self.measured.documents


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What workers are given once: the ranker whose settings are tried, and its documents, as folds or as bins."""

    ranker: Ranker
    metrics: tuple[str, ...]
    select: str | None  # what steps are chosen by; None leaves it to the ranker
    digest: str
    folds: Folds | None
    binned: tuple[BinnedFold, ...] | None
    key: str = ""  # what tells these documents from others: rankers that see them alike share one copy

    def shared_by(self, engine: Engine) -> Any:
        """The engine's handle of the documents, without the ranker."""
        return engine.share(SharedDocuments(self.folds, self.binned), key=self.key)

    def without_documents(self) -> Prepared:
        """All but the documents, which goes with every task."""
        return replace(self, folds=None, binned=None)


@dataclass(frozen=True, slots=True, eq=False)
class SharedDocuments:
    """The documents of a study alone: what is large."""

    folds: Folds | None
    binned: tuple[BinnedFold, ...] | None

    def of(self, prepared: Prepared) -> Prepared:
        """A study with these documents."""
        return replace(prepared, folds=self.folds, binned=self.binned)


def prepare(ranker: Ranker, space: Space, folds: Folds, metrics: tuple[str, ...], *, select: str | None) -> Prepared:
    """The shared part of a study: `metrics` are measured, the first is searched for; `select` chooses steps."""
    digest = folds.digest()
    if not takes_bins(ranker, space):
        return Prepared(ranker, metrics, select, digest, folds, None, digest)
    assert isinstance(ranker, ForestRanker)
    binned = tuple(_binned(ranker, folds.fold(number)) for number in range(folds.n_folds))
    return Prepared(ranker, metrics, select, digest, None, binned, f"{digest} {ranker.binning()}")


def takes_bins(ranker: Ranker, space: Space) -> bool:
    """Whether every experiment of a study can train on the same bins."""
    return isinstance(ranker, ForestRanker) and ranker.scaling_name is None and not NOT_WITH_BINS & space.keys()


def _binned(ranker: ForestRanker, fold: FoldData) -> BinnedFold:
    # As `fit` bins them: an experiment gives the same as fitting the fold by hand.
    train = bin_dataset(fold.train, **(ranker.binning() | {"threads": None}))
    measured = bin_dataset(fold.measured, train.mapper)
    if fold.watched is None:
        return BinnedFold(train, None, measured)
    watched = measured if fold.watched is fold.measured else bin_dataset(fold.watched, train.mapper)
    return BinnedFold(train, watched, measured)
