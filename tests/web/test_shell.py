"""The shell: who is let in, how much is taken, and that whatever happens is answered in JSON."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.serve.asking import asked, asked_async

from rankwright.errors import FileFormatError, InputError, SettingError
from rankwright.web.access_log import AccessLog
from rankwright.web.application import Application, Service, Shell
from rankwright.web.guard import Guard, is_loopback, read_tokens
from rankwright.web.limits import Limits
from rankwright.web.messages import Request, Response, as_json
from rankwright.web.metrics import MetricBoard, labels_text
from rankwright.web.routes import Route
from rankwright.web.server import ServerPlace, run_server
from rankwright.web.turns import Turns
from rankwright.web.warm_up import BODY, TIMES, ask_by_wire

TOKENS = ("first-token-of-all", "second-token-of-all")


def echo(request: Request) -> Response:
    request.noted["documents"] = 7
    return as_json({"bytes": len(request.body), "parts": dict(request.parts)})


def fail(_: Request) -> Response:
    raise ZeroDivisionError("secret")


def refuse(_: Request) -> Response:
    raise InputError("that is no input")


async def later(request: Request) -> Response:
    await asyncio.sleep(0.01)
    return echo(request)


def made(**parts) -> Application:
    routes = [
        Route("POST", "/echo", echo),
        Route("POST", "/later", later),
        Route("POST", "/fail", fail),
        Route("POST", "/refuse", refuse),
        Route("GET", "/echo", echo),
        Route("GET", "/things/{name}/of/{kind}", echo),
        Route("GET", "/health", echo, open=True),
    ]
    shell = Shell(**parts)
    app = Application(Service(routes), shell)
    shell.board.open()
    shell.access_log.start()
    return app


def test_addresses_lead_to_their_handlers():
    app = made()
    assert asked(app, "POST", "/echo", b"abc").json()["bytes"] == 3
    assert asked(app, "GET", "/things/a b/of/c").json()["parts"] == {"name": "a b", "kind": "c"}
    assert asked(app, "GET", "/nothing").status == 404
    wrong = asked(app, "PUT", "/echo")
    assert (wrong.status, wrong.headers["allow"]) == (405, "GET, POST")
    assert asked(app, "POST", "/later", b"abc").json()["bytes"] == 3


def test_our_own_failures_tell_nothing_of_the_inside():
    answer = asked(made(), "POST", "/fail")
    assert answer.status == 500
    assert "secret" not in answer.message
    assert asked(made(), "POST", "/refuse").message == "that is no input"


class TestGuard:
    def test_a_server_here_is_called_by_names_of_here(self):
        app = made()
        for host in ("localhost", "127.0.0.1:8000", "[::1]:80", "LOCALHOST:1"):
            assert asked(app, "GET", "/health", headers={"host": host}).status == 200
        for host in ("evil.example", "", "127.0.0.1.evil.example", "localhost@evil.example", "[::1"):
            assert asked(app, "GET", "/health", headers={"host": host}).status == 421

    def test_pages_of_others_may_not_ask(self):
        app = made()
        assert asked(app, "GET", "/health", headers={"origin": "http://localhost:3000"}).status == 200
        for origin in ("https://evil.example", "null", "http://localhost.evil.example"):
            assert asked(app, "GET", "/health", headers={"origin": origin}).status == 403
        guard = Guard.for_address("127.0.0.1", hosts=(), origins=("https://a.example",), tokens=(), open=False)
        assert asked(made(guard=guard), "GET", "/health", headers={"origin": "https://a.example"}).status == 200

    def test_a_token_is_wanted_where_there_are_any(self):
        guard = Guard.for_address("0.0.0.0", hosts=(), origins=(), tokens=TOKENS, open=False)
        app = made(guard=guard)
        for token in TOKENS:
            for scheme in ("Bearer", "bearer"):
                assert asked(app, "GET", "/echo", headers={"authorization": f"{scheme} {token}"}).status == 200
        for value in ("", "Bearer", "Bearer x", f"Basic {TOKENS[0]}", TOKENS[0], f"Bearer {TOKENS[0]}x"):
            answer = asked(app, "GET", "/echo", headers={"authorization": value})
            assert answer.status == 401
            assert answer.headers["www-authenticate"] == "Bearer"

    def test_other_machines_need_tokens_or_an_open_door(self):
        with pytest.raises(SettingError, match="give --tokens FILE, or --open"):
            Guard.for_address("0.0.0.0", hosts=(), origins=(), tokens=(), open=False)
        assert Guard.for_address("0.0.0.0", hosts=(), origins=(), tokens=(), open=True).hosts == ()
        assert is_loopback("127.0.0.9")
        assert not is_loopback("example.org")

    def test_tokens_are_read_from_a_file(self, tmp_path):
        path = tmp_path / "tokens"
        path.write_text(f"# ours\n{TOKENS[0]}\n\n{TOKENS[1]}\n")
        assert read_tokens(path) == TOKENS
        for text, problem in (("", "holds no token"), ("# x\n", "holds no token"), ("short\n", ":1: a token is 16")):
            path.write_text(text)
            with pytest.raises(FileFormatError, match=problem):
                read_tokens(path)


class TestLimits:
    def test_a_large_body_is_refused_whether_it_says_so_or_not(self):
        app = made(limits=Limits(body=10))
        assert asked(app, "POST", "/echo", b"x" * 10).status == 200
        assert asked(app, "POST", "/echo", b"x" * 11).status == 413
        assert asked(app, "POST", "/echo", headers={"content-length": "9" * 30}).status == 413
        assert asked(app, "POST", "/echo", headers={"content-length": "-1"}).status == 413
        assert asked(app, "POST", "/echo", parts=[b"x" * 5, b"x" * 5]).status == 200
        assert asked(app, "POST", "/echo", parts=[b"x" * 5, b"x" * 6]).status == 413

    def test_a_slow_body_is_cut(self):
        app = made(limits=Limits(seconds=0.05))
        answer = asked(app, "POST", "/echo", b"x", delay=5)
        assert (answer.status, answer.headers["connection"]) == (408, "close")
        assert asked(app, "POST", "/echo", parts=[b"x"] * 100, delay=0.01).status == 408

    def test_a_body_that_nobody_wants_is_read_or_the_connection_is_closed(self):
        app = made()
        small = asked(app, "POST", "/nothing", b"x" * 1000)
        assert (small.status, small.headers.get("connection")) == (404, None)
        for how in ({"parts": [b"x"] * 3}, {"headers": {"content-length": "300000"}}, {"body": b"x", "delay": 5}):
            told = asked(app, "POST", "/nothing", **how)
            assert (told.status, told.headers["connection"]) == (404, "close")

    def test_who_comes_when_too_many_wait_is_refused_at_once(self):
        app = made(limits=Limits(waiting=2))

        async def several():
            taken = [asyncio.create_task(asked_async(app, "POST", "/later", b"x")) for _ in range(2)]
            await asyncio.sleep(0)
            refused = await asked_async(app, "POST", "/echo", b"x")
            watched = await asked_async(app, "GET", "/health")
            return refused, watched, await asyncio.gather(*taken), await asked_async(app, "POST", "/echo", b"x")

        refused, watched, taken, after = asyncio.run(several())
        assert (refused.status, refused.headers["retry-after"]) == (503, "1")
        assert watched.status == after.status == 200
        assert [one.status for one in taken] == [200, 200]

    def test_bodies_on_their_way_take_no_place(self):
        app = made(limits=Limits(waiting=1, seconds=0.05))

        async def several():
            ways: list[dict[str, Any]] = [{}, {"parts": [b"x"] * 100}, {"headers": {"content-length": "300000"}}]
            slow = [asyncio.create_task(asked_async(app, "POST", "/echo", b"x", delay=5, **how)) for how in ways]
            await asyncio.sleep(0.01)
            good = [await asked_async(app, "POST", "/echo", b"x") for _ in range(10)]
            return good, await asyncio.gather(*slow)

        good, slow = asyncio.run(several())
        assert {one.status for one in good} == {200}
        assert {one.status for one in slow} == {408}

    @pytest.mark.parametrize("size", [1000, 300_000])
    def test_a_body_that_breaks_off_is_not_taken_for_a_whole_one(self, size, caplog):
        """A server tells of it by an exception, or only by fewer bytes than were announced."""
        app = made()
        how: dict[str, Any] = {"parts": [b"x" * 500], "breaks": True, "headers": {"content-length": str(size)}}
        answer = asked(app, "POST", "/echo", **how)
        assert (answer.status, answer.message, answer.headers["connection"]) == (400, "the body broke off", "close")
        assert not caplog.records

    @pytest.mark.parametrize(
        ("how", "connection"), [({"body": b"x" * 8}, None), ({"parts": [b"x" * 8, b"x"]}, "close")]
    )
    def test_bodies_have_so_much_memory_together(self, how, connection):
        app = made(limits=Limits(waiting=2, body=10))

        async def several():
            parts: dict[str, Any] = {"parts": [b"x" * 8, b"x"], "delay": 0.02}
            first = [asyncio.create_task(asked_async(app, "POST", "/echo", **parts)) for _ in range(2)]
            one_more = await asked_async(app, "POST", "/echo", **how, delay=0.03)
            return one_more, await asyncio.gather(*first), await asked_async(app, "POST", "/echo", b"x" * 10)

        for _ in range(2):  # the second time, too, all memory is there
            refused, taken, after = asyncio.run(several())
            assert (refused.status, refused.headers.get("connection")) == (503, connection)
            assert refused.message == "bodies of 20 bytes are here already: try later"
            assert [one.status for one in (*taken, after)] == [200] * 3

    def test_who_is_refused_hears_of_it_while_others_still_compute(self):
        order, newcomers = list[int | str](), list[asyncio.Future[None]]()

        async def come():
            status = (await asked_async(app, "POST", "/compute", b"x")).status
            order.append(status)

        def compute(request):
            order.append("computed")
            if not newcomers:  # they come while the first one computes
                newcomers.extend(asyncio.ensure_future(come()) for _ in range(3))
            return echo(request)

        app = Application(Service([Route("POST", "/compute", compute)]), Shell(limits=Limits(waiting=3)))
        app._shell.board.open()

        async def several():
            bodies = [asked_async(app, "POST", "/compute", b"x", delay=0.01) for _ in range(3)]
            first = await asyncio.gather(*bodies)
            await asyncio.gather(*newcomers)
            return [one.status for one in first]

        assert asyncio.run(several()) == [200] * 3
        assert order.count(503) == 2
        assert order[:4].count("computed") < 3

    def test_a_turn_that_is_given_up_passes_on(self):
        turns, done = Turns(), list[int | str]()

        async def compute(name, seconds=0.0):
            async with turns:
                await asyncio.sleep(seconds)
                done.append(name)

        async def several():
            tasks = [asyncio.create_task(compute(number, 0.01)) for number in range(4)]
            await asyncio.sleep(0)
            tasks[1].cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await compute("later")

        asyncio.run(several())
        assert done == [0, 2, 3, "later"]

    def test_no_limit_is_nothing(self):
        with pytest.raises(SettingError, match="the limit body must be above 0"):
            Limits(body=0)


def test_the_access_log_has_what_was_asked_and_no_contents(tmp_path):
    path = tmp_path / "access.jsonl"
    log = AccessLog(str(path))
    app = made(access_log=log)
    asked(app, "POST", "/echo?secret=1", b"secret")
    asked(app, "GET", "/nothing")
    log.stop()
    first, second = map(json.loads, path.read_text().splitlines())
    assert (first["path"], first["status"], first["bytes_in"], first["documents"]) == ("/echo", 200, 6, 7)
    assert second["status"] == 404
    assert "secret" not in path.read_text()


def test_nothing_tells_of_what_a_server_asks_itself(tmp_path):
    log = AccessLog(str(tmp_path / "access.jsonl"))
    app = made(access_log=log, board=(board := MetricBoard()))
    before = board.text()
    assert asked(app, "POST", f"/health?{app.own_query}", b"a body that is read").status == 405
    assert asked(app, "POST", f"/echo?{app.own_query}", b"a body").status == 200
    assert board.text() == before
    log.stop()
    assert not (tmp_path / "access.jsonl").read_text()
    assert made().own_query != app.own_query  # strangers cannot guess it


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0"])
def test_a_server_is_asked_by_wire_as_soon_as_it_listens(address):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    ask_by_wire(address, port, "own", ())  # nobody listens yet
    time.sleep(0.05)
    heard = []
    with socket.create_server((address, port)) as server:
        server.settimeout(10)
        for _ in range(TIMES):
            one, _ = server.accept()
            with one, one.makefile("rb") as file:
                head = list(iter(file.readline, b"\r\n"))
                heard.append((head[0].strip(), len(file.read(BODY))))
    assert heard == [(b"POST /health?own HTTP/1.1", BODY)] * TIMES


@given(st.lists(st.floats(0, 20), max_size=30))
def test_a_histogram_counts_what_is_at_most_each_bound(values):
    board = MetricBoard()
    histogram = board.histogram("seconds", "Time.", buckets=(0.1, 1.0, 10.0))
    board.open()
    for value in values:
        histogram.observe(value)
    told = {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in board.text().splitlines()[2:]}
    for bound in ("0.1", "1", "10", "+Inf"):
        wanted = sum(value <= float(bound.replace("+Inf", "inf")) for value in values)
        assert told[f'seconds_bucket{{le="{bound}"}}'] == wanted
    assert told["seconds_sum"] == pytest.approx(sum(values))


def test_processes_add_up_and_a_new_one_takes_the_row_of_one_that_is_gone(monkeypatch):
    board = MetricBoard(2)
    place = board.counter("things", "Things.")
    board.open()
    alive: set[int] = set()
    monkeypatch.setattr("rankwright.web.metrics._is_alive", alive.__contains__)
    for pid in (11, 12):
        monkeypatch.setattr("os.getpid", lambda pid=pid: pid)
        board.start()
        alive.add(pid)
        board.add(place, pid)
    alive.remove(11)
    monkeypatch.setattr("os.getpid", lambda: 13)
    board.start()
    board.add(place)
    assert board.total(place).tolist() == [11 + 12 + 1]


def test_labels_are_escaped():
    assert labels_text((("a", 'x"\\\n'),)) == '{a="x\\"\\\\\\n"}'


@pytest.mark.parametrize(("patience", "seconds"), [(None, 4.0), (1.0, 1.0)])
def test_a_server_that_is_told_to_end_waits_no_longer_than_its_patience(monkeypatch, patience, seconds):
    """Who has begun a request and does not go on would otherwise be waited for."""
    server = pytest.importorskip("granian.server")
    told = {}

    class Granian:
        def __init__(self, *_, **settings):
            told.update(settings)

        def serve(self, **_):
            """Serve nothing."""

    monkeypatch.setattr(server, "Server", Granian)
    monkeypatch.setattr("multiprocessing.set_start_method", lambda *_, **__: None)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    run_server(None, ServerPlace(port=port), Limits(seconds=3.0), patience)
    assert told["workers_kill_timeout"] == seconds
