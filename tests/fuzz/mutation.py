"""Files that somebody changed and signed again: their checksum holds, and what they say is wrong.

A mutant is made from a seed file by one to three changes of its header or its arrays, drawn from a generator; the same
generator makes the same mutant.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from rankwright.container.file import BLANK_CHECKSUM, FORMAT, MAGIC_ENTRY, VERSION, Container

MOST_CHANGES = 3
ODD_NUMBERS = (-1, 0, 1, 2, 7, 255, 65_536, 2**31 - 1, 2**31, 10**8, 2**63 - 1, 2**64, 10**30, -(10**30), 10**400)
ODD_FLOATS = (float("nan"), float("inf"), -float("inf"), 1e308, -1e308, 1e39, 5e-324, 0.5, -0.0)
ODD_TEXTS = ("", "rbf", "zscore", "ndcg@10", "lambdamart", "text\nof two lines", "\ud800", "é" * 50, "../out", "0")
ODD_VALUES: tuple[Any, ...] = (None, True, False, [], {}, [[]], [None], {"a": 1}, ["x"] * 3, [1.5, "y"])
DTYPES = ("f4", "f8", "i4", "i8", "u1", "u4", "?", "f2", "i1")


@dataclass(frozen=True)
class Parts:
    """What a container holds."""

    kind: str
    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]

    @classmethod
    def of(cls, container: Container) -> Parts:
        return cls(container.kind, container.header, container.arrays)

    def signed(self) -> bytes:
        """The file with these parts, with a checksum that is right."""
        document = {
            "checksum": BLANK_CHECKSUM,
            "format": FORMAT,
            "header": self.header,
            "kind": self.kind,
            "version": VERSION,
        }
        tensors = {name: np.asarray(values, order="C") for name, values in sorted(self.arrays.items())}
        content = save(tensors, metadata={MAGIC_ENTRY: json.dumps(document, sort_keys=True)})
        return content.replace(BLANK_CHECKSUM.encode(), hashlib.sha256(content).hexdigest().encode(), 1)


def mutant_of(seed: Parts, rng: np.random.Generator) -> Parts:
    """The parts after one to three changes."""
    header, arrays = copy.deepcopy(seed.header), dict(seed.arrays)
    for _ in range(int(rng.integers(1, MOST_CHANGES + 1))):
        if arrays and rng.random() < 0.6:
            change_arrays(arrays, rng)
        else:
            header = changed_json(header, rng)
            header = header if isinstance(header, dict) else {}
    return Parts(seed.kind, header, arrays)


def chosen(rng: np.random.Generator, choices: Sequence[Any]) -> Any:
    return choices[int(rng.integers(len(choices)))]


# --- JSON ---


def changed_json(value: Any, rng: np.random.Generator) -> Any:
    """A JSON value with one change somewhere inside, often deep."""
    places = list(_places(value))
    if not places:
        return odd_value(rng)
    holder, key = chosen(rng, places)
    chosen(rng, JSON_CHANGES)(holder, key, rng)
    return value


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every object or list in a value with each of its keys; of long lists only the ends."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield value, key
            yield from _places(item)
    elif isinstance(value, list):
        for key in range(len(value)) if len(value) < 8 else (0, 1, len(value) - 1):
            yield value, key
            yield from _places(value[key])


def odd_value(rng: np.random.Generator) -> Any:
    return copy.deepcopy(chosen(rng, chosen(rng, (ODD_NUMBERS, ODD_FLOATS, ODD_TEXTS, ODD_VALUES))))


def _replace(holder: Any, key: Any, rng: np.random.Generator) -> None:
    holder[key] = odd_value(rng)


def _nudge(holder: Any, key: Any, rng: np.random.Generator) -> None:
    """A value of the same type that is somewhat different."""
    value = holder[key]
    if isinstance(value, bool):
        holder[key] = not value
    elif isinstance(value, int | float):
        holder[key] = chosen(rng, (value + 1, value - 1, -value, value * 2, value * 10**6, str(value), [value]))
    elif isinstance(value, str):
        holder[key] = chosen(rng, (value[:-1], value + "x", value.upper(), value * 2, [value]))
    elif isinstance(value, list):
        holder[key] = chosen(rng, (value[:-1], value + value, value[::-1], tuple(value)[1:], {"0": value}))
    else:
        holder[key] = odd_value(rng)


def _remove(holder: Any, key: Any, rng: np.random.Generator) -> None:  # noqa: ARG001
    del holder[key]


def _rename(holder: Any, key: Any, rng: np.random.Generator) -> None:
    if isinstance(holder, dict):
        holder[chosen(rng, ODD_TEXTS) + key[:3]] = holder.pop(key)
    else:
        holder.insert(key, odd_value(rng))


def _swap(holder: Any, key: Any, rng: np.random.Generator) -> None:
    other = chosen(rng, list(holder) if isinstance(holder, dict) else range(len(holder)))
    holder[key], holder[other] = holder[other], holder[key]


def _add(holder: Any, key: Any, rng: np.random.Generator) -> None:
    if isinstance(holder, dict):
        holder[f"{key}_more"] = odd_value(rng)
    else:
        holder.append(holder[key])


JSON_CHANGES: Sequence[Callable[[Any, Any, np.random.Generator], None]] = (
    _replace, _replace, _nudge, _nudge, _remove, _rename, _swap, _add,
)  # fmt: skip


# --- arrays ---


def change_arrays(arrays: dict[str, NDArray[Any]], rng: np.random.Generator) -> None:
    """Change one of the arrays, or which there are."""
    name = chosen(rng, sorted(arrays))
    among = rng.random()
    if among < 0.1:
        _change_names(arrays, name, rng)
    elif among < 0.35:
        arrays[name] = chosen(rng, FORM_CHANGES)(arrays[name], rng)
    else:
        values = np.array(arrays[name])
        chosen(rng, VALUE_CHANGES)(values, rng)
        arrays[name] = values


def _change_names(arrays: dict[str, NDArray[Any]], name: str, rng: np.random.Generator) -> None:
    other = chosen(rng, sorted(arrays))
    how = int(rng.integers(4))
    if how == 0:
        del arrays[name]
    elif how == 1:
        arrays[f"{name}2"] = arrays.pop(name)
    elif how == 2:
        arrays[name], arrays[other] = arrays[other], arrays[name]
    else:
        arrays[name] = arrays[other]


def _another_dtype(values: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    with np.errstate(all="ignore"):
        return values.astype(chosen(rng, DTYPES))


def _other_bytes(values: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    """The same bytes as numbers of another type."""
    content, dtype = values.tobytes(), np.dtype(chosen(rng, DTYPES))
    return np.frombuffer(content[: len(content) // dtype.itemsize * dtype.itemsize], dtype).copy()


def _another_length(values: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    if values.ndim == 0:
        return values.reshape(1)
    some = values[: int(rng.integers(len(values) + 1))]
    longer = np.concatenate([values, some]), np.concatenate([values] * 40)
    return np.asarray(chosen(rng, (some, values[:1], values[:0], *longer)))


def _another_shape(values: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    none = np.empty((0, 10**9), values.dtype)  # takes no byte in a file
    shapes = (values.reshape(-1), values.reshape(1, -1), values.reshape(-1, 1), values.T, none, none.T)
    return np.ascontiguousarray(chosen(rng, shapes))


FORM_CHANGES: Sequence[Callable[[NDArray[Any], np.random.Generator], NDArray[Any]]] = (
    _another_dtype, _other_bytes, _another_length, _another_length, _another_shape,
)  # fmt: skip


def _set_some(values: NDArray[Any], rng: np.random.Generator) -> None:
    """An odd number in one place, or in all."""
    flat = values.reshape(-1)
    if len(flat) == 0:
        return
    place = slice(None) if rng.random() < 0.1 else int(rng.integers(len(flat)))
    if values.dtype.kind == "f":
        with np.errstate(all="ignore"):
            flat[place] = np.float64(chosen(rng, ODD_FLOATS)).astype(values.dtype)
    else:
        low, high = (0, 255) if values.dtype == np.bool_ else (np.iinfo(values.dtype).min, np.iinfo(values.dtype).max)
        fitting = [number for number in (low, high, *ODD_NUMBERS) if low <= number <= high]
        target = flat.view(np.uint8) if values.dtype == np.bool_ else flat  # a byte that is neither 0 nor 1
        target[place] = chosen(rng, fitting)


def _relink(values: NDArray[Any], rng: np.random.Generator) -> None:
    """Numbers of other places: links of nodes that make loops, shared children and gaps."""
    flat = values.reshape(-1)
    if len(flat) and values.dtype.kind in "iu":
        for _ in range(int(rng.integers(1, 4))):
            place = int(rng.integers(len(flat)))
            near = int(flat[place]) + chosen(rng, (-2, -1, 1, 2))
            new = chosen(rng, (near, int(rng.integers(len(flat) + 1)), int(flat[int(rng.integers(len(flat)))])))
            limits = np.iinfo(values.dtype)
            flat[place] = min(max(new, limits.min), limits.max)


def _shuffle(values: NDArray[Any], rng: np.random.Generator) -> None:
    rng.shuffle(values.reshape(-1))


def _scale(values: NDArray[Any], rng: np.random.Generator) -> None:
    if values.dtype.kind == "f":
        with np.errstate(all="ignore"):
            values *= values.dtype.type(chosen(rng, (-1.0, 0.0, 2.0, 1e6)))


VALUE_CHANGES: Sequence[Callable[[NDArray[Any], np.random.Generator], None]] = (
    _set_some, _set_some, _set_some, _relink, _relink, _relink, _shuffle, _scale,
)  # fmt: skip
