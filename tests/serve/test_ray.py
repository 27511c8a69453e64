"""The application on Ray Serve: replicas answer as one server does, read one copy of the model, take changed files."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.client import RankClient, ServerRefusedError
from rankwright.errors import SettingError

pytest.importorskip("ray.serve")
from starlette.requests import Request

from rankwright.serve.application import RankServer, ServeSettings
from rankwright.serve.ray import ProxiedExchange, ProxiedScope, RaySettings, application

PAGE = (Path(__file__).parents[2] / "docs" / "serving_clients.md").read_text()


def proxied(parts: list[bytes], **headers: str) -> Request:
    """A request as Ray Serve's proxy hands it over."""
    messages = [{"type": "http.request", "body": part, "more_body": part is not parts[-1]} for part in parts]

    async def receive():
        return messages.pop(0)

    given = [(name.encode(), value.encode()) for name, value in {"host": "localhost", **headers}.items()]
    scope = {"type": "http", "method": "POST", "path": "/v1/rank", "query_string": b"top=2", "headers": given}
    return Request(scope | {"client": ("127.0.0.1", 5)}, receive)


@pytest.mark.parametrize("says_its_length", [True, False])
def test_a_proxied_request_is_answered_as_any_other(app, query, says_its_length):
    body = query.features.tobytes()
    headers = {"content-type": "application/octet-stream"}
    headers |= {"content-length": str(len(body))} if says_its_length else {}
    request = proxied([body[:100], body[100:]], **headers)
    exchange = ProxiedExchange(request)
    asyncio.run(app.__rsgi__(ProxiedScope.of(request), exchange))
    assert exchange.response.status_code == 200
    assert len(json.loads(bytes(exchange.response.body))["order"]) == 2
    assert exchange.response.headers["content-type"] == "application/json"


def test_models_that_are_read_already_are_served(server):
    made = RankServer(ServeSettings([("web", "elsewhere.rw")], reload_seconds=0), models=list(server.shelf)[:1])
    assert made.shelf.named("web") is server.shelf.named("web")


def test_arguments_of_a_serve_file_are_checked(model_file, tmp_path):
    told = re.search(r"args: \{(.*)\}", PAGE)
    assert told is not None
    names = re.findall(r"(\w+): ", told[1])
    assert set(names) <= set(RaySettings.__dataclass_fields__)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"models": str(model_file)}, "give tokens, or open"),
        ({"models": str(tmp_path / "none.rw"), "open": True}, "there is no such file"),
        ({"models": str(model_file), "open": True, "replicas": 3}, "unknown argument 'replicas'"),
        ({"models": str(model_file), "open": True, "least_replicas": 3, "most_replicas": 2}, "least_replicas must be"),
        ({"models": str(model_file), "open": True, "most_replicas": "many"}, r"arguments of the application"),
    ]
    for arguments, message in wrong:
        with pytest.raises(SettingError, match=message):
            application(arguments)


@pytest.mark.slow
def test_replicas_share_a_model_and_take_a_changed_one(data, query, tmp_path, monkeypatch):
    import ray
    from ray import serve
    from tests.serve.test_server_process import free_port

    for name in ("RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S", "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S"):
        monkeypatch.setenv(name, "90")  # busy machines start proxies slowly
    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_worker_niceness", "0")  # with 15, as usual, other work of the machine goes first
    first, second, served = (tmp_path / name for name in ("a.rw", "b.rw", "web.rw"))
    rw.LambdaMART(n_trees=10, seed=1).fit(data).save(first)
    rw.LambdaMART(n_trees=20, seed=2).fit(data).save(second)
    shutil.copy(first, served)
    tokens = tmp_path / "tokens"
    tokens.write_text("a-token-that-is-long\n")
    port = free_port()
    ray.init(address="local", num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        serve.start(http_options={"host": "127.0.0.1", "port": port})
        # As texts, as `serve run rankwright.serve.ray:application models=… ` gives them.
        serve.run(application({"models": str(served), "tokens": str(tokens), "least_replicas": "2", "cpus": "0.5"}))
        with RankClient(f"http://127.0.0.1:{port}", token="a-token-that-is-long") as client:
            assert answered(client, query) == {tuple(rw.load(first).predict(query).tolist())}
            with RankClient(f"http://127.0.0.1:{port}") as stranger, pytest.raises(ServerRefusedError, match="401"):
                stranger.models()
            second.replace(served)
            wanted, end = {tuple(rw.load(served).predict(query).tolist())}, time.monotonic() + 60
            while answered(client, query) != wanted:
                assert time.monotonic() < end
    finally:
        serve.shutdown()
        ray.shutdown()


def answered(client: RankClient, query: rw.RankingDataset) -> set[tuple[float, ...]]:
    """The scores that come back; requests go to either replica."""
    return {tuple(client.rank_floats(query.features).scores) for _ in range(20)}


def test_a_model_in_the_object_store_is_read_in_place(server, query):
    """What Ray does with a model: its arrays are pickled apart from it, and stay where they are when it is read."""
    import pickle

    model = server.shelf.named("web")
    buffers: list[pickle.PickleBuffer] = []
    content = pickle.dumps(model, protocol=5, buffer_callback=buffers.append)
    apart = sum(one.raw().nbytes for one in buffers)
    assert apart > 0
    frozen = [memoryview(one.raw().tobytes()) for one in buffers]
    again = pickle.loads(content, buffers=frozen)
    assert not again.trained.model.forest.value.flags.owndata
    assert not again.trained.model.forest.value.flags.writeable
    assert np.array_equal(again.scores(query.features), model.scores(query.features))
