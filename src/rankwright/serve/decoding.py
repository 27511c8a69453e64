"""A query's documents from the body of a request: JSON, Arrow, or float32 as they lie in memory.

JSON goes through a kernel that reads the numbers; what is left of the body is small, and msgspec reads that. Nothing is
guessed: every feature must be there, none that is unknown, and what is wrong is told with its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Annotated, Any

import msgspec
import numpy as np

from rankwright import kernels
from rankwright.arrays import Float32Array
from rankwright.kernels.shared_codes import JsonProblem, JsonShape
from rankwright.serve.arrow import arrow_features
from rankwright.serve.features import Id, check_documents, check_finite, check_names, column_numbers, raw_features
from rankwright.serve.models import ModelShelf, ServedModel
from rankwright.web.messages import BINARY, JSON, Request, WebError

ARROW = "application/vnd.apache.arrow.stream"
FORM = "application/x-www-form-urlencoded"  # what `curl -d` says of whatever it sends
REPORT = 9  # numbers of what the kernel tells
LONGEST_SHOWN = 60  # letters of a text that an error repeats

AtLeastOne = Annotated[int, msgspec.Meta(ge=1)]


class RankOptions(msgspec.Struct, forbid_unknown_fields=True):
    """What a request says besides its documents."""

    model: str | None = None
    query: Id | None = None
    ids: list[Id] | None = None
    features: list[str] | None = None
    top: AtLeastOne | None = None
    explain: bool | AtLeastOne = False
    rows: None = None  # these three are read before, and stand as null in what is left of a body
    columns: None = None
    documents: None = None


class AddressOptions(msgspec.Struct, forbid_unknown_fields=True):
    """The same, where the body holds nothing but numbers: in the address."""

    model: str | None = None
    query: str | None = None
    top: AtLeastOne | None = None
    explain: bool | AtLeastOne = False


class NamedModel(msgspec.Struct):
    """The model that a body names, whatever else it holds."""

    model: str | None = None


_options = msgspec.json.Decoder(RankOptions)
_named = msgspec.json.Decoder(NamedModel)


class RankQuestion(msgspec.Struct):
    """Documents of a query, in the order of their model's features, and what is asked about them."""

    model: ServedModel
    features: Any  # float32 (documents, features)
    options: RankOptions


def read_question(request: Request, shelf: ModelShelf, most_documents: int) -> RankQuestion:
    """The question in a request for ranks."""
    kind = request.kind
    if kind in (JSON, FORM, ""):
        return _json_question(request, shelf, most_documents)
    if kind not in (ARROW, BINARY):
        raise WebError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"a body is {JSON}, {ARROW} or {BINARY} (float32), not {kind!r}"
        )
    asked = _address_options(request)
    model = shelf.named(asked.model)
    if kind == BINARY:
        features, ids = raw_features(request.body, model), None
    else:
        features, ids = arrow_features(request.body, model, most_documents)
    check_documents(len(features), most_documents)
    check_finite(features, model)
    options = RankOptions(model=asked.model, query=asked.query, ids=ids, top=asked.top, explain=asked.explain)
    return RankQuestion(model, features, options)


def _address_options(request: Request) -> AddressOptions:
    given = request.options()
    try:
        return msgspec.convert(given, AddressOptions, strict=False)
    except msgspec.ValidationError as error:
        raise WebError(HTTPStatus.BAD_REQUEST, f"in the address: {error}") from None


# --- JSON ---


def _json_question(request: Request, shelf: ModelShelf, most: int) -> RankQuestion:
    body = request.body
    model = shelf.named(_address_options(request).model if request.query_string else None)
    features, report = _kernel_features(body, model, most)
    if report[0] != JsonProblem.NONE or report[1] == JsonShape.NONE:
        return _other_question(body, model, shelf, most, report)
    options = decoded(_options, body[: report[3]] + b"null" + body[report[4] :])
    if options.model is not None and options.model != model.name:
        chosen = shelf.named(options.model)
        if chosen.features != model.features or chosen.trained.features.categories:
            return _other_question(body, chosen, shelf, most, report)
        model = chosen
    features = features[: report[2]]
    if options.features is not None:
        features = _reordered(features, options.features, JsonShape(report[1]), model)
    return RankQuestion(model, features, options)


