"""Array types, and the checks made once at the public door.

Inside the library arrays are trusted: contiguous, of the dtype their alias names, finite unless said otherwise.
"""

from __future__ import annotations

import operator
import os
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.errors import InputError, SettingError

FEATURE_DTYPE = np.float32  # one per document and feature: memory matters
SUM_DTYPE = np.float64  # sums of many float32: digits matter

Float32Array: TypeAlias = NDArray[np.float32]
Float64Array: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
BoolArray: TypeAlias = NDArray[np.bool_]
CodeArray: TypeAlias = NDArray[np.uint8 | np.uint16]  # bin codes, laid out as `trees.binning` says
IdArray: TypeAlias = NDArray[Any]  # int64, or NumPy's variable-width strings


def as_vector(values: ArrayLike, *, name: str, dtype: type[np.generic], length: int | None = None) -> NDArray[Any]:
    """`values` as a contiguous one-dimensional array of `dtype`, copied only where it must be."""
    try:
        array = np.ascontiguousarray(values, dtype=dtype)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must hold numbers: {error}") from None
    if array.ndim != 1:
        raise InputError(f"{name} must have one dimension, got shape {np.shape(values)}")
    if length is not None and len(array) != length:
        raise InputError(f"{name} must have {length} values, got {len(array)}")
    return array


def as_scores(scores: ArrayLike, *, length: int | None = None) -> Float64Array:
    """`scores` as float64, one per document; NaN is refused because it has no place in an order."""
    array = as_vector(scores, name="scores", dtype=np.float64, length=length)
    if np.isnan(array).any():
        raise InputError(f"scores must not be NaN, but score {int(np.flatnonzero(np.isnan(array))[0])} is")
    return array


def as_features(features: ArrayLike) -> Float32Array:
    """`features` as a contiguous float32 matrix with a row per document; NaN means missing, infinity is refused."""
    try:
        matrix = np.ascontiguousarray(features, dtype=FEATURE_DTYPE)
    except (TypeError, ValueError) as error:
        raise InputError(f"features must hold numbers: {error}") from None
    if matrix.ndim != 2:
        raise InputError(f"features must have two dimensions (documents, features), got shape {matrix.shape}")
    return matrix


def as_ids(ids: ArrayLike, *, name: str, length: int | None = None) -> IdArray:
    """`ids` as int64 where every id is a whole number, else as variable-width strings."""
    array = np.asarray(ids)
    if array.ndim != 1:
        raise InputError(f"{name} must have one dimension, got shape {array.shape}")
    if length is not None and len(array) != length:
        raise InputError(f"{name} must have {length} values, got {len(array)}")
    if array.dtype.kind in "iu":
        return np.ascontiguousarray(array, dtype=np.int64)
    if array.dtype.kind == "f":
        whole = np.isfinite(array) & (array == np.trunc(array))
        if not whole.all():
            raise InputError(f"{name} must be whole numbers or strings, got {array[~whole][0]}")
        return array.astype(np.int64)
    if array.dtype.kind == "b":
        raise InputError(f"{name} must be whole numbers or strings, got booleans")
    return _ids_of_text(array)


def _ids_of_text(array: NDArray[Any]) -> IdArray:
    if array.dtype.kind == "O" and all(isinstance(value, int | np.integer) for value in array):
        return array.astype(np.int64)
    return array.astype(np.dtypes.StringDType())


def thread_count(threads: int | None) -> int:
    """The number of threads to use: `threads`, or every core this process may use where it is None."""
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)
    try:
        count = operator.index(threads)
    except TypeError:
        raise SettingError(f"threads must be a whole number, got {threads!r}") from None
    if count < 1:
        raise SettingError(f"threads must be 1 or more, got {threads}")
    return count
