"""Array types, random generators, and the checks that public functions make once.

Inside the library arrays are trusted: contiguous, of the dtype their alias names, finite unless said otherwise.
"""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright.errors import InputError, SettingError, require, require_input

FEATURE_DTYPE = np.float32  # one per document and feature: memory matters
SUM_DTYPE = np.float64  # sums of many float32: digits matter
EXACT_IN_FLOAT64 = 2.0**53  # above it, neighbouring whole numbers become the same float
IDS_ARE = "whole numbers or strings"
MOST_THREADS = 1024  # each is started for real, so that far larger numbers would only fail later

Float32Array: TypeAlias = NDArray[np.float32]
Float64Array: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]
Int32Array: TypeAlias = NDArray[np.int32]
Uint32Array: TypeAlias = NDArray[np.uint32]
Uint64Array: TypeAlias = NDArray[np.uint64]
BoolArray: TypeAlias = NDArray[np.bool_]
CodeArray: TypeAlias = NDArray[np.uint8 | np.uint16]  # bin codes, laid out as in `trees.bins.binning`
IdArray: TypeAlias = NDArray[Any]  # int64, or NumPy's variable-width strings
Arrays: TypeAlias = dict[str, NDArray[Any]]  # by name, as models and checkpoints keep them
Seed: TypeAlias = "int | np.random.Generator"  # a text, because loading NumPy's generators takes a while


def as_vector(values: ArrayLike, *, name: str, dtype: type[np.generic], length: int | None = None) -> NDArray[Any]:
    """`values` as a contiguous one-dimensional array of `dtype`, copied only where it must be."""
    array = np.atleast_1d(as_numbers(values, name=name, dtype=dtype))
    _check_vector(array, name, length)
    if array.dtype.kind == "i":
        _check_whole(np.atleast_1d(np.asarray(values)), name)
    return array


def as_numbers(values: ArrayLike, *, name: str, dtype: type[np.generic]) -> NDArray[Any]:
    """`values` as a contiguous array of `dtype` and any shape, copied only where it must be."""
    try:
        # A number too large for float32 becomes infinite; the caller decides whether that is allowed.
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(values, dtype=dtype, order="C")
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must hold numbers: {error}") from None


def _check_vector(array: NDArray[Any], name: str, length: int | None) -> None:
    require_input(array.ndim == 1, f"{name} must have one dimension, got shape {array.shape}")
    if length is not None and len(array) != length:
        raise InputError(f"{name} must have {length} values, got {len(array)}")


def _check_whole(array: NDArray[Any], name: str, wanted: str = "whole numbers") -> None:
    """Raise if floats given as whole numbers are not whole, or are too large for a float to hold exactly."""
    if array.dtype.kind == "f":
        wrong = ~((np.abs(array) <= EXACT_IN_FLOAT64) & (array == np.trunc(array)))
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            raise InputError(f"{name} must be {wanted}, got {array[row]} in row {row}")


def as_scores(scores: ArrayLike, *, length: int | None = None) -> Float64Array:
    """`scores` as float64, one per document; NaN is refused because it has no place in an order."""
    array = as_vector(scores, name="scores", dtype=np.float64, length=length)
    if np.isnan(array.min(initial=np.inf)):  # one pass: the minimum of numbers and NaN is NaN
        raise InputError(f"scores must not be NaN, but score {int(np.flatnonzero(np.isnan(array))[0])} is")
    return array


def as_features(features: ArrayLike) -> Float32Array:
    """`features` as a contiguous float32 matrix with a row per document; NaN means missing."""
    matrix = as_numbers(features, name="features", dtype=FEATURE_DTYPE)
    if matrix.ndim != 2:
        raise InputError(f"features must have two dimensions (documents, features), got shape {matrix.shape}")
    return matrix


def require_features(n_features: int) -> None:
    """Raise where there are no features: nothing could be learned from, or scored by."""
    if n_features == 0:
        raise InputError(
            "there are no features, and a ranker needs one or more: index:value pairs in LETOR text, or columns of a "
            "table besides those of queries, labels and ids"
        )


def as_ids(ids: ArrayLike, *, name: str, length: int | None = None) -> IdArray:
    """`ids` as int64 where every id is a whole number, else as variable-width strings; none may be missing."""
    try:
        array = np.asarray(ids)
    except ValueError as error:
        raise InputError(f"{name} must be {IDS_ARE}: {error}") from None
    _check_vector(array, name, length)
    kind = array.dtype.kind
    if kind not in "iufOUT":
        raise InputError(f"{name} must be {IDS_ARE}, got {'booleans' if kind == 'b' else array.dtype}")
    if kind == "f":
        _check_whole(array, name, IDS_ARE)
        return array.astype(np.int64)
    if kind == "O":
        return _ids_of_objects(array, name)
    return _ids_of_integers(array, name) if kind in "iu" else array.astype(np.dtypes.StringDType(), copy=False)


