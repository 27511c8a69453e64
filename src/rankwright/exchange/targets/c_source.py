"""One C file and its header, which need nothing but a compiler.

A forest is scored as our own kernels score it: values become codes, a block of documents visits every node of a tree at
once, and each document ends with the number of its leaf. Leaves are added up in double precision, tree after tree, so
scores are ours to the last bit.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterable
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.exchange.engine_runs import run_gcc
from rankwright.exchange.subject import ForestSubject, NetSubject, NotExportableError, Subject
from rankwright.exchange.target import ExportOptions, Limit, Target, Written, any_infinite
from rankwright.features.scaling import mean_and_factor
from rankwright.kernels.records import Pieces
from rankwright.nets.encoding import piece_table
from rankwright.trees.forests.compiled import CompiledForest

PARTS = files("rankwright.exchange.targets") / "c_parts"
PER_LINE = 24
PIECE = 2**14  # numbers that become text at once
ARRAYS = "/* arrays */"  # stands in the text where they go
MOST_COLUMNS = 2**13  # half a megabyte of codes on the stack, or twice that
ACTIVATIONS = {
    "identity": "v",
    "relu": "v > 0 ? v : 0",
    "tanh": "tanh(v)",
    "sigmoid": "1 / (1 + exp(-v))",
    "gelu": "0.5 * v * (1 + erf(v * 0.70710678118654752440))",
}


def write(subject: Subject, options: ExportOptions) -> Written:
    """The file and its header; names begin with the model's."""
    name = re.sub(r"\W", "_", options.name)
    name = f"model_{name}" if not name or name[0].isdigit() else name
    columns = "\n".join(f"   [{column}] {_in_comment(own)}" for column, own in enumerate(subject.names))
    header = _part("header.h", name=name, upper=name.upper(), n_features=subject.n_features, columns=columns)
    limits: list[Limit] = []
    if isinstance(subject, ForestSubject):
        body = _forest(subject)
    else:
        assert isinstance(subject, NetSubject)  # blends are refused before
        body = [_net(subject)]
        limits = [any_infinite("the ranker itself")]
    source = "".join([f'#include "{options.name}.h"\n', *body, _part("score_many.c", name=name)])
    return Written({"": source.encode(), ".h": header.encode()},
                   [f"compile with: cc -O2 -c {options.name}.c (and link with -lm for nets)"], limits)  # fmt: skip


def _part(file: str, /, **values: object) -> str:
    """The text of a part of the C files, with these values in place of its `@names@`."""
    text = (PARTS / file).read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda found: str(values[found[1]]), text)


def _in_comment(name: str) -> str:
    """The name in one line, in which it cannot end a comment or begin one."""
    return json.dumps(name).replace("/", "\\/")


def _array(kind: str, name: str, length: int, values: Iterable[str]) -> list[str]:
    """An array, line by line; C has none without a value."""
    words = iter(values) if length else iter(["0"])
    lines = iter(lambda: ", ".join(itertools.islice(words, PER_LINE)), "")
    return [f"static const {kind} {name}[{max(length, 1)}] = {{\n", *(f"{line},\n" for line in lines), "};\n"]


def _numbers(kind: str, name: str, values: NDArray[Any], text: Callable[[Any], str]) -> list[str]:
    """The same of numbers, of which Python sees some at a time: as objects they take ten times their memory."""
    pieces = (values[start : start + PIECE].tolist() for start in range(0, len(values), PIECE))
    return _array(kind, name, len(values), (text(value) for piece in pieces for value in piece))


def _float(value: float) -> str:
    if np.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    text = f"{value:.9g}"
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def _forest(subject: ForestSubject) -> list[str]:
    pieces = subject.forest.compiled
    if len(pieces) > 1:
        raise NotExportableError("a feature has more thresholds than the C file's codes: take lightgbm or onnx")
    if not pieces or subject.forest.n_trees == 0:
        return [_part("constant.c", base=repr(float(subject.base_score)))]
    piece = pieces[0]
    columns, arrays, n_columns = _columns(subject, piece)
    trees = piece.trees
    lane = "uint8_t" if trees.lane_bytes == 1 else "uint16_t"
    mask = 0xFF if trees.lane_bytes == 1 else 0xFFFF
    nodes = trees.nodes & np.array([0xFFFFFFFF, 0xFFFFFFFF, mask, mask, mask], np.uint32)
    nodes[:, 1] = np.searchsorted(columns, nodes[:, 1])
    arrays += _numbers("node", "nodes", nodes[:, 1:], lambda node: "{{{},{},{},{}}}".format(*node))
    arrays += _numbers("int32_t", "node_offsets", trees.node_offsets, str)
    arrays += _numbers("int32_t", "leaf_offsets", trees.leaf_offsets, str)
    arrays += _numbers("float", "leaves", trees.leaf_values[: int(trees.leaf_offsets[-1])], _float)
    value = _part("plain_value.c" if subject.forest.readings is None else "readings.c")
    sizes: dict[str, int] = {"n_columns": n_columns, "n_trees": trees.n_trees}
    base = repr(float(subject.base_score))
    before, after = _part("forest.c", lane=lane, arrays=ARRAYS, base=base, value=value, **sizes).split(ARRAYS)
    return [before, *arrays, after]


