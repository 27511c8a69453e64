"""ONNX files, written field by field: a graph of a few operators needs no library."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.imports.wire.protobuf import PIECE, field, nested, packed_wholes

FLOAT, UINT8, INT64, BOOL = 1, 2, 7, 9  # types of tensors
DTYPES: Mapping[str, int] = {"float32": FLOAT, "uint8": UINT8, "int64": INT64, "bool": BOOL}
ML = "ai.onnx.ml"


class Graph:
    """A graph that is being written: `add` gives the name of what an operator makes."""

    def __init__(self) -> None:
        self._nodes: list[list[bytes]] = []  # each in parts
        self._constants: list[bytes] = []

    def constant(self, values: Any) -> str:
        """A tensor that the graph holds."""
        name = f"constant_{len(self._constants)}"
        self._constants.append(tensor(np.asarray(values), name))
        return name

    def add(
        self,
        operator: str,
        *inputs: str,
        domain: str = "",
        output: str | None = None,
        attributes: Iterable[tuple[str, Any]] = (),
    ) -> str:
        """An operator of these inputs; its attributes are written one by one, and may be made so."""
        name = output or f"value_{len(self._nodes)}"
        parts = [field(1, own) for own in inputs] + [field(2, name), field(3, f"node_{len(self._nodes)}")]
        parts.append(field(4, operator))
        for key, value in attributes:
            parts += nested(5, _attribute(key, value))
        self._nodes.append([*parts, field(7, domain)] if domain else parts)
        return name

    def model(self, n_features: int, *, opset: int, ml_opset: int, ir_version: int) -> bytes:
        """The file of the graph from `features` to `scores`, one column."""
        graph = [part for node in self._nodes for part in nested(1, node)]
        graph += [field(2, "rankwright"), *(field(5, own) for own in self._constants)]
        graph += [field(11, _value("features", n_features)), field(12, _value("scores", 1))]
        opsets = field(8, field(1, "") + field(2, opset)) + field(8, field(1, ML) + field(2, ml_opset))
        return b"".join([field(1, ir_version), field(2, "rankwright"), *nested(7, graph), opsets])


def tensor(values: NDArray[Any], name: str = "") -> bytes:
    """A tensor with its bytes."""
    kept = np.ascontiguousarray(values)
    dims = b"".join(field(1, int(length)) for length in kept.shape)
    return dims + field(2, DTYPES[kept.dtype.name]) + field(8, name) + field(9, kept.tobytes())


def _value(name: str, width: int) -> bytes:
    """The description of a matrix of any number of rows."""
    shape = field(1, field(2, "documents")) + field(1, field(1, width))
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, shape)))


def _attribute(name: str, value: Any) -> list[bytes]:
    """An attribute, in parts: its name, its value in the field of its type, and the type."""
    own = field(1, name)
    if isinstance(value, bool | int):
        return [own, field(3, int(value)), field(20, 2)]
    if isinstance(value, float):
        return [own, field(2, value), field(20, 1)]
    if isinstance(value, str):
        return [own, field(4, value), field(20, 3)]
    if isinstance(value, bytes):  # a tensor
        return [own, *nested(5, [value]), field(20, 4)]
    if isinstance(value, Words):
        return [own, *value.fields(9), field(20, 8)]
    if value.dtype.kind == "f":
        return [own, *nested(7, [value.astype("<f4").tobytes()]), field(20, 6)]
    return [own, *packed_wholes(8, value), field(20, 7)]


@dataclass(frozen=True, slots=True)
class Words:
    """A long list of few different words: which of them stands where."""

    words: Sequence[str]
    places: NDArray[np.uint8]

    def fields(self, number: int) -> list[bytes]:
        """A repeated field of the words, in parts."""
        written = [field(number, word) for word in self.words]
        pieces = np.array_split(self.places, len(self.places) // PIECE + 1)
        return [b"".join([written[place] for place in piece.tolist()]) for piece in pieces]
