"""How much a server takes from anybody at once."""

from __future__ import annotations

from dataclasses import dataclass, fields

from rankwright.errors import require

MIB = 2**20
DAY = 86_400.0  # seconds: the longest that a server waits for anything


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a client may ask for, and the longest that it may take to ask.

    A model states how many features a document has, so that documents and bytes bound all there is to decode.
    """

    body: int = 16 * MIB  # bytes
    documents: int = 10_000  # of a request
    seconds: float = 10.0  # for a body to arrive, and for a request to wait until it is its turn
    waiting: int = 64  # requests of a process that are there and wait; more are refused at once
    connections: int = 1024  # of a process
    header_seconds: float = 10.0  # for the first line and headers to arrive, and between two requests

    @property
    def bodies(self) -> int:
        """Bytes of bodies that a process holds: all that may wait, were they the largest."""
        return self.waiting * self.body

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            require(value > 0, f"the limit {one.name} must be above 0, got {value}")
        longest = max(self.seconds, self.header_seconds)
        require(longest <= DAY, f"the limit seconds must be {DAY:g} or less, got {longest:g}")
