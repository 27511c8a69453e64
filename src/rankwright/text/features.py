"""Features of queries and documents of an index, as a dataset to train on or to score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray, text_ids, thread_count
from rankwright.cluster.opening import open_engine
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError, require_input
from rankwright.kernels.records import QueryPairs, TokenStream
from rankwright.memory import require_memory
from rankwright.text.click_events import ClickEvents, RowsInLog, click_counts, click_values
from rankwright.text.collections.field_kinds import DATE
from rankwright.text.default_specification import default_specification
from rankwright.text.document_values import link_values, logs_of, number_values, url_values
from rankwright.text.feedback import feedback_terms
from rankwright.text.index.reading import Index, open_index
from rankwright.text.matching import MATCHED, Matcher, MatchPlan, QueryTexts
from rankwright.text.origin import FeatureOrigin, OwnFunction, function_fingerprint
from rankwright.text.specification import ALL_FIELDS, FeatureColumn, FeatureLine, FeatureSpecification

PAIRS_A_TASK = 20_000
VALUES_AT_ONCE = 1 << 26  # of a block
OF_WORDS = (*MATCHED, "feedback")  # sources of features that workers compute
Vectors: TypeAlias = tuple[Float32Array, Float32Array]  # a row for each query, and one for each document of the index


@dataclass(frozen=True, slots=True, eq=False)
class QueryDocuments:
    """Which documents of an index belong to each query: the rows of the dataset to be made.

    Parameters
    ----------
    query_ids, query_texts : sequence of str
        The queries.
    offsets : array of int64, shape (n_queries + 1,)
        Where the documents of each query begin.
    ordinals : array of int64
        The documents, as the index numbers them.
    labels : array of float32, optional
        Their labels; NaN is unjudged.
    times : array of float64, optional
        The time of each query, in seconds since 1970; NaN where it is not known.
    positions : array of int64, optional
        Where a log showed each document; training then corrects the bias of positions.
    """

    query_ids: Sequence[str]
    query_texts: Sequence[str]
    offsets: IntArray
    ordinals: IntArray
    labels: Float32Array | None = None
    times: Float64Array | None = None
    positions: IntArray | None = None

    def __post_init__(self) -> None:
        n = len(self.query_ids)
        require_input(len(self.query_texts) == n, f"there are {len(self.query_texts)} texts for {n} queries")
        require_input(len(self.offsets) == n + 1, f"offsets must have {n + 1} values, got {len(self.offsets)}")
        require_input(
            self.offsets[0] == 0 and self.offsets[-1] == len(self.ordinals), "offsets must cover all documents"
        )

    def take(self, first: int, last: int) -> QueryDocuments:
        """The queries from `first` up to `last` with their documents.

        Parameters
        ----------
        first, last : int
            The number of the first query, and of the one behind the last.

        Returns
        -------
        QueryDocuments
            Their rows.
        """
        own = slice(self.offsets[first], self.offsets[last])
        return QueryDocuments(
            self.query_ids[first:last],
            self.query_texts[first:last],
            self.offsets[first : last + 1] - self.offsets[first],
            self.ordinals[own],
            None if self.labels is None else self.labels[own],
            None if self.times is None else self.times[first:last],
            None if self.positions is None else self.positions[own],
        )

    @property
    def sizes(self) -> IntArray:
        """How many documents each query has."""
        return np.diff(self.offsets)

    @property
    def row_times(self) -> Float64Array:
        """The time of each row; NaN where it is not known."""
        times = np.full(len(self.query_ids), np.nan) if self.times is None else self.times
        return np.repeat(times, self.sizes)


@dataclass(frozen=True, slots=True, eq=False)
class FeatureSources:
    """What features are computed from besides the index.

    Parameters
    ----------
    events : ClickEvents, optional
        A log, for features of clicks.
    vectors : mapping from str to two arrays, optional
        By name, vectors of the queries and of the index's documents in their order, for cosines.
    functions : mapping from str to function, optional
        Functions of your own by name: from a query's text and the stored texts of documents to a number for each.
    """

    events: ClickEvents | None = None
    vectors: Mapping[str, Vectors] = field(default_factory=dict)
    functions: Mapping[str, OwnFunction] = field(default_factory=dict)


def features_of(
    index: Index,
    rows: QueryDocuments,
    specification: FeatureSpecification | None = None,
    sources: FeatureSources | None = None,
    *,
    cluster: str | None = None,
    workers: int | None = None,
    threads: int | None = None,
) -> RankingDataset:
    """Compute the features of queries and documents.

    Parameters
    ----------
    index : Index
        The index of the documents.
    rows : QueryDocuments
        The queries, each with its documents.
    specification : FeatureSpecification, optional
        Which features to compute; by default those that suit the index's fields.
    sources : FeatureSources, optional
        A log of clicks, vectors and functions of your own, where the specification asks for them.
    cluster : str, optional
        Where the work is done, as in `open_engine`: "local" for processes of this machine, or a Ray cluster. By default
        in this process.
    workers : int, optional
        How many processes; 1 and more make processes of this machine where no cluster is named.
    threads : int, optional
        How many threads to use in this process.

    Returns
    -------
    RankingDataset
        A row for each query and document, with names of features and ids. It carries how its features were made, and a
        ranker that is trained on it keeps that. The values are the same for any number of threads and workers.
    """
    given = sources or FeatureSources()
    document_ids = index.ids(rows.ordinals)  # an error where the index has no such document
    spec = default_specification(index.fields) if specification is None else specification
    n_rows, columns = len(rows.ordinals), spec.columns
    shape = f"{n_rows:,} rows × {len(columns):,} features"
    require_memory(4 * n_rows * len(columns), f"features: a matrix of {shape}")
    origin = origin_of(index, spec, given.functions)
    out = np.full((n_rows, len(columns)), np.nan, np.float32)
    _fill_matches(index, rows, spec, out, cluster, workers, thread_count(threads))
    _fill_others(index, rows, spec, given, out, thread_count(threads))
    return RankingDataset(
        features=out,
        labels=rows.labels,
        groups=Groups(rows.offsets),
        feature_names=spec.names,
        query_ids=text_ids(np.array(rows.query_ids, object)),
        document_ids=text_ids(np.array(document_ids, object)),
        feature_origin=origin.to_json(),
        positions=rows.positions,
    )


def features_in_blocks(
    index: Index,
    rows: QueryDocuments,
    specification: FeatureSpecification | None = None,
    sources: FeatureSources | None = None,
    *,
    values_at_once: int = VALUES_AT_ONCE,
    **how: Any,
) -> Iterator[RankingDataset]:
    """Compute what `features_of` computes, some queries at a time: for more rows than memory has room for.

    Parameters
    ----------
    index, rows, specification, sources
        As in `features_of`.
    values_at_once : int, default 2 ** 26
        About how many values a block has; they take 4 bytes each.
    **how : object
        The other parameters of `features_of`.

    Yields
    ------
    RankingDataset
        The documents of the next queries.
    """
    given = sources or FeatureSources()
    spec = default_specification(index.fields) if specification is None else specification
    for first, last in _blocks(rows.offsets, values_at_once // max(1, len(spec.columns))):
        vectors = {name: (queries[first:last], documents) for name, (queries, documents) in given.vectors.items()}
        yield features_of(index, rows.take(first, last), spec, replace(given, vectors=vectors), **how)


def origin_of(index: Index, specification: FeatureSpecification, functions: Mapping[str, OwnFunction]) -> FeatureOrigin:
    """How features are made from an index; an error where a function or a field is lacking."""
    names = {one.name for one in index.fields}
    lacking = next((name for name in specification.fields if name not in names), None)
    if lacking is not None:
        raise InputError(f"the specification names the field {lacking!r}; the index has {', '.join(sorted(names))}")
    unknown = next((name for name in specification.functions if name not in functions), None)
    if unknown is not None:
        raise InputError(f"the specification names the function {unknown!r}, which was not given")
    fingerprints = {name: function_fingerprint(functions[name]) for name in specification.functions}
    return FeatureOrigin(specification, tuple(index.fields), index.analyser.to_dict(), fingerprints)


@dataclass(frozen=True, slots=True, eq=False)
class _MatchTask:
    """Some queries with their documents."""

    index: str
    specification: FeatureSpecification
    queries: Sequence[str]
    offsets: IntArray
    ordinals: IntArray
    threads: int


def _fill_matches(
    index: Index,
    rows: QueryDocuments,
    specification: FeatureSpecification,
    out: Float32Array,
    cluster: str | None,
    workers: int | None,
    threads: int,
) -> None:
    """Fill the columns of matches, here or by workers, some queries at a time."""
    if cluster is None and workers is None:
        fill_matches(index, rows.query_texts, rows.offsets, rows.ordinals, specification, out, threads)
        return
    blocks = list(_blocks(rows.offsets, PAIRS_A_TASK))
    places = _places(specification)
    with open_engine(cluster, workers) as engine:
        parts = (rows.take(first, last) for first, last in blocks)
        tasks = (
            _MatchTask(str(index.path), specification, own.query_texts, own.offsets, own.ordinals, engine.threads)
            for own in parts
        )
        for done in engine.run(_run_task, tasks):
            first, last = blocks[done.number]
            out[rows.offsets[first] : rows.offsets[last], places] = done.result


def _blocks(offsets: IntArray, n_rows: int) -> list[tuple[int, int]]:
    """Queries cut into blocks of about `n_rows` rows: the first of each, and the one behind its last."""
    blocks, first, n_queries = [], 0, len(offsets) - 1
    while first < n_queries:
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + n_rows, side="right")) - 1)
        blocks.append((first, last))
        first = last
    return blocks


def _run_task(shared: Any, task: _MatchTask, report: Any) -> Float32Array:  # noqa: ARG001
    index = open_index(task.index)
    out = np.empty((len(task.ordinals), len(task.specification.columns)), np.float32)
    fill_matches(index, task.queries, task.offsets, task.ordinals, task.specification, out, task.threads)
    return np.ascontiguousarray(out[:, _places(task.specification)])


def _places(specification: FeatureSpecification) -> list[int]:
    """The columns that `fill_matches` fills."""
    return [place for place, column in enumerate(specification.columns) if column.source in OF_WORDS]


def fill_matches(
    index: Index,
    queries: Sequence[str],
    offsets: IntArray,
    ordinals: IntArray,
    specification: FeatureSpecification,
    out: Float32Array,
    threads: int,
) -> None:
    """Fill the columns that look at the words of queries and documents."""
    plan = MatchPlan.of(specification, index.text_fields)
    if len(plan.places):
        index.require_analyser()
        _fill_plan(index, plan, [index.analyser.terms(text) for text in queries], offsets, ordinals, out, threads)
    for place, column in enumerate(specification.columns):
        if column.source == "feedback":
            n_documents, n_terms = int(column.number("documents")), int(column.number("terms"))
            terms = feedback_terms(index, queries, n_documents, n_terms, threads)
            plan = _feedback_plan(index, column, place)
            _fill_plan(index, plan, terms, offsets, ordinals, out, threads)


def _feedback_plan(index: Index, column: FeatureColumn, place: int) -> MatchPlan:
    """The plan of BM25 of all fields, for terms that take the query's place."""
    settings = {name: column.number(name) for name in ("k1", "b")}
    line = FeatureLine("bm25", (ALL_FIELDS,), settings=settings, log=column.log)
    return replace(MatchPlan.of(FeatureSpecification([line]), index.text_fields), places=np.array([place], np.int64))