def _columns(subject: ForestSubject, piece: CompiledForest) -> tuple[list[int], list[str], int]:
    """The columns that nodes compare: which of the compiled ones, and their arrays.

    A column is a feature's values as codes, with missing ones on the right of all thresholds, or, the number of columns
    later, on the left.
    """
    given = piece.columns
    n_given = len(given.features)
    used = np.unique(piece.trees.nodes[:, 1]).tolist()
    if len(used) > MOST_COLUMNS:
        raise NotExportableError(f"{len(used)} ways to split features are more than the C file takes: take onnx")
    readings = subject.forest.readings
    edges: list[float] = []
    rows: list[str] = []
    words: list[int] = []
    for column in used:
        own = column % n_given
        start, stop = int(given.offsets[own]), int(given.offsets[own + 1])
        steps = max(int(stop - start).bit_length(), 1)
        feature = int(given.features[own])
        word = int(given.category_words[own])
        at = -1
        if word >= 0:
            at = len(words)
            words += given.categories[word : word + (stop - start) // 32 + 1].tolist()
        rows.append(
            f"{{{feature},{len(edges)},{steps},{stop - start},{int(column >= n_given)},{at},"
            f"{0 if readings is None else int(readings[feature])}}}"
        )
        edges += given.edges[start:stop].tolist() + [float("inf")] * (2**steps - 1 - (stop - start))
    text = _array("float", "edges", len(edges), map(_float, edges))
    text += _array("uint32_t", "words", len(words), (f"{word}u" for word in words))
    return used, text + _array("column", "columns", len(rows), rows), len(used)


def _net(subject: NetSubject) -> str:
    parts: list[str] = []
    calls = []
    for place, step in enumerate(subject.steps):
        if step.scaling.name == "zscore":
            mean, factor = mean_and_factor(step.learned)
            parts += _numbers("double", f"mean_{place}", mean, repr)
            parts += _numbers("double", f"factor_{place}", factor, repr)
            calls.append(f"    for (int f = 0; f < N; ++f) x[f] = (x[f] - mean_{place}[f]) * factor_{place}[f];")
        else:
            taken = step.learned.get("taken", np.ones(subject.n_features, np.bool_))
            parts += _numbers("char", f"taken_{place}", taken.astype(np.int8), str)
            calls.append(
                f"    for (int f = 0; f < N; ++f) if (taken_{place}[f]) x[f] = copysign(log1p(fabs(x[f])), x[f]);"
            )
    calls.append("    for (int f = 0; f < N; ++f) if (x[f] != x[f]) x[f] = 0;")
    widest = max(subject.n_features, *(max(layer.weights.shape) for layer in subject.layers))
    before = "x"
    if subject.pieces is not None:
        parts += _piece_arrays(subject.pieces)
        calls.append(_part("pieces.c", height=repr(float(subject.pieces.height))).rstrip("\n"))
        before = "y"
    for place, layer in enumerate(subject.layers):
        n_out, n_in = layer.weights.shape
        parts += _numbers("double", f"weights_{place}", layer.weights.reshape(-1), repr)
        parts += _numbers("double", f"bias_{place}", layer.bias, repr)
        after = "y" if before == "x" else "x"
        calls.append(f"    layer(weights_{place}, bias_{place}, {n_out}, {n_in}, {before}, {after});")
        activated = f"{{ const double v = {after}[u]; {after}[u] = {ACTIVATIONS[layer.activation]}; }}"
        calls.append(f"    for (int u = 0; u < {n_out}; ++u) {activated}")
        before = after
    sizes: dict[str, int] = {"n_features": subject.n_features, "widest": widest}
    return _part("net.c", arrays="".join(parts), calls="\n".join(calls), last=before, **sizes)


def _piece_arrays(pieces: Pieces) -> list[str]:
    """What each input beside the features themselves is made of."""
    table = piece_table(pieces)
    kind = table.of_category + 2 * table.of_missing
    rows = zip(table.feature.tolist(), kind.tolist(), table.low.tolist(), table.high.tolist(), strict=True)
    text = [f"{{{feature},{kind},{_float(low)},{_float(high)}}}" for feature, kind, low, high in rows]
    return [
        f"#define N_PIECES {len(text)}\n",
        "typedef struct { int feature, kind; float low, high; } piece; /* kinds: number, category, missing */\n",
        *_array("piece", "pieces", len(text), text or ["{0}"]),
        *_numbers("char", "categorical", pieces.categorical.astype(np.int8), str),
        *_numbers("char", "own_missing", pieces.missing.astype(np.int8), str),
    ]


C = Target(
    name="c",
    suffix=".c",
    summary="one C file with its header, for any program: trees, weighted sums and nets",
    takes=("forest", "linear", "net"),
    write=write,
    runners=(run_gcc,),
    sums="float64",
)
