"""Features of an index: hand-worked numbers, and the same numbers however they are computed."""

from __future__ import annotations

from dataclasses import replace
from math import log, log2, pi, sqrt
from typing import Any

import numpy as np
import pytest
from tests.text.small_index import DOCUMENTS, QUERIES, TIME, every_pair, index_of

import rankwright as rw
from rankwright.errors import InputError
from rankwright.text import (
    ClickEvents,
    FeatureLine,
    FeatureSources,
    FeatureSpecification,
    JudgedPairs,
    Queries,
    QueryDocuments,
    choose_rows,
    default_specification,
    features_in_blocks,
    features_of,
)
from rankwright.text.features import origin_of


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return index_of(tmp_path_factory.mktemp("features") / "index")


def values(index, line, query="red boat", sources=None, **rows):
    """What one feature is for each document."""
    asked = replace(every_pair(index, [query]), **rows)
    data = features_of(index, asked, FeatureSpecification([line]), sources, threads=1)
    return data.features[:, 0].tolist()


def idf(n):
    """Of a term that n of the four documents have."""
    return log(1 + (4 - n + 0.5) / (n + 0.5))


# title: a "red boat", b "blue boat", c "harbour"; body of a: "red boat sail past boat" (a stop word is left out).
RED, BOAT = idf(1), idf(2)
MEAN = (2 + 2 + 1) / 3


def test_counts_worked_by_hand(index):
    assert values(index, FeatureLine("covered_terms", ("title",))) == [2, 1, 0, 0]
    assert values(index, FeatureLine("covered_share", ("title",))) == [1, 0.5, 0, 0]
    assert values(index, FeatureLine("covered_idf_share", ("title",))) == pytest.approx([1, BOAT / (RED + BOAT), 0, 0])
    assert values(index, FeatureLine("boolean", ("title",))) == [1, 0, 0, 0]
    assert values(index, FeatureLine("length", ("body",))) == [5, 2, 9, 0]
    assert values(index, FeatureLine("length", ("title",), log=True)) == pytest.approx([log(3), log(3), log(2), 0])
    assert values(index, FeatureLine("tf", ("body",), ("sum",))) == [3, 0, 4, 0]
    assert values(index, FeatureLine("tf", ("body",), ("variance",))) == [0.25, 0, 0, 0]
    assert values(index, FeatureLine("tf_share", ("body",), ("max",))) == pytest.approx([2 / 5, 0, 2 / 9, 0])
    assert values(index, FeatureLine("tf_idf", ("title",), ("sum",))) == pytest.approx([RED + BOAT, BOAT, 0, 0])
    assert values(index, FeatureLine("query_length")) == [2, 2, 2, 2]


def test_models_worked_by_hand(index):
    k1, b = 1.2, 0.75
    full, half = 1 / (1 + k1 * (1 - b + b * 2 / MEAN)), idf(1) + idf(2)
    assert values(index, FeatureLine("bm25", ("title",))) == pytest.approx([half * full, BOAT * full, 0, 0])
    # One token of red and two of boat among the five of titles.
    ratio_red, ratio_boat = 1 / 5, 2 / 5
    mu = 10.0
    dirichlet = log((1 / ratio_red + mu) / (2 + mu)) + log((1 / ratio_boat + mu) / (2 + mu))
    assert values(index, FeatureLine("dirichlet", ("title",), settings={"mu": mu}))[0] == pytest.approx(
        dirichlet, rel=1e-6
    )
    mixed = [log(0.6 * (1 / 2) / share + 0.4) for share in (ratio_red, ratio_boat)]
    found = values(index, FeatureLine("jelinek_mercer", ("title",), settings={"background": 0.4}))
    assert found == pytest.approx([sum(mixed), mixed[1] + log(0.4), 2 * log(0.4), 2 * log(0.4)], rel=1e-6)
    discounted = [log(0.3 / 2 / share + 0.7 * 2 / 2) for share in (ratio_red, ratio_boat)]
    found = values(index, FeatureLine("absolute_discount", ("title",)))
    assert found[0] == pytest.approx(sum(discounted), rel=1e-6)
    norm = (1 - 0.5) ** 2 / 2
    dph = [norm * (log2(MEAN / 2 * 4 / count) + 0.5 * log2(2 * pi * 0.5)) for count in (1, 2)]
    assert values(index, FeatureLine("dph", ("title",)))[0] == pytest.approx(sum(dph), rel=1e-6)
    cosine = (RED**2 + BOAT**2) / sqrt(RED**2 + BOAT**2) / sqrt(2)
    assert values(index, FeatureLine("vector_space", ("title",)))[0] == pytest.approx(cosine)


