"""Requests that a process asks itself before others do, so that theirs find code and memory in place."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

TIMES = 5


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


@dataclass(slots=True)
class OwnExchange:
    """The body of such a request; nobody reads the answer."""

    body: bytes

    async def __call__(self) -> bytes:
        """The whole body."""
        return self.body

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