def _fill_plan(
    index: Index,
    plan: MatchPlan,
    queries: Sequence[Sequence[str]],
    offsets: IntArray,
    ordinals: IntArray,
    out: Float32Array,
    threads: int,
) -> None:
    """Fill the columns of a plan for queries with these terms, segment by segment."""
    matcher = Matcher(plan, index, QueryTexts.of(queries))
    for segment in index.segments:
        inside = (ordinals >= segment.first) & (ordinals < segment.first + segment.n_documents)
        streams = [TokenStream(*segment.stream(name)) for name in plan.fields]
        starts = np.concatenate([[0], np.cumsum(inside)])[offsets]
        pairs = QueryPairs(starts, ordinals[inside] - segment.first)
        if inside.all():
            matcher.fill(streams, segment.numbers_of, pairs, out, threads)
        elif inside.any():
            part = np.ascontiguousarray(out[inside])
            matcher.fill(streams, segment.numbers_of, pairs, part, threads)
            out[inside] = part


def _fill_others(
    index: Index,
    rows: QueryDocuments,
    specification: FeatureSpecification,
    sources: FeatureSources,
    out: Float32Array,
    threads: int,
) -> None:
    """Fill the columns that look at something else than words."""
    values = _OtherValues(index, rows, sources, threads)
    for place, column in enumerate(specification.columns):
        if column.source not in OF_WORDS:
            out[:, place] = written(column, values.of(column))