def _ids_of_integers(array: NDArray[Any], name: str) -> IdArray:
    limits = np.iinfo(np.int64)
    if array.dtype.kind != "i" and len(array) and not limits.min <= array.min() <= array.max() <= limits.max:
        raise InputError(f"{name} must lie between {limits.min} and {limits.max}; give longer ones as strings")
    return np.ascontiguousarray(array, dtype=np.int64)


def _ids_of_objects(array: NDArray[Any], name: str) -> IdArray:
    for row, value in enumerate(array):
        if not isinstance(value, str | int | np.integer) or isinstance(value, bool):
            raise InputError(f"{name} must be {IDS_ARE}, got {value!r} in row {row}")
    if any(isinstance(value, str) for value in array):
        return array.astype(np.dtypes.StringDType())
    return _ids_of_integers(array, name)


def ids_of_text(texts: Sequence[str]) -> IdArray:
    """The ids that texts of a file are: int64 if all of them are whole numbers written the usual way, else strings.

    `7` is a number, `007` and `+7` are not, so that writing an id gives back the text that was read.
    """
    ids = np.array(texts, dtype=np.dtypes.StringDType())
    try:
        integers = ids.astype(np.int64)
    except (ValueError, OverflowError):
        return ids
    return integers if (integers.astype(ids.dtype) == ids).all() else ids


def join_ids(parts: Sequence[IdArray]) -> IdArray:
    """The ids of all parts; numbers only where every part has numbers."""
    if len(parts) == 1:
        return parts[0]
    if not all(ids.dtype == np.int64 for ids in parts):
        parts = [text_ids(ids) for ids in parts]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def distinct_ids(ids: IdArray) -> tuple[IdArray, IntArray]:
    """The ids, each once and in ascending order, and the place of each given one among them.

    The sort is a stable one: NumPy's other sorts end the process on some orders of many texts (numpy 2.4.6).
    """
    order = np.argsort(ids, kind="stable")
    in_order = ids[order]
    is_first = np.ones(len(ids), np.bool_)
    is_first[1:] = in_order[1:] != in_order[:-1]
    places = np.empty(len(ids), np.int64)
    places[order] = np.cumsum(is_first) - 1
    return in_order[is_first], places


def text_ids(ids: IdArray) -> IdArray:
    """The same ids as strings."""
    return ids.astype(np.dtypes.StringDType())


def arrays_with_prefix(arrays: Mapping[str, NDArray[Any]], start: str) -> Arrays:
    """The arrays whose names begin with `start`, keyed by the rest of their names."""
    return {name.removeprefix(start): values for name, values in arrays.items() if name.startswith(start)}


def thread_count(threads: int | None) -> int:
    """The number of threads to use: `threads`, or where it is None, `OMP_NUM_THREADS`, or every core.

    The variable shares a machine among several processes: batch systems set it, and our own workers are started with
    it.
    """
    if threads is None:
        own_part = os.environ.get("OMP_NUM_THREADS", "")
        if not own_part.isdecimal():
            return core_count()
        count, name = max(1, int(own_part)), "the environment variable OMP_NUM_THREADS"
    else:
        try:
            count, name = operator.index(threads), "threads"
        except TypeError:
            raise SettingError(f"threads must be a whole number, got {threads!r}") from None
    require(1 <= count <= MOST_THREADS, f"{name} must be between 1 and {MOST_THREADS:,}, got {count}")
    return count


def core_count() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 1)


def generator(seed: Seed) -> np.random.Generator:
    """The generator itself, or a new one that starts from a seed: the same seed gives the same draws."""
    return seed if isinstance(seed, np.random.Generator) else np.random.default_rng(seed_number(seed))


def seed_number(seed: object) -> int:
    """`seed` as an integer, after a check that it is a whole number of 0 or more."""
    return whole_number(seed, "seed", least=0)


def whole_number(value: object, name: str, *, least: int) -> int:
    """`value`, which the caller knows as `name`, as an integer of `least` or more."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise SettingError(f"{name} must be a whole number of {least} or more, got {value!r}")
    return int(value)


def real_number(value: object, name: str) -> float:
    """`value`, which the caller knows as `name`, as a finite number of 0 or more."""
    number = _as_number(value)
    require(0 <= number < np.inf, f"{name} must be a finite number of 0 or more, got {value!r}")
    return number


def share(value: object, name: str) -> float:
    """`value`, which the caller knows as `name`, as a number above 0 and below 1."""
    number = _as_number(value)
    require(0 < number < 1, f"{name} must lie between 0 and 1, got {value!r}")
    return number


def _as_number(value: object) -> float:
    """`value` as a float; NaN, which is in no range, where it is no number, and infinity where it is too large."""
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    try:
        return float(value) if is_number else np.nan  # type: ignore[arg-type]
    except OverflowError:  # a whole number beyond all floats
        return np.inf