def _kernel_features(body: bytes, model: ServedModel, most: int) -> tuple[Float32Array, list[int]]:
    """The numbers in a body, and what the kernel tells of it."""
    n = model.n_features
    # Each number takes two letters or more, so that no more documents than this can come.
    room = min(most, len(body) // (2 * n) + 1)
    features = np.empty((room, n), np.float32)
    report = np.empty(REPORT, np.int64)
    table = model.table
    kernels.parse_json_features(np.frombuffer(body, np.uint8), table.text, table.offsets, table.order, features, report)
    return features, report.tolist()


def _other_question(body: bytes, model: ServedModel, shelf: ModelShelf, most: int, report: list[int]) -> RankQuestion:
    """The question of a body that the first reading did not do: for another model, with categories, or wrong."""
    named = decoded(_named, body).model  # which also tells where the body is no JSON
    chosen = model if named is None else shelf.named(named)
    if chosen is not model:
        features, report = _kernel_features(body, chosen, most)
    problem = JsonProblem(report[0])
    if problem == JsonProblem.ESCAPED_NAME or chosen.trained.features.categories:
        return _plain_question(body, chosen, most)
    if problem != JsonProblem.NONE:
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, told_problem(body, chosen, report, most))
    if report[1] == JsonShape.NONE:
        decoded(_options, body)  # which names a member that is unknown
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, "the body has no rows, no columns and no documents")
    if chosen is model:
        features, report = _kernel_features(body, chosen, most)
    options = decoded(_options, body[: report[3]] + b"null" + body[report[4] :])
    features = features[: report[2]]
    if options.features is not None:
        features = _reordered(features, options.features, JsonShape(report[1]), chosen)
    return RankQuestion(chosen, features, options)


def _reordered(features: Float32Array, names: Sequence[str], shape: JsonShape, model: ServedModel) -> Float32Array:
    """Rows whose features stand in the client's own order, in that of the model."""
    if shape != JsonShape.ROWS:
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, "features names those of rows; others have names of their own")
    check_names(names, model)
    place_of = {name: place for place, name in enumerate(names)}
    return np.ascontiguousarray(features[:, [place_of[name] for name in model.features]])


def told_problem(body: bytes, model: ServedModel, report: Sequence[int], most: int) -> str:
    """What is wrong with the features in a body, in one line."""
    problem, _, _, _, _, row, column, begin, end = report
    found = repr(body[begin:end][:LONGEST_SHOWN].decode("utf-8", "replace"))
    feature = repr(model.features[column]) if column < model.n_features else ""
    wanted = f"{model.name} takes {model.n_features} features"
    return {
        JsonProblem.NOT_JSON: f"the features are not JSON as it is wanted, at byte {begin}",
        JsonProblem.NOT_A_NUMBER: f"document {row}, feature {feature}: {found} is no number (null is a missing one)",
        JsonProblem.NUMBER_TOO_LARGE: f"document {row}, feature {feature}: {found} is too large for float32",
        JsonProblem.WRONG_WIDTH: f"document {row} has {_width(column, model)} features, and {wanted}",
        JsonProblem.UNKNOWN_FEATURE: f"document {row} has a feature {found}, which {model.name} does not know",
        JsonProblem.MISSING_FEATURE: f"document {row} lacks the feature {feature} (null says that it is missing)",
        JsonProblem.REPEATED_FEATURE: f"document {row} has the feature {feature} twice",
        JsonProblem.TOO_MANY_ROWS: f"there are more than {most:,} documents"
        if row >= most
        else f"feature {feature} has more values than there can be documents",
        JsonProblem.UNEVEN_COLUMNS: f"feature {feature} has another number of values than the first one: {row}",
    }[JsonProblem(problem)]


def _width(column: int, model: ServedModel) -> str:
    return f"more than {model.n_features}" if column > model.n_features else str(column)


def _plain_question(body: bytes, model: ServedModel, most: int) -> RankQuestion:
    """The question of a body that Python reads: categories are texts, and names may be escaped."""
    whole: dict[str, Any] = decoded(_anything, body)
    shapes = [name for name in ("rows", "columns", "documents") if whole.get(name) is not None]
    if len(shapes) != 1:
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, "a body has rows, columns or documents: one of the three")
    value = whole.pop(shapes[0])
    try:
        options = msgspec.convert(whole, RankOptions)
    except msgspec.ValidationError as error:
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
    names = options.features or model.features
    columns = _columns_of(value, shapes[0], names, model)
    check_documents(max(map(len, columns.values())), most)
    features = np.empty((len(next(iter(columns.values()))), model.n_features), np.float32)
    for place, name in enumerate(model.features):
        features[:, place] = column_numbers(columns[name], name, model)
    check_finite(features, model)
    return RankQuestion(model, features, options)


def _columns_of(value: Any, shape: str, names: Sequence[str], model: ServedModel) -> dict[str, list[Any]]:
    check_names(names, model)
    try:
        if shape == "columns":
            columns = dict(value)
            check_names(list(columns), model)
        elif shape == "rows":
            columns = {name: [row[place] for row in value] for place, name in enumerate(names)}
            if any(len(row) != len(names) for row in value):
                raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, f"each row has {model.n_features} features")
        else:
            for row in value:
                check_names(list(row), model)
            columns = {name: [row[name] for row in value] for name in names}
        sizes = {len(column) for column in columns.values()}
    except (TypeError, IndexError, ValueError, AttributeError):
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, f"{shape} have another form than is wanted") from None
    if len(sizes) != 1:
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, "columns must have as many values as each other")
    return columns


_anything = msgspec.json.Decoder(dict[str, Any])


def decoded(decoder: msgspec.json.Decoder[Any], body: bytes) -> Any:
    """What a body holds, or one line that says why not."""
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, str(error)) from None
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise WebError(HTTPStatus.BAD_REQUEST, f"the body is no JSON: {error}") from None
