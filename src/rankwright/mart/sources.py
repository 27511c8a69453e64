"""Where the documents of a forest come from: memory, a file, bin codes, or workers. Each source prepares them alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Protocol

from rankwright.arrays import IntArray
from rankwright.data.columns import quoted_list
from rankwright.data.dataset import RankingDataset
from rankwright.debiasing.stage import tells_examination
from rankwright.errors import InputError, Message, Parameter, require
from rankwright.features.scaling import FittedScaling
from rankwright.formats.blocks import errors_name_file
from rankwright.formats.data_file import as_data_file
from rankwright.formats.shards import Shards, as_shards
from rankwright.mart.lists import BinnedLists, ForestLists
from rankwright.mart.worker_lists import WorkerLists
from rankwright.progress.stages import announce
from rankwright.rankers.inputs import validation_data, with_something_to_learn
from rankwright.rankers.known_features import KnownFeatures
from rankwright.rankers.lessons import check_facts
from rankwright.rankers.recipe import Given, TrainingRun, prepare, scaling_for
from rankwright.rankers.seen import SeenQueries
from rankwright.rankers.stages import Refuse, Stage, run_stages, usual_stages
from rankwright.rankers.trained import TrainedRanker, TrainingFindings
from rankwright.trees.bins.binned import BinnedDataset, bin_dataset
from rankwright.trees.bins.binning import BinMapper
from rankwright.trees.bins.from_file import bin_file
from rankwright.trees.distributed.crew_data import CrewData


@dataclass(frozen=True, slots=True, eq=False)
class PreparedForest:
    """What a forest is grown on, after all stages, and what was found on the way."""

    lists: ForestLists
    features: KnownFeatures
    findings: TrainingFindings
    scaling: FittedScaling | None = None
    clicks: RankingDataset | None = None  # the data before it was binned, where positions are weighed
    earlier: TrainedRanker | None = None  # whose trees are continued


class ForestSource(Protocol):
    """Where documents come from."""

    def prepared(self, run: TrainingRun) -> AbstractContextManager[PreparedForest]:
        """What a forest is grown on, for as long as it grows."""


class ForestStages(Protocol):
    """The stages that a kind of forest puts before the usual ones."""

    def first_stages(self, ranker: Any) -> tuple[Stage, ...]:
        """The stages of features in memory."""

    def stages_of_bins(self, ranker: Any) -> tuple[Stage, ...]:
        """The stages of documents whose features are bin codes."""


def forest_source(stages: ForestStages, ranker: Any, given: Given) -> ForestSource:
    """The source of what `fit` was given."""
    if ranker.engine is not None:
        require(
            given.file is not None,
            "workers read their documents themselves: give fit shards, such as rankwright.Shards(folder), or on(None) "
            "to train in this process",
        )
        return OnWorkers(ranker, given)
    return source_here(stages, ranker, given)


def source_here(stages: ForestStages, ranker: Any, given: Given) -> InMemory | FromFile:
    """The source of documents that this process reads."""
    # A scaling is fitted on features in memory, and so is examination learned from them.
    looks_at_clicks = getattr(ranker, "debias", "none") != "none"
    if given.file is None or ranker.scaling_name is not None or (looks_at_clicks and tells_examination(given.file)):
        return InMemory(stages, ranker, given)
    return FromFile(stages, ranker, given)


@dataclass(frozen=True, slots=True, eq=False)
class InMemory:
    """A dataset in memory."""

    stages: ForestStages
    ranker: Any
    given: Given

    @contextmanager
    def prepared(self, run: TrainingRun) -> Iterator[PreparedForest]:
        """Bin codes of the features, which may have been scaled."""
        ranker, given = self.ranker, self.given
        data = given.dataset(ranker)
        if ranker.scaling_name is not None:
            yield self._scaled(data, run)
            return
        known = KnownFeatures.of(data)
        data, found = run_stages(data, self.stages.first_stages(ranker), TrainingFindings(columns=given.columns))
        scaling_for(ranker, data)  # a warm start must have none, too
        announce("binning features")
        binned = bin_dataset(data, **ranker.binning())  # which puts codes in order, without a copy of the features
        binned, found = _after_stages(self.stages, ranker, binned, found, run)
        valid = binned_validation(ranker, known, given, binned.mapper)
        lists = BinnedLists(binned, valid.documents, parts=valid.parts)
        yield PreparedForest(
            lists, known, found, clicks=data if found.weighs_positions else None, earlier=ranker.to_continue()
        )

    def _scaled(self, data: RankingDataset, run: TrainingRun) -> PreparedForest:
        ranker = self.ranker
        require(
            not (ranker.categorical or data.categories), "categories cannot be scaled: leave out scaling or categorical"
        )
        prepared = prepare(ranker, data, self.given, run, self.stages.first_stages(ranker))
        announce("binning features")
        binned = bin_dataset(prepared.data, **ranker.binning())
        valid = prepared.valid
        watched = None if valid is None else bin_dataset(valid, binned.mapper, threads=ranker.threads)
        return PreparedForest(
            BinnedLists(binned, watched, parts=prepared.parts),
            prepared.features,
            prepared.findings,
            prepared.scaling,
            prepared.clicks,
            ranker.to_continue(),
        )


@dataclass(frozen=True, slots=True, eq=False)
class FromFile:
    """A file whose features become bin codes as it is read: memory never holds them."""

    stages: ForestStages
    ranker: Any
    given: Given

    @contextmanager
    def prepared(self, run: TrainingRun) -> Iterator[PreparedForest]:
        """Bin codes straight from the file: the same as those of its features in memory."""
        ranker, given = self.ranker, self.given
        assert given.file is not None
        binned = bin_file(given.file, **ranker.binning())
        with_something_to_learn(binned.documents)
        scaling_for(ranker, binned.documents)
        known = KnownFeatures(binned.n_features, tuple(binned.feature_names), binned.documents.categories)
        valid = binned_validation(ranker, known, given, binned.mapper)
        binned, found = _after_stages(self.stages, ranker, binned, TrainingFindings(), run)
        lists = BinnedLists(binned, valid.documents, parts=valid.parts)
        yield PreparedForest(lists, known, found, earlier=ranker.to_continue())


@dataclass(frozen=True, slots=True, eq=False)
class FromBins:
    """Documents that are binned already: all queries of them or some."""

    stages: ForestStages
    ranker: Any
    data: BinnedDataset
    valid: BinnedDataset | None = None
    queries: IntArray | None = None
    watch_others: bool = False
    findings: TrainingFindings | None = None  # of stages that the documents went through before, as those of a bag did

    @contextmanager
    def prepared(self, run: TrainingRun) -> Iterator[PreparedForest]:
        """The bin codes as they are."""
        ranker, data = self.ranker, self.data
        require(ranker.scaling is None, "scaling needs the features themselves, not their bins: leave it out here")
        known = KnownFeatures(data.n_features, tuple(data.feature_names), data.documents.categories)
        data, found = _after_stages(self.stages, ranker, data, self.findings or TrainingFindings(), run)
        lists = BinnedLists(data, self.valid, self.queries, self.watch_others)
        yield PreparedForest(lists, known, found, earlier=ranker.to_continue())


def _after_stages(
    stages: ForestStages, ranker: Any, binned: BinnedDataset, found: TrainingFindings, run: TrainingRun
) -> tuple[BinnedDataset, TrainingFindings]:
    """Binned documents after the stages that need no features."""
    usual = usual_stages(ranker, allow_empty=run.allow_empty, order=False)
    documents, found = run_stages(binned.documents, (*stages.stages_of_bins(ranker), *usual), found)
    keys = binned.query_keys
    found = replace(found, seen_queries=None if keys is None else SeenQueries.of_keys(keys))
    return replace(binned, documents=documents), found


@dataclass(frozen=True, slots=True, eq=False)
class BinnedValidation:
    """Binned documents to validate on, and how many queries each of their parts has, where several were given."""

    documents: BinnedDataset | None
    parts: Mapping[str, int]


def binned_validation(ranker: Any, known: KnownFeatures, given: Given, mapper: BinMapper) -> BinnedValidation:
    """What `fit` was given to validate on, with the bins of the training data."""
    file = as_data_file(given.valid)
    if file is None:
        valid = validation_data(ranker, known, given.columns, given.valid)
        documents = valid.documents
        binned = None if documents is None else bin_dataset(documents, mapper, threads=ranker.threads)
        return BinnedValidation(binned, valid.parts)
    read = bin_file(known.file(file), mapper, threads=ranker.threads)
    with errors_name_file(file.name):
        known.check(read.n_features, read.feature_names)
    return BinnedValidation(read, {})


@dataclass(frozen=True, slots=True, eq=False)
class OnWorkers:
    """Shards that the workers of an engine read, each some of the queries."""

    ranker: Any
    given: Given

    @contextmanager
    def prepared(self, run: TrainingRun) -> Iterator[PreparedForest]:
        """Bin codes that workers hold, until the forest is grown."""
        ranker, given = self.ranker, self.given
        self._check_settings()
        assert given.file is not None
        with closing(CrewData(ranker.engine, as_shards(given.file), seed=ranker.seed, threads=None)) as data:
            known = KnownFeatures(data.n_features, tuple(data.feature_names))
            self._check_data(data, run)
            data.find_bins(max_bins=ranker.max_bins, categorical=tuple(ranker.categorical or ()))
            if given.valid is not None:
                data.watch(self._validation(known, data.mapper))
            found = TrainingFindings(seen_queries=SeenQueries.of_keys(data.query_keys))
            lists = WorkerLists(data, is_watched=given.valid is not None)
            yield PreparedForest(lists, known, found, earlier=ranker.to_continue())

    def _check_settings(self) -> None:
        """Raise where a setting needs all documents in one place."""
        ranker = self.ranker
        require(hasattr(ranker.engine, "crew"), "this engine runs tasks alone: give one that open_engine opened")
        require(ranker.scaling_name is None, "scaling needs the whole data, and workers have some each: leave it out")
        require(ranker.unjudged is None, "unjudged needs the whole data, and workers have some each: leave it out")
        require(
            not isinstance(self.given.valid, Mapping),
            "workers watch one set of documents: give valid as one file, or as shards",
        )

    def _check_data(self, data: CrewData, run: TrainingRun) -> None:
        """Raise where the shards hold something that cannot be learned from, or nothing."""
        ranker, example = self.ranker, data.example
        assert example is not None
        if example.categories:
            names = quoted_list(list(example.categories))
            raise InputError(
                Message(
                    f"{names} holds texts, whose codes would differ from shard to shard: turn it into numbers, or "
                    f"leave it out with ",
                    Parameter("drop"),
                )
            )
        require(
            example.propensities is None,
            Message(
                "workers do not weigh clicks by propensity: train in one process, or leave the column out with ",
                Parameter("drop"),
            ),
        )
        _, found = run_stages(example, (*ranker.recipe.stages_of_bins(ranker), Refuse(ranker)), TrainingFindings())
        if not run.allow_empty:
            check_facts(ranker.name, data.facts, alone=ranker.recipe.learns_alone(ranker, found))

    def _validation(self, known: KnownFeatures, mapper: BinMapper) -> Shards | BinnedDataset:
        """Shards that workers read, or validation data that is read here and given to them."""
        file = as_data_file(self.given.valid)
        if isinstance(file, Shards):
            return file
        binned = binned_validation(self.ranker, known, self.given, mapper).documents
        assert binned is not None
        return binned
