"""ONNX files, written field by field: a graph of a few operators needs no library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.imports.wire.protobuf import field, packed_wholes

FLOAT, UINT8, INT64, BOOL = 1, 2, 7, 9  # types of tensors
DTYPES: Mapping[str, int] = {"float32": FLOAT, "uint8": UINT8, "int64": INT64, "bool": BOOL}
ML = "ai.onnx.ml"


class Graph:
    """A graph that is being written: `add` gives the name of what an operator makes."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []

    def constant(self, values: Any) -> str:
        """A tensor that the graph holds."""
        name = f"constant_{len(self._constants)}"
        self._constants.append(tensor(np.asarray(values), name))
        return name

    def add(self, operator: str, *inputs: str, domain: str = "", output: str | None = None, **attributes: Any) -> str:
        """An operator of these inputs."""
        name = output or f"value_{len(self._nodes)}"
        parts = [field(1, own) for own in inputs] + [field(2, name), field(3, f"node_{len(self._nodes)}")]
        parts += [field(4, operator)] + [field(5, _attribute(key, value)) for key, value in attributes.items()]
        self._nodes.append(b"".join(parts) + (field(7, domain) if domain else b""))
        return name

    def model(self, n_features: int, *, opset: int, ml_opset: int, ir_version: int) -> bytes:
        """The file of the graph from `features` to `scores`, one column."""
        graph = b"".join([
            *(field(1, node) for node in self._nodes), field(2, "rankwright"),
            *(field(5, own) for own in self._constants),
            field(11, _value("features", n_features)), field(12, _value("scores", 1)),
        ])  # fmt: skip
        opsets = field(8, field(1, "") + field(2, opset)) + field(8, field(1, ML) + field(2, ml_opset))
        return field(1, ir_version) + field(2, "rankwright") + field(7, graph) + opsets


def tensor(values: NDArray[Any], name: str = "") -> bytes:
    """A tensor with its bytes."""
    kept = np.ascontiguousarray(values)
    dims = b"".join(field(1, int(length)) for length in kept.shape)
    return dims + field(2, DTYPES[kept.dtype.name]) + field(8, name) + field(9, kept.tobytes())


def _value(name: str, width: int) -> bytes:
    """The description of a matrix of any number of rows."""
    shape = field(1, field(2, "documents")) + field(1, field(1, width))
    return field(1, name) + field(2, field(1, field(1, FLOAT) + field(2, shape)))


def _attribute(name: str, value: Any) -> bytes:
    """An attribute: its name, its value in the field of its type, and the type."""
    own = field(1, name)
    if isinstance(value, bool | int):
        return own + field(3, int(value)) + field(20, 2)
    if isinstance(value, float):
        return own + field(2, value) + field(20, 1)
    if isinstance(value, str):
        return own + field(4, value) + field(20, 3)
    if isinstance(value, bytes):  # a tensor
        return own + field(5, value) + field(20, 4)
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return own + field(7, value.astype("<f4").tobytes()) + field(20, 6)
    if isinstance(value, np.ndarray):
        return own + packed_wholes(8, value) + field(20, 7)
    return own + _words(value) + field(20, 8)


def _words(values: Sequence[str]) -> bytes:
    encoded = {word: field(9, word) for word in set(values)}
    return b"".join(encoded[word] for word in values)
