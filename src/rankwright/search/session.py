"""A search: an index and rankers that are open, asked query by query. It knows nothing of terminals and pages."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from rankwright.arrays import Float64Array, IntArray, thread_count, whole_number
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError, UnknownNameError
from rankwright.explanations.counterfactuals import Observed
from rankwright.explanations.explanation import Explanation, PairExplanation
from rankwright.rankers.explaining import explained, explained_pair, nearest
from rankwright.search.rankers import SearchRanker, shared_features
from rankwright.search.snippets import ShownDocument, Snippets
from rankwright.text.candidates import Where, top_documents
from rankwright.text.features import FeatureSources, QueryDocuments, features_of
from rankwright.text.index.reading import Index

CANDIDATES = 1000
KEPT = 64  # answers that are kept: explanations and sliders ask for the last ones again


@dataclass(frozen=True, slots=True, eq=False)
class RankedList:
    """What one ranker makes of the candidates of a query.

    `scores` are those of the candidates, in their order; `order` are places among them, best first.
    """

    ranker: str
    scores: Float64Array
    order: IntArray

    @classmethod
    def of(cls, ranker: str, scores: Float64Array) -> RankedList:
        """The list by score; of equal scores, the better candidate is first."""
        return cls(ranker, scores, np.argsort(-scores, kind="stable"))

    @property
    def ranks(self) -> IntArray:
        """The rank of each candidate, from 0."""
        ranks = np.empty(len(self.order), np.int64)
        ranks[self.order] = np.arange(len(self.order))
        return ranks


@dataclass(slots=True, eq=False)
class SearchAnswer:
    """A query's candidates, as each ranker orders them."""

    query: str
    ordinals: IntArray  # of the candidates, by BM25
    lists: dict[str, RankedList]
    features: dict[str, RankingDataset]  # by ranker; a row for each candidate
    snippets: Snippets
    shown: dict[int, ShownDocument] = field(default_factory=dict)  # by place

    def __len__(self) -> int:
        return len(self.ordinals)


