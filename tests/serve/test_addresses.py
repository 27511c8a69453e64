"""Every address answers as the OpenAPI page says; what watches a server needs no token."""

from __future__ import annotations

import re

import numpy as np
import pytest
from tests.serve.asking import asked

import rankwright as rw
from rankwright.serve.application import RankServer
from rankwright.web.application import Shell
from rankwright.web.guard import Guard


def test_the_openapi_page_has_every_address_and_only_references_that_exist(app, server):
    page = asked(app, "GET", "/openapi.json").json()
    assert {(method.upper(), path) for path, own in page["paths"].items() for method in own} == {
        (route.method, route.template) for route in server.service.routes
    }
    references = set(re.findall(r"#/components/schemas/(\w+)", str(page)))
    assert references <= page["components"]["schemas"].keys()
    assert {"rows", "columns", "documents"} <= page["components"]["schemas"]["RankOptions"]["properties"].keys()
    summaries = [own["summary"] for path in page["paths"].values() for own in path.values()]
    assert all(summaries)


def test_models_tell_their_features(app):
    found = asked(app, "GET", "/v1/models").json()
    assert found["default"] == "web"
    assert found["models"][0]["features"] == ["bm25", "age", "clicks", "length"]
    metadata = asked(app, "GET", "/v2/models/web").json()
    assert metadata["inputs"] == [{"name": "features", "datatype": "FP32", "shape": [-1, 4]}]
    version = found["models"][0]["version"]
    assert asked(app, "GET", f"/v2/models/web/versions/{version}/ready").status == 200
    assert asked(app, "GET", "/v2/models/web/versions/0/ready").status == 404


@pytest.mark.parametrize("path", ["/health", "/ready", "/v2/health/live", "/v2/health/ready"])
def test_who_watches_needs_no_token(server, path):
    guard = Guard.for_address("0.0.0.0", hosts=(), origins=(), tokens=("a" * 16,), open=False)
    app = RankServer(server.settings, Shell(guard=guard)).application()
    assert asked(app, "GET", path).status == 200
    assert asked(app, "HEAD", path).body == b""
    assert asked(app, "GET", "/metrics").status == 401


def test_metrics_count_answers_and_their_time(app):
    def count(text: str) -> float:
        wanted = r'rankwright_requests_total\{route="GET /health",status="200"\} (\d+)'
        return float(re.search(wanted, text)[1])  # type: ignore[index]

    before = count(asked(app, "GET", "/metrics").body.decode())
    asked(app, "GET", "/health")
    told = asked(app, "GET", "/metrics").body.decode()
    assert count(told) == before + 1
    buckets = [float(one) for one in re.findall(r'_seconds_bucket\{route="GET /health",le="[^"]+"\} (\d+)', told)]
    assert buckets == sorted(buckets)
    assert buckets[-1] == before + 1
    for line in told.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) \w+ .*|\w+(\{.*\})? [-+.e\d]+|.* (NaN|[+-]Inf)", line), line


def test_metrics_tell_of_each_model(app, query):
    def told(what: str) -> list[float]:
        text = asked(app, "GET", "/metrics").body.decode()
        return [float(re.search(rf'{what}\{{model="{name}"\}} (\S+)', text)[1]) for name in ("web", "linear")]  # type: ignore[index]

    before = told("rankwright_scored_documents_total"), told("rankwright_scoring_seconds_count")
    asked(app, "POST", "/v1/rank", query.features.tobytes(), headers={"content-type": "application/octet-stream"})
    after = told("rankwright_scored_documents_total"), told("rankwright_scoring_seconds_count")
    assert after == ([before[0][0] + query.n_docs, before[0][1]], [before[1][0] + 1, before[1][1]])


def test_metrics_tell_how_far_documents_moved_since_training(data, tmp_path):
    from rankwright.catalog.drift import profile_of
    from rankwright.serve.application import ServeSettings
    from rankwright.web.messages import BINARY

    ranker = rw.LambdaMART(n_trees=5).fit(data)
    ranker.trained_ = ranker.trained_.with_profile(profile_of(ranker.trained_, data.features))
    ranker.save(tmp_path / "profiled.rw")
    app = RankServer(ServeSettings([("m", str(tmp_path / "profiled.rw"))], reload_seconds=0)).application()
    moved = np.random.default_rng(0).permutation(data.features)[:500]
    moved[:, 1] += 5
    asked(app, "POST", "/v1/rank", moved.tobytes(), headers={"content-type": BINARY})
    told = asked(app, "GET", "/metrics").body.decode()
    index = {name: float(value) for name, value in re.findall(r'feature="(\w+)"\} (\S+)', told)}
    assert index["age"] > 1 > 0.2 > index["bm25"]
    assert float(re.search(r'rankwright_score_psi\{model="m"\} (\S+)', told)[1]) >= 0  # type: ignore[index]
