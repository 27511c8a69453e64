"""A judge without a browser, and a server that is killed again and again: what was acknowledged must be in the store.

The server is forked from a process that has loaded everything, so that it starts at once and is killed often.
"""

from __future__ import annotations

import http.client
import multiprocessing
import os
import random
import signal
import socket
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.search.page_driver import free_port
from tests.search.small_collection import Searchable

from rankwright.judgments import JudgmentStore
from rankwright.search.page.access import PageAccess
from rankwright.search.page.application import PageSettings, SearchPage
from rankwright.search.rankers import open_rankers
from rankwright.search.session import SearchSession
from rankwright.text import open_index, read_queries
from rankwright.web.limits import Limits
from rankwright.web.server import ServerPlace, run_server

PATIENCE = 600.0  # seconds, on a machine that has much else to do
LONGEST_LIFE = 0.5  # seconds that a server lives after its first answer
FORM = "application/x-www-form-urlencoded"


class KilledServer:
    """The page on a port, in a process of its own."""

    def __init__(self, searchable: Searchable, store: Path) -> None:
        index = open_index(searchable.index)
        rankers = open_rankers([f"forest={searchable.model}", f"bm25f={searchable.tuned}"], index)
        self.access = PageAccess(free_port())
        self._session = SearchSession(index, rankers, threads=1)
        self._settings = PageSettings(str(store), "ann", read_queries(searchable.queries))
        self._process: Any = None

    def start(self) -> None:
        self._process = multiprocessing.get_context("fork").Process(target=self._serve)
        self._process.start()

    def _serve(self) -> None:
        os.setpgid(0, 0)  # so that the server and its worker are killed together
        page = SearchPage(self._session, self._settings, self.access)
        run_server(page.application(), ServerPlace("127.0.0.1", self.access.port), Limits())

    @property
    def is_alive(self) -> bool:
        return bool(self._process.is_alive())

    def kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.join()
        end = time.monotonic() + PATIENCE
        while not _is_free(self.access.port):  # its worker, which is nobody's child by now, may die a little later
            assert time.monotonic() < end, "the worker did not die"
            time.sleep(0.01)


def _is_free(port: int) -> bool:
    try:
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False


class Judge(threading.Thread):
    """Judges until it is told to stop; a judgment is sent again, under its key, until it is acknowledged."""

    def __init__(self, access: PageAccess) -> None:
        super().__init__(daemon=True)
        self.access, self.acknowledged = access, dict[str, float]()
        self.is_done, self.n_again = threading.Event(), 0

    def run(self) -> None:
        number = 0
        while not self.is_done.is_set():
            key, grade = f"k{number}", float(number % 5)
            while not self._sent(key, number, grade):
                self.n_again += 1
                time.sleep(0.01)
            self.acknowledged[f"page-{key}"] = grade
            number += 1

    def _sent(self, key: str, number: int, grade: float) -> bool:
        form = {"who": "ann", "query": f"q{number % 30}", "document": f"d{number}", "grade": f"{grade:.0f}", "key": key}
        host = f"127.0.0.1:{self.access.port}"
        headers = {"cookie": f"{self.access.cookie}={self.access.token}", "content-type": FORM,
                   "origin": f"http://{host}"}  # fmt: skip
        try:
            with closing(http.client.HTTPConnection(host, timeout=10)) as asks:
                asks.request("POST", "/judge", urlencode(form | {"q": "harbour", "depth": "1"}), headers)
                with asks.getresponse() as answer:
                    return answer.status == 303
        except (OSError, http.client.HTTPException):
            return False


def check_kills(searchable: Searchable, store: Path, n_kills: int) -> tuple[int, int]:
    """Kill the server so often while somebody judges; how many judgments were taken, and how often sent again."""
    rng, server = random.Random(0), KilledServer(searchable, store)
    judge = Judge(server.access)
    judge.start()
    for _ in range(n_kills):
        n_before = len(judge.acknowledged)
        server.start()
        end = time.monotonic() + PATIENCE
        while len(judge.acknowledged) == n_before:  # until this server has taken a judgment
            assert server.is_alive, "the server ended by itself"
            assert time.monotonic() < end, "the server does not take judgments"
            time.sleep(0.002)
        time.sleep(rng.uniform(0.0, LONGEST_LIFE))
        server.kill()
    server.start()
    judge.is_done.set()
    judge.join(60)
    server.kill()
    with JudgmentStore(store) as opened:
        kept = {one.identity: one.grade for one in opened.rows()}
    assert kept == judge.acknowledged
    return len(kept), judge.n_again
