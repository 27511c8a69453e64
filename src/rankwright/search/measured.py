"""Queries with their metric under each ranker: ranked one by one beside other work, counted anew when judged."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.data.groups import Groups
from rankwright.metrics.convention import as_convention
from rankwright.metrics.evaluation import ScoredLists, evaluate_lists
from rankwright.search.session import SearchSession
from rankwright.text.collections.queries import Queries

METRIC, CONVENTION = "ndcg@10", "trec"
QUIET_SECONDS = 0.3  # after a request, before the next query is ranked: who types is not to wait

Labels = Mapping[str, float]  # by document


@dataclass(frozen=True, slots=True, eq=False)
class KeptList:
    """What a ranker made of a query: documents best first, and their scores."""

    ordinals: IntArray
    scores: Float64Array


@dataclass(frozen=True, slots=True)
class MeasuredQuery:
    """A query of the list; a value is None where nothing of the query was judged, or it has not been ranked yet."""

    id: str
    text: str
    values: Mapping[str, float | None]

    def difference(self, first: str, second: str) -> float | None:
        """The second ranker's value less the first one's."""
        one, other = self.values.get(first), self.values.get(second)
        return None if one is None or other is None else other - one


@dataclass(slots=True, eq=False)
class MeasuredQueries:
    """The queries of a list.

    `labels_of` gives what was judged of a query, by document; `is_quiet` says whether nobody waits for an answer.
    """

    session: SearchSession
    queries: Queries
    labels_of: Callable[[str], Labels]
    metric: str = METRIC
    convention: str = CONVENTION
    is_quiet: Callable[[], bool] = lambda: True
    _lists: dict[str, dict[str, KeptList]] = field(default_factory=dict)  # by query and ranker
    _values: dict[tuple[str, str], tuple[tuple[tuple[str, float], ...], float | None]] = field(default_factory=dict)
    _stopped: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Begin to rank the queries, in a thread of its own."""
        threading.Thread(target=self._rank_all, name="queries", daemon=True).start()

    def stop(self) -> None:
        """End that."""
        self._stopped.set()

    @property
    def n_ranked(self) -> int:
        """How many queries were ranked so far."""
        return len(self._lists)

    @property
    def is_complete(self) -> bool:
        """Whether all were."""
        return self.n_ranked == len(self.queries)

    def _rank_all(self) -> None:
        for name, text in zip(self.queries.ids, self.queries.texts, strict=True):
            while not self.is_quiet() and not self._stopped.wait(QUIET_SECONDS):
                pass
            if self._stopped.is_set():
                return
            self.rank(name, text)
            time.sleep(0)  # lets whoever asked meanwhile go first

    def rank(self, name: str, text: str) -> None:
        """Rank one query."""
        answer = self.session.asked(text)
        self._lists[name] = {
            ranker: KeptList(answer.ordinals[found.order], found.scores[found.order])
            for ranker, found in answer.lists.items()
        }

    def rows(self) -> list[MeasuredQuery]:
        """All queries, in the order of the list."""
        return [
            MeasuredQuery(name, text, {ranker: self._value(name, ranker) for ranker in self.session.rankers})
            for name, text in zip(self.queries.ids, self.queries.texts, strict=True)
        ]

    def _value(self, query: str, ranker: str) -> float | None:
        kept, labels = self._lists.get(query), self.labels_of(query)
        if kept is None or not labels:
            return None
        seen = tuple(sorted(labels.items()))
        known = self._values.get((query, ranker))
        if known is None or known[0] != seen:
            known = self._values[query, ranker] = seen, self._measured(kept[ranker], labels)
        return known[1]

    def _measured(self, kept: KeptList, labels: Labels) -> float | None:
        lists = _labelled(self.session, kept, labels)
        found = evaluate_lists(lists, [self.metric], as_convention(self.convention), threads=1, resamples=1)
        (result,) = found.results.values()
        value = float(result.values[0])
        return None if np.isnan(value) else value

    def scored_lists(self, ranker: str) -> ScoredLists:
        """A ranker's lists of all queries that were ranked, without labels."""
        names = [name for name in self.queries.ids if name in self._lists and len(self._lists[name][ranker].scores)]
        kept = [self._lists[name][ranker] for name in names]
        texts = np.dtypes.StringDType()
        n_rows = sum(len(one.scores) for one in kept)
        ids = [one for own in kept for one in self.session.index.ids(own.ordinals)]
        return ScoredLists(
            scores=_joined([one.scores for one in kept]),
            labels=np.full(n_rows, np.nan, np.float32),
            groups=Groups.of_sizes([len(one.scores) for one in kept]),
            document_ids=np.array(ids, texts),
            query_ids=np.array(names, texts),
        )


def _joined(parts: Sequence[Float64Array]) -> Float64Array:
    return np.concatenate(parts) if parts else np.zeros(0)


def _labelled(session: SearchSession, kept: KeptList, labels: Labels) -> ScoredLists:
    """A list with its labels, and behind it what was judged and not found; as a run is measured against qrels."""
    ordinals = session.index.ordinals(list(labels))
    values = np.array(list(labels.values()), np.float32)
    of_row: Float32Array = np.full(len(kept.ordinals), np.nan, np.float32)
    place_of = {ordinal: place for place, ordinal in enumerate(kept.ordinals.tolist())}
    places = [place_of.get(ordinal, -1) if ordinal >= 0 else -1 for ordinal in ordinals.tolist()]
    missing, lacking = [], []
    for document, place, value in zip(labels, places, values.tolist(), strict=True):
        if place >= 0:
            of_row[place] = value
        else:
            missing.append(value)
            lacking.append(document)
    n_found = len(kept.ordinals)
    return ScoredLists(
        scores=np.concatenate([kept.scores, np.zeros(len(missing))]),
        labels=np.concatenate([of_row, np.array(missing, np.float32)]),
        groups=Groups.of_sizes([n_found + len(missing)]),
        n_ranked=np.array([n_found], np.int64),
        document_ids=np.array([*session.index.ids(kept.ordinals), *lacking], np.dtypes.StringDType()),
    )