def test_bm25f_saturates_once_over_weighted_fields(index):
    line = FeatureLine("bm25f", ("title", "body"), settings={"weights": [3, 1], "b": [0, 0], "k1": 2})
    red, boat = idf(2), idf(3)  # the largest of the fields' frequencies where there are more fields: url has no part
    frequencies = index.statistics(["red", "boat"]).document_frequency[:, :2].max(axis=1).tolist()
    red, boat = map(idf, frequencies)
    assert values(index, line)[0] == pytest.approx(red * (3 + 1) / (3 + 1 + 2) + boat * (3 + 2) / (3 + 2 + 2))


def test_positions_worked_by_hand(index):
    # body of c: harbour boat red rope blue anchor each? red boat, without stop words
    body = index.analyser.terms(str(DOCUMENTS[2]["body"]))
    at = [position for position, term in enumerate(body) if term in ("red", "boat")]
    assert values(index, FeatureLine("phrase", ("body",))) == [1, 0, 1, 0]
    assert values(index, FeatureLine("first_position", ("body",)))[2] == pytest.approx(1 / (1 + at[0]))
    assert values(index, FeatureLine("shortest_window", ("body",))) == [2, 0, 2, 0]
    assert values(index, FeatureLine("ordered_phrase", ("body",), settings={"slack": 0.0})) == [1, 0, 1, 0]
    assert values(index, FeatureLine("ordered_pairs", ("body",))) == [1, 0, 1, 0]
    assert values(index, FeatureLine("longest_run", ("title",))) == [2, 1, 0, 0]
    assert values(index, FeatureLine("begins_with_query", ("body",))) == [1, 0, 0, 0]
    assert values(index, FeatureLine("equals_query", ("title",))) == [1, 0, 0, 0]
    near = 1 / (1 + 1.2 * (0.25 + 0.75 * 2 / MEAN) / BOAT), 1 / (1 + 1.2 * (0.25 + 0.75 * 2 / MEAN) / RED)
    assert values(index, FeatureLine("closeness", ("title",)))[0] == pytest.approx(RED * near[0] + BOAT * near[1])


def test_feedback_looks_for_the_words_of_the_best_documents(index):
    # The best document for "red" is the shortest text with it, a: others are scored by what they share with a.
    line = FeatureLine("feedback", settings={"documents": 1, "terms": 100})
    found = values(index, line, query="red")
    assert max(found) == found[0] > 0
    assert found[1] > 0  # "blue boat" has no word of the query, and words of the best document
    assert found[3] == 0
    assert values(index, line, query="nowhere") == [0, 0, 0, 0]


def test_addresses(index):
    url = ("url",)
    assert values(index, FeatureLine("url_slashes", url))[:3] == [4, 3, 4]
    assert values(index, FeatureLine("url_depth", url))[:3] == [2, 0, 2]
    assert values(index, FeatureLine("url_parameters", url))[:3] == [2, 0, 0]
    assert values(index, FeatureLine("url_length", url))[1] == len("http://sails.com/")
    assert values(index, FeatureLine("url_host_parts", url))[:3] == [3, 2, 2]
    assert values(index, FeatureLine("query_in_host", url), query="Boat")[:3] == pytest.approx([4 / 5, 0, 0])
    assert np.isnan(values(index, FeatureLine("url_depth", url))[3])


