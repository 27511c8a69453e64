"""What a worker of a crew does when one forest is grown by many: it reads, codes, grows and measures its own part.

Each function is called in all workers at once, with the dictionary that a worker keeps from call to call. What was read
is kept under a token: a worker that is asked again, because another one died, answers from what it has.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from threading import Thread
from typing import Any, NamedTuple

import numpy as np

from rankwright.arrays import Arrays, Float32Array, Float64Array, IdArray, IntArray, Uint64Array
from rankwright.cluster.crew import MeetingPlace, MemberState
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.keys import query_keys
from rankwright.errors import InputError, MissingExtraError
from rankwright.formats.shards import ShardPart
from rankwright.metrics.evaluation import ScoredLists, evaluate_lists
from rankwright.metrics.metric_table import as_measure
from rankwright.objectives.objective import Objective
from rankwright.rankers.lesson_facts import LessonFacts
from rankwright.training.digest import data_digest, digest_of
from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.bins.binning import BinMapper, empty_codes
from rankwright.trees.bins.fingerprints import QueryHashes, query_hashes
from rankwright.trees.bins.from_file import PlacedCodes, bin_file, coded_file, order_of_rows
from rankwright.trees.bins.sampling import SAMPLE_SIZE, RowSample
from rankwright.trees.boosting import Boosting, BoostingParams
from rankwright.trees.forests.arrays import forest_to_arrays
from rankwright.trees.label_sums import LabelSums, label_sums
from rankwright.trees.share import RowShare, spread_queries
from rankwright.trees.sizing import mean_of_watched


def remembered(state: MemberState, place: str, token: Any, make: Callable[[], Any]) -> Any:
    """What a worker made under this token before; otherwise it is made now, and the worker remembers it."""
    if state.get(place, (None, None))[0] != token:
        state.pop(place, None)  # its memory is needed
        state[place] = token, make()
    return state[place][1]


@dataclass(frozen=True, slots=True, eq=False)
class ReadPartTask:
    """A part to read for its keys, its facts and a sample of its rows."""

    token: Any
    part: ShardPart
    seed: int
    threads: int
    highest: int  # priority that a row of the sample can have
    n_features: int | None = None  # where it is known


class PartSummary(NamedTuple):
    """What the driver learns of a part that was read: its queries, in the order of the files, and its sample."""

    n_features: int
    feature_names: tuple[str, ...]
    feature_origin: str | None
    keys: tuple[Uint64Array, Uint64Array]
    sizes: IntArray
    query_ids: IdArray | None  # of text files; the index of Parquet files has them
    priorities: Uint64Array  # of the rows of the sample
    facts: LessonFacts
    example: RankingDataset | None  # the first query without its features: it shows which columns there are


NO_QUERIES = np.empty(0, np.uint64)
NOTHING = PartSummary(
    0, (), None, (NO_QUERIES, NO_QUERIES), np.empty(0, np.int64), None, NO_QUERIES, LessonFacts(), None
)


def read_part(state: MemberState, task: ReadPartTask) -> PartSummary:
    """Read the part, block by block; the library that exchanges numbers is loaded meanwhile, since it takes seconds."""
    Thread(target=_load_ahead, daemon=True).start()
    return remembered(state, "reading", task.token, lambda: _read_part(task))[0]  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True, eq=False)
class FirstReading:
    """What a worker remembers of the first reading of its part, for the second one, which makes codes."""

    order: IntArray | None = None  # of the rows, by their keys
    digest: str | None = None


def _read_part(task: ReadPartTask) -> tuple[PartSummary, Float32Array, FirstReading]:
    file = task.part.file(n_features=task.n_features, threads=task.threads)
    if file is None:
        return NOTHING, np.empty((0, 0), np.float32), FirstReading()
    sample = RowSample(SAMPLE_SIZE, task.seed, file.absent, task.highest)
    documents = file.stream_rows(sample.add)
    data = documents.data
    if data.source_rows is not None or (not sample.is_known and sample.n_rows > sample.size):
        raise InputError(
            f"{file.name}: the rows of a query are not together, or rows have no query ids: shards need both; "
            f"`rankwright convert --whole --shards` writes such files"
        )
    features, priorities = sample.with_priorities()
    hashes = sample.hashes()
    keys = query_keys(data, hashes)
    first_reading = FirstReading(order_of_rows(data, hashes, task.threads), data_digest(data, hashes))
    ids = None if task.part.format == "parquet" else data.query_ids
    example = data.take_queries([0])
    facts = LessonFacts.of(data)
    summary = PartSummary(
        sample.width,
        documents.feature_names,
        data.feature_origin,
        keys,
        data.groups.sizes,
        ids,
        priorities.copy(),
        facts,
        example,
    )
    return summary, features, first_reading  # a copy of the sample would take more memory than the room beside it


def sampled_values(state: MemberState, task: tuple[IntArray, slice]) -> Float32Array:
    """Some rows and columns of the sample."""
    rows, columns = task
    return state["reading"][1][1][:, columns][rows]  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True, eq=False)
class CodePartTask:
    """A part to read as codes, and the place of its queries among all.

    Training data has `numbers`, in ascending order, which are those of its queries in the order of their keys; `sizes`
    are those of all queries, and `keys` is a fingerprint of the part's keys when it was looked through. Validation data
    stays in the order of its files.
    """

    token: Any
    part: ShardPart | BinnedDataset | None
    mapper: BinMapper
    threads: int
    feature_names: tuple[str, ...] = ()
    numbers: IntArray | None = None
    sizes: IntArray | None = None
    keys: str | None = None


class CodedPart(NamedTuple):
    """What the driver needs to know of a part with codes: of its queries, and of its labels."""

    sizes: IntArray
    query_weights: Float32Array | None
    hashes: QueryHashes
    labels: LabelSums
    relevant: LabelSums


def code_part(state: MemberState, task: CodePartTask) -> CodedPart:
    """Read the training part as codes."""
    first_reading = FirstReading()
    if state.get("data", (None,))[0] != task.token:
        looked = state.pop("reading", None)  # its sample makes room
        if looked is not None and looked[0][0] == task.token:
            first_reading = looked[1][2]
        del looked
        state.pop("boosters", None)  # which belong to other data
    coded = remembered(state, "data", task.token, lambda: _coded_training_part(task, first_reading))
    return coded[0]  # type: ignore[no-any-return]


def _coded_training_part(task: CodePartTask, first_reading: FirstReading) -> tuple[CodedPart, BinnedDataset, IntArray]:
    own = _read_codes(task, first_reading, in_key_order=True)
    assert task.numbers is not None
    assert task.sizes is not None
    if own.query_keys is not None and digest_of([np.sort(own.query_keys)]) != task.keys:
        raise InputError("shards changed while they were read: they differ from what the bins were found from")
    return _facts_of_coded(own, task.threads), spread_queries(own, task.numbers, len(task.sizes)), task.sizes


def code_valid_part(state: MemberState, task: CodePartTask) -> CodedPart:
    """Read the validation part as codes."""
    own = remembered(state, "valid", task.token, lambda: _read_codes(task, FirstReading(), in_key_order=False))
    return _facts_of_coded(own, task.threads)


def _facts_of_coded(own: BinnedDataset, threads: int) -> CodedPart:
    sums = label_sums(own, relevant=False), label_sums(own, relevant=True)
    return CodedPart(own.groups.sizes, own.query_weights, query_hashes(own, threads), *sums)


def _read_codes(task: CodePartTask, first_reading: FirstReading, *, in_key_order: bool) -> BinnedDataset:
    if isinstance(task.part, BinnedDataset):
        return task.part
    names = {"features": list(task.feature_names)} if task.feature_names else {}
    file = None if task.part is None else task.part.file(n_features=task.mapper.n_features, **names)
    if file is not None:
        if first_reading.order is None:
            return bin_file(file, task.mapper, in_key_order=in_key_order, threads=task.threads)
        return coded_file(
            file, PlacedCodes(task.mapper, first_reading.order, task.threads), first_reading.digest, in_key_order=True
        )
    nothing = RankingDataset(
        features=np.empty((0, 0), np.float32), labels=np.empty(0, np.float32), groups=Groups(np.zeros(1, np.int64))
    )
    return BinnedDataset(empty_codes(0, task.mapper), task.mapper, nothing, task.feature_names)


def open_meeting(state: MemberState, patience: float | None) -> tuple[str, int] | None:
    """Open the place where all workers find each other, in the worker that is told how long to wait there.

    The earlier exchange is closed.
    """
    gloo = _gloo()
    leave_exchange(state)
    if patience is None:
        return None
    state["meeting"] = gloo.Meeting(state["address"], patience)
    place: tuple[str, int] = state["meeting"].place
    return place


def join_exchange(state: MemberState, place: MeetingPlace) -> None:
    """Form the exchange of all workers."""
    meeting = state.get("meeting") if place.rank == 0 else None
    state["exchange"] = _gloo().GlooExchange(place, state["address"], meeting)


def leave_exchange(state: MemberState) -> None:
    """Close the exchange: whoever waits for this worker gets an error."""
    if "exchange" in state:
        state.pop("exchange").close()
    state.pop("meeting", None)


def _load_ahead() -> None:
    with suppress(Exception):  # whoever needs it will be told
        _gloo()


def _gloo() -> Any:
    try:
        from rankwright.cluster import gloo
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtraError("a forest grown by several workers", "torch", "cluster") from None
    return gloo


@dataclass(frozen=True, slots=True, eq=False)
class ForestTask:
    """A forest to grow on the training data, or on some of its queries."""

    name: str
    objective: Objective
    params: BoostingParams
    base_score: float
    queries: IntArray | None
    watches: bool
    threads: int


def begin_forests(state: MemberState, forests: Sequence[ForestTask]) -> None:
    """Begin these forests; those that were begun before go on, and all others are forgotten."""
    boosters: dict[str, Any] = state.setdefault("boosters", {})
    for name in [name for name in boosters if name not in {task.name for task in forests}]:
        del boosters[name]
    for task in forests:
        begun = boosters.get(task.name)
        if begun is None:
            boosters[task.name] = _boosting(state, task)
        else:
            begun.share = replace(begun.share, exchange=state["exchange"])


def _boosting(state: MemberState, task: ForestTask) -> Boosting:
    _, data, sizes = state["data"][1]
    return Boosting(
        data,
        task.objective.bind(data, threads=task.threads),
        task.params,
        base_score=task.base_score,
        watched=state["valid"][1] if task.watches else None,
        queries=task.queries,
        share=RowShare.of(data.groups, sizes, state["exchange"]),
        threads=task.threads,
    )


def catch_up(state: MemberState, task: tuple[ForestTask, int, Arrays | None]) -> int:
    """Take over the first `n_trees` trees if their arrays are given; returns how many trees there were before."""
    begun, n_trees, arrays = task
    boosting: Boosting = state["boosters"][begun.name]
    had = boosting.n_taken
    if had == n_trees or arrays is None:
        return had
    state["boosters"][begun.name] = fresh = _boosting(state, begun)
    fresh.take_up(arrays)
    return had


class GrowthReply(NamedTuple):
    """The result of a step: from worker 0 the tree, if one was grown."""

    tree: Arrays | None
    bytes_sent: int


def grow_next_tree(state: MemberState, task: tuple[str, int]) -> GrowthReply:
    """Grow one tree together with the other workers."""
    name, step = task
    boosting: Boosting = state["boosters"][name]
    exchange = state["exchange"]
    before = exchange.bytes_sent
    try:
        grew = boosting.take_step(step)
    except BaseException:
        leave_exchange(state)  # so that nobody waits for this worker
        raise
    tree = forest_to_arrays(boosting.last_tree()) if grew and exchange.rank == 0 else None
    return GrowthReply(tree, exchange.bytes_sent - before)


@dataclass(frozen=True, slots=True, eq=False)
class MeasureTask:
    """A metric to measure: of validation documents by the mean of the first `n_watching` forests, and of the training
    queries that each of the others was not grown on."""

    names: tuple[str, ...]
    metric: Any
    threads: int
    n_watching: int
    unseen: tuple[IntArray, ...] = ()


def measure(state: MemberState, task: MeasureTask) -> Float64Array:
    """The values of the metric for the queries that this worker has."""
    found, forests = [np.empty(0)], [state["boosters"][name] for name in task.names]
    watching: list[Boosting] = forests[: task.n_watching]
    if watching:
        assert watching[0].watched is not None
        found.append(_values(mean_of_watched(watching), watching[0].watched.documents, task))
    for boosting, queries in zip(forests[task.n_watching :], task.unseen, strict=True):
        documents = boosting.data.documents
        own = queries[documents.groups.sizes[queries] > 0]
        scores = boosting.scores[documents.groups.rows_of(own)]
        found.append(_values(scores, documents.take_queries(own), task))
    return np.concatenate(found)


def _values(scores: Float64Array, documents: RankingDataset, task: MeasureTask) -> Float64Array:
    chosen = as_measure(task.metric)
    if documents.labels is None:
        raise InputError(f"the validation data has no labels to watch {chosen.name} with")
    if documents.n_queries == 0:
        return np.empty(0)
    lists = ScoredLists(scores=scores, labels=documents.labels, groups=documents.groups, side=documents.side)
    evaluation = evaluate_lists(lists, [chosen], chosen.convention, threads=task.threads)
    return next(iter(evaluation.results.values())).values
