"""Which way from a socket to Python costs least for bodies of our sizes: granian's RSGI, ASGI and WSGI with threads,
and FastAPI on uvicorn.

Every server takes a body, makes float32 of it, adds up each row and answers with 100 numbers as JSON: what is around
scoring, without scoring. The server and `wrk` have a core each. What is told is requests a second and, since machines
are shared, the processor time that the server spent on a request.

    python -m benchmarks.serving.interfaces --seconds 5

FastAPI and uvicorn are no requirement of ours: `pip install fastapi uvicorn uvloop`.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.helpers.records import leave
from benchmarks.serving.load import Load, cpu_seconds, wait_until_open

N_FEATURES = 136
KINDS = ("rsgi", "asgi", "wsgi", "fastapi")


def answer(body: bytes) -> bytes:
    """The sum of each row, as JSON."""
    import msgspec

    rows = np.frombuffer(body, np.float32).reshape(-1, N_FEATURES)
    return msgspec.json.encode({"scores": rows.sum(axis=1)[:100].tolist()})


async def rsgi(scope: Any, protocol: Any) -> None:  # noqa: ARG001
    protocol.response_bytes(200, [("content-type", "application/json")], answer(await protocol()))


async def asgi(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] != "http":
        return
    parts, more = [], True
    while more:
        message = await receive()
        parts.append(message.get("body", b""))
        more = message.get("more_body", False)
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": answer(b"".join(parts))})


def wsgi(environ: Any, start_response: Any) -> list[bytes]:
    start_response("200 OK", [("content-type", "application/json")])
    return [answer(environ["wsgi.input"].read())]


def fastapi_app() -> Any:
    import fastapi

    app = fastapi.FastAPI()

    async def rank(request: fastapi.Request) -> fastapi.Response:
        return fastapi.Response(answer(await request.body()), media_type="application/json")

    rank.__annotations__ = {"request": fastapi.Request, "return": fastapi.Response}
    app.post("/")(rank)
    return app


def serve(kind: str, port: int) -> None:
    if kind == "fastapi":
        import uvicorn

        uvicorn.run(fastapi_app(), port=port, log_level="error", loop="uvloop", access_log=False)
        return
    from granian.constants import Interfaces
    from granian.server import Server

    more: dict[str, Any] = {"blocking_threads": 4} if kind == "wsgi" else {}
    Server(
        f"benchmarks.serving.interfaces:{kind}", port=port, interface=Interfaces(kind), log_enabled=False, **more
    ).serve()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--serve", choices=KINDS)
    parser.add_argument("--port", type=int, default=8731)
    args = parser.parse_args()
    if args.serve:
        serve(args.serve, args.port)
        return
    rows: list[dict[str, Any]] = []
    for n_docs in (10, 100, 500):
        body = np.zeros((n_docs, N_FEATURES), np.float32).tobytes()
        rows += [measured(kind, body, args.port, args.seconds) for kind in KINDS]
    print(f"{'body':>8} {'server':>8} {'per second':>10} {'µs of processor':>16} {'p50 ms':>7} {'p99 ms':>7}")
    for one in rows:
        print("{bytes:8} {server:>8} {rate:10.0f} {cpu_us:16.0f} {p50_ms:7.2f} {p99_ms:7.2f}".format(**one))
    leave("serving interfaces", "Which way from a socket to Python costs least?", rows=rows)


def measured(kind: str, body: bytes, port: int, seconds: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.serving.interfaces", "--serve", kind, "--port", str(port)]
    server = subprocess.Popen(["taskset", "-c", "0", *command])
    try:
        wait_until_open(port)
        with tempfile.TemporaryDirectory() as folder:
            load = Load(f"http://127.0.0.1:{port}/", body, "application/octet-stream", Path(folder))
            load.run(seconds=1)
            before = cpu_seconds(server.pid)
            found = load.run(seconds=seconds)
            spent = cpu_seconds(server.pid) - before
    finally:
        server.terminate()
        server.wait()
    found["cpu_us"] = spent / found["requests"] * 1e6
    return {"server": kind, "bytes": len(body)} | found


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