def test_links_and_numbers(index):
    assert values(index, FeatureLine("in_links")) == [3, 1, 1, 0]
    assert values(index, FeatureLine("out_links")) == [2, 1, 0, 2]
    ranks = values(index, FeatureLine("page_rank"))
    assert sum(ranks) == pytest.approx(4, rel=1e-6)
    assert ranks[0] == max(ranks)
    assert values(index, FeatureLine("number", ("price",))) == pytest.approx([3.5, 10, np.nan, 1], nan_ok=True)
    assert values(index, FeatureLine("log_number", ("price",)))[1] == pytest.approx(log(11))
    assert values(index, FeatureLine("age", ("published",))) == pytest.approx([31, 21, np.nan, 11], nan_ok=True)
    assert values(index, FeatureLine("number", ("published",)))[0] == 19723  # days since 1970


def test_only_clicks_before_the_time_of_a_row_count(index):
    day = 86_400.0
    log_of = [("q0", "a", True, 3), ("red boat", "a", False, 2), ("other", "a", True, 1), ("q0", "a", True, -1),
              ("q0", "b", False, 5), ("elsewhere", "z", True, 4)]  # fmt: skip
    queries, documents, clicked, days = zip(*log_of, strict=True)
    events = ClickEvents(queries, documents, np.array(clicked), TIME - day * np.array(days, float))
    sources = FeatureSources(events=events)
    for name, wanted in (("shown", {"same": [2, 1], "other": [1, 0], "any": [3, 1]}),
                         ("clicks", {"same": [1, 0], "other": [1, 0], "any": [2, 0]})):  # fmt: skip
        for which, counts in wanted.items():
            line = FeatureLine(name, settings={"queries": which})
            assert values(index, line, sources=sources) == [*counts, 0, 0], (name, which)
    rate = values(index, FeatureLine("click_rate", settings={"prior": 2}), sources=sources)
    assert rate == pytest.approx([(1 + 2 * 3 / 5) / 4, (2 * 3 / 5) / 3, 3 / 5, 3 / 5])
    with pytest.raises(InputError, match="before the row's time"):
        values(index, FeatureLine("shown"), sources=sources, times=None)
    with pytest.raises(InputError, match="needs a log of clicks"):
        values(index, FeatureLine("shown"))


def test_vectors_and_functions_of_your_own(index):
    rng = np.random.default_rng(0)
    queries, documents = rng.normal(size=(1, 5)).astype(np.float32), rng.normal(size=(4, 5)).astype(np.float32)
    found = values(
        index,
        FeatureLine("cosine", settings={"vectors": "v"}),
        sources=FeatureSources(vectors={"v": (queries, documents)}),
    )
    wanted = documents @ queries[0] / np.linalg.norm(documents, axis=1) / np.linalg.norm(queries[0])
    assert found == pytest.approx(wanted.tolist(), rel=1e-5)
    functions: dict[str, Any] = {"longer": lambda query, texts: [len(one["title"]) - len(query) for one in texts]}
    sources = FeatureSources(functions=functions)
    assert values(index, FeatureLine("function", settings={"function": "longer"}), sources=sources) == [0, 1, -1, -8]
    with pytest.raises(InputError, match="names the function 'longer', which was not given"):
        values(index, FeatureLine("function", settings={"function": "longer"}))
    functions = {"longer": lambda query, texts: [1.0]}  # noqa: ARG005
    wrong = FeatureSources(functions=functions)
    with pytest.raises(InputError, match="must give 4 numbers"):
        values(index, FeatureLine("function", settings={"function": "longer"}), sources=wrong)


def test_the_dataset_has_names_ids_and_how_it_was_made(index):
    data = features_of(index, every_pair(index))
    assert data.feature_names == default_specification(index.fields).names
    assert data.document_ids is not None
    assert data.query_ids is not None
    assert data.feature_origin is not None
    assert data.document_ids[:4].tolist() == ["a", "b", "c", "d"]
    assert data.query_ids.tolist() == [f"q{number}" for number in range(len(QUERIES))]
    origin = rw.text.FeatureOrigin.from_json(data.feature_origin)
    assert origin.specification.names == data.feature_names
    assert origin.fields == index.fields


