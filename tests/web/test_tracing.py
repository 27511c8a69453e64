"""Requests become spans where a tracer provider is set, below the span that the client names."""

from __future__ import annotations

import pytest
from tests.serve.asking import asked
from tests.web.test_shell import made

trace = pytest.importorskip("opentelemetry.trace")
sdk = pytest.importorskip("opentelemetry.sdk.trace")
memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
export = pytest.importorskip("opentelemetry.sdk.trace.export")

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def spans(monkeypatch):
    exporter, provider = memory.InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(export.SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    return exporter


def started():
    app = made()
    app.__rsgi_init__(None)
    return app


def test_a_request_is_a_span_below_that_of_its_client(spans):
    app = started()
    asked(app, "POST", "/echo?secret=1", b"secret", headers={"traceparent": PARENT})
    asked(app, "POST", "/fail")
    asked(app, "GET", "/nothing")
    first, failed, unknown = spans.get_finished_spans()
    assert (first.name, first.kind) == ("POST /echo", trace.SpanKind.SERVER)
    assert format(first.context.trace_id, "032x") == PARENT.split("-")[1]
    assert format(first.parent.span_id, "016x") == PARENT.split("-")[2]
    assert first.attributes["http.response.status_code"] == 200
    assert first.attributes["rankwright.documents"] == 7
    assert "secret" not in first.to_json()
    assert first.end_time >= first.start_time
    assert not failed.status.is_ok
    assert (unknown.name, unknown.attributes["http.response.status_code"]) == ("none", 404)


def test_nothing_is_told_where_no_provider_is_set():
    app = started()
    assert asked(app, "POST", "/echo", b"abc", headers={"traceparent": "nonsense"}).status == 200
    assert app._shell.tracing._tracer is None
