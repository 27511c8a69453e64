"""What all bodies have in common: names of features, ids, numbers and their checks."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.data.categories import codes_in
from rankwright.data.columns import quoted_list
from rankwright.errors import InputError
from rankwright.serve.models import ServedModel
from rankwright.web.messages import WebError

Id = str | int


def raw_features(body: bytes | memoryview, model: ServedModel) -> Float32Array:
    """Features as they lie in memory: little-endian float32, document after document."""
    width = 4 * model.n_features
    if len(body) % width:
        told = f"{len(body):,} bytes are no whole number of documents of {model.n_features} float32 ({width} bytes)"
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, told)
    return np.frombuffer(body, "<f4").reshape(-1, model.n_features)


def check_names(names: Sequence[str], model: ServedModel) -> None:
    """Raise unless these are the names of the model's features, each once, in any order."""
    given, known = set(names), set(model.features)
    if len(given) != len(names):
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, "a feature is named twice")
    for wrong, told in ((known - given, "lack"), (given - known, "have a feature that is unknown:")):
        if wrong:
            shown = quoted_list(sorted(wrong, key=str), 5)
            raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, f"the documents {told} {shown} ({model.name})")


def check_documents(n_documents: int, most: int) -> None:
    """Raise where there are too many documents."""
    if n_documents > most:
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, f"there are {n_documents:,} documents, more than {most:,}")


def check_finite(features: Float32Array, model: ServedModel) -> None:
    """Raise where a feature is infinite; JSON's numbers were checked when they were read."""
    infinite = np.isinf(features)
    if infinite.any():
        row, column = np.argwhere(infinite)[0].tolist()
        raise InputError(f"document {row}, feature {model.features[column]!r} is infinite")


def column_numbers(values: Sequence[Any], name: str, model: ServedModel) -> Any:
    """A column of JSON's values as numbers: categories become their codes, null becomes NaN."""
    known = (model.trained.features.categories or {}).get(name)
    if known is not None:
        return codes_in(values, known).codes
    for row, value in enumerate(values):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise WebError(
                HTTPStatus.UNPROCESSABLE_ENTITY, f"document {row}, feature {name!r}: {str(value)[:60]!r} is no number"
            )
    try:
        return np.array([np.nan if value is None else value for value in values], np.float64)
    except OverflowError:
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, f"feature {name!r}: a number is too large") from None
