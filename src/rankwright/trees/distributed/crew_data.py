"""Shards that the workers of a crew hold together, as bin codes, and forests that they grow: the driver's side.

The driver knows of each query its key, its size and its number among all queries in the order of their keys; of the
documents it knows nothing. All that the workers did can be done again if one of them dies.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float32Array, IntArray
from rankwright.cluster.crew import Crew, CrewFunction, LostMembersError, MeetingPlace, NoRoomError, Seconds
from rankwright.cluster.engine import MAX_TRIES, Engine
from rankwright.data.dataset import one_origin
from rankwright.data.feature_names import feature_columns, numbered_names
from rankwright.data.groups import Groups
from rankwright.errors import ClusterError, InputError, require
from rankwright.formats.shards import ShardPart, Shards, divided_shards, query_bounds
from rankwright.progress.stages import announce
from rankwright.rankers.lesson_facts import LessonFacts
from rankwright.training.digest import digest_of
from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.bins.binning import BinMapper, fit_bins, joined_bins
from rankwright.trees.bins.fingerprints import binned_digest, fingerprint, joined_hashes
from rankwright.trees.bins.sampling import HIGHEST_PRIORITY, SAMPLE_SIZE, highest_of_sample, lowest
from rankwright.trees.boosting import n_trees_array
from rankwright.trees.distributed import members
from rankwright.trees.distributed.members import (
    CodedPart,
    CodePartTask,
    ForestTask,
    GrowthReply,
    PartSummary,
    ReadPartTask,
)
from rankwright.trees.forests.arrays import forest_from_arrays, forest_to_arrays
from rankwright.trees.forests.forest import Forest, forest_of
from rankwright.trees.forests.merging import merge_forests
from rankwright.trees.grower import MAX_ROWS
from rankwright.trees.label_sums import LabelSums
from rankwright.trees.share import parts_of

logger = logging.getLogger(__name__)
FEATURES_AT_ONCE = 8  # of the sample, whose bins the driver finds
Result = TypeVar("Result")


class CrewEngine(Engine, Protocol):
    """An engine whose workers can also be a crew."""

    def crew(self, size: int | None = None) -> Crew:
        """A crew of that many workers; by default, of as many as the engine has."""


class CrewData:
    """Training data, and validation data if there is any, in the hands of a crew."""

    def __init__(self, engine: CrewEngine, shards: Shards, *, seed: int) -> None:
        self._engine, self._shards, self._seed = engine, shards, seed
        self.crew = engine.crew()
        self.threads = self.crew.threads
        self.boosters: WeakValueDictionary[str, RemoteBoosting] = WeakValueDictionary()
        self._division = 0  # how often the data was divided anew
        self._setup: list[Callable[[], list[CodedPart]]] = []  # what new workers have to do, one after another
        self._is_set_up = False  # whether all workers have done that
        self._sampled: list[PartSummary] = []  # the summaries of parts whose samples workers still hold
        self._valid: Shards | BinnedDataset | None = None
        self.mapper: BinMapper
        self.valid_digest: str | None = None
        try:
            announce("finding the queries of the shards")
            self._index = shards.index() if shards.format == "parquet" else None
            self._divide()
            self._read_parts()
        except BaseException:
            self.crew.close()
            raise

    def close(self) -> None:
        """End the workers."""
        self.crew.close()

    # What a forest asks of its data.

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names; where none were given, their numbers from 1."""
        return self.feature_names or numbered_names(self.n_features)

    @property
    def groups(self) -> Groups:
        """The number of documents of each query, in the order of the keys."""
        return Groups.of_sizes(self.sizes)

    # Reading.

    def _divide(self) -> None:
        self._parts = divided_shards(self._shards, self._index, self.crew.size)

    def _read_parts(self) -> None:
        """Have the workers look through their parts, and put the queries in the order of their keys."""
        announce(f"reading {len(self._shards.paths)} shards with {self.crew.size} workers")
        self._width: int | None = None
        summaries = self._trying(self._summarise_parts)
        self.n_features = max(one.n_features for one in summaries)
        if any(one.n_features != self.n_features for one in summaries if one.facts.n_docs):
            self._width = self.n_features  # text that leaves out zeros, of different widths
            summaries = self._trying(self._summarise_parts)
        with_rows = [one for one in summaries if one.facts.n_docs]
        if not with_rows:
            raise InputError(f"{self._shards.name}: there are no documents")
        self.facts = sum((one.facts for one in summaries), LessonFacts())
        require(
            self.facts.n_docs <= MAX_ROWS,
            f"trees can be grown on at most {MAX_ROWS:,} documents in all, got {self.facts.n_docs:,}: the sums of a "
            f"leaf would not fit their words",
        )
        self.feature_names = with_rows[0].feature_names
        self.feature_origin = one_origin(one.feature_origin for one in with_rows)
        self.example = with_rows[0].example
        self._refuse_repeated(summaries)
        first, second = (np.concatenate(all_of) for all_of in zip(*(one.keys for one in summaries), strict=True))
        by_key = np.lexsort((second, first))
        self.query_keys = first[by_key]
        self._number_of = np.empty(len(by_key), np.int64)  # of each query, in the order of the shards
        self._number_of[by_key] = np.arange(len(by_key))
        self.sizes: IntArray = np.concatenate([one.sizes for one in summaries])[by_key]
        # The first query of each part, in the order of the shards, and at the end the number of all.
        self._queries_of_files = np.cumsum([0, *(len(one.sizes) for one in summaries)])

    def _summarise_parts(self) -> list[PartSummary]:
        """The summaries of all parts; the samples of the parts together hold the sample of all data."""
        size = 0 if self._index is None else int(self._index.groups.n_docs)
        highest = highest_of_sample(SAMPLE_SIZE, size)
        found = self._summaries_below(highest)
        if sum(len(one.priorities) for one in found) < min(SAMPLE_SIZE, size):
            found = self._summaries_below(HIGHEST_PRIORITY)  # many documents are copies of each other
        self._sampled = found
        return found

    def _summaries_below(self, highest: int) -> list[PartSummary]:
        token, common = (self._division, self._width, highest), (self._seed, self.threads, highest, self._width)
        return self.crew.call(members.read_part, [ReadPartTask(token, part, *common) for part in self._parts])

    def _refuse_repeated(self, summaries: Sequence[PartSummary]) -> None:
        """Raise if a query is in two parts of text files; for Parquet, the index has checked that."""
        seen: dict[str, int] = {}
        for number, one in enumerate(summaries):
            ids = [] if one.query_ids is None else [str(query) for query in one.query_ids.tolist()]
            again = next((query for query in ids if query in seen), None)
            if again is not None:
                where = " and ".join(
                    ", ".join(path for path, _, _ in self._parts[part].rows) for part in (seen[again], number)
                )
                raise InputError(f"query {again} is in two files, and must be in one: in {where}")
            seen |= dict.fromkeys(ids, number)

    def find_bins(self, *, max_bins: int, categorical: Sequence[int | str]) -> None:
        """Find the bins from the sample that data in memory would give, and have the workers read codes."""
        announce("binning features")
        self.mapper = self._bins(max_bins, set(feature_columns(categorical, self.names)))
        self._sampled = []
        self._setup = [self._code_parts]
        announce("coding features")
        coded = self._trying(self._set_up)
        self.digest = fingerprint_of(coded, self._numbers(), self.mapper)
        self.label_sums = sum((own.labels for own in coded), LabelSums())
        self.relevant_sums = sum((own.relevant for own in coded), LabelSums())

    def _bins(self, max_bins: int, categorical: Collection[int]) -> BinMapper:
        """The bins of all features, found from the sample, of which the driver has some features at a time."""
        parts = []
        for first in range(0, max(self.n_features, 1), FEATURES_AT_ONCE):
            columns = slice(first, min(first + FEATURES_AT_ONCE, self.n_features))
            own = [number - first for number in range(*columns.indices(self.n_features)) if number in categorical]
            values = self._trying(partial(self._sample, columns))
            parts.append(fit_bins(values, max_bins=max_bins, categorical=own, threads=self.threads))
        return joined_bins(parts)

    def _sample(self, columns: slice) -> Float32Array:
        priorities = [one.priorities for one in self._sampled or self._summarise_parts()]
        chosen = lowest(np.concatenate(priorities), SAMPLE_SIZE)
        starts = np.cumsum([0, *(len(own) for own in priorities)])
        places = np.searchsorted(chosen, starts)
        rows = [
            chosen[begin:end] - start for begin, end, start in zip(places[:-1], places[1:], starts[:-1], strict=True)
        ]
        found = self.crew.call(members.sampled_values, [(own, columns) for own in rows])
        return np.concatenate([own for own in found if len(own)])

    def _numbers(self) -> list[IntArray]:
        """The numbers of each worker's queries, in ascending order."""
        bounds = self._queries_of_files if self._index is None else query_bounds(self._index, self.crew.size)
        return [np.sort(self._number_of[begin:end]) for begin, end in pairwise(bounds)]

    def _code_parts(self) -> list[CodedPart]:
        tasks = [
            replace(self._code_task(part), numbers=own, sizes=self.sizes, keys=digest_of([self.query_keys[own]]))
            for part, own in zip(self._parts, self._numbers(), strict=True)
        ]
        return self.crew.call(members.code_part, tasks)

    def watch(self, valid: Shards | BinnedDataset) -> None:
        """Give the workers validation data: shards to read, or data in memory of which each gets a part."""
        self._valid = valid
        self._valid_index = valid.index() if isinstance(valid, Shards) and valid.format == "parquet" else None
        self._setup.append(self._code_valid_parts)
        coded = self._trying(self._set_up)
        if isinstance(valid, BinnedDataset):
            self.valid_digest = binned_digest(valid)
            return
        ends = np.cumsum([0, *(len(own.sizes) for own in coded)])
        numbers = [np.arange(begin_at, end) for begin_at, end in pairwise(ends)]
        self.valid_digest = fingerprint_of(coded, numbers, self.mapper)

    def _code_valid_parts(self) -> list[CodedPart]:
        valid, size = self._valid, self.crew.size
        parts: Sequence[ShardPart | BinnedDataset]
        if isinstance(valid, BinnedDataset):
            parts = parts_of(valid, size)
        else:
            assert valid is not None
            parts = divided_shards(valid, self._valid_index, size)
        return self.crew.call(members.code_valid_part, [self._code_task(part) for part in parts])

    def _code_task(self, part: ShardPart | BinnedDataset) -> CodePartTask:
        return CodePartTask(self._division, part, self.mapper, self.threads, self.feature_names)

    # Workers that come and go.

    def _trying(self, work: Callable[[], Result]) -> Result:
        """The result of `work`. If workers die meanwhile, others take their places and the work is done again."""
        for tries in range(1, MAX_TRIES + 1):
            try:
                return work()
            except LostMembersError as error:
                if tries == MAX_TRIES:
                    raise ClusterError(f"workers were lost {MAX_TRIES} times in a row: {error}") from None
                self._replace(error)
        raise AssertionError

    def _set_up(self) -> list[CodedPart]:
        """Have the workers read what they do not have yet; returns what they found in the last of these steps."""
        found: list[CodedPart] = []
        for read in self._setup:
            found = read()
        self._is_set_up = True
        return found

    def together(self, function: CrewFunction, task: Any) -> list[Any]:
        """Call a function with the same task in all workers, which know their data, each other and all trees so far."""

        def call() -> list[Any]:
            if not self._is_set_up:
                self._meet()
            return self.crew.call(function, [task] * self.crew.size)

        return self._trying(call)

    def meet(self) -> None:
        """Have the workers form an exchange, and begin or go on with all forests, each with the trees so far."""
        self._trying(self._meet)

    def _replace(self, error: LostMembersError) -> None:
        """Replace workers that died; where there is no room for them, the others take over their documents."""
        logger.warning("%s: going on from the last finished tree", error)
        self._is_set_up, self._sampled = False, []
        if not error.members:
            return
        try:
            self.crew.renew(error.members)
        except NoRoomError as no_room:
            left = self.crew.size - len(error.members)
            self.crew.close()
            if left < 1 or self._index is None:
                raise
            logger.warning("%s: %d workers take over", no_room, left)
            self.crew = self._engine.crew(left)
            self._division += 1
            self._divide()

    def _meet(self) -> None:
        if not self._is_set_up:
            self._set_up()
        size = self.crew.size
        store = self.crew.call(members.open_meeting, [Seconds.TO_MEET] + [None] * (size - 1))[0]
        places = [MeetingPlace(rank, size, store, Seconds.TO_MEET) for rank in range(size)]
        self.crew.call(members.join_exchange, places)
        alive = [booster.task for _, booster in sorted(self.boosters.items())]
        self.crew.call(members.begin_forests, [alive] * size)
        for _, booster in sorted(self.boosters.items()):
            task, n_trees = booster.task, booster.n_taken
            had = self.crew.call(members.catch_up, [(task, n_trees, None)] * size)
            if any(found != n_trees for found in had):
                arrays = booster.memory()
                tasks = [(task, n_trees, None if found == n_trees else arrays) for found in had]
                self.crew.call(members.catch_up, tasks)


