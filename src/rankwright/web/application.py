"""From a request on the wire to an answer: limits, guard, route, handler; whatever happens, the answer is JSON.

This is an RSGI application, granian's own interface: a request is a task of one event loop, and a handler computes on
that loop, since handing a fifth of a millisecond of work to a thread costs as much again. A body that does not arrive
holds nothing but its own task.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
import secrets
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field, replace
from http import HTTPStatus
from time import perf_counter
from typing import Any

from rankwright.errors import RankwrightError
from rankwright.web.access_log import AccessLog
from rankwright.web.bodies import SMALL, Bodies
from rankwright.web.guard import Guard
from rankwright.web.limits import Limits
from rankwright.web.messages import BusyError, Request, Response, WebError, refused
from rankwright.web.metrics import Histogram, MetricBoard
from rankwright.web.routes import Route, Router
from rankwright.web.tracing import Tracing
from rankwright.web.turns import Turns
from rankwright.web.warm_up import OwnRequest, ask_by_wire, ask_itself

log = logging.getLogger(__name__)

CLOSE = ("connection", "close")
READ_SECONDS = 0.5  # how long a small body that nobody wants is waited for
STATUSES = (200, 400, 401, 403, 404, 405, 408, 409, 413, 415, 421, 422, 500, 501, 503)
ALWAYS = (("cache-control", "no-store"), ("x-content-type-options", "nosniff"))
UNROUTED = "none"  # what metrics call a request without a route


@dataclass(slots=True)
class Service:
    """What a server is made of: its routes, and what runs beside them in each process."""

    routes: Sequence[Route]
    _: KW_ONLY
    fork: Sequence[Callable[[], None]] = ()  # called in each process first, while it has no threads
    start: Sequence[Callable[[], None]] = ()  # called in each process before it takes requests
    stop: Sequence[Callable[[], None]] = ()  # and after the last one
    warm: Sequence[OwnRequest] = ()  # what each process asks itself first; it must leave nothing behind


@dataclass(slots=True)
class Shell:
    """What all servers share: limits, guard, log and metrics."""

    limits: Limits = field(default_factory=Limits)
    guard: Guard = field(default_factory=Guard)
    access_log: AccessLog = field(default_factory=lambda: AccessLog(None))
    board: MetricBoard = field(default_factory=MetricBoard)
    tracing: Tracing = field(default_factory=Tracing)


class Application:
    """Answers requests; granian calls it."""

    def __init__(self, service: Service, shell: Shell) -> None:
        self._service, self._shell = service, shell
        self._router = Router(service.routes)
        self._waiting, self._turns, self._bodies = 0, Turns(), Bodies(shell.limits)
        self.own_query = secrets.token_hex()  # of requests that a server asks itself, which nothing tells of
        board = shell.board
        names = [*(route.name for route in service.routes), UNROUTED]
        self._answered = {
            (name, status): board.counter(
                "rankwright_requests_total", "Requests answered.", (("route", name), ("status", str(status)))
            )
            for name in names
            for status in STATUSES
        }
        self._seconds: dict[str, Histogram] = {
            name: board.histogram(
                "rankwright_request_seconds", "Time from a request's headers to its answer.", (("route", name),)
            )
            for name in names
        }
        self._waiting_gauge = board.gauge("rankwright_requests_waiting", "Requests that are there whole and wait.")
        self._refused = board.counter("rankwright_requests_refused_total", "Requests refused for too much load.")

    def fork(self) -> None:
        """Begin the processes that stand beside this one; to be called while it has no threads."""
        for begin in self._service.fork:
            begin()

    def __rsgi_init__(self, loop: Any) -> None:
        """Prepare this process, before it takes requests."""
        del loop
        self._shell.board.start()
        with self._shell.board.unchanged():
            ask_itself(self.__rsgi__, self._service.warm)
        self._shell.access_log.start()
        self._shell.tracing.start()
        for begin in self._service.start:
            begin()

    def __rsgi_del__(self, loop: Any) -> None:
        """Finish what runs beside requests."""
        del loop
        for end in self._service.stop:
            end()
        self._shell.access_log.stop()

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        """Answer one request."""
        started = perf_counter()
        request = Request(scope.method, scope.path, scope.query_string, scope.headers)
        name = UNROUTED
        told: Callable[[WebError], Response] = refused
        try:
            self._shell.guard.check_place(request.headers.get("host") or scope.authority, request.headers)
            route, request.parts = self._router.find(request.method, request.path)
            name, told = route.name, route.refused
            response = await self._answer(route, request, protocol)
        except Exception as error:
            response = told(as_web_error(error))
            if request.method == "POST" and not request.arrived:
                response = await without_body(response, request, protocol)
        headers = [("content-type", response.kind), *ALWAYS, *response.headers]
        if request.method == "HEAD":
            protocol.response_empty(response.status, headers)
        else:
            protocol.response_bytes(response.status, headers, response.body)
        self._note(request, name, response, perf_counter() - started, scope.client)

    async def _answer(self, route: Route, request: Request, protocol: Any) -> Response:
        if not route.open:
            self._shell.guard.check_token(request.headers)
        if route.method != "POST":
            response = route.handler(request)
            return await response if inspect.isawaitable(response) else response
        started = perf_counter()
        try:
            self._require_place()  # before a large body is sent in vain
            await self._bodies.arrive(request, protocol)
            self._require_place()  # which a body on its way does not take
            return await self._in_place(route, request, started)
        except BusyError:
            self._shell.board.add(self._refused)
            raise
        finally:
            self._bodies.release(request)

    def _require_place(self) -> None:
        if self._waiting >= self._shell.limits.waiting:
            raise BusyError(f"{self._waiting} requests are waiting")

    async def _in_place(self, route: Route, request: Request, started: float) -> Response:
        """Answer a request that is there whole; meanwhile it counts as waiting."""
        self._wait(1)
        try:
            async with self._turns:
                if perf_counter() - started > self._shell.limits.seconds:
                    # Whoever asked has given up by now: work for those who still wait.
                    raise BusyError("the request waited too long")
                response = self._handled(route, request)
            return await response if inspect.isawaitable(response) else response
        finally:
            self._wait(-1)

    def _wait(self, more: int) -> None:
        self._waiting += more
        self._shell.board.set(self._waiting_gauge, self._waiting)

    def _handled(self, route: Route, request: Request) -> Response | Awaitable[Response]:
        if request.query_string != self.own_query:
            return route.handler(request)
        with self._shell.board.unchanged():
            return route.handler(request)

    def ask_by_wire(self, address: str, port: int) -> None:
        """Ask this process at its address what warms it up, as soon as it listens there; this call does not wait."""
        ask_by_wire(address, port, self.own_query, self._service.warm)

    def _note(self, request: Request, name: str, response: Response, seconds: float, client: str) -> None:
        if request.query_string == self.own_query:
            return
        place = self._answered.get((name, response.status))
        if place is not None:
            self._shell.board.add(place)
        self._seconds[name].observe(seconds)
        self._shell.access_log.tell(request, response.status, seconds, client, len(response.body))
        self._shell.tracing.tell(request, name, response.status, seconds)


async def without_body(response: Response, request: Request, protocol: Any) -> Response:
    """The answer to a request whose body was not read: a small one is read now, or else the connection must be closed.

    To close it while the client still sends would let some clients see a broken connection instead of the answer.
    """
    length = request.headers.get("content-length") or ""
    if not request.begun and length.isdigit() and int(length) <= SMALL:
        with suppress(TimeoutError):
            async with asyncio.timeout(READ_SECONDS):
                await protocol()
                return response
    return replace(response, headers=(*response.headers, CLOSE))


def as_web_error(error: Exception) -> WebError:
    """What a client is told: what it did wrong, or that we failed, which the log tells more of."""
    if isinstance(error, WebError):
        return error
    if isinstance(error, RankwrightError):
        return WebError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))
    log.error("a request failed", exc_info=error)
    return WebError(HTTPStatus.INTERNAL_SERVER_ERROR, "the server failed; its log says how")
