"""The server as it runs: several processes on one port, clients that are slow or gone, an end that cuts nobody off."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import rankwright as rw
from rankwright.client import RankClient, ServerRefusedError

RANKWRIGHT = str(Path(sys.executable).with_name("rankwright"))
METRICS = b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
TOKEN = "a-token-that-is-long"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@contextmanager
def serving(model: Path, *options: str, client: dict[str, Any] | None = None):
    port = free_port()
    command = [RANKWRIGHT, "serve", f"web={model}", "--port", str(port), *options]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    scheme = "https" if "--tls-key" in options else "http"
    try:
        with RankClient(f"{scheme}://127.0.0.1:{port}", **(client or {})) as asks:
            end = time.monotonic() + 60
            while not asks.is_ready() and time.monotonic() < end and server.poll() is None:
                time.sleep(0.05)
            yield server, port, asks
    finally:
        server.terminate()
        server.communicate(timeout=60)


@pytest.fixture(scope="module")
def running(model_file, tmp_path_factory):
    log = tmp_path_factory.mktemp("logs") / "access.jsonl"
    limits = ("--max-seconds", "1", "--max-body", "100000", "--max-waiting", "4", "--reload-seconds", "0")
    with serving(model_file, "--processes", "2", "--access-log", str(log), *limits) as found:
        yield (*found, log)


def test_answers_are_those_of_predict(running, model_file, query):
    _, _, client, log = running
    scores = rw.load(model_file).predict(query).tolist()
    for _ in range(20):
        assert client.rank(rows=query.features.tolist()).scores == scores
    assert client.rank_floats(query.features, top=3, explain=2).scores == scores
    documents = [dict(zip(query.names, row, strict=True)) for row in query.features.tolist()]
    assert client.rank(documents, ids=list(range(query.n_docs)), top=1).ids is not None
    assert client.rank(columns={name: query.features[:, place].tolist() for place, name in enumerate(query.names)})
    assert client.is_ready("web")
    assert not client.is_ready("other")
    with pytest.raises(ServerRefusedError, match="422: document 0 has 1 features, and web takes 4"):
        client.rank(rows=[[1.0]])
    time.sleep(0.6)
    assert json.loads(log.read_text().splitlines()[-1])["path"]


def test_metrics_add_up_over_processes(running, query):
    _, port, _, _ = running
    for _ in range(12):  # connections of their own, which either process may get
        with RankClient(f"http://127.0.0.1:{port}") as one:
            one.rank_floats(query.features)

    def counted() -> int:
        answer = sent(port, METRICS)
        line = next(line for line in answer.decode().splitlines() if 'rank",status="200"' in line)
        return int(line.split()[-1])

    first = counted()
    for _ in range(50):  # requests are counted after they are answered
        time.sleep(0.02)
        before, first = first, counted()
        if first == before:
            break
    assert first >= 12
    assert [counted() for _ in range(6)] == [first] * 6


def sent(port: int, content: bytes, wait: float = 5.0) -> bytes:
    """What comes back until the server closes, or nothing came for a while."""
    with socket.create_connection(("127.0.0.1", port), timeout=wait) as one:
        one.sendall(content)
        parts = []
        try:
            while part := one.recv(65536):
                parts.append(part)
        except TimeoutError:
            pass
        return b"".join(parts)


def test_slow_clients_are_cut_and_do_not_keep_others_waiting(running, query):
    _, port, client, _ = running
    head = b"POST /v1/rank HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{"
    answers: list[bytes] = []
    slow = [threading.Thread(target=lambda: answers.append(sent(port, head, 10))) for _ in range(20)]
    for one in slow:
        one.start()
    time.sleep(0.2)
    for _ in range(10):
        client.rank_floats(query.features)
    for one in slow:
        one.join()
    assert all(b" 408 " in answer for answer in answers)


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"POST /v1/rank HTTP/1.1\r\nHost: localhost\r\nContent-Length: 999999999\r\n\r\n", b" 413 "),
        (b"POST /v1/rank HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
         + b"ffff\r\n" + b"x" * 0xFFFF + b"\r\nffff\r\n" + b"x" * 0xFFFF + b"\r\n0\r\n\r\n", b" 413 "),
        (b"POST /v1/rank HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 2\r\n\r\n{}", b" 421 "),
        (b"\x16\x03\x01\x02\x00\x01\x00", b""),
        (b"GET /health HTTP/9.9\r\n\r\n", b"400"),
        (b"GET  HTTP/1.1\r\n\r\n", b"400"),
    ],
)  # fmt: skip
def test_nonsense_is_refused_and_the_server_goes_on(running, content, status):
    server, port, client, _ = running
    assert status in sent(port, content, 2)
    assert client.is_ready()
    assert server.poll() is None


def children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def eventually(holds, seconds: float = 30.0) -> bool:
    end = time.monotonic() + seconds
    while not holds() and time.monotonic() < end:
        time.sleep(0.05)
    return bool(holds())


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes where Linux has them")
def test_a_changed_model_is_taken_even_if_the_process_that_reads_is_killed(model_file, data, query, tmp_path):
    models = [rw.LambdaMART(n_trees=trees, seed=1).fit(data) for trees in (20, 30)]
    served = tmp_path / "served.rw"
    shutil.copy(model_file, served)
    with serving(served, "--reload-seconds", "0.1") as (server, port, client):
        (worker,) = children(server.pid)
        (reading,) = children(worker)
        for model in models:
            scores = model.predict(query).tolist()
            model.save(served)
            assert eventually(lambda scores=scores: client.rank_floats(query.features).scores == scores)
            if model is models[0]:
                served.write_bytes(b"no model")
                assert eventually(lambda: b'outcome="refused"} 1' in sent(port, METRICS))
                os.kill(reading, signal.SIGKILL)
    with serving(served) as (server, _, _):
        (worker,) = children(server.pid)
        (reading,) = children(worker)
        for pid in (server.pid, worker):
            os.kill(pid, signal.SIGKILL)
        assert eventually(lambda: not Path(f"/proc/{reading}").exists())


def test_who_is_being_answered_is_answered_before_the_end(model_file, query):
    with serving(model_file, "--reload-seconds", "0") as (server, port, client):
        client.rank_floats(query.features)
        body = query.features.tobytes()
        head = "POST /v1/rank HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/octet-stream\r\n"
        head += f"Content-Length: {len(body)}\r\n\r\n"
        with socket.create_connection(("127.0.0.1", port), timeout=10) as one:
            one.sendall(head.encode() + body[:100])
            time.sleep(0.2)
            server.send_signal(signal.SIGTERM)
            time.sleep(0.2)
            one.sendall(body[100:])
            assert b"200 OK" in one.recv(100)
        assert server.wait(timeout=30) == 0


def test_tokens_and_tls(model_file, query, tmp_path):
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here")
    key, certificate, tokens = tmp_path / "key.pem", tmp_path / "certificate.pem", tmp_path / "tokens"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*made, "-days", "2", *subject], check=True, capture_output=True)
    tokens.write_text(TOKEN + "\n")
    trusted = ssl.create_default_context(cafile=str(certificate))
    options = ("--tls-certificate", str(certificate), "--tls-key", str(key), "--tokens", str(tokens))
    with serving(model_file, *options, client={"token": TOKEN, "tls": trusted}) as (_, port, client):
        assert client.rank_floats(query.features).model == "web"
        with RankClient(f"https://127.0.0.1:{port}", tls=trusted) as stranger:
            assert stranger.is_ready()
            with pytest.raises(ServerRefusedError, match="401: a bearer token is wanted"):
                stranger.models()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--address", "0.0.0.0"], "give --tokens FILE, or --open"),
        (["--split", "web=0.5"], "add up to 1"),
        (["--interleave", "web"], "--interleave takes two models"),
        (["--shadow", "other"], "unknown model 'other'"),
        (["--keep-features"], "--keep-features goes with --journal"),
        (["--tls-key", "k"], "go together"),
        (["--tls-key", __file__, "--tls-certificate", __file__], "are not a certificate and its key"),
        (["--interleave", "web,other"], "--interleave goes with --journal"),
        (["--access-log", "none/access.jsonl"], "none/access.jsonl: no such file or directory"),
        (["--max-seconds", "inf"], "must be 86400 or less, got inf"),
        (["--reload-seconds", "inf"], "reload_seconds must be 0 to 86400, got inf"),
        (["--journal", "j", "--segment-seconds", "inf"], "segment_seconds must be above 0 and 86400 at most"),
        (["--journal", "j", "--click-window", "inf"], "click_window must be finite"),
        (["--address", "no.such.host.invalid", "--open"], "cannot be listened at"),
    ],
)
def test_wrong_settings_are_told_in_a_line(model_file, options, message, monkeypatch, capsys, tmp_path):
    from rankwright.cli.app import main

    monkeypatch.chdir(tmp_path)
    command = ["rankwright", "serve", f"web={model_file}", "--port", str(free_port()), *options]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    told = " ".join(capsys.readouterr().err.split())
    assert message in told
    assert "serving at" not in told