class RemoteBoosting:
    """A forest in training, a learner like any other: its trees are here, its scores of documents with the workers."""

    def __init__(self, data: CrewData, task: ForestTask) -> None:
        self.task, self._data = task, data
        self.trees: list[Forest] = []  # of one tree each
        self._in_step = False  # whether the workers may have more trees than are here, since a step was interrupted

    @property
    def n_taken(self) -> int:
        """How many steps the trees come from."""
        return len(self.trees)

    def model(self) -> Arrays:
        """The number of trees: trees never change."""
        return n_trees_array(len(self.trees))

    def model_after(self, n_steps: int) -> Arrays:
        """The model after that many steps."""
        return n_trees_array(n_steps)

    def memory(self) -> Arrays:
        """The trees so far."""
        return forest_to_arrays(self.forest())

    def forest(self) -> Forest:
        """The trees so far as one forest."""
        if not self.trees:
            return forest_of([], self._data.mapper)
        return merge_forests(self.trees, np.ones(len(self.trees)))

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue after the trees of another run."""
        forest = forest_from_arrays(memory)
        self.trees += [forest.part(number, number + 1) for number in range(forest.n_trees)]
        self._data.meet()

    def settle(self) -> None:
        """Have the workers forget the tree of a step that was interrupted."""
        if self._in_step:
            self._data.meet()
            self._in_step = False

    def take_step(self, step: int) -> bool:
        """Have the workers grow tree number `step`; False where there is nothing left to learn."""
        self.settle()
        self._in_step = True
        replies: list[GrowthReply] = self._data.together(members.grow_next_tree, (self.task.name, step))
        sent = max(reply.bytes_sent for reply in replies)
        logger.debug("tree %d: %d workers sent %d bytes each, at most", step, len(replies), sent)
        tree = replies[0].tree
        if tree is not None:
            self.trees.append(forest_from_arrays(tree))
        self._in_step = False
        return tree is not None


def fingerprint_of(coded: Sequence[CodedPart], numbers: Sequence[IntArray], mapper: BinMapper) -> str:
    """The fingerprint of all workers' data; `numbers` are those of each worker's queries among all."""
    sizes = np.empty(sum(len(own) for own in numbers), np.int64)
    weights = np.ones(len(sizes), np.float32)
    for own, places in zip(coded, numbers, strict=True):
        sizes[places] = own.sizes
        if own.query_weights is not None:
            weights[places] = own.query_weights
    has_weights = any(own.query_weights is not None for own in coded)
    hashes = joined_hashes([own.hashes for own in coded], numbers)
    return fingerprint(hashes, mapper, sizes, weights if has_weights else None)
