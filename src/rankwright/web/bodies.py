"""Bodies as they arrive: each within a time, and all that a process holds within one size.

Memory is bounded by what has come, not by how many wait or by what they announce: a client that sends little, or
slowly, holds little, and takes no place from others. Small bodies are read in one go, which costs least; as long as
they are on their way, it is the number of connections that bounds them.
"""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import Any

from rankwright.web.limits import Limits
from rankwright.web.messages import BusyError, Request, WebError

SMALL = 2**18  # bytes of a body that is read in one go


class Bodies:
    """The bodies that a process holds: those of requests that wait, and what has come of others."""

    def __init__(self, limits: Limits) -> None:
        self._limits, self._held = limits, 0

    async def arrive(self, request: Request, protocol: Any) -> None:
        """Read a request's whole body, if it is not too large and does not take too long; `release` it afterwards."""
        try:
            async with asyncio.timeout(self._limits.seconds):
                request.body = await self._whole(request, protocol)
        except TimeoutError:
            told = f"the body did not arrive within {self._limits.seconds:g} seconds"
            raise WebError(HTTPStatus.REQUEST_TIMEOUT, told) from None

    def release(self, request: Request) -> None:
        """Hold no more of this body, whether or not it has come whole."""
        self._held -= request.held
        request.held = 0

    async def _whole(self, request: Request, protocol: Any) -> bytes:
        length, most = request.headers.get("content-length"), self._limits.body
        if length is not None and (not length.isdigit() or int(length) > most):
            raise too_large(most)
        request.begun = True
        if length is not None and int(length) <= SMALL:
            try:
                small: bytes = await protocol()
            except Exception:
                raise broken_off() from None
            request.arrived = True
            self._hold(request, len(small))
            return small
        body = bytearray()
        async for part in protocol:
            self._hold(request, len(part))
            body += part
        if length is not None and len(body) != int(length):  # the server does not tell of it where there are parts
            raise broken_off()
        request.arrived = True
        return bytes(body)

    def _hold(self, request: Request, size: int) -> None:
        """Count bytes that have come, if there is room for them."""
        self._held += size
        request.held += size
        if request.held > self._limits.body:
            raise too_large(self._limits.body)
        if self._held > self._limits.bodies:
            raise BusyError(f"bodies of {self._limits.bodies:,} bytes are here already")


def too_large(most: int) -> WebError:
    """What a client is told whose body is larger than is taken."""
    return WebError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a body may have {most:,} bytes at most")


def broken_off() -> WebError:
    """What logs tell of a client that went away while it sent."""
    return WebError(HTTPStatus.BAD_REQUEST, "the body broke off")
