"""Requests to a server of rankers: whatever comes is answered, never by a failure of ours, and in JSON.

A mutant is a batch of requests as they stand on the wire. `HttpRequests` hands them to the application; `HttpWire`
sends them to a server on loopback, whose own reader of HTTP sees them too.
"""

from __future__ import annotations

import asyncio
import io
import json
import logging
import socket
import threading
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.foreign import mutant_of
from tests.fuzz.mutation import changed_json, chosen
from tests.fuzz.subject import Finding, Refused, quiet, require
from tests.serve.asking import FakeProtocol, Scope
from tests.text.small_index import index_of
from tests.text.test_text_scoring import trained_on

import rankwright as rw
from rankwright.rankers.text_scoring import with_statistics_of
from rankwright.serve.application import JournalSettings, RankServer, ServeSettings
from rankwright.web.application import STATUSES, Application, Shell
from rankwright.web.limits import Limits

BATCH, WIRE_BATCH = 50, 5  # requests of a mutant
SEPARATOR = b"\r\n\r\n--next request--\r\n\r\n"
N_FEATURES, N_DOCS = 4, 6
NAMES = [f"f{number}" for number in range(N_FEATURES)]
ODD_HEADERS = ("", " ", "0", "-1", "9" * 30, "1e3", "\x00", "é", "a" * 5000, "chunked", "gzip", "text/html", "*/*",
               "::1", "https://evil.example", "Bearer", "Bearer x", "application/json; charset=utf-16")  # fmt: skip
LIMITS = Limits(body=200_000, documents=50, seconds=1.0, header_seconds=2.0)
FAILED = 500
SECONDS_ON_WIRE = 0.3  # that a request without an answer is waited for
SECONDS_TO_START, SECONDS_TO_ANSWER = 30.0, 1.0  # a mutant may take two


class HttpRequests:
    """Batches that the application is asked directly."""

    batch = BATCH

    def prepare(self, seeds: Path) -> None:
        seeds.mkdir(parents=True, exist_ok=True)
        if (seeds / "requests").exists():
            return
        rng = np.random.default_rng(0)
        features = rng.standard_normal((20 * N_DOCS, N_FEATURES)).astype(np.float32)
        labels, qid = np.clip(np.round(features[:, 0] + 1), 0, 3), np.repeat(np.arange(20), N_DOCS)
        data = rw.RankingDataset.from_arrays(features, labels, qid=qid, feature_names=NAMES)
        rw.LambdaMART(n_trees=5, max_leaves=4).fit(data).save(seeds / "web.rw")
        index = index_of(seeds / "index")
        texts, _ = trained_on(index)
        texts.trained_ = with_statistics_of(texts.trained_, index)
        texts.save(seeds / "texts.rw")
        (seeds / "requests").write_bytes(SEPARATOR.join(seed_requests(features[:N_DOCS])))

    def warm_up(self, seeds: Path) -> None:
        logging.disable(logging.CRITICAL)
        self._app = application(seeds)
        with quiet():
            for request in (seeds / "requests").read_bytes().split(SEPARATOR):
                status, body = answered(self._app, request)
                require(status in (200, 404), f"{status}: {request[:200]!r}: {body[:200]!r}")

    def make(self, seeds: Path, rng: np.random.Generator, number: int, target: Path) -> None:  # noqa: ARG002
        given = (seeds / "requests").read_bytes().split(SEPARATOR)
        target.write_bytes(SEPARATOR.join(mutant_request(chosen(rng, given), rng) for _ in range(self.batch)))

    def judge(self, target: Path) -> None:
        n_refused = 0
        for place, request in enumerate(target.read_bytes().split(SEPARATOR)):
            try:
                with quiet():
                    status, body = answered(self._app, request)
                check(status, body)
            except Exception as error:
                raise Finding(f"request {place}: {type(error).__name__}: {error}: {request[:300]!r}") from error
            n_refused += status != 200
        if n_refused == self.batch:
            raise Refused("all of them")


