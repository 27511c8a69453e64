"""Who may use the page: whoever opened the address with the token, which then lives in a cookie; no other site.

Other programs of this machine reach a loopback address, too, and so does every page that a browser shows. The first
ones lack the cookie. Pages lack it where they are of other sites (SameSite), and what changes anything must come from
this page itself (Origin).
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from urllib.parse import urlsplit

from rankwright.web.guard import Guard
from rankwright.web.messages import HeaderLookup, WebError

TOKEN = "token"  # the name of the option in the first address
SAME_PAGE = ("same-origin", "none")  # what Sec-Fetch-Site may say of a request that changes something
NO_COOKIE = "open the address that `rankwright search --page` printed: this browser has not been let in yet"


@dataclass(frozen=True, slots=True)
class PageAccess:
    """The token of a server and the cookie in which a browser keeps it; other ports have cookies of other names."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))

    @property
    def cookie(self) -> str:
        """The cookie's name."""
        return f"rankwright-{self.port}"

    def cookie_header(self) -> tuple[str, str]:
        """What gives a browser the cookie: no script can read it, and no other site's form sends it."""
        return "set-cookie", f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Lax"

    def knows(self, token: str) -> bool:
        """Whether that is the token."""
        try:
            self._guard.check_token({"authorization": f"Bearer {token}"})
        except WebError:
            return False
        return True

    def check(self, headers: HeaderLookup) -> None:
        """Raise unless the browser has been let in."""
        try:
            found = SimpleCookie(headers.get("cookie") or "").get(self.cookie)
        except CookieError:
            found = None
        if found is None or not self.knows(found.value):
            raise WebError(HTTPStatus.UNAUTHORIZED, NO_COOKIE)

    def check_change(self, headers: HeaderLookup) -> None:
        """Raise unless a request that changes something comes from a page of this very server."""
        self.check(headers)
        origin, host = headers.get("origin"), headers.get("host") or ""
        site = headers.get("sec-fetch-site")
        own = origin is None or urlsplit(origin).netloc == host
        if not own or (site is not None and site not in SAME_PAGE):
            raise WebError(HTTPStatus.FORBIDDEN, "another page may not change anything here")

    @property
    def _guard(self) -> Guard:
        return Guard.for_address("127.0.0.1", hosts=(), origins=(), tokens=(self.token,), open=False)
