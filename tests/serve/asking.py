"""Requests to an application without a network: what granian would hand over, as plain objects."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

from rankwright.web.application import Application


@dataclass
class Scope:
    method: str
    path: str
    query_string: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    authority: str | None = None
    client: str = "127.0.0.1:1"
    proto: str = "http"


@dataclass
class Answered:
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def message(self) -> str:
        error = self.json()["error"]  # a text in the Open Inference Protocol
        return str(error if isinstance(error, str) else error["message"])


class FakeProtocol:
    """A body that arrives in parts, after a while, not whole, or never."""

    def __init__(self, parts: list[bytes], delay: float = 0.0, *, breaks: bool = False) -> None:
        self._parts, self._delay, self._breaks, self.answered = parts, delay, breaks, Answered()

    async def __call__(self) -> bytes:
        if self._breaks:
            raise RuntimeError("transport is closed")
        if self._delay:
            await asyncio.sleep(self._delay)
        return b"".join(self._parts)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for part in self._parts:
            if self._delay:
                await asyncio.sleep(self._delay)
            yield part

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.answered = Answered(status, dict(headers), body)

    def response_empty(self, status: int, headers: list[tuple[str, str]]) -> None:
        self.answered = Answered(status, dict(headers))


async def asked_async(
    app: Application,
    method: str,
    path: str,
    body: bytes | dict[str, Any] = b"",
    *,
    headers: dict[str, str] | None = None,
    delay: float = 0.0,
    parts: list[bytes] | None = None,
    breaks: bool = False,
) -> Answered:
    sent = json.dumps(body).encode() if isinstance(body, dict) else body
    address, _, query = path.partition("?")
    given = {"host": "localhost"} | ({} if parts is not None else {"content-length": str(len(sent))})
    protocol = FakeProtocol([sent] if parts is None else parts, delay, breaks=breaks)
    await app.__rsgi__(Scope(method, address, query, given | (headers or {})), protocol)
    return protocol.answered


def asked(app: Application, method: str, path: str, body: bytes | dict[str, Any] = b"", **how: Any) -> Answered:
    return asyncio.run(asked_async(app, method, path, body, **how))
