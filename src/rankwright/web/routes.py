"""Which function answers which address."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from http import HTTPStatus

from rankwright.web.messages import Request, Response, WebError, refused

LIST = "/openapi.json"  # which says what there is, where a server has it

Handler = Callable[[Request], Response | Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Route:
    """One address: a template such as /v2/models/{name}/infer, and who answers.

    Routes that are `open` want no token and are never refused for others' load: those that watch a server use them.
    `refused` tells a client what was wrong, in the form that clients of the route's protocol read.
    """

    method: str
    template: str
    handler: Handler
    open: bool = False
    refused: Callable[[WebError], Response] = refused

    @property
    def name(self) -> str:
        """What logs and metrics call it."""
        return f"{self.method} {self.template}"


class Router:
    """Routes found by the parts of their addresses."""

    def __init__(self, routes: Sequence[Route]) -> None:
        self.routes = tuple(routes)
        self._plain = {(route.method, route.template): route for route in routes if "{" not in route.template}
        self._templates = [(route.template.split("/"), route) for route in routes if "{" in route.template]

    def find(self, method: str, path: str) -> tuple[Route, dict[str, str]]:
        """The route of an address and the parts of its path that a template names."""
        asked = "GET" if method == "HEAD" else method
        plain = self._plain.get((asked, path))
        if plain is not None:
            return plain, {}
        allowed = {route.method for route in self.routes if route.template == path}
        for template, route in self._templates:
            parts = _matched(template, path.split("/"))
            if parts is not None:
                if route.method == asked:
                    return route, parts
                allowed.add(route.method)
        if not allowed:
            listed = f"; {LIST} lists what is" if ("GET", LIST) in self._plain else ""
            raise WebError(HTTPStatus.NOT_FOUND, f"nothing is at {path!r}{listed}")
        names = ", ".join(sorted(allowed))
        raise WebError(HTTPStatus.METHOD_NOT_ALLOWED, f"{path} takes {names}, not {method}", (("allow", names),))


def _matched(template: list[str], path: list[str]) -> dict[str, str] | None:
    if len(template) != len(path):
        return None
    parts: dict[str, str] = {}
    for wanted, found in zip(template, path, strict=True):
        if wanted.startswith("{"):
            parts[wanted[1:-1]] = found
        elif wanted != found:
            return None
    return parts