def test_blocks_have_the_features_of_the_whole(index):
    rows = every_pair(index)
    rng = np.random.default_rng(0)
    vectors = {"mine": (rng.random((len(QUERIES), 3), np.float32), rng.random((4, 3), np.float32))}
    spec = FeatureSpecification([FeatureLine("dph", ("body",)), FeatureLine("cosine", settings={"vectors": "mine"})])
    sources = FeatureSources(vectors=vectors)
    labels, positions = rng.random(len(rows.ordinals)).astype(np.float32), np.arange(len(rows.ordinals))
    rows = replace(rows, labels=labels, positions=positions)
    whole = features_of(index, rows, spec, sources)
    for values in (1, 20, 10**6):
        parts = list(features_in_blocks(index, rows, spec, sources, values_at_once=values))
        assert np.concatenate([part.features for part in parts]).tobytes() == whole.features.tobytes()
        for name in ("labels", "positions", "query_ids", "document_ids"):
            found = np.concatenate([getattr(part, name) for part in parts])
            assert found.tolist() == getattr(whole, name).tolist()


def test_documents_that_the_index_does_not_have_are_refused(index):
    for ordinals in ([-1], [4]):
        rows = QueryDocuments(["q"], ["boat"], np.array([0, 1]), np.array(ordinals))
        with pytest.raises(InputError, match="an ordinal must lie between 0 and 3"):
            features_of(index, rows)


def test_an_origin_without_a_field_of_its_specification_is_refused(index):
    stored = origin_of(index, FeatureSpecification([FeatureLine("dph", ("body",))]), {}).to_dict()
    stored["fields"] = [own for own in stored["fields"] if own[0] != "body"]
    with pytest.raises(InputError, match="names a field that is not there"):
        rw.text.FeatureOrigin.from_dict(stored)


def test_segments_threads_and_workers_change_no_bit(index, tmp_path):
    whole = features_of(index, every_pair(index), threads=1)
    for parts in (2, 4):
        split = index_of(tmp_path / f"parts{parts}", parts=parts)
        rows = replace(every_pair(index), ordinals=np.tile(split.ordinals(["a", "b", "c", "d"]), len(QUERIES)))
        found = features_of(split, rows, threads=7)
        assert found.features.tobytes() == whole.features.tobytes()
    by_workers = features_of(index, every_pair(index), cluster="local", workers=2)
    assert by_workers.features.tobytes() == whole.features.tobytes()


def test_a_document_has_the_same_features_whatever_stands_beside_it(index):
    whole, rows = features_of(index, every_pair(index)), every_pair(index)
    order = np.array([2, 0])
    few = replace(rows, offsets=np.arange(len(QUERIES) + 1) * 2, ordinals=np.tile(order, len(QUERIES)))
    found = features_of(index, few).features.reshape(len(QUERIES), 2, -1)
    assert found.tobytes() == whole.features.reshape(len(QUERIES), 4, -1)[:, order].tobytes()


def test_a_field_that_is_not_there_is_named(index):
    with pytest.raises(InputError, match="the field 'summary'; the index has"):
        values(index, FeatureLine("bm25", ("summary",)))
    with pytest.raises(InputError, match="looks at the field 'price'; fields of text are"):
        values(index, FeatureLine("bm25", ("price",)))


def test_rows_are_the_judged_documents(index):
    queries = Queries(["q1", "q2", "q3"], ["red boat", "harbour", "rope"], np.array([TIME, np.nan, np.nan]))
    grades = np.array([1, 0, 2, 1, 1], np.float32)
    judged = JudgedPairs(["q2", "q1", "q1", "q9", "q2"], ["c", "b", "a", "a", "nowhere"], grades)
    chosen = choose_rows(index, queries, judged, at=5.0)
    assert chosen.rows.query_ids == ["q1", "q2"]
    assert index.ids(chosen.rows.ordinals) == ["b", "a", "c"]
    assert chosen.rows.labels is not None
    assert chosen.rows.times is not None
    assert chosen.rows.labels.tolist() == [0, 2, 1]
    assert chosen.rows.times.tolist() == [TIME, 5.0]
    assert chosen.queries_left_out == 1
    with pytest.raises(InputError, match="no judgment is of a query and a document that are there"):
        choose_rows(index, queries, JudgedPairs(["q9"], ["a"], np.array([1], np.float32)))
