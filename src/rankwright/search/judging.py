"""Judging on the page: what is to be judged next, and judgments that are written at once to their store."""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from rankwright.arrays import IntArray, text_ids
from rankwright.errors import InputError, require
from rankwright.judgments.agreement import Coefficient, SharedCounts, krippendorff_alpha, rater_pairs
from rankwright.judgments.choosing.judging_plan import plan_comparison
from rankwright.judgments.choosing.training_plan import training_order
from rankwright.judgments.combining.combined_labels import combine
from rankwright.judgments.judgment_store import JudgmentStore
from rankwright.judgments.judgment_table import Judgment
from rankwright.judgments.ratings import ratings_of
from rankwright.metrics.evaluation import ScoredLists
from rankwright.search.measured import MeasuredQueries
from rankwright.search.session import SearchSession

GRADES = {0: "not relevant", 1: "slightly", 2: "fairly", 3: "relevant", 4: "perfect"}
ORDERS = ("pool", "next")
DEPTH = 10
MOST_DEPTH = 100
LONGEST_NAME, LONGEST_COMMENT = 100, 2000
Pair = tuple[str, str]  # the ids of a query and of a document


@dataclass(slots=True, eq=False)
class JudgedPairsOfStore:
    """What a store holds, by query and by rater; read again where somebody else has written to it."""

    path: str
    _store: JudgmentStore | None = None
    _seen: int | None = None  # the store's writes of others, as they were when it was read
    _by_id: dict[str, Judgment] = field(default_factory=dict)
    _by_query: dict[str, dict[str, Judgment]] = field(default_factory=lambda: defaultdict(dict))

    @property
    def store(self) -> JudgmentStore:
        """The store, opened by the process that uses it."""
        if self._store is None:
            self._store = JudgmentStore(self.path)
        return self._store

    def refresh(self) -> None:
        """Read the store again, if it has changed since."""
        seen = self.store.writes_of_others
        if seen != self._seen:
            self._by_id.clear()
            self._by_query.clear()
            for one in self.store.rows():
                self._take(one)
            self._seen = seen

    def _take(self, one: Judgment) -> None:
        if one.grade is not None:
            self._by_id[one.identity] = one
            self._by_query[one.query][one.identity] = one

    def add(self, judgment: Judgment) -> None:
        """Write a judgment; it is on the disk when this returns. One that came before changes nothing."""
        self.refresh()
        known = self._by_id.get(judgment.identity)
        if known is not None and replace(known, time=judgment.time) == judgment:
            return
        self.store.add([judgment])
        self._take(judgment)

    def last_of(self, rater: str) -> Judgment | None:
        """A rater's last judgment; None where there is none."""
        own = [one for one in self._by_id.values() if one.rater == rater and one.time is not None]
        return max(own, key=lambda one: (one.time or 0.0, one.identity), default=None)

    def take_back(self, rater: str, identity: str = "") -> Judgment | None:
        """Take a judgment of a rater back, and give it; None where there is none.

        Without an identity it is the last one. With it, to ask again does no harm: no other goes in its place.
        """
        self.refresh()
        last = self._by_id.get(identity) if identity else self.last_of(rater)
        if last is None or last.rater != rater:
            return None
        self.store.remove([last.identity])
        del self._by_id[last.identity], self._by_query[last.query][last.identity]
        return last

    def all(self) -> list[Judgment]:
        """All grades."""
        self.refresh()
        return list(self._by_id.values())

    def of_query(self, query: str) -> dict[str, dict[str, Judgment]]:
        """The latest grade of each document by each rater: document, rater, judgment."""
        found: dict[str, dict[str, Judgment]] = defaultdict(dict)
        for one in sorted(self._by_query.get(query, {}).values(), key=lambda one: (one.time or 0.0, one.identity)):
            found[one.document][one.rater] = one
        return found

    def labels_of(self, query: str) -> dict[str, float]:
        """The mean of the raters' grades of each document of a query."""
        return {
            document: float(np.mean([one.value for one in by_rater.values()]))
            for document, by_rater in self.of_query(query).items()
        }

    def by_rater(self, rater: str) -> dict[Pair, Judgment]:
        """What a rater judged, the latest judgment of each."""
        own = sorted((one for one in self._by_id.values() if one.rater == rater), key=lambda one: one.time or 0.0)
        return {(one.query, one.document): one for one in own}

    def counts(self) -> dict[str, int]:
        """How many documents each rater has judged."""
        found: dict[str, set[Pair]] = defaultdict(set)
        for one in self._by_id.values():
            found[one.rater].add((one.query, one.document))
        return {rater: len(pairs) for rater, pairs in sorted(found.items())}


def check_store(path: str) -> None:
    """Raise unless judgments can be written to a store; it is made where there is none."""
    folder = Path(path).parent
    require(folder.is_dir(), f"{path}: there is no folder {folder} to keep judgments in")
    with JudgmentStore(path) as store:
        store.remove([])  # a write that changes nothing: whoever may only read is told before anybody judges
        deque(store.rows(), maxlen=0)  # so is whoever has a damaged file


