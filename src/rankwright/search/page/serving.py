"""The page served on loopback: on a port, with its first address told and, if wanted, opened in a browser."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from rankwright.errors import SettingError, require
from rankwright.search.page.access import TOKEN, PageAccess
from rankwright.search.page.application import PageSettings, SearchPage
from rankwright.search.page.place import ADDRESS, PORT, page_url
from rankwright.search.session import SearchSession
from rankwright.web.limits import Limits
from rankwright.web.server import ServerPlace, require_server, run_server

MOST_TRIED = 20  # ports above the usual one
LARGEST_FORM = 1 << 20
PATIENCE = 20.0  # seconds, for the server to answer before a browser is opened
END_SECONDS = 1.0  # for requests in hand at Ctrl-C; a judgment that was not answered yet waits in its browser


@dataclass(frozen=True, slots=True)
class PagePlace:
    """Where the page is served, and its first address."""

    port: int
    access: PageAccess

    @property
    def url(self) -> str:
        """The page's address, which says nothing."""
        return page_url(self.port)

    @property
    def first_url(self) -> str:
        """The address that lets a browser in."""
        return f"{self.url}?{TOKEN}={self.access.token}"


def page_place(port: int | None) -> PagePlace:
    """A port that is free: the one asked for, or by default the first from the usual one on."""
    require(port is None or 0 < port < 65536, f"a port lies between 1 and 65535, got {port}")
    wanted = [port] if port is not None else list(range(PORT, PORT + MOST_TRIED))
    found = next((one for one in wanted if _is_free(one)), None)
    if found is None:
        told = f"{port} is" if port is not None else f"{PORT} to {PORT + MOST_TRIED - 1} are"
        raise SettingError(f"port {told} taken: give another one with --port")
    return PagePlace(found, PageAccess(found))


def _is_free(port: int) -> bool:
    try:
        with socket.create_server((ADDRESS, port)):
            return True
    except OSError:
        return False


def serve_page(
    session: SearchSession, settings: PageSettings, place: PagePlace, ready: Callable[[], None] | None = None
) -> None:
    """Serve until Ctrl-C; `ready` is called when the page answers."""
    require_server()
    page = SearchPage(session, settings, place.access)
    if ready is not None:
        threading.Thread(target=_when_it_answers, args=(place.port, ready), daemon=True).start()
    run_server(page.application(), ServerPlace(ADDRESS, place.port), Limits(body=LARGEST_FORM), END_SECONDS)


def _when_it_answers(port: int, ready: Callable[[], None]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            with socket.create_connection((ADDRESS, port), timeout=1):
                ready()
                return
        except OSError:
            time.sleep(0.1)
