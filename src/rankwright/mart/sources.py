"""Where the documents of a forest come from: memory, a file, bin codes, or workers. Each source prepares them alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from rankwright.arrays import IntArray, thread_count
from rankwright.data.columns import quoted_list
from rankwright.data.dataset import RankingDataset
from rankwright.debiasing.stage import debias, refuse_bias, tells_examination
from rankwright.errors import InputError, Message, Parameter, require, require_input
from rankwright.features.scaling import FittedScaling
from rankwright.formats.blocks import errors_name_file
from rankwright.formats.reading import DataFile, as_data_file
from rankwright.formats.shards import Shards, as_shards
from rankwright.mart.lists import BinnedLists, ForestLists, WorkerLists
from rankwright.progress.stages import announce
from rankwright.rankers.inputs import validation_data, with_something_to_learn
from rankwright.rankers.known_features import KnownFeatures
from rankwright.rankers.lesson_facts import check_facts
from rankwright.rankers.recipe import Given, TrainingRun, prepare, scaling_for
from rankwright.rankers.seen import SeenQueries
from rankwright.rankers.stages import Passed, Stage, refuse, run_stages, usual_stages
from rankwright.rankers.trained import TrainingFindings
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


def prepared_forest(ranker: Any, given: Given, run: TrainingRun) -> AbstractContextManager[PreparedForest]:
    """What `fit` was given, prepared for as long as a forest grows on it."""
    if ranker.engine is None:
        return nullcontext(prepared_here(ranker, given, run))
    require(
        given.file is not None,
        "workers read their documents themselves: give fit shards, such as rankwright.Shards(folder), or on(None) "
        "to train in this process",
    )
    return prepared_on_workers(ranker, given, run)


def prepared_here(ranker: Any, given: Given, run: TrainingRun) -> PreparedForest:
    """Documents that this process reads."""
    if ranker.scaling_name is not None:
        return _prepared_scaled(ranker, given, run)
    looks_at_clicks = getattr(ranker, "debias", "none") != "none"  # examination is learned from features in memory
    if given.file is None or (looks_at_clicks and tells_examination(given.file)):
        return _prepared_in_memory(ranker, given, run)
    return _prepared_file(ranker, given.file, given, run)


def _prepared_scaled(ranker: Any, given: Given, run: TrainingRun) -> PreparedForest:
    """Bin codes of features that were scaled."""
    data = given.dataset(ranker)
    require(
        not (ranker.categorical or data.categories), "categories cannot be scaled: leave out scaling or categorical"
    )
    scaled = prepare(ranker, data, given, run, _own_stages(ranker, debias))
    announce("binning features")
    binned = bin_dataset(scaled.data, **ranker.binning())
    watched = None if scaled.valid is None else bin_dataset(scaled.valid, binned.mapper, threads=ranker.threads)
    lists = BinnedLists(binned, thread_count(ranker.threads), watched, parts=scaled.parts)
    return PreparedForest(lists, scaled.features, scaled.findings, scaled.scaling, scaled.clicks)


def _prepared_in_memory(ranker: Any, given: Given, run: TrainingRun) -> PreparedForest:
    """Bin codes of the features of a dataset."""
    data = given.dataset(ranker)
    known = KnownFeatures.of(data)
    data, found = run_stages(data, _own_stages(ranker, debias), TrainingFindings(columns=given.columns))
    scaling_for(ranker, data)  # a warm start must have none, too
    announce("binning features")
    binned = bin_dataset(data, **ranker.binning())  # which puts codes in order, without a copy of the features
    binned, found = _after_stages(ranker, binned, found, run)
    valid, parts = binned_validation(ranker, known, given, binned.mapper)
    lists = BinnedLists(binned, thread_count(ranker.threads), valid, parts=parts)
    return PreparedForest(lists, known, found, clicks=data if found.weighs_positions else None)


def _prepared_file(ranker: Any, file: DataFile, given: Given, run: TrainingRun) -> PreparedForest:
    """Bin codes straight from the file, whose features memory never holds: the same as those of its features there."""
    binned = bin_file(file, **ranker.binning())
    with_something_to_learn(binned.documents)
    scaling_for(ranker, binned.documents)
    known = KnownFeatures.of_binned(binned.n_features, binned.feature_names, binned.documents)
    valid, parts = binned_validation(ranker, known, given, binned.mapper)
    binned, found = _after_stages(ranker, binned, TrainingFindings(), run)
    lists = BinnedLists(binned, thread_count(ranker.threads), valid, parts=parts)
    return PreparedForest(lists, known, found)


def prepared_bins(
    ranker: Any,
    data: BinnedDataset,
    valid: BinnedDataset | None,
    queries: IntArray | None,
    watch_others: bool,
    run: TrainingRun,
    found: TrainingFindings | None = None,
) -> PreparedForest:
    """Documents that are binned already: all queries of them or some.

    `found` is what stages found that the documents went through before, as those of a bag did.
    """
    require(ranker.scaling is None, "scaling needs the features themselves, not their bins: leave it out here")
    known = KnownFeatures.of_binned(data.n_features, data.feature_names, data.documents)
    data, found = _after_stages(ranker, data, found or TrainingFindings(), run)
    lists = BinnedLists(data, thread_count(ranker.threads), valid, queries, watch_others)
    return PreparedForest(lists, known, found)


def _own_stages(ranker: Any, stage: Callable[..., Passed]) -> tuple[Stage, ...]:
    """The stage that a kind of forest puts before the usual ones, if it corrects position bias."""
    return (partial(stage, ranker),) if ranker.recipe.debiases else ()


def _after_stages(
    ranker: Any, binned: BinnedDataset, found: TrainingFindings, run: TrainingRun
) -> tuple[BinnedDataset, TrainingFindings]:
    """Binned documents after the stages that need no features."""
    usual = usual_stages(ranker, allow_empty=run.allow_empty, ordered=True)
    documents, found = run_stages(binned.documents, (*_own_stages(ranker, refuse_bias), *usual), found)
    keys = binned.query_keys
    found = replace(found, seen_queries=None if keys is None else SeenQueries.of_keys(keys))
    return replace(binned, documents=documents), found


def binned_validation(
    ranker: Any, known: KnownFeatures, given: Given, mapper: BinMapper
) -> tuple[BinnedDataset | None, Mapping[str, int]]:
    """What `fit` was given to validate on, with the bins of the training data.

    Also how many queries each of its parts has, where several were given.
    """
    file = as_data_file(given.valid)
    if file is None:
        valid = validation_data(ranker, known, given.columns, given.valid)
        documents = valid.documents
        return None if documents is None else bin_dataset(documents, mapper, threads=ranker.threads), valid.parts
    read = bin_file(known.file(file), mapper, threads=ranker.threads)
    with errors_name_file(file.name):
        known.check(read.n_features, read.feature_names)
    return read, {}


@contextmanager
def prepared_on_workers(ranker: Any, given: Given, run: TrainingRun) -> Iterator[PreparedForest]:
    """Bin codes of shards that the workers of an engine read and hold, each some of the queries."""
    _check_settings(ranker, given)
    assert given.file is not None
    with closing(CrewData(ranker.engine, as_shards(given.file), seed=ranker.seed)) as data:
        known = KnownFeatures.of_shards(data.n_features, data.feature_names, data.feature_origin)
        _check_data(ranker, data, run)
        data.find_bins(max_bins=ranker.max_bins, categorical=tuple(ranker.categorical or ()))
        if given.valid is not None:
            file = as_data_file(given.valid)  # shards are read by the workers, other data here
            valid = file if isinstance(file, Shards) else binned_validation(ranker, known, given, data.mapper)[0]
            assert valid is not None
            data.watch(valid)
        found = TrainingFindings(seen_queries=SeenQueries.of_keys(data.query_keys))
        lists = WorkerLists(data, is_watched=given.valid is not None)
        yield PreparedForest(lists, known, found)


def _check_settings(ranker: Any, given: Given) -> None:
    """Raise where a setting needs all documents in one place."""
    require(hasattr(ranker.engine, "crew"), "this engine runs tasks alone: give one that open_engine opened")
    require(ranker.scaling_name is None, "scaling needs the whole data, and workers have some each: leave it out")
    require(ranker.unjudged is None, "unjudged needs the whole data, and workers have some each: leave it out")
    assert given.file is not None
    require_input(
        not as_shards(given.file).begins_sparse(),
        f"{given.file.name}: workers do not grow trees on sparse features: they would pass the bins of all features to "
        "each other for every leaf; train in one process, with on(None)",
    )
    require(
        not isinstance(given.valid, Mapping), "workers watch one set of documents: give valid as one file, or as shards"
    )


def _check_data(ranker: Any, data: CrewData, run: TrainingRun) -> None:
    """Raise where the shards hold something that cannot be learned from, or nothing."""
    example = data.example
    assert example is not None
    if example.categories:
        texts = f"{quoted_list(list(example.categories))} holds texts, whose codes would differ from shard to shard"
        raise InputError(Message(f"{texts}: turn it into numbers, or leave it out with ", Parameter("drop")))
    weighed = "workers do not weigh clicks by propensity: train in one process, or leave the column out with "
    require(example.propensities is None, Message(weighed, Parameter("drop")))
    _, found = refuse(ranker, *run_stages(example, _own_stages(ranker, refuse_bias), TrainingFindings()))
    if not run.allow_empty:
        check_facts(ranker.name, data.facts, alone=ranker.recipe.learns_alone(ranker, found))