@dataclass(frozen=True, slots=True)
class RaterAgreement:
    """How far raters agree: Krippendorff's α of all, and Cohen's κ of each two."""

    alpha: Coefficient
    pairs: Sequence[tuple[str, str, Coefficient]]


def agreement_of(judged: JudgedPairsOfStore) -> RaterAgreement | None:
    """How far the raters of a store agree; None where no document was judged by two."""
    if len(judged.counts()) < 2:
        return None
    table = judged.store.judgments()
    ratings = ratings_of(table)
    shared = SharedCounts.of(ratings)
    if not len(shared.counts):
        return None
    names = text_ids(table.rater_ids).tolist()
    found, _ = rater_pairs(ratings)
    pairs = [(names[one.first], names[one.second], one.weighted) for one in found]
    return RaterAgreement(krippendorff_alpha(shared), pairs)


@dataclass(frozen=True, slots=True)
class JudgingTask:
    """What somebody judges: who, in which order, how deep, and whether they are told which ranker showed it."""

    rater: str
    order: str = ORDERS[0]
    depth: int = DEPTH
    is_blind: bool = True
    query: str = ""  # the only query, by its text, where it is not the whole list

    def __post_init__(self) -> None:
        named = 0 < len(self.rater) <= LONGEST_NAME and self.rater.isprintable() and self.rater == self.rater.strip()
        require(named, f"a judge's name must have 1 to {LONGEST_NAME} letters, got {self.rater!r}")
        require(self.order in ORDERS, f"the order must be {' or '.join(ORDERS)}, got {self.order!r}")
        require(1 <= self.depth <= MOST_DEPTH, f"the depth must lie between 1 and {MOST_DEPTH}, got {self.depth}")

    def context(self, rankers: Sequence[str]) -> str:
        """The list that judgments are of, as the store keeps it."""
        seen = "blind" if self.is_blind else "open"
        what = f"the first {self.depth}" if self.order == "pool" else "judgments next"
        return f"{what} of {' and '.join(rankers)}, {seen}"


@dataclass(frozen=True, slots=True)
class ToJudge:
    """A document to judge, and the rank that each ranker gives it, from 1."""

    query: str  # its id
    text: str
    document: str
    ranks: Mapping[str, int]


class JudgingQueue:
    """The documents to judge, in the order of a task."""

    def __init__(self, session: SearchSession, measured: MeasuredQueries | None, rankers: Sequence[str]) -> None:
        self._session, self._measured, self.rankers = session, measured, tuple(rankers)
        self._planned: dict[str, list[Pair]] = {}
        self._pools: dict[tuple[str, int, bool], list[ToJudge]] = {}

    def items(self, task: JudgingTask, judged: JudgedPairsOfStore) -> Iterator[ToJudge]:
        """All of them; only as many queries are searched for as are asked for."""
        if task.query:
            name = self.id_of(task.query)
            yield from self.pool(name, task.query, task)
        elif task.order == "pool":
            for name, text in self._queries():
                yield from self.pool(name, text, task)
        else:
            text_of = dict(self._queries())
            for name, document in self._plan(judged):
                yield self._item(name, text_of[name], document)

    def id_of(self, text: str) -> str:
        """The id of a query by its text; one that is not in the list is its own id, on one line as files want it."""
        return next((name for name, own in self._queries() if own == text), " ".join(text.split()))

    def text_of(self, name: str) -> str | None:
        """The text of a query of the list by its id."""
        return next((text for own, text in self._queries() if own == name), None)

    def n_queries(self) -> int:
        """How many queries the list has."""
        return len(self._queries())

    def _queries(self) -> list[tuple[str, str]]:
        if self._measured is None:
            return []
        own = self._measured.queries
        return list(zip(own.ids, own.texts, strict=True))

    def pool(self, name: str, text: str, task: JudgingTask) -> list[ToJudge]:
        """What any of the rankers has among the first of a query: shuffled where one judges blindly, else by rank."""
        key = (name, task.depth, task.is_blind)
        if key not in self._pools:
            answer = self._session.search(text)
            ranks = {ranker: answer.lists[ranker].ranks for ranker in self.rankers}
            places = sorted(
                {int(place) for ranker in self.rankers for place in answer.lists[ranker].order[: task.depth]},
                key=lambda place: (min(int(own[place]) for own in ranks.values()), place),
            )
            ids = self._session.index.ids(answer.ordinals[places])
            found = [
                ToJudge(name, text, document, {ranker: int(own[place]) + 1 for ranker, own in ranks.items()})
                for place, document in zip(places, ids, strict=True)
            ]
            self._pools[key] = sorted(found, key=_shuffled) if task.is_blind else found
        return self._pools[key]

    def item(self, name: str, text: str, document: str) -> ToJudge:
        """A certain document of a query."""
        return self._item(name, text, document)

    def _item(self, name: str, text: str, document: str) -> ToJudge:
        answer = self._session.search(text)
        try:
            place = self._session.place_of(answer, document)
        except InputError:
            return ToJudge(name, text, document, {})
        return ToJudge(
            name, text, document, {ranker: int(answer.lists[ranker].ranks[place]) + 1 for ranker in self.rankers}
        )

    def _plan(self, judged: JudgedPairsOfStore) -> list[Pair]:
        """What `judgments next` proposes, in its order, once all queries are ranked."""
        measured = self._measured
        if measured is None or not measured.is_complete:
            done = 0 if measured is None else measured.n_ranked
            of = (
                "there is no list of queries: start with --queries"
                if measured is None
                else (f"this order needs all queries ranked: {done:,} of {len(measured.queries):,} are so far")
            )
            raise InputError(of)
        key = "comparison" if len(self.rankers) > 1 else "training"
        if key not in self._planned:
            lists = [measured.scored_lists(ranker) for ranker in self.rankers[:2]]
            if key == "comparison":
                plan = plan_comparison(lists[0], lists[1], "dcg@10")
                self._planned[key] = list(zip(plan.query_ids.tolist(), plan.document_ids.tolist(), strict=True))
            else:
                require(bool(judged.all()), "this order follows from what was judged: judge some of the pool first")
                order, _ = training_order(lists[0], combine(judged.store.judgments()))
                self._planned[key] = _pairs_in(lists[0], order)
        return self._planned[key]

    def following(self, task: JudgingTask, judged: JudgedPairsOfStore, after: Pair | None) -> ToJudge | None:
        """The first document that the rater has not judged, behind `after` where that is in the queue."""
        done = judged.by_rater(task.rater)
        first: ToJudge | None = None
        is_behind = after is None
        for one in self.items(task, judged):
            pair = (one.query, one.document)
            if pair == after:
                is_behind = True
            elif pair not in done:
                if is_behind:
                    return one
                first = first or one
        return first  # what was skipped comes again in the end

    def progress(self, task: JudgingTask, judged: JudgedPairsOfStore) -> tuple[int, int | None]:
        """How many of the queue the rater has judged, and how many there are where that is known."""
        done = judged.by_rater(task.rater)
        if task.query:
            items = self.pool(self.id_of(task.query), task.query, task)
            return sum((one.query, one.document) in done for one in items), len(items)
        if task.order == "next":
            planned = self._planned.get("comparison" if len(self.rankers) > 1 else "training", [])
            return sum(pair in done for pair in planned), len(planned)
        return len(done), None