class SearchSession:
    """An index with rankers.

    Parameters
    ----------
    index : Index
        The documents.
    rankers : sequence of SearchRanker
        One or more, with different names.
    candidates : int, default 1000
        How many documents each query gets from BM25 at most; the rankers order these.
    threads : int, optional
        How many threads to use; every core by default.
    """

    def __init__(
        self,
        index: Index,
        rankers: Sequence[SearchRanker],
        *,
        candidates: int = CANDIDATES,
        threads: int | None = None,
    ) -> None:
        self.index, self.rankers = index, {one.name: one for one in rankers}
        self.candidates = whole_number(candidates, "candidates", least=1)
        self.threads = thread_count(threads)
        self._shared = shared_features(rankers)
        self._kept: OrderedDict[tuple[str, str], SearchAnswer] = OrderedDict()

    def ranker(self, name: str) -> SearchRanker:
        """The ranker of that name."""
        if name not in self.rankers:
            raise UnknownNameError("ranker", name, self.rankers)
        return self.rankers[name]

    def search(self, query: str, where: Where | None = None) -> SearchAnswer:
        """The query's candidates, ordered by each ranker; the last answers are kept."""
        key = (query, repr(sorted((where or {}).items())))
        found = self._kept.get(key)
        if found is None:
            found = self._kept[key] = self.asked(query, where)
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return found

    def asked(self, query: str, where: Where | None = None) -> SearchAnswer:
        """The same, computed anew and not kept."""
        found = top_documents(self.index, [query], k=self.candidates, where=where, threads=self.threads)
        features, lists = {}, {}
        for shared in self._shared:
            sources = FeatureSources(functions=shared.functions)
            rows = QueryDocuments([query], [query], found.offsets, found.ordinals)
            data = features_of(self.index, rows, shared.specification, sources, threads=self.threads)
            for name in shared.rankers:
                trained = self.rankers[name].trained
                features[name] = trained.aligned(data)
                scores = trained.scores(features[name], threads=self.threads) if data.n_docs else np.zeros(0)
                lists[name] = RankedList.of(name, scores)
        snippets = Snippets(self.index.analyser, self.index.fields, query)
        in_order = {name: lists[name] for name in self.rankers}
        return SearchAnswer(query, found.ordinals, in_order, features, snippets)

    def documents(self, answer: SearchAnswer, places: Sequence[int]) -> list[ShownDocument]:
        """Candidates as lists show them."""
        new = [place for place in places if place not in answer.shown]
        if new:
            ordinals = answer.ordinals[new]
            stored, ids = self.index.stored(ordinals), self.index.ids(ordinals)
            for place, name, texts in zip(new, ids, stored, strict=True):
                answer.shown[place] = answer.snippets.document(name, texts)
        return [answer.shown[place] for place in places]

    def place_of(self, answer: SearchAnswer, document: str) -> int:
        """The place of a document among the candidates."""
        places = np.flatnonzero(answer.ordinals == self.index.ordinals([document])[0])
        if not len(places):
            raise InputError(f"{document!r} is not among the {len(answer):,} candidates of {answer.query!r}")
        return int(places[0])

    def explanation(self, answer: SearchAnswer, ranker: str, places: Sequence[int]) -> Explanation:
        """What each feature adds to the scores of some candidates; less their mean, it tells what sets them apart."""
        trained, data = self.ranker(ranker).trained, _rows(answer.features[ranker], places)
        found = explained(
            trained, data, None, None, cover=None, background=None, interactions=False, threads=self.threads
        )
        assert isinstance(found, Explanation)
        return found

    def pair(self, answer: SearchAnswer, ranker: str, places: Sequence[int]) -> PairExplanation:
        """Why one of two candidates is above the other, and the smallest change that would swap them."""
        trained, data = self.ranker(ranker).trained, answer.features[ranker]
        names = [str(data.document_ids[place]) for place in places] if data.document_ids is not None else []
        own, observed = data, Observed.of(data.features)
        if not trained.looks_at_queries:  # the other candidates change nothing
            own = _rows(data, places)
        return explained_pair(trained, answer.query, own, names, observed, threads=self.threads)

    def nearest_ids(self, answer: SearchAnswer, document: str) -> str:
        """The ids of candidates that look like that one."""
        return nearest(document, self.index.ids(answer.ordinals))

    def changed(
        self, answer: SearchAnswer, ranker: str, place: int, changes: Mapping[str, float]
    ) -> tuple[RankedList, Float64Array]:
        """The list after changes of a candidate's features, and the scores after it."""
        trained, data = self.ranker(ranker).trained, answer.features[ranker]
        own = data.features[place].copy()
        for name, value in changes.items():
            if name not in data.names:
                raise UnknownNameError("feature", name, data.names)
            own[data.names.index(name)] = value
        scores = answer.lists[ranker].scores.copy()
        if trained.looks_at_queries:
            features = data.features.copy()
            features[place] = own
            scores = trained.scores(replace(data, features=features), threads=self.threads)
        else:
            scores[place] = trained.scores(_one_row(data, own), threads=1)[0]
        return RankedList.of(ranker, scores), scores


def _rows(data: RankingDataset, places: Sequence[int]) -> RankingDataset:
    """Some rows of a query, in that order."""
    rows = np.asarray(places, np.int64)
    ids = None if data.document_ids is None else data.document_ids[rows]
    return RankingDataset(
        features=np.ascontiguousarray(data.features[rows]),
        labels=None,
        groups=Groups.of_sizes([len(rows)]),
        feature_names=data.feature_names,
        query_ids=data.query_ids,
        document_ids=ids,
        categories=data.categories,
    )


def _one_row(data: RankingDataset, features: Float64Array) -> RankingDataset:
    return RankingDataset(
        features=np.asarray(features, np.float32)[None],
        labels=None,
        groups=Groups.of_sizes([1]),
        feature_names=data.feature_names,
        categories=data.categories,
    )
