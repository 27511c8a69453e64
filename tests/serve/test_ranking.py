"""Whatever way documents come, they get the scores that `predict` gives; what is wrong is named."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from tests.serve.asking import asked
from tests.serve.conftest import NAMES

import rankwright as rw
from rankwright.serve.decoding import ARROW
from rankwright.web.messages import BINARY


@pytest.fixture(scope="session")
def scores(model_file, query):
    return rw.load(model_file).predict(query)


def rows_of(query):
    return [[float(str(value)) for value in row] for row in query.features]


def arrow_bytes(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


def bodies(query):
    rows, order = rows_of(query), (2, 0, 3, 1)
    table = pa.table({NAMES[place]: query.features[:, place] for place in order})
    doubles = pa.schema([(name, pa.float64()) for name in table.column_names])
    lists = pa.FixedSizeListArray.from_arrays(pa.array(query.features.reshape(-1)), 4)
    tensor = {"name": "features", "shape": [len(rows), 4], "datatype": "FP32"}
    binary = {"inputs": [tensor | {"parameters": {"binary_data_size": query.features.nbytes}}]}
    head = json.dumps(binary).encode()
    nested = {"inputs": [tensor | {"data": rows}]}
    flat = {"inputs": [tensor | {"datatype": "FP64", "data": [value for row in rows for value in row]}]}
    infer = "/v2/models/web/infer"
    length = {"inference-header-content-length": str(len(head))}
    return {
        "rows": ("/v1/rank", {"rows": rows}, {}),
        "rows in another order": (
            "/v1/rank",
            {"features": [NAMES[place] for place in order], "rows": [[row[place] for place in order] for row in rows]},
            {},
        ),
        "columns": ("/v1/rank", {"columns": {NAMES[place]: [row[place] for row in rows] for place in order}}, {}),
        "documents": ("/v1/rank", {"documents": [{NAMES[p]: row[p] for p in order} for row in rows]}, {}),
        "escaped": ("/v1/rank", json.dumps({"columns": {n: [r[p] for r in rows] for p, n in enumerate(NAMES)}})
                    .replace("bm25", "\\u0062m25").encode(), {}),
        "named model": ("/v1/rank?model=web", {"rows": rows, "model": "web"}, {}),
        "floats": ("/v1/rank", query.features.tobytes(), {"content-type": BINARY}),
        "arrow": ("/v1/rank", arrow_bytes(table), {"content-type": ARROW}),
        "arrow, doubles": ("/v1/rank", arrow_bytes(table.cast(doubles)), {"content-type": ARROW}),
        "arrow lists": ("/v1/rank", arrow_bytes(pa.table({"features": lists})), {"content-type": ARROW}),
        "v2, nested": (infer, nested, {}),
        "v2, flat": (infer, flat, {}),
        "v2, binary": (infer, head + query.features.tobytes(), length),
    }  # fmt: skip


KINDS = ("rows", "rows in another order", "columns", "documents", "escaped", "named model", "floats", "arrow",
         "arrow, doubles", "arrow lists", "v2, nested", "v2, flat", "v2, binary")  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_those_of_predict(app, query, scores, kind):
    path, body, headers = bodies(query)[kind]
    answer = asked(app, "POST", path, body, headers=headers)
    assert answer.status == 200, answer.body
    found = answer.json()
    given = found["outputs"][0]["data"] if "outputs" in found else found["scores"]
    assert given == scores.tolist()
    if "order" in found:
        assert found["order"] == np.argsort(-scores, kind="stable").tolist()


def test_another_model_has_other_features(app, query, linear_file):
    rows = [row[:2] for row in rows_of(query)]
    answer = asked(app, "POST", "/v1/rank", {"rows": rows, "model": "linear"}).json()
    narrow = query.with_features(query.features[:, :2].copy(), NAMES[:2], None)
    assert answer["model"] == "linear"
    assert answer["scores"] == rw.load(linear_file).predict(narrow).tolist()


def test_missing_values_are_null_or_nan(app, query, model_file):
    features = query.features.copy()
    features[0, 1] = np.nan
    rows = [[None if value != value else float(str(value)) for value in row] for row in features]
    scores = rw.load(model_file).predict(query.with_features(features, NAMES, None)).tolist()
    assert asked(app, "POST", "/v1/rank", {"rows": rows}).json()["scores"] == scores
    floats = asked(app, "POST", "/v1/rank", features.tobytes(), headers={"content-type": BINARY})
    assert floats.json()["scores"] == scores


def test_explanations_add_up_to_scores(app, query):
    answer = asked(app, "POST", "/v1/rank", {"rows": rows_of(query), "explain": 2, "top": 3}).json()
    assert len(answer["explanations"]) == len(answer["order"]) == 3
    for one in answer["explanations"]:
        total = answer["base"] + sum(reason["adds"] for reason in one["features"]) + one["rest"]
        assert total == pytest.approx(answer["scores"][one["row"]])


def test_ids_come_back_best_first(app, query):
    ids = [f"d{row}" for row in range(query.n_docs)]
    answer = asked(app, "POST", "/v1/rank", {"rows": rows_of(query), "ids": ids, "top": 4}).json()
    assert answer["ids"] == [ids[row] for row in answer["order"]]


def test_scores_may_be_asked_for_as_bytes(app, query, scores):
    headers = {"content-type": BINARY, "accept": BINARY}
    answer = asked(app, "POST", "/v1/rank", query.features.tobytes(), headers=headers)
    assert np.frombuffer(answer.body, "<f8").tolist() == scores.tolist()
    asks = {"inputs": [{"name": "features", "shape": [query.n_docs, 4], "datatype": "FP32", "data": rows_of(query)}],
            "outputs": [{"name": "scores", "parameters": {"binary_data": True}}]}  # fmt: skip
    answer = asked(app, "POST", "/v2/models/web/infer", asks)
    length = int(answer.headers["inference-header-content-length"])
    assert json.loads(answer.body[:length])["outputs"][0]["parameters"] == {"binary_data_size": 8 * query.n_docs}
    assert np.frombuffer(answer.body[length:], "<f8").tolist() == scores.tolist()


def test_no_documents_are_an_empty_list(app):
    bodies: list[dict[str, Any]] = [{"rows": []}, {"documents": []}, {"columns": {name: [] for name in NAMES}}]
    for body in bodies:
        assert asked(app, "POST", "/v1/rank", body).json()["order"] == []


WRONG = {
    b"{": (400, "the body is no JSON"),
    b"[]": (422, "Expected `object`, got `array`"),
    b"{}": (422, "no rows, no columns and no documents"),
    b'{"rows": [[1, 2, 3]]}': (422, "document 0 has 3 features, and web takes 4"),
    b'{"rows": [[1, 2, 3, 4, 5]]}': (422, "document 0 has more than 4 features"),
    b'{"rows": [[1, 2, "x", 4]]}': (422, "document 0, feature 'clicks': '\"x\"' is no number"),
    b'{"rows": [[1, 2, 1e39, 4]]}': (422, "1e39' is too large for float32"),
    b'{"documents": [{"bm25": 1, "age": 2, "length": 3}]}': (422, "document 0 lacks the feature 'clicks'"),
    b'{"documents": [{"bm26": 1}]}': (422, "a feature 'bm26', which web does not know"),
    b'{"columns": {"bm25": [1], "age": [1, 2]}}': (422, "feature 'age' has another number of values"),
    b'{"rows": [[1, 2, 3, 4]], "columns": {}}': (422, "$.columns"),
    b'{"rows": [[1, 2, 3, 4]], "tpo": 3}': (422, "unknown field `tpo`"),
    b'{"rows": [[1, 2, 3, 4]], "top": 0}': (422, "$.top"),
    b'{"rows": [[1, 2, 3, 4]], "ids": ["a", "b"]}': (422, "2 ids of 1 documents"),
    b'{"rows": [[1, 2, 3, 4], [1, 2, 3, 4]], "ids": [1, "1"]}': (422, "the same id"),
    b'{"rows": [[1, 2, 3, 4]], "model": "wbe"}': (422, "unknown model 'wbe'; did you mean 'web'?"),
    b'{"rows": [[1, 2, 3, 4]], "features": ["bm25", "age", "clicks", "x"]}': (422, "lack 'length'"),
    b'{"rows": [[1, 2, 3, 4]]} x': (400, "the body is no JSON"),
}


@pytest.mark.parametrize("body", WRONG)
def test_what_is_wrong_is_told_in_a_line(app, body):
    answer = asked(app, "POST", "/v1/rank", body)
    status, message = WRONG[body]
    assert answer.status == status
    assert message in answer.message
    assert "\n" not in answer.message


def test_wrong_floats_arrow_and_tensors_are_told(app):
    cases = [
        (b"\0" * 15, {"content-type": BINARY}, "no whole number of documents"),
        (np.full((1, 4), np.inf, np.float32).tobytes(), {"content-type": BINARY}, "feature 'bm25' is infinite"),
        (b"no arrow", {"content-type": ARROW}, "no Arrow stream"),
        (arrow_bytes(pa.table({"bm25": [1.0]})), {"content-type": ARROW}, "lack 'age', 'clicks', 'length'"),
        (b"a,b", {"content-type": "text/csv"}, "not 'text/csv'"),
    ]
    for body, headers, message in cases:
        answer = asked(app, "POST", "/v1/rank", body, headers=headers)
        assert 400 <= answer.status < 500
        assert message in answer.message
    tensor: dict[str, Any] = {"name": "features", "shape": [1, 4], "datatype": "FP32", "data": [1, 2, 3, 4]}
    changes: list[tuple[dict[str, Any], str]] = [
        ({"name": "x"}, "called 'features'"),
        ({"shape": [4]}, "shape"),
        ({"datatype": "INT8"}, "datatype"),
        ({"data": [1]}, "wants 4 numbers"),
        ({"data": ["x"] * 4}, "numbers or null"),
        ({"parameters": {"binary_data_size": 16}, "data": None}, "0 came"),
        ({"shape": [-1, 4]}, "shape"),
    ]
    for change, message in changes:
        answer = asked(app, "POST", "/v2/models/web/infer", {"inputs": [tensor | change]})
        assert answer.status == 422, change
        assert message in answer.message


def stream(table: pa.Table, compression: str | None = None) -> bytes:
    sink = io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=compression)
    with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
        writer.write_table(table)
    return sink.getvalue()


def test_an_arrow_stream_may_claim_nothing_that_takes_more_memory_than_it_has(app, query):
    """What is compressed, or has no bytes at all, could claim to be of any size; what points outside is refused."""
    lists = pa.table({"features": pa.FixedSizeListArray.from_arrays(pa.array(query.features.reshape(-1)), 4)})
    coded = pa.table({name: pa.array(["x"]).dictionary_encode() for name in NAMES})
    nothing = pa.table({name: pa.nulls(50_000) for name in NAMES})
    texts = pa.table({"id": ["ab", "cd"], **{name: [1.0, 2.0] for name in NAMES}})
    outside = stream(texts).replace((2).to_bytes(4, "little") + (4).to_bytes(4, "little"), b"\2\0\0\0\xff\xff\xff\x7f")
    assert outside != stream(texts)
    cases = [
        (stream(lists, "zstd"), "must not be compressed"),
        (stream(lists, "lz4"), "must not be compressed"),
        (stream(coded, "zstd"), "must not be compressed"),
        (stream(nothing), "more than 10,000"),
        (outside, "no Arrow stream as it is wanted"),
        (stream(lists)[:200], "no Arrow stream as it is wanted"),
    ]
    for body, message in cases:
        answer = asked(app, "POST", "/v1/rank", body, headers={"content-type": ARROW})
        assert 400 <= answer.status < 500
        assert message in answer.message
    assert asked(app, "POST", "/v1/rank", stream(lists), headers={"content-type": ARROW}).status == 200


def test_errors_have_the_form_that_clients_of_a_protocol_read(app):
    told = asked(app, "POST", "/v2/models/web/infer", {"inputs": []}).json()
    assert told == {"error": "the one input is called 'features', got []"}
    assert asked(app, "GET", "/v2/models/other").status == 404
    for path in ("/v1/rerank", "/v2/rerank"):
        told = asked(app, "POST", path, {"query": "q", "documents": ["a"]}).json()
        assert told["message"] == told["detail"] == told["error"]["message"]
    wrong = asked(app, "POST", "/v1/rank", {"rows": [], "x\ny": 1}).message
    assert "\n" not in wrong
    assert len(asked(app, "POST", "/v1/rank", {"rows": [], "x" * 9999: 1}).message) <= 1000


def test_what_curl_sends_is_json(app, query):
    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert asked(app, "POST", "/v1/rank", {"rows": rows_of(query)}, headers=headers).status == 200


def test_categories_are_texts(tmp_path):
    import pandas as pd

    from rankwright.serve.application import RankServer, ServeSettings

    kinds = pd.Categorical(["a", "b", "c"] * 20)
    frame = pd.DataFrame({"query": [1, 1, 1, 2, 2, 2] * 10, "label": [0, 1, 2] * 20, "kind": kinds, "x": range(60)})
    data = rw.from_frame(frame, rw.Columns(query="query", label="label"))
    ranker = rw.LambdaMART(n_trees=5, min_docs_in_leaf=1, max_leaves=4).fit(data)
    ranker.save(tmp_path / "kinds.rw")
    app = RankServer(ServeSettings([("k", str(tmp_path / "kinds.rw"))], reload_seconds=0)).application()
    documents = [{"kind": "c", "x": 1}, {"kind": "a", "x": 1}, {"kind": "never seen", "x": 1}, {"kind": None, "x": 1}]
    found = asked(app, "POST", "/v1/rank", {"documents": documents}).json()["scores"]
    texts = pd.DataFrame({"kind": pd.Categorical(["c", "a", None, None]), "x": [1.0] * 4})
    assert found == ranker.predict(texts).tolist()


def test_texts_are_refused_by_a_model_without_their_statistics(app):
    for path in ("/v1/rerank", "/v2/rerank"):
        answer = asked(app, "POST", path, {"query": "q", "documents": ["a", {"text": "b"}]})
        assert answer.status == 422
        assert "was not trained on text" in answer.message


def test_texts_are_reranked_by_a_model_that_has_them(server):
    from rankwright.serve.application import RankServer

    class Lengths:
        def score(self, query, documents):
            return np.array([len(one) - len(query) for one in documents], np.float64)

    app = RankServer(server.settings, scorer_of=lambda _: Lengths()).application()
    asks = {"query": "q", "documents": ["a", {"text": "bbbb"}, "cc"], "top_n": 2, "return_documents": True,
            "model": "web", "max_tokens_per_doc": 9}  # fmt: skip
    found = asked(app, "POST", "/v2/rerank", asks).json()
    assert [one["index"] for one in found["results"]] == [1, 2]
    assert found["results"][0]["document"] == {"text": "bbbb"}
    assert found["results"][0]["relevance_score"] == pytest.approx(1 / (1 + np.exp(-3.0)))
    assert all(0 <= one["relevance_score"] <= 1 for one in found["results"])


def test_texts_are_scored_by_a_model_that_keeps_their_statistics(tmp_path):
    from tests.text.small_index import index_of
    from tests.text.test_text_scoring import trained_on

    from rankwright.rankers.text_scoring import score_texts, with_statistics_of
    from rankwright.serve.application import RankServer, ServeSettings

    index = index_of(tmp_path / "index")
    ranker, _ = trained_on(index)
    ranker.trained_ = with_statistics_of(ranker.trained_, index)
    ranker.save(tmp_path / "texts.rw")
    app = RankServer(ServeSettings([("t", str(tmp_path / "texts.rw"))], reload_seconds=0)).application()
    documents = ["a cat sat on the mat", "dogs", "the cat and the dog"]
    answer = asked(app, "POST", "/v1/rerank", {"query": "cat", "documents": documents})
    assert answer.status == 200, answer.body
    found = {one["index"]: one["score"] for one in answer.json()["results"]}
    assert [found[row] for row in range(3)] == pytest.approx(
        score_texts(rw.load(tmp_path / "texts.rw"), "cat", documents)
    )