def _pairs_in(lists: ScoredLists, rows: IntArray) -> list[Pair]:
    assert lists.query_ids is not None
    assert lists.document_ids is not None
    queries = text_ids(lists.query_ids)[lists.groups.query_of_row[rows]].tolist()
    return list(zip(queries, text_ids(lists.document_ids)[rows].tolist(), strict=True))


def _shuffled(one: ToJudge) -> bytes:
    """A number that depends on the ids alone, so that the order is the same for every judge and after every start."""
    return hashlib.blake2b(f"{one.query}\x1f{one.document}".encode("utf-8", "surrogatepass"), digest_size=8).digest()


def judgment_of(form: Mapping[str, str], task: JudgingTask, rankers: Sequence[str]) -> Judgment:
    """The judgment that a form of the page says."""
    grade, name = form.get("grade", ""), form.get("key", "")
    require(grade in map(str, GRADES), f"a grade must be one of {', '.join(map(str, GRADES))}, got {grade!r}")
    require(0 < len(name) <= LONGEST_NAME and name.isascii(), "a judgment needs a key of its own")
    comment = form.get("comment", "").strip()
    require(len(comment) <= LONGEST_COMMENT, f"a comment may have {LONGEST_COMMENT:,} letters, got {len(comment):,}")
    return Judgment(
        form.get("query", ""),
        form.get("document", ""),
        task.rater,
        float(grade),
        time=time.time(),
        comment=comment,
        id=f"page-{name}",
        context=task.context(rankers),
    )


def training_commands(
    index: str, queries: str | None, store: str, models: Sequence[str], candidates: int, program: str = "rankwright"
) -> list[str]:
    """The commands that train again from what was judged; `program` is how a shell calls ours."""
    from shlex import quote

    folder = Path(store).parent
    labels, data, model = (str(folder / name) for name in ("judged.csv", "judged.parquet", "judged.rw"))
    asked = quote(queries) if queries else "QUERIES.tsv"
    shown = " ".join(f"--model {quote(one)}" for one in [*models, model])
    return [
        f"{program} judgments combine {quote(store)} --out {quote(labels)}",
        f"{program} features {quote(index)} {asked} --qrels {quote(labels)} --candidates {candidates} "
        f"--out {quote(data)}",
        f"{program} train {quote(data)} --out {quote(model)}",
        f"{program} search {quote(index)} --queries {asked} {shown} --judgments {quote(store)} --page",
    ]