def written(column: FeatureColumn, values: Float64Array) -> Float32Array:
    """Values as a column of features: logs where it says so, and missing where a value is too large for float32."""
    with np.errstate(over="ignore"):
        stored = (logs_of(values) if column.log else values).astype(np.float32)
    stored[np.isinf(stored)] = np.nan
    return stored


class _OtherValues:
    """Columns of values that come from addresses, links, numbers, clicks, vectors and functions."""

    def __init__(self, index: Index, rows: QueryDocuments, sources: FeatureSources, threads: int) -> None:
        self._index, self._rows, self._sources, self._threads = index, rows, sources, threads
        self._stored: list[dict[str, str]] | None = None
        self._counts: dict[str, Any] = {}
        self._kinds = {one.name: one.kind for one in index.fields}

    def of(self, column: FeatureColumn) -> Float64Array:
        """The column's value in each row."""
        by_source = {"url": self._urls, "links": self._links, "number": self._numbers, "clicks": self._clicks,
                     "vectors": self._cosines, "function": self._function}  # fmt: skip
        return by_source[column.source](column)

    def _documents(self) -> list[dict[str, str]]:
        if self._stored is None:
            different, place = np.unique(self._rows.ordinals, return_inverse=True)
            stored = self._index.stored(different)
            self._stored = [stored[k] for k in place.tolist()]
        return self._stored

    def _by_query(self, of_query: Any) -> Float64Array:
        """What `of_query(text, documents)` gives, query by query."""
        documents, offsets = self._documents(), self._rows.offsets.tolist()
        parts = [
            of_query(text, documents[begin:end])
            for text, begin, end in zip(self._rows.query_texts, offsets, offsets[1:], strict=False)
            if end > begin
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def _urls(self, column: FeatureColumn) -> Float64Array:
        (name,) = column.fields
        return self._by_query(
            lambda text, documents: url_values(column.family, [one.get(name, "") for one in documents], text)
        )

    def _links(self, column: FeatureColumn) -> Float64Array:
        damping = column.number("damping") if column.family == "page_rank" else 0.0

        def of_all() -> Float64Array:
            offsets, targets = self._index.kept("links", self._index.links)
            return link_values(column.family, offsets, targets, damping, self._threads)

        return self._index.kept((column.family, damping), of_all)[self._rows.ordinals]

    def _numbers(self, column: FeatureColumn) -> Float64Array:
        (name,) = column.fields
        values = self._index.numbers(name)[self._rows.ordinals]
        return number_values(column.family, values, self._rows.row_times, is_date=self._kinds[name] == DATE)

    def _clicks(self, column: FeatureColumn) -> Float64Array:
        if self._sources.events is None:
            raise InputError(f"{column.name!r} needs a log of clicks with times")
        queries = column.text("queries")
        if queries not in self._counts:
            rows = self._rows
            ids, texts = (np.repeat(np.array(own, object), rows.sizes) for own in (rows.query_ids, rows.query_texts))
            own = RowsInLog(ids.tolist(), texts.tolist(), self._index.ids(rows.ordinals), rows.row_times)
            self._counts[queries] = click_counts(self._sources.events, own, queries)
        prior = column.number("prior") if column.family == "click_rate" else 0.0
        return click_values(column.family, self._counts[queries], prior)

    def _cosines(self, column: FeatureColumn) -> Float64Array:
        name = column.text("vectors")
        if name not in self._sources.vectors:
            raise InputError(f"{column.name!r} needs the vectors {name!r}, which were not given")
        queries, documents = self._sources.vectors[name]
        n_queries, n_documents = len(self._rows.query_ids), self._index.n_documents
        if len(queries) != n_queries or len(documents) != n_documents or queries.shape[1:] != documents.shape[1:]:
            found = f"{queries.shape} for {n_queries} queries and {documents.shape} for {n_documents} documents"
            raise InputError(f"the vectors {name!r} must be a row of equal length for each, got {found}")
        query_of_row = np.repeat(np.arange(n_queries), self._rows.sizes)
        return cosines(queries, documents, query_of_row, self._rows.ordinals)

    def _function(self, column: FeatureColumn) -> Float64Array:
        function = self._sources.functions[column.text("function")]
        return self._by_query(lambda text, documents: own_values(column, function, text, documents))


def own_values(
    column: FeatureColumn, function: OwnFunction, query: str, documents: Sequence[Mapping[str, str]]
) -> Float64Array:
    """What a user's function gives for a query's documents, which is checked."""
    found = np.asarray(function(query, documents), np.float64)
    if found.shape != (len(documents),):
        raise InputError(f"{column.name!r} must give {len(documents)} numbers for as many documents, got {found.shape}")
    return found


def cosines(queries: Float32Array, documents: Float32Array, query: IntArray, document: IntArray) -> Float64Array:
    """The cosine of each pair of rows; NaN where one is 0."""
    result = np.empty(len(query))
    for begin in range(0, len(query), PAIRS_A_TASK):
        part = slice(begin, begin + PAIRS_A_TASK)
        one, other = queries[query[part]].astype(np.float64), documents[document[part]].astype(np.float64)
        product, size = (one * other).sum(axis=1), np.sqrt((one * one).sum(axis=1) * (other * other).sum(axis=1))
        result[part] = np.divide(product, size, out=np.full(len(size), np.nan), where=size > 0)
    return result
