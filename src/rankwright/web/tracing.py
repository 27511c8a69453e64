"""Spans of requests for OpenTelemetry, where its API is installed and somebody has set a tracer provider.

`opentelemetry-instrument rankwright serve …` sets one. Nothing is imported or done otherwise.
"""

from __future__ import annotations

import time
from importlib.util import find_spec
from typing import Any

from rankwright.web.messages import Request

SCOPE = "rankwright.web"
FIRST_ERROR = 500  # statuses from here on are failures of the server


class Tracing:
    """Tells of each request when it is answered; spans that the client is in are told by its headers."""

    def __init__(self) -> None:
        self._tracer: Any = None

    def start(self) -> None:
        """Find the tracer of this process."""
        if find_spec("opentelemetry") is None:
            return
        try:
            from opentelemetry import trace
        except ImportError:
            return
        provider = trace.get_tracer_provider()
        if not isinstance(provider, trace.ProxyTracerProvider | trace.NoOpTracerProvider):
            self._tracer = provider.get_tracer(SCOPE)

    def tell(self, request: Request, route: str, status: int, seconds: float) -> None:
        """Make the span of a request that has just been answered."""
        if self._tracer is None:
            return
        from opentelemetry.propagate import extract
        from opentelemetry.trace import SpanKind, Status, StatusCode

        end = time.time_ns()
        noted = {f"rankwright.{name}": value for name, value in request.noted.items()}
        about = {
            "http.request.method": request.method,
            "http.route": route.partition(" ")[2],
            "http.response.status_code": status,
            "url.path": request.path,
        }
        carrier = {name: request.headers.get(name) or "" for name in ("traceparent", "tracestate")}
        span = self._tracer.start_span(
            route,
            context=extract(carrier),
            kind=SpanKind.SERVER,
            start_time=end - round(seconds * 1e9),
            attributes=about | noted,
        )
        if status >= FIRST_ERROR:
            span.set_status(Status(StatusCode.ERROR))
        span.end(end)
