"""Features logged by search engines, joined with judgments: the same data from each, and what is missing is named."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankwright as rw
from rankwright.text import JudgedPairs, Queries, join_judgments, join_log

# Features by query and document; one document lacks a feature.
LOGGED = {
    "q1": {"d1": {"title": 1.5, "bm25(body)": 2.0}, "d2": {"title": 0.5}},
    "q2": {"d1": {"title": 3.0, "bm25(body)": 0.25}, "d3": {"title": 1.0, "bm25(body)": 4.0}},
}
JUDGED = JudgedPairs(["q1", "q1", "q2", "q2"], ["d1", "d2", "d3", "d9"], np.array([2, 0, 1, 3], np.float32))
QUERIES = Queries(["q1", "q2"], ["red shoes", "blue shoes"])


def elasticsearch(documents):
    hits = [
        {"_id": name, "_source": {"sku": [f"s-{name}"]}, "fields": {"_ltrlog": [{"log": [
            {"name": feature, "value": values[feature]} if feature in values else {"name": feature}
            for feature in ("title", "bm25(body)")]}]}}
        for name, values in documents.items()]  # fmt: skip
    return {"took": 3, "hits": {"total": {"value": 2}, "hits": hits}}


def solr(documents):
    docs = [
        {"id": name, "[features]": ",".join(f"{feature}={value}" for feature, value in values.items())}
        for name, values in documents.items()
    ]
    return {"responseHeader": {"params": {}}, "response": {"numFound": 2, "docs": docs}}


def vespa(documents):
    children = [
        {"id": f"id:shop:product::{name}", "fields": {"documentid": f"id:shop:product::{name}",
         "matchfeatures": values, "summaryfeatures": {"vespa.summaryFeatures.cached": 0.0}}}
        for name, values in documents.items()]  # fmt: skip
    return {"root": {"id": "toplevel", "fields": {"totalCount": 2}, "children": children}}


ENGINES = {"elasticsearch": elasticsearch, "opensearch": elasticsearch, "solr": solr, "vespa": vespa}


def beside(make):
    return "\n".join(json.dumps({"query": query, **make(documents)}) for query, documents in LOGGED.items())


def wrapped(make):
    return json.dumps([{"qid": query, "response": make(documents)} for query, documents in LOGGED.items()], indent=1)


def in_order(make):
    return "\n".join(json.dumps(make(documents)) for documents in LOGGED.values())


FORMS = {"beside": beside, "wrapped": wrapped, "in order": in_order}


@pytest.fixture
def log(tmp_path):
    def write(content, name="log.json"):
        (tmp_path / name).write_text(content)
        return tmp_path / name

    return write


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("is_named", [True, False])
def test_every_engine_gives_the_same_data(engine, form, is_named, log):
    path = log(FORMS[form](ENGINES[engine]))
    joined = join_log(path, JUDGED, format=engine if is_named else None, queries=QUERIES)
    data = joined.data
    assert data.feature_names == ("title", "bm25(body)")
    assert data.qid.tolist() == ["q1", "q1", "q2"]
    assert data.document_ids is not None
    assert data.labels is not None
    assert data.document_ids.tolist() == ["d1", "d2", "d3"]
    assert data.labels.tolist() == [2, 0, 1]
    assert data.features.tolist() == [[1.5, 2], [0.5, 0], [1, 4]]
    assert joined.unjudged == [("q2", "d1")]
    assert joined.without_features == [("q2", "d9")]
    assert joined.absent == {"bm25(body)": 1}


def test_what_is_missing_is_told_in_lines(log):
    assert join_log(log(beside(solr)), JUDGED).lines() == [
        "3 judged documents with features, 2 queries",
        "documents with features and no judgment: 1, first d1 of query q2",
        "documents with a judgment and no features: 1, first d9 of query q2",
        "feature bm25(body) is absent in 1 document",
    ]


def test_absent_features_may_be_missing_and_unjudged_documents_count(log):
    path = log(beside(vespa))
    zero = join_log(path, JUDGED, absent="missing", unjudged="zero").data
    assert zero.labels is not None
    assert zero.labels.tolist() == [2, 0, 0, 1]
    assert np.isnan(zero.features[1, 1])
    kept = join_log(path, JUDGED, unjudged="keep").data
    np.testing.assert_array_equal(kept.labels, [2, 0, np.nan, 1])


def test_ids_may_be_in_another_field(log):
    judged = JudgedPairs(["q1", "q2"], ["s-d1", "s-d3"], np.array([2, 1], np.float32))
    joined = join_log(log(beside(elasticsearch)), judged, document="sku")
    assert joined.data.document_ids is not None
    assert joined.data.document_ids.tolist() == ["s-d1", "s-d3"]


def test_solr_echoes_its_query(log):
    lines = []
    for text, documents in zip(QUERIES.texts, LOGGED.values(), strict=True):
        lines.append(json.dumps(solr(documents) | {"responseHeader": {"params": {"q": text}}}))
    assert join_log(log("\n".join(lines)), JUDGED, queries=QUERIES).data.qid.tolist() == ["q1", "q1", "q2"]


def test_a_search_of_many_queries(log):
    path = log(json.dumps({"took": 5, "responses": [elasticsearch(documents) for documents in LOGGED.values()]}))
    assert join_log(path, JUDGED, queries=QUERIES).n_judged == 3


def test_a_document_that_comes_again_counts_once(log):
    path = log(beside(vespa) + "\n" + beside(vespa))
    joined = join_log(path, JUDGED)
    assert (joined.data.n_docs, joined.repeated) == (3, 4)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "txt"])
def test_any_table_of_features_is_joined(ending, tmp_path):
    features: list[list[float]] = [[1.5, 2], [0.5, 0], [3, 0.25], [1, 4]]
    data = rw.RankingDataset.from_arrays(
        features, [9, 9, 9, 9], qid=["q1", "q1", "q2", "q2"], document_ids=["d1", "d2", "d1", "d3"]
    )
    rw.write(data, tmp_path / f"table.{ending}")
    joined = join_log(tmp_path / f"table.{ending}", JUDGED)
    assert joined.data.labels is not None
    assert joined.data.labels.tolist() == [2, 0, 1]
    assert joined.data.features.tolist() == [[1.5, 2], [0.5, 0], [1, 4]]
    assert joined.without_features == [("q2", "d9")]


def test_click_positions_travel_with_rates():
    data = rw.RankingDataset.from_arrays([[1.0], [2.0], [3.0]], qid=["q"] * 3, document_ids=["a", "b", "c"])
    judged = JudgedPairs(["q", "q"], ["a", "b"], np.array([0.5, 0.25], np.float32), positions=np.array([1, 0]))
    joined = join_judgments(data, judged, unjudged="keep").data
    assert joined.positions is not None
    assert joined.positions.tolist() == [1, 0, 2]


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "document with features is in|no JSON|is empty|holds no"),
        ("{}", "response 1 is of no engine that is known; wanted one of elasticsearch"),
        ("[1]", "response 1 is no JSON object"),
        ("[" * 100_000, "is no JSON"),
        ('{"query": "q", "root": {"children": 3}}', "no document with features is in the responses; 0 hits"),
        ('{"query": "q", "hits": {"hits": [{"_id": "d", "fields": {"_ltrlog": 7}}]}}', "no document with features"),
        (json.dumps(solr(LOGGED["q1"])), "response 1 does not tell its query"),
        (beside(solr).replace("1.5", "1e300"), "beyond the range of 32-bit numbers"),
        (beside(solr).replace("d", "x"), "no document is judged|no engine"),
    ],
)
def test_hostile_logs_are_refused_in_one_line(content, told, log):
    with pytest.raises(rw.RankwrightError, match=told) as error:
        join_log(log(content), JUDGED, format=None)
    assert "\n" not in str(error.value)
