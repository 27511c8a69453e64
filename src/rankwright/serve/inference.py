"""The Open Inference Protocol, version 2, with its extension of binary tensors: Triton's and KServe's clients speak it.

A request is the documents of one query: an input `features` of datatype FP32 or FP64 and shape [documents, features].
Its output is `scores`, FP64, of shape [documents].
"""

from __future__ import annotations

from dataclasses import replace
from http import HTTPStatus
from typing import Any

import msgspec
import numpy as np

from rankwright.arrays import Float32Array, Float64Array
from rankwright.errors import UnknownNameError
from rankwright.serve.decoding import decoded
from rankwright.serve.features import check_documents, check_finite
from rankwright.serve.models import ModelShelf, ServedModel
from rankwright.serve.scoring import WatchedScoring
from rankwright.web.messages import BINARY, Request, Response, WebError, as_json

JSON_LENGTH = "inference-header-content-length"
INPUT, OUTPUT = "features", "scores"
DATATYPES = {"FP32": "<f4", "FP64": "<f8"}
SERVER_NAME = "rankwright"
EXTENSIONS = ["binary_tensor_data"]


class Tensor(msgspec.Struct, omit_defaults=True):
    """An input or an output: its name, type and shape, and its numbers, unless these follow as bytes."""

    name: str
    shape: list[int]
    datatype: str
    parameters: dict[str, Any] = {}
    data: list[Any] | None = None


class WantedOutput(msgspec.Struct):
    """An output that is asked for."""

    name: str
    parameters: dict[str, Any] = {}


class InferenceRequest(msgspec.Struct):
    """What a client sends."""

    inputs: list[Tensor]
    id: str | None = None
    parameters: dict[str, Any] = {}
    outputs: list[WantedOutput] | None = None


class InferenceResponse(msgspec.Struct, omit_defaults=True):
    """What it gets."""

    model_name: str
    model_version: str
    outputs: list[Tensor]
    id: str | None = None


_decoder = msgspec.json.Decoder(InferenceRequest)
_encoder = msgspec.json.Encoder()


def refused_inference(error: WebError) -> Response:
    """What a client of the protocol is told of an error: it wants one text."""
    return replace(as_json({"error": str(error)}, error.status), headers=error.headers)


class InferenceHandler:
    """Answers the addresses below /v2/models."""

    def __init__(self, shelf: ModelShelf, scoring: WatchedScoring, most_documents: int) -> None:
        self._shelf, self._scoring, self._most = shelf, scoring, most_documents

    def server(self, _: Request) -> Response:
        """Tell what this server is."""
        from rankwright import __version__

        return as_json({"name": SERVER_NAME, "version": __version__, "extensions": EXTENSIONS})

    def live(self, _: Request) -> Response:
        """Tell that this server answers."""
        return as_json({"live": True})

    def all_ready(self, _: Request) -> Response:
        """Tell that all models are there; they are loaded and warm before this server takes a request."""
        return as_json({"ready": True})

    def metadata(self, request: Request) -> Response:
        """Tell a model's inputs and outputs."""
        model = self._model(request)
        return as_json(
            {
                "name": model.name,
                "versions": [model.version],
                "platform": f"rankwright_{model.trained.ranker}",
                "inputs": [{"name": INPUT, "datatype": "FP32", "shape": [-1, model.n_features]}],
                "outputs": [{"name": OUTPUT, "datatype": "FP64", "shape": [-1]}],
            }
        )

    def ready(self, request: Request) -> Response:
        """Tell that a model is there."""
        return as_json({"name": self._model(request).name, "ready": True})

    def infer(self, request: Request) -> Response:
        """Score the documents of a request."""
        model = self._model(request)
        asked, binary = self._parts(request)
        features = self._features(asked, binary, model)
        request.noted |= {"model": model.name, "documents": len(features)}
        return _answer(asked, model, self._scoring.scores(model, features))

    def _model(self, request: Request) -> ServedModel:
        try:
            model = self._shelf.named(request.parts["name"])
        except UnknownNameError as error:
            raise WebError(HTTPStatus.NOT_FOUND, str(error)) from None
        version = request.parts.get("version", model.version)
        if version != model.version:
            raise WebError(HTTPStatus.NOT_FOUND, f"{model.name} is served in version {model.version}, not {version!r}")
        return model

    def _parts(self, request: Request) -> tuple[InferenceRequest, memoryview]:
        """The JSON of a body, and the bytes of tensors behind it."""
        length, body = request.headers.get(JSON_LENGTH), memoryview(request.body)
        if length is None:
            return decoded(_decoder, request.body), body[:0]
        if not length.isdigit() or int(length) > len(body):
            raise WebError(HTTPStatus.BAD_REQUEST, f"{JSON_LENGTH} must be the length of the JSON, got {length!r}")
        return decoded(_decoder, bytes(body[: int(length)])), body[int(length) :]

    def _features(self, asked: InferenceRequest, binary: memoryview, model: ServedModel) -> Float32Array:
        names = [one.name for one in asked.inputs]
        if names != [INPUT]:
            raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, f"the one input is called {INPUT!r}, got {names}")
        tensor = asked.inputs[0]
        if len(tensor.shape) != 2 or tensor.shape[1] != model.n_features or tensor.shape[0] < 0:
            told = f"{INPUT} must have the shape [documents, {model.n_features}], got {tensor.shape}"
            raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, told)
        if tensor.datatype not in DATATYPES:
            told = f"{INPUT} must be of datatype {' or '.join(DATATYPES)}, got {tensor.datatype!r}"
            raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, told)
        check_documents(tensor.shape[0], self._most)
        features: Float32Array = _numbers(tensor, binary).reshape(tensor.shape).astype(np.float32, copy=False)
        check_finite(features, model)
        return features


def _numbers(tensor: Tensor, binary: memoryview) -> Any:
    """A tensor's numbers: behind the JSON, or in it, flat or as they are nested."""
    size, n = tensor.parameters.get("binary_data_size"), tensor.shape[0] * tensor.shape[1]
    dtype = np.dtype(DATATYPES[tensor.datatype])
    if size is not None:
        if size != n * dtype.itemsize or size != len(binary):
            told = f"the shape wants {n * dtype.itemsize} bytes, binary_data_size says {size}, and {len(binary)} came"
            raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, told)
        return np.frombuffer(binary, dtype)
    try:
        numbers = np.array(tensor.data, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, f"the data of {INPUT} must be numbers or null") from None
    if numbers.size != n:
        told = f"the shape {tensor.shape} wants {n} numbers, got {numbers.size}"
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, told)
    with np.errstate(over="ignore"):  # what is too large becomes infinite, which is refused
        return numbers.astype(np.float32)


def _answer(asked: InferenceRequest, model: ServedModel, scores: Float64Array) -> Response:
    wanted = asked.outputs or [WantedOutput(OUTPUT)]
    unknown = [one.name for one in wanted if one.name != OUTPUT]
    if unknown:
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, f"the one output is called {OUTPUT!r}, got {unknown[0]!r}")
    as_bytes = wanted[0].parameters.get("binary_data", asked.parameters.get("binary_data_output", False))
    tensor = Tensor(OUTPUT, [len(scores)], "FP64")
    answer = InferenceResponse(model.name, model.version, [tensor], asked.id)
    if as_bytes is not True:
        tensor.data = scores.tolist()
        return Response(_encoder.encode(answer))
    numbers = scores.astype("<f8").tobytes()
    tensor.parameters = {"binary_data_size": len(numbers)}
    head = _encoder.encode(answer)
    return Response(head + numbers, kind=BINARY, headers=((JSON_LENGTH, str(len(head))),))
