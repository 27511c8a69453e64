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
from rankwright.web.guard import Guard
from rankwright.web.limits import Limits
from rankwright.web.messages import Request, Response, WebError, refused
from rankwright.web.metrics import Histogram, MetricBoard
from rankwright.web.routes import Route, Router
from rankwright.web.tracing import Tracing
from rankwright.web.turns import Turns
from rankwright.web.warm_up import OwnRequest, ask_by_wire, ask_itself

log = logging.getLogger(__name__)

RETRY_SECONDS = 1
RETRY = (("retry-after", str(RETRY_SECONDS)),)
CLOSE = ("connection", "close")
READ_ANYWAY, READ_SECONDS = 2**18, 0.5  # bytes of a body that nobody wants, and how long they are waited for
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
        self._waiting, self._turns = 0, Turns()
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
        self._waiting_gauge = board.gauge("rankwright_requests_waiting", "Requests that arrive or wait for their turn.")
        self._refused = board.counter("rankwright_requests_refused_total", "Requests refused because too many waited.")

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
        limits, board = self._shell.limits, self._shell.board
        if self._waiting >= limits.waiting:
            board.add(self._refused)
            raise WebError(HTTPStatus.SERVICE_UNAVAILABLE, f"{self._waiting} requests are waiting: try later", RETRY)
        self._waiting += 1
        board.set(self._waiting_gauge, self._waiting)
        started = perf_counter()
        try:
            request.body = await arrived_body(request, protocol, limits)
            request.arrived = True
            async with self._turns:
                if perf_counter() - started > limits.seconds:
                    # Whoever asked has given up by now: work for those who still wait.
                    raise WebError(HTTPStatus.SERVICE_UNAVAILABLE, "the request waited too long: try later", RETRY)
                response = self._handled(route, request)
            return await response if inspect.isawaitable(response) else response
        finally:
            self._waiting -= 1
            board.set(self._waiting_gauge, self._waiting)

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


async def arrived_body(request: Request, protocol: Any, limits: Limits) -> bytes:
    """The whole body, if it is not too large and does not take too long to arrive."""
    length = request.headers.get("content-length")
    try:
        async with asyncio.timeout(limits.seconds):
            if length is None:
                return await _collected(protocol, limits.body)
            if not length.isdigit() or int(length) > limits.body:
                raise too_large(limits.body)
            body: bytes = await protocol()
            return body
    except TimeoutError:
        told = f"the body did not arrive within {limits.seconds:g} seconds"
        raise WebError(HTTPStatus.REQUEST_TIMEOUT, told) from None


async def _collected(protocol: Any, most: int) -> bytes:
    """A body that does not say how long it is."""
    parts, size = [], 0
    async for part in protocol:
        parts.append(part)
        size += len(part)
        if size > most:
            raise too_large(most)
    return b"".join(parts)


def too_large(most: int) -> WebError:
    """What a client is told whose body is larger than is taken."""
    return WebError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body may have {most:,} bytes at most")


async def without_body(response: Response, request: Request, protocol: Any) -> Response:
    """The answer to a request whose body nobody has read: a small one is read, or else the connection must be closed.

    To close it while the client still sends would let some clients see a broken connection instead of the answer.
    """
    length = request.headers.get("content-length") or ""
    if response.status != HTTPStatus.REQUEST_TIMEOUT and length.isdigit() and int(length) <= READ_ANYWAY:
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
