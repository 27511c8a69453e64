"""What the parts of a file must be before anything is made of them.

A file may come from anyone, and its checksum says only that it arrived as it was sent. So whatever is made from a file
asks for its numbers and arrays here, by name, type, range and shape, before it allocates by them or computes with them.
A part that does not fit is an `InputError`; `file_faults` adds the name of the file.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

from rankwright.errors import ContainerError, InputError, ModuleError, require_input

MOST = 2**53  # of a count: JSON written by other programs holds no larger whole number exactly
LARGEST = 1e100  # of a number that is computed with: no training gives such, and products of a few are still finite
MOST_FEATURES = 2**31 - 1  # numbers of features are int32
LONGEST_REPORT = 300  # letters of what was found

Part = TypeVar("Part")
Shape = tuple[int | None, ...]  # None where any length will do
Form = tuple[type[np.generic], Shape]  # what an array must be


@contextmanager
def file_faults(path: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Turn whatever goes wrong while `what` is made from the file at `path` into one line about that file.

    The checksum was right, so the file is undamaged: a later release, another program or a person wrote it.
    """
    try:
        yield
    except (ImportError, OSError, MemoryError):
        raise  # the file is not the cause
    except ModuleError as error:
        raise ModuleError(f"{os.fspath(path)}: {error}") from None
    except Exception as error:
        told = f"{error} is not there" if isinstance(error, KeyError) else str(error) or type(error).__name__
        problem = f"the parts of the {what} do not fit together: {as_one_line(told)}"
        raise ContainerError(os.fspath(path), problem) from None


def as_one_line(text: str) -> str:
    """The text without line ends, and cut short where it is very long."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_REPORT else f"{line[:LONGEST_REPORT]} …"


def read_field(header: Mapping[str, Any], name: str, kind: type[Part]) -> Part:
    """The part of a header of that name, which must be of a type that JSON has."""
    found = read_any_field(header, name)
    if not isinstance(found, kind) or (isinstance(found, bool) and kind is not bool):
        raise InputError(f"{name} must be {_WORDS.get(kind, kind.__name__)}, got {found!r}")
    return found


def read_optional_field(header: Mapping[str, Any], name: str, kind: type[Part]) -> Part | None:
    """The part of a header of that name, or None where the header says so."""
    return None if read_any_field(header, name) is None else read_field(header, name, kind)


def read_any_field(header: Mapping[str, Any], name: str) -> Any:
    """The part of a header of that name, whatever it is."""
    if not isinstance(header, Mapping):
        raise InputError(f"{name} is looked for in an object, and there is {header!r}")
    require_input(name in header, f"{name!r} is not there")
    return header[name]


def read_integer(header: Mapping[str, Any], name: str, *, least: int = 0, most: int = MOST) -> int:
    """The whole number of that name, which must lie in the range."""
    found = read_field(header, name, int)
    require_input(least <= found <= most, f"{name} must lie between {least} and {most}, got {found!r}")
    return found


def read_number(header: Mapping[str, Any], name: str) -> float:
    """The finite number of that name."""
    found = read_any_field(header, name)
    if isinstance(found, bool) or not isinstance(found, int | float) or not abs(found) <= LARGEST:
        raise InputError(f"{name} must be a finite number of up to {LARGEST:g} in size, got {found!r}")
    return float(found)


def read_optional_number(header: Mapping[str, Any], name: str) -> float | None:
    """The finite number of that name, or None where the header says so."""
    return None if read_any_field(header, name) is None else read_number(header, name)


def read_list(header: Mapping[str, Any], name: str, kind: type[Part]) -> list[Part]:
    """The list of that name, whose entries must be of a type that JSON has."""
    found = read_field(header, name, list)
    return [read_field({f"{name}[{place}]": item}, f"{name}[{place}]", kind) for place, item in enumerate(found)]


def read_number_list(header: Mapping[str, Any], name: str) -> list[float]:
    """The list of finite numbers of that name."""
    found = read_field(header, name, list)
    return [read_number({f"{name}[{place}]": item}, f"{name}[{place}]") for place, item in enumerate(found)]


def read_array(
    arrays: Mapping[str, NDArray[Any]], name: str, dtype: DTypeLike, shape: Shape, *, finite: bool = True
) -> NDArray[Any]:
    """The array of that name, which must have the dtype and the shape; its numbers must be finite unless said so."""
    require_input(name in arrays, f"the array {name!r} is not there")
    found = arrays[name]
    fits = found.ndim == len(shape) and all(size in (None, own) for size, own in zip(shape, found.shape, strict=True))
    if found.dtype != dtype or not fits:
        wanted = f"{np.dtype(dtype)} of shape {_shown(shape)}"
        raise InputError(f"the array {name!r} must be {wanted}, got {found.dtype} of shape {_shown(found.shape)}")
    if finite:
        check_finite(name, found)
    if found.dtype == np.bool_:  # a file may have other bytes than 0 and 1, which compiled code must not see
        check_between(name, found.view(np.uint8), 0, 1)
    return found


def check_finite(name: str, found: NDArray[Any]) -> None:
    """Raise where an array has numbers that are NaN, infinite, or so large that sums of products would be."""
    if found.dtype.kind == "f":
        fits = np.abs(found.reshape(-1)) <= min(LARGEST, float(np.finfo(found.dtype).max))
        if not fits.all():
            place = int(np.flatnonzero(~fits)[0])
            wanted = f"finite numbers of up to {LARGEST:g} in size"
            raise InputError(f"the array {name!r} must hold {wanted}, got {found.reshape(-1)[place]} at {place}")


def check_names(found: Collection[str], wanted: Collection[str]) -> None:
    """Raise unless these are the names of all the arrays that are wanted."""
    if set(found) != set(wanted):
        raise InputError(f"the arrays must be {', '.join(sorted(wanted))}, got {', '.join(sorted(found)) or 'none'}")


def check_alike(
    found: Mapping[str, NDArray[Any]], wanted: Mapping[str, NDArray[Any]], *, grown: Collection[str] = ()
) -> None:
    """Raise unless the arrays are finite and have the names, dtypes and shapes of those wanted.

    The arrays named in `grown` may have another number of rows, the same for all of them.
    """
    check_names(found.keys(), wanted.keys())
    if len({found[name].shape[:1] for name in grown if name in wanted}) > 1:
        raise InputError(f"the arrays {', '.join(grown)} must have as many rows as each other")
    for name, like in wanted.items():
        rows: Shape = (None, *like.shape[1:]) if name in grown else like.shape
        read_array(found, name, like.dtype, rows)


def check_between(name: str, found: NDArray[Any], least: float, most: float) -> None:
    """Raise where an array has numbers out of the range."""
    if found.size and not (least <= found.min() and found.max() <= most):
        raise InputError(f"the array {name!r} must lie between {least} and {most}, got {found.min()} to {found.max()}")


def _shown(shape: Sequence[int | None]) -> str:
    return " × ".join("any" if length is None else str(length) for length in shape) or "one number"


_WORDS = {int: "a whole number", str: "text", bool: "true or false", list: "a list", dict: "an object"}
