"""What a server is asked and what it answers, as values; and what is wrong with a request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Protocol
from urllib.parse import parse_qsl

import msgspec

from rankwright.errors import RankwrightError
from rankwright.escapes import escaped_line

JSON = "application/json"
BINARY = "application/octet-stream"
TEXT = "text/plain; charset=utf-8"
RETRY_SECONDS = 1
LONGEST_MESSAGE = 1000  # letters of an error
Headers = tuple[tuple[str, str], ...]


class HeaderLookup(Protocol):
    """Headers of a request, by their names in lower case."""

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a header."""


@dataclass(slots=True)
class Request:
    """One request, whole; `noted` is what the access log and metrics are told of it."""

    method: str
    path: str
    query_string: str
    headers: HeaderLookup
    body: bytes = b""
    begun: bool = False  # whether somebody began to read the body
    arrived: bool = False  # and has read it whole
    held: int = 0  # bytes of it that have come
    parts: Mapping[str, str] = field(default_factory=dict)  # of the path, by the names in its template
    noted: dict[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """What the body is, such as application/json, without parameters."""
        kind: str = self.headers.get("content-type") or ""
        return kind.partition(";")[0].strip().lower()

    def options(self) -> dict[str, str]:
        """What stands after the question mark of the address, by name."""
        if not self.query_string:
            return {}
        pairs = parse_qsl(self.query_string, keep_blank_values=True, max_num_fields=50)
        found = dict(pairs)
        if len(found) != len(pairs):
            raise WebError(HTTPStatus.BAD_REQUEST, "the address names an option twice")
        return found


@dataclass(frozen=True, slots=True)
class Response:
    """An answer: its status, its body and what that is."""

    body: bytes
    status: int = 200
    kind: str = JSON
    headers: Headers = ()


class WebError(RankwrightError):
    """A request that is refused: its status, and one line that says where, what was found and what was wanted."""

    def __init__(self, status: int, message: str, headers: Headers = ()) -> None:
        super().__init__(escaped_line(message[:LONGEST_MESSAGE]))  # it may repeat what a stranger sent
        self.status, self.headers = int(status), headers


class BusyError(WebError):
    """A request that is refused because there are too many."""

    def __init__(self, message: str) -> None:
        retry = (("retry-after", str(RETRY_SECONDS)),)
        super().__init__(HTTPStatus.SERVICE_UNAVAILABLE, f"{message}: try later", retry)


def refused(error: WebError) -> Response:
    """What a client is told of an error: JSON with a code that programs know and a line for people."""
    return Response(
        msgspec.json.encode({"error": {"code": code_of(error.status), "message": str(error)}}),
        error.status,
        headers=error.headers,
    )


def code_of(status: int) -> str:
    """The name of a status in small letters, such as not_found."""
    return HTTPStatus(status).name.lower()


def as_json(value: Any, status: int = 200) -> Response:
    """A value as a JSON answer."""
    return Response(msgspec.json.encode(value), status)