class HttpWire(HttpRequests):
    """Smaller batches sent to a server of this process, each request by a connection of its own."""

    batch = WIRE_BATCH  # half a request is waited for

    def warm_up(self, seeds: Path) -> None:
        super().warm_up(seeds)
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = int(free.getsockname()[1])
        threading.Thread(target=lambda: asyncio.run(serve(self._app, self._port)), daemon=True).start()
        require(self._is_there(SECONDS_TO_START), "the server does not start")

    def judge(self, target: Path) -> None:
        for place, request in enumerate(target.read_bytes().split(SEPARATOR)):
            status = self._sent(request)
            require(status != FAILED, f"request {place}: status {status}: {request[:300]!r}")
        require(self._is_there(SECONDS_TO_ANSWER), "the server is gone")

    def _is_there(self, seconds: float) -> bool:
        """Whether it answers in so long: on a busy machine the first try may be too short."""
        end = time.monotonic() + seconds
        while self._sent(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n") != 200:
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def _sent(self, request: bytes) -> int:
        """The status of the first answer; 0 where there is none."""
        try:
            with socket.create_connection(("127.0.0.1", self._port), timeout=SECONDS_ON_WIRE) as one:
                one.sendall(request)
                head = one.recv(64)
        except OSError:
            return 0
        return int(head[9:12]) if head.startswith(b"HTTP/1.1 ") else 0


async def serve(app: Application, port: int) -> None:
    """The application on granian, within this process."""
    from granian.http import HTTP1Settings
    from granian.server.embed import Server

    slow = HTTP1Settings(header_read_timeout=int(LIMITS.header_seconds * 1000))
    await Server(app, "127.0.0.1", port, log_enabled=False, websockets=False, http1_settings=slow).serve()


def application(seeds: Path) -> Application:
    """A server with all its addresses."""
    journal = JournalSettings(str(seeds / "journal"), segment_seconds=3600.0)
    models = [("web", str(seeds / "web.rw")), ("texts", str(seeds / "texts.rw"))]
    server = RankServer(ServeSettings(models, reload_seconds=0, journal=journal), Shell(LIMITS))
    app = server.application()
    app.__rsgi_init__(None)
    return app


def seed_requests(features: np.ndarray) -> list[bytes]:
    """A request of each kind."""
    import pyarrow as pa

    rows = features.tolist()
    table = pa.table({name: features[:, place] for place, name in enumerate(NAMES)} | {"id": list("abcdef")})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    tensor: dict[str, Any] = {"name": "features", "shape": list(features.shape), "datatype": "FP32"}
    head = json.dumps({"inputs": [tensor | {"parameters": {"binary_data_size": features.nbytes}}],
                       "outputs": [{"name": "scores", "parameters": {"binary_data": True}}]}).encode()  # fmt: skip
    binary = {"inference-header-content-length": str(len(head))}
    columns = {name: [row[place] for row in rows] for place, name in enumerate(NAMES)}
    bodies: list[tuple[str, bytes | dict[str, Any], dict[str, str]]] = [
        ("/v1/rank", {"rows": rows, "ids": list("abcdef"), "top": 3, "explain": 2, "query": "q"}, {}),
        ("/v1/rank", {"rows": [row[::-1] for row in rows], "features": NAMES[::-1], "model": "web"}, {}),
        ("/v1/rank", {"columns": columns, "explain": True}, {}),
        ("/v1/rank", {"documents": [dict(zip(NAMES, row, strict=True)) for row in rows]}, {}),
        ("/v1/rank?top=2&model=web&query=q", features.tobytes(), {"content-type": "application/octet-stream"}),
        ("/v1/rank", sink.getvalue(), {"content-type": "application/vnd.apache.arrow.stream"}),
        ("/v2/models/web/infer", {"inputs": [tensor | {"data": rows}], "id": "1"}, {}),
        ("/v2/models/web/infer", head + features.tobytes(), binary),
        ("/v1/rerank", {"query": "red boat", "documents": ["a red boat", {"text": "blue"}], "model": "texts"}, {}),
        ("/v2/rerank", {"query": "boat", "documents": ["x", "boat"], "top_n": 1, "model": "texts",
                        "return_documents": True}, {}),
        ("/v1/feedback", {"event_id": "e", "list_id": "l", "clicked": ["a", 1]}, {}),
    ]  # fmt: skip
    made = [on_wire("POST", path, body, headers) for path, body, headers in bodies]
    paths = ("/v1/models", "/v1/experiment", "/v2", "/v2/models/web", "/v2/models/web/ready", "/v2/health/ready",
             "/metrics", "/openapi.json", "/health", "/v2/models/web/versions/0/ready")  # fmt: skip
    return [*made, *(on_wire("GET", path, b"", {}) for path in paths)]


def on_wire(method: str, path: str, body: bytes | Mapping[str, Any], headers: Mapping[str, str]) -> bytes:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    given = {"host": "localhost", "content-length": str(len(content)), **headers}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items())]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + content


