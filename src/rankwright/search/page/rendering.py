"""Templates into answers: HTML in which texts of strangers are text, under a policy that runs no script but ours."""

from __future__ import annotations

import secrets
from functools import lru_cache
from importlib.resources import files
from typing import Any

from rankwright.errors import MissingExtraError
from rankwright.web.messages import Headers, Response, WebError

HTML = "text/html; charset=utf-8"
ASSETS = files("rankwright.search.page") / "assets"
REPORT_ASSETS = files("rankwright.report.page") / "assets"
STYLES = (REPORT_ASSETS / "theme.css", ASSETS / "page.css", ASSETS / "results.css", ASSETS / "judge.css")
SCRIPTS = ("early.js", "page.js", "lines.js", "judge.js")
MINUS = "−"  # as wide as a plus
KINDS = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
SAFE: Headers = (
    ("content-security-policy", POLICY),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
    ("x-frame-options", "DENY"),
)


def require_templates() -> None:
    """Raise unless what makes pages is installed."""
    try:
        import jinja2
    except ImportError:
        raise MissingExtraError("the page", "jinja2", "search") from None
    del jinja2


@lru_cache(maxsize=1)
def _templates() -> Any:
    import jinja2

    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(lambda name: (ASSETS / name).read_text("utf-8")),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["number"] = number_text
    made.filters["signed"] = signed_text
    made.globals["fresh_id"] = lambda: secrets.token_hex(16)
    return made


def number_text(value: float | None) -> str:
    """A number as people read it in a list."""
    if value is None or value != value:
        return "missing"
    return (f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}").replace("-", MINUS)


def signed_text(value: float, places: int | None = None) -> str:
    """A difference: so many places behind the point, or three digits; one that is none has no sign."""
    told = f"{value:+.3g}" if places is None else f"{value:+.{places}f}"
    return told.lstrip("+-") if not float(told) else told.replace("-", MINUS)


def html(template: str, status: int = 200, headers: Headers = (), **values: Any) -> Response:
    """A page."""
    text = _templates().get_template(template).render(**values)
    return Response(text.encode("utf-8", "replace"), status, HTML, (*SAFE, *headers))


def redirected(address: str, headers: Headers = ()) -> Response:
    """An answer that leads to another address of this server."""
    return Response(b"", 303, HTML, (("location", address), *SAFE, *headers))


def fault_page(error: WebError) -> Response:
    """What went wrong, for people."""
    return html("fault.html.j2", error.status, error.headers, code=error.status, message=str(error))


@lru_cache(maxsize=len(SCRIPTS) + 1)
def asset(name: str) -> Response | None:
    """A style or a script; None where there is no such."""
    if name == "page.css":
        body = "\n".join(one.read_text("utf-8") for one in STYLES)
    elif name in SCRIPTS:
        body = (ASSETS / name).read_text("utf-8")
    else:
        return None
    return Response(body.encode(), 200, KINDS[name.rpartition(".")[2]], SAFE)
