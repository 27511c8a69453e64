"""Features that search engines logged beside their documents, joined with judgments into training data.

    elasticsearch, opensearch   hits.hits[].fields._ltrlog[].<log>[] = {"name": "title_bm25", "value": 12.3}
    solr                        response.docs[]["[features]"] = "title_bm25=12.3,in_stock=1.0"
    vespa                       root.children[].fields.matchfeatures = {"bm25(title)": 12.3}

Vespa's summaryfeatures and rankfeatures are read, too. A file holds responses as the engines gave them: one JSON
document, a list of them, or one a line. Which query a response answers stands beside it: {"query": "q1", "response":
{…}}, or next to the response's own members. Of Solr the echoed parameters tell it, too. Otherwise responses are in the
order of the queries that are given.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypeAlias

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.errors import FileFormatError, Message, Parameter, UnknownNameError, folded_name, require
from rankwright.formats.blocks import errors_name_file
from rankwright.formats.file_formats import FORMATS, suffix_of
from rankwright.formats.lines import bounded_lines
from rankwright.formats.reading import read
from rankwright.formats.storage.streams import Paths, input_name, input_names, list_of_paths, open_input
from rankwright.text.collections.field_kinds import number_of
from rankwright.text.collections.judged import JudgedPairs
from rankwright.text.collections.queries import Queries
from rankwright.text.joining import DROP, JoinedData, join_judgments

TABLE = "table"
QUERY_NAMES = ("query", "qid", "queryid", "topic")
RESPONSE_NAMES = ("response", "result", "results", "body")
LARGEST_FILE = 256 << 20  # bytes of a file that is one JSON document
ABSENT = {"zero": 0.0, "missing": np.nan}
CACHED = "vespa.summaryFeatures.cached"  # Vespa's own note among the features

# The document's id and its features, as the engine wrote them.
Hit: TypeAlias = tuple[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class EngineLog:
    """How one engine writes responses: whether a document is one, its hits, and the query that it echoes."""

    is_response: Callable[[Mapping[str, Any]], bool]
    hits: Callable[[Mapping[str, Any], str | None], Iterator[Hit]]
    echoed: Callable[[Mapping[str, Any]], str] = lambda response: ""  # noqa: ARG005


def _elastic_hits(response: Mapping[str, Any], document: str | None) -> Iterator[Hit]:
    for hit in _list(_at(response, "hits", "hits")):
        sources = [_at(hit, "_source"), _at(hit, "fields"), hit]
        name = _first_text(hit, "_id") if document is None else _first_text(_merged(sources), document)
        features: dict[str, Any] = {}
        for log in _list(_at(hit, "fields", "_ltrlog")):
            for entry in chain.from_iterable(map(_list, _mapping(log).values())):
                features[str(_at(entry, "name"))] = _at(entry, "value")
        yield name, features


def _solr_hits(response: Mapping[str, Any], document: str | None) -> Iterator[Hit]:
    for found in _list(_at(response, "response", "docs")):
        logged = _at(found, "[features]") or _at(found, "features") or ""
        text = logged if isinstance(logged, str) else ""
        between, equals = (",", "=") if "=" in text else (";", ":")
        parts = (part.rpartition(equals) for part in text.split(between) if equals in part)
        yield _first_text(found, document or "id"), {name.strip(): value for name, _, value in parts}


def _vespa_hits(response: Mapping[str, Any], document: str | None) -> Iterator[Hit]:
    for hit in _vespa_leaves(_at(response, "root")):
        fields = _mapping(_at(hit, "fields"))
        name = _first_text(fields, document or "documentid") or (_first_text(hit, "id") if document is None else "")
        kinds = ("rankfeatures", "summaryfeatures", "matchfeatures")
        features = _merged([fields.get(kind) for kind in kinds])
        yield name.partition("::")[2] or name, {key: value for key, value in features.items() if key != CACHED}


def _vespa_leaves(node: Any) -> Iterator[Any]:
    """The hits of a result; groups have children of their own."""
    waiting = [node]
    while waiting:
        children = _list(_at(waiting.pop(), "children"))
        yield from (child for child in children if _at(child, "fields", "matchfeatures") or _has_features(child))
        waiting += [child for child in children if _list(_at(child, "children"))]


def _has_features(hit: Any) -> bool:
    return any(_at(hit, "fields", kind) for kind in ("summaryfeatures", "rankfeatures", "documentid"))


def _solr_query(response: Mapping[str, Any]) -> str:
    params = _mapping(_at(response, "responseHeader", "params"))
    return next((_first_text(params, name) for name in ("qid", "query_id", "q") if params.get(name)), "")


ELASTIC = EngineLog(lambda found: "hits" in found and isinstance(found["hits"], dict), _elastic_hits)
ENGINES: Mapping[str, EngineLog] = {
    "elasticsearch": ELASTIC,
    "opensearch": ELASTIC,
    "solr": EngineLog(lambda found: bool(_at(found, "response", "docs") is not None), _solr_hits, _solr_query),
    "vespa": EngineLog(lambda found: isinstance(found.get("root"), dict), _vespa_hits),
}


def join_log(
    source: Paths,
    judged: JudgedPairs,
    *,
    format: str | None = None,
    queries: Queries | None = None,
    document: str | None = None,
    absent: str = "zero",
    unjudged: str = DROP,
) -> JoinedData:
    """Join features that a search engine logged, or any table of features, with judgments.

    Parameters
    ----------
    source : path or sequence of paths
        The engine's responses as JSON or JSON lines, or a table of features with ids of queries and documents: CSV,
        TSV, Parquet or SVMlight.
    judged : JudgedPairs
        The judgments.
    format : {"elasticsearch", "opensearch", "solr", "vespa", "table"}, optional
        Who wrote the log; by default what it looks like.
    queries : Queries, optional
        The queries: responses that do not tell theirs are in this order, and those that tell its text are found by it.
    document : str, optional
        The field of the documents that has the ids judgments know. By default the engine's own id; of Vespa's what
        follows `::`.
    absent : {"zero", "missing"}, default "zero"
        What a feature is that a document was not given: engines leave out features whose query did not match.
    unjudged : {"drop", "zero", "keep"}, default "drop"
        What becomes of a document without a judgment.

    Returns
    -------
    JoinedData
        The training data, and what was missing: judgments, features of documents, single features.

    Examples
    --------
    >>> import json
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from rankwright.text import JudgedPairs, join_log
    >>> logged = [{"log": [{"name": "title_bm25", "value": 7.5}]}]
    >>> response = {"query": "q1", "hits": {"hits": [{"_id": "d1", "fields": {"_ltrlog": logged}}]}}
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "log.jsonl").write_text(json.dumps(response))
    ...     joined = join_log(Path(folder, "log.jsonl"), JudgedPairs(["q1"], ["d1"], [3]))
    >>> joined.data.feature_names, joined.data.features.tolist(), joined.data.labels.tolist()
    (('title_bm25',), [[7.5]], [3.0])
    """
    require(absent in ABSENT, f"absent must be 'zero' or 'missing', got {absent!r}")
    if format is not None and format not in (*ENGINES, TABLE):
        raise UnknownNameError("format of a feature log", format, (*ENGINES, TABLE))
    paths = list_of_paths(source)
    if format == TABLE or (format is None and is_table(paths[0])):
        table = read(source)
        with errors_name_file(input_names(paths)):
            return join_judgments(table, judged, unjudged=unjudged)
    logged = read_log_features(paths, format, queries=queries, document=document)
    with errors_name_file(input_names(paths)):
        joined = join_judgments(logged.data, judged, unjudged=unjudged)
    filled = np.where(np.isnan(joined.data.features), np.float32(ABSENT[absent]), joined.data.features)
    return replace(joined, data=replace(joined.data, features=filled), repeated=logged.repeated)


def is_table(path: str) -> bool:
    """Whether a file is a table of features rather than responses of an engine."""
    if any(suffix_of(path) in kind.suffixes for kind in FORMATS.values()):
        return True
    with open_input(path) as file:
        return file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")[:1] not in (b"{", b"[")


@dataclass(slots=True, eq=False)
class LoggedFeatures:
    """The documents of a log: features are NaN where they are absent."""

    data: RankingDataset
    repeated: int


def read_log_features(
    paths: Sequence[str], format: str | None, *, queries: Queries | None, document: str | None
) -> LoggedFeatures:
    """The documents that responses of an engine hold, with the features that were logged."""
    gathered = _GatheredHits(input_names(paths))
    asked = _Asked(queries)
    for path, place, found in _responses(paths, format):
        engine = ENGINES[format or _engine_of(found.body, path, place)]
        query = asked.query_of(found, engine.echoed(found.body), path, place)
        for name, features in engine.hits(found.body, document):
            gathered.add(query, name, features)
    return gathered.logged()


@dataclass(frozen=True, slots=True)
class _Response:
    """A response of an engine, and the query that stands beside it, "" where none does."""

    body: Mapping[str, Any]
    query: str


def _responses(paths: Sequence[str], format: str | None) -> Iterator[tuple[str, int, _Response]]:
    """Each response with its file and its number there."""
    for path in paths:
        number = 0
        for document in _json_documents(path):
            for found in _unpacked(document, format):
                number += 1
                if not isinstance(found, dict):
                    raise FileFormatError(input_name(path), f"response {number} is no JSON object")
                yield path, number, _with_query(found, format)


def _json_documents(path: str) -> Iterator[Any]:
    """The documents of a file: one a line, or the whole file as one."""
    with open_input(path) as file:
        first = next(bounded_lines(file.readline, input_name(path)), b"")
        begun = _parsed(first)
        if isinstance(begun, dict):
            yield begun
            for number, line in enumerate(bounded_lines(file.readline, input_name(path)), start=2):
                if line.strip():
                    found = _parsed(line)
                    if found is None:
                        raise FileFormatError(
                            input_name(path), "holds no JSON object; wanted a response a line", number
                        )
                    yield found
            return
        whole = first + file.read(LARGEST_FILE)
    if len(whole) >= LARGEST_FILE:
        problem = f"has more than {LARGEST_FILE >> 20} MiB in one JSON document; wanted a response a line"
        raise FileFormatError(input_name(path), problem)
    found = _parsed(whole)
    if found is None:
        raise FileFormatError(input_name(path), "is no JSON; wanted responses of a search engine")
    yield found


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _unpacked(document: Any, format: str | None) -> Iterator[Any]:
    """Single responses: of a list, or of a multi-search of Elasticsearch and OpenSearch."""
    if isinstance(document, list):
        for one in document:
            yield from _unpacked(one, format) if isinstance(one, dict) else [one]
    elif isinstance(document, dict) and isinstance(document.get("responses"), list):
        yield from document["responses"]
    else:
        yield document


def _with_query(found: dict[str, Any], format: str | None) -> _Response:
    by_name = {folded_name(name): value for name, value in reversed(found.items())}
    query = next((_text(by_name[name]) for name in QUERY_NAMES if _text(by_name.get(name))), "")
    engines = list(ENGINES.values()) if format is None else [ENGINES[format]]
    wrapped = (by_name.get(name) for name in RESPONSE_NAMES)
    bodies = [found, *(one for one in wrapped if isinstance(one, dict))]
    body = next((one for one in bodies if any(engine.is_response(one) for engine in engines)), found)
    return _Response(body, query)


def _engine_of(body: Mapping[str, Any], path: str, place: int) -> str:
    name = next((name for name, engine in ENGINES.items() if engine.is_response(body)), None)
    if name is None:
        wanted = f"wanted one of {', '.join(ENGINES)}"
        raise FileFormatError(input_name(path), f"response {place} is of no engine that is known; {wanted}")
    return name


class _Asked:
    """Which query a response answers: as stands beside it, as it echoes, or by the order of the queries."""

    def __init__(self, queries: Queries | None) -> None:
        self._ids = [] if queries is None else queries.ids
        self._known = set(self._ids)
        texts = [] if queries is None else queries.texts
        self._id_of_text = {text.casefold(): name for name, text in zip(self._ids, texts, strict=True)}
        self._n_unnamed = 0

    def query_of(self, found: _Response, echoed: str, path: str, place: int) -> str:
        named = found.query or echoed
        if named:
            return named if named in self._known else self._id_of_text.get(named.casefold(), named)
        self._n_unnamed += 1
        if self._n_unnamed > len(self._ids):
            how = 'wanted {"query": "ID", "response": {…}}, or queries in the order of the responses: '
            problem = Message(f"response {place} does not tell its query; {how}", Parameter("queries"))
            raise FileFormatError(input_name(path), problem)
        return self._ids[self._n_unnamed - 1]


@dataclass(slots=True, eq=False)
class _GatheredHits:
    """Documents gathered one by one; features are numbered as they appear."""

    file: str
    pairs: dict[tuple[str, str], None] = field(default_factory=dict)
    rows: list[tuple[list[int], list[float]]] = field(default_factory=list)
    numbers: dict[str, int] = field(default_factory=dict)
    n_hits: int = 0

    def add(self, query: str, document: str, features: Mapping[str, Any]) -> None:
        self.n_hits += 1
        if not document or (query, document) in self.pairs:
            return
        values = {name: number_of(value) for name, value in features.items()}
        known = {name: value for name, value in values.items() if value is not None}
        for name in values:
            self.numbers.setdefault(name, len(self.numbers))
        self.pairs[query, document] = None
        self.rows.append(([self.numbers[name] for name in known], list(known.values())))

    def logged(self) -> LoggedFeatures:
        if not self.pairs or not self.numbers:
            what = "document with features" if not self.numbers else "document with an id"
            raise FileFormatError(self.file, f"no {what} is in the responses; {self.n_hits} hits were looked at")
        matrix = np.full((len(self.pairs), len(self.numbers)), np.nan, np.float32)
        with np.errstate(over="ignore"):
            for row, (columns, values) in enumerate(self.rows):
                matrix[row, columns] = values
        if np.isinf(matrix).any():
            raise FileFormatError(self.file, "a feature is beyond the range of 32-bit numbers")
        queries, documents = zip(*self.pairs, strict=True)
        names = list(self.numbers)
        data = RankingDataset.from_arrays(matrix, qid=queries, document_ids=documents, feature_names=names)
        return LoggedFeatures(data, self.n_hits - len(self.pairs))


# --- JSON of strangers ---


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _at(value: Any, *names: str) -> Any:
    """What stands below these names, None where one is not there."""
    for name in names:
        value = _mapping(value).get(name)
    return value


def _merged(parts: Sequence[Any]) -> dict[str, Any]:
    return {name: value for part in parts for name, value in _mapping(part).items()}


def _text(value: Any) -> str:
    return str(value).strip() if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


def _first_text(values: Mapping[str, Any], name: str) -> str:
    """The text of a field, or of the first item where it is a list, as engines return fields."""
    value = _mapping(values).get(name)
    return _text(value[0]) if isinstance(value, list) and value else _text(value)