def mutant_request(request: bytes, rng: np.random.Generator) -> bytes:
    """The request after a change of its head, its body or both."""
    head, _, body = request.partition(b"\r\n\r\n")
    where = rng.random()
    if where < 0.7 and body:
        body = mutant_body(body, rng)
    if where >= 0.5 or not body:
        head = mutant_head(head, rng)
    if rng.random() < 0.9:  # mostly the length is that of the body, so that the body is read at all
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"content-length:")]
        head = b"\r\n".join([*lines, b"content-length: %d" % len(body)])
    return head + b"\r\n\r\n" + body


def mutant_body(body: bytes, rng: np.random.Generator) -> bytes:
    if body.startswith(b"{") and rng.random() < 0.6:
        try:
            return json.dumps(changed_json(json.loads(body), rng)).encode("utf-8", "surrogatepass")
        except ValueError:
            pass
    return mutant_of(body, rng)


def mutant_head(head: bytes, rng: np.random.Generator) -> bytes:
    lines = head.split(b"\r\n")
    place, kind = int(rng.integers(len(lines))), int(rng.integers(4))
    if kind == 0:
        lines[place] = mutant_of(lines[place], rng).replace(b"\n", b"")
    elif kind == 1 and place:
        lines[place] = lines[place].partition(b":")[0] + b": " + chosen(rng, ODD_HEADERS).encode("latin-1")
    elif kind == 2 and place:
        del lines[place]
    else:
        known = (
            b"origin",
            b"authorization",
            b"accept",
            b"transfer-encoding",
            b"content-type",
            b"expect",
            b"traceparent",
        )
        lines.append(chosen(rng, known) + b": " + chosen(rng, ODD_HEADERS).encode("latin-1"))
    return b"\r\n".join(lines)


def answered(app: Application, request: bytes) -> tuple[int, bytes]:
    """What the application says to a request, read as leniently as can be."""
    head, _, body = request.partition(b"\r\n\r\n")
    first, *lines = head.decode("utf-8", "replace").split("\r\n")
    method, _, rest = first.partition(" ")
    path, _, query = rest.rpartition(" ")[0].partition("?")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    protocol = FakeProtocol([body])
    _loop().run_until_complete(app.__rsgi__(Scope(method, path, query, headers), protocol))
    return protocol.answered.status, protocol.answered.body


@cache
def _loop() -> asyncio.AbstractEventLoop:
    return asyncio.new_event_loop()


def check(status: int, body: bytes) -> None:
    """Raise unless an answer is one that may be given."""
    require(status in STATUSES and status != FAILED, f"status {status}: {body[:300]!r}")
    if status == 200 or not body:
        return
    told = json.loads(body)
    message = told["error"]["message"] if isinstance(told["error"], dict) else told["error"]
    require(bool(message) and "\n" not in message, f"the error is not one line: {message!r}")
