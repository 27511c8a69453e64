"""Who may ask: the Host that a request names, the page that it comes from, and its bearer token."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import os
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from rankwright.errors import FileFormatError, SettingError
from rankwright.web.messages import HeaderLookup, WebError

LOOPBACK_NAMES = ("localhost", "127.0.0.1", "::1")
SHORTEST_TOKEN = 16  # letters: fewer can be guessed
CHALLENGE = (("www-authenticate", "Bearer"),)


def is_loopback(address: str) -> bool:
    """Whether only this machine reaches an address."""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return address == "localhost"


def read_tokens(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """The tokens in a file, one a line; lines that begin with # are remarks."""
    lines = [line.strip() for line in Path(path).read_text().splitlines()]
    tokens = tuple(line for line in lines if line and not line.startswith("#"))
    if not tokens:
        raise FileFormatError(os.fspath(path), "holds no token: write one a line")
    for number, line in enumerate(lines, start=1):
        if line in tokens and (len(line) < SHORTEST_TOKEN or not line.isascii() or " " in line):
            raise FileFormatError(
                os.fspath(path), f"a token is {SHORTEST_TOKEN} or more ASCII letters without blanks", number
            )
    return tokens


@dataclass(frozen=True, slots=True)
class Guard:
    """Which hosts, pages and tokens are let in.

    `hosts` are the names that a request may call this server by; none means any. A page of a browser may ask only if it
    comes from one of them or from `origins`: without that, any page that a user opens could speak to a server on the
    user's own machine.
    """

    hosts: tuple[str, ...] = LOOPBACK_NAMES
    origins: tuple[str, ...] = ()
    token_digests: tuple[bytes, ...] = ()

    @classmethod
    def for_address(
        cls, address: str, *, hosts: tuple[str, ...], origins: tuple[str, ...], tokens: tuple[str, ...], open: bool
    ) -> Guard:
        """The guard of a server at that address; beyond this machine it wants tokens, unless `open` is said."""
        here = is_loopback(address)
        if not here and not tokens and not open:
            raise SettingError(
                f"other machines reach {address}: give --tokens FILE, or --open to let everybody in who reaches it"
            )
        names = (*LOOPBACK_NAMES, *hosts) if here or hosts else ()
        return cls(tuple(name.lower() for name in names), origins, tuple(map(_digest, tokens)))

    def check_place(self, host: str | None, headers: HeaderLookup) -> None:
        """Raise unless the request calls us by a name of ours, and no page of others sends it."""
        named = _host_name(f"//{host or ''}")
        if self.hosts and named not in self.hosts:
            raise WebError(
                HTTPStatus.MISDIRECTED_REQUEST, f"this server is not called {named!r}; --allow-host adds a name"
            )
        origin: str | None = headers.get("origin")
        if origin is None or origin in self.origins or (self.hosts and _host_name(origin) in self.hosts):
            return
        raise WebError(HTTPStatus.FORBIDDEN, f"pages of {origin!r} may not ask; --allow-origin lets them")

    def check_token(self, headers: HeaderLookup) -> None:
        """Raise unless there is a token among those known; how long that takes does not tell how near a guess is."""
        if not self.token_digests:
            return
        scheme, _, token = (headers.get("authorization") or "").partition(" ")
        digest = _digest(token.strip())
        # All are compared, so that time tells nothing of their order either.
        known = [hmac.compare_digest(digest, one) for one in self.token_digests]
        if scheme.lower() != "bearer" or not any(known):
            raise WebError(HTTPStatus.UNAUTHORIZED, "a bearer token is wanted: Authorization: Bearer TOKEN", CHALLENGE)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()


def _host_name(address: str) -> str:
    """The name in an address, in small letters, without user and port."""
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""
