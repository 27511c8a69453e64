"""The OpenAPI page: made from the same types that read and write bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from rankwright.serve.decoding import ARROW, RankOptions
from rankwright.serve.inference import InferenceRequest, InferenceResponse, refused_inference
from rankwright.serve.ranking import RankAnswer
from rankwright.serve.reranking import RerankAnswer, RerankRequest
from rankwright.web.application import STATUSES
from rankwright.web.messages import BINARY, JSON
from rankwright.web.routes import Route

NUMBER = {"type": ["number", "null"]}
SHAPES: Mapping[str, Any] = {
    "rows": {
        "type": "array",
        "items": {"type": "array", "items": NUMBER},
        "description": "A row for each document, features in the model's order or that of `features`.",
    },
    "columns": {
        "type": "object",
        "additionalProperties": {"type": "array", "items": NUMBER},
        "description": "A column for each feature, by name.",
    },
    "documents": {
        "type": "array",
        "items": {"type": "object", "additionalProperties": NUMBER},
        "description": "Named features, document by document.",
    },
}
BODIES: Mapping[str, tuple[Any, Any]] = {
    "/v1/rank": (RankOptions, RankAnswer),
    "/v1/rerank": (RerankRequest, RerankAnswer),
    "/v2/rerank": (RerankRequest, RerankAnswer),
    "/v2/models/{name}/infer": (InferenceRequest, InferenceResponse),
    "/v2/models/{name}/versions/{version}/infer": (InferenceRequest, InferenceResponse),
}
ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["code", "message"],
            "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
        }
    },
}


INFERENCE_ERROR = {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}


def openapi_page(routes: Sequence[Route], more: Mapping[str, tuple[Any, Any]]) -> dict[str, Any]:
    """The page of these routes; `more` has the bodies of those that not every server has."""
    from rankwright import __version__

    bodies = {**BODIES, **more}
    kinds = list(dict.fromkeys(kind for pair in bodies.values() for kind in pair))
    references, schemas = msgspec.json.schema_components(kinds, ref_template="#/components/schemas/{name}")
    reference_of = dict(zip(kinds, references, strict=True))
    schemas["RankOptions"]["properties"].update(SHAPES)
    schemas |= {"Error": ERROR, "InferenceError": INFERENCE_ERROR}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        own = _operation(route, bodies.get(route.template), reference_of)
        paths.setdefault(route.template, {})[route.method.lower()] = own
    return {
        "openapi": "3.1.0",
        "info": {"title": "Rankwright", "version": __version__},
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}}},
        "security": [{}, {"token": []}],
    }


def _operation(route: Route, body: tuple[Any, Any] | None, reference_of: Mapping[Any, Any]) -> dict[str, Any]:
    summary = (getattr(route.handler, "__doc__", None) or type(route.handler).__call__.__doc__ or "").partition("\n")[0]
    answered: Any = {"description": "The answer."}
    error = "InferenceError" if route.refused is refused_inference else "Error"
    failed = {
        "description": "What was wrong.",
        "content": {JSON: {"schema": {"$ref": f"#/components/schemas/{error}"}}},
    }
    told: dict[str, Any] = {
        "summary": summary.rstrip("."),
        "operationId": route.name.replace(" ", "").replace("/", "_").replace("{", "").replace("}", ""),
        "responses": {"200": answered} | {str(status): failed for status in STATUSES if status >= 400},
    }
    names = [part[1:-1] for part in route.template.split("/") if part.startswith("{")]
    if names:
        told["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names
        ]
    if body is not None:
        asked, answer = body
        told["requestBody"] = {"required": True, "content": {JSON: {"schema": reference_of[asked]}}}
        if asked is RankOptions:
            for kind in (ARROW, BINARY):
                told["requestBody"]["content"][kind] = {"schema": {"type": "string", "format": "binary"}}
        answered["content"] = {JSON: {"schema": reference_of[answer]}}
    return told
