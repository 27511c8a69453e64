"""Turns: requests compute one after another, and between two of them the event loop sees who has come meanwhile.

Without turns, all requests whose bodies are there would compute in one go, and a newcomer whom there is no room for
would hear of it only afterwards.
"""

from __future__ import annotations

import asyncio
from collections import deque


class Turns:
    """Who may compute now; the others wait in the order in which they came."""

    def __init__(self) -> None:
        self._taken = False
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        if not self._taken:
            self._taken = True
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._pass_on()  # the turn had just come
            raise

    async def __aexit__(self, *_: object) -> None:
        # Not at once: the loop goes round first, and sees who has come.
        asyncio.get_running_loop().call_soon(self._pass_on)

    def _pass_on(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._taken = False
