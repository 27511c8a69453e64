"""Requests that a process asks itself before others do, so that theirs find code and memory in place."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

TIMES = 5
WIRE_SECONDS, ANSWER_SECONDS = 10.0, 1.0  # to begin to listen, and to answer
BODY = 2**16  # bytes, as many as a query's documents may have
ANYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # addresses to listen at, and where this machine reaches them


@dataclass(frozen=True, slots=True)
class OwnRequest:
    """A request as it would come over the wire."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    query_string: str = ""
    authority: str | None = None
    client: str = ""


# Nothing takes a POST there, but its body is read: for servers that have nothing better to ask themselves.
REFUSED = OwnRequest("POST", "/health", body=bytes(BODY))


@dataclass(slots=True)
class OwnExchange:
    """The body of such a request; nobody reads the answer."""

    body: bytes

    async def __call__(self) -> bytes:
        """The whole body."""
        return self.body

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The body as it arrives."""
        yield self.body

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """Take the answer."""

    def response_empty(self, status: int, headers: list[tuple[str, str]]) -> None:
        """Take an answer without a body."""


def ask_itself(answer: Callable[[Any, Any], Awaitable[None]], requests: Sequence[OwnRequest]) -> None:
    """Have an application answer these some times, on a loop of a thread that ends with it."""

    async def asked() -> None:
        for request in [*requests] * TIMES:
            length = {"content-length": str(len(request.body))}
            await answer(
                OwnRequest(request.method, request.path, {"host": "localhost", **length, **request.headers}),
                OwnExchange(request.body),
            )

    thread = threading.Thread(target=lambda: asyncio.run(asked()), name="warm-up")
    thread.start()
    thread.join()


def ask_by_wire(address: str, port: int, query: str, requests: Sequence[OwnRequest]) -> None:
    """Have the server at an address answer these some times as soon as it listens; this call does not wait.

    What stands between the wire and the application is slow at first, too, and so is its own thread. `query` tells the
    application that a request is its own. Where it wants a token it refuses them, which warms up most of the way.
    """
    whole = [by_wire(one, query) for one in requests or [REFUSED]] * TIMES
    place = ANYWHERE.get(address, address), port

    def asked() -> None:
        end, left = time.monotonic() + WIRE_SECONDS, list(whole)
        while left and time.monotonic() < end:
            try:
                with socket.create_connection(place, timeout=ANSWER_SECONDS) as one:
                    one.sendall(left[-1])
                    while one.recv(2**16):
                        pass
                left.pop()
            except OSError:  # not yet
                time.sleep(0.01)

    threading.Thread(target=asked, name="warm-up by wire", daemon=True).start()


def by_wire(request: OwnRequest, query: str) -> bytes:
    """A request as its bytes."""
    headers = {"host": "localhost", "connection": "close", "content-length": str(len(request.body)), **request.headers}
    lines = [f"{request.method} {request.path}?{query} HTTP/1.1", *(f"{name}: {headers[name]}" for name in headers)]
    return "\r\n".join([*lines, "", ""]).encode() + request.body
