"""Logs as Parquet, with a row for each list: read a batch at a time, ids encoded by Arrow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Int32Array, IntArray
from rankwright.clicks.logs.codes import Codes
from rankwright.clicks.logs.events import BROKEN, EMPTY, NOT_SHOWN, REPEATED, LogBlock, Naming, Problems
from rankwright.data.frames import load
from rankwright.errors import FileFormatError

LISTS_AT_A_TIME = 1 << 19
WANTED = "query, shown (a list of ids) and clicks (a list of positions from 1)"


def parquet_blocks(path: str, naming: Naming, problems: Problems) -> Iterator[LogBlock]:
    """The lists of a file, block by block."""
    arrow, reader = load("pyarrow", "reading Parquet"), load("pyarrow.parquet", "reading Parquet")
    try:
        file = reader.ParquetFile(path)
    except arrow.ArrowException as error:
        raise FileFormatError(path, f"cannot be read as Parquet: {' '.join(str(error).split())}") from None
    names = [name for name in ("query", "shown", "clicks", "first", "propensity", "policy")
             if name in file.schema_arrow.names]  # fmt: skip
    if names[:3] != ["query", "shown", "clicks"]:
        found = ", ".join(file.schema_arrow.names)[:200]
        raise FileFormatError(path, f"found the columns {found}; wanted {WANTED}")
    with file:
        row = 0
        for batch in file.iter_batches(LISTS_AT_A_TIME, columns=names):
            yield _block({name: batch.column(name) for name in names}, naming, problems, row)
            row += batch.num_rows


def _block(columns: dict[str, Any], naming: Naming, problems: Problems, row: int) -> LogBlock:
    sizes = _sizes(columns["shown"])
    usable = (sizes > 0) & ~_is_null(columns["query"])
    if not usable.all():
        problems.note(EMPTY, row + int(np.flatnonzero(~usable)[0]) + 1, times=int((~usable).sum()))
        chosen = load("pyarrow", "reading Parquet").array(usable)
        columns = {name: column.filter(chosen) for name, column in columns.items()}
        sizes = sizes[usable]
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    first = None
    if "first" in columns:
        first = (columns["first"].fill_null(1).to_numpy(zero_copy_only=False) - 1).astype(np.int32)
    chances = None
    if "propensity" in columns:
        chances = columns["propensity"].flatten().to_numpy(zero_copy_only=False).astype(np.float32)
        if len(chances) != offsets[-1]:
            raise FileFormatError(problems.path, "propensity must have a number for each shown document")
    return LogBlock(
        _codes(columns["query"], naming.queries),
        offsets,
        _codes(columns["shown"].flatten(), naming.documents),
        _clicked(columns["clicks"], offsets, problems, row),
        first if first is not None and first.any() else None,
        chances,
        _codes(columns["policy"], naming.policies) if "policy" in columns else None,
    )


def _sizes(column: Any) -> IntArray:
    sizes = load("pyarrow.compute", "reading Parquet").list_value_length(column).fill_null(0)
    return np.asarray(sizes.to_numpy(zero_copy_only=False), np.int64)


def _is_null(column: Any) -> BoolArray:
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False), np.bool_)


def _codes(column: Any, codes: Codes) -> Int32Array:
    encoded = column.dictionary_encode()
    if encoded.null_count:
        raise FileFormatError("the log", f"{BROKEN}: an id is missing")
    distinct = encoded.dictionary
    places = np.asarray(encoded.indices.to_numpy(zero_copy_only=False))
    if load("pyarrow.types", "reading Parquet").is_integer(distinct.type):
        numbers = codes.of_integers(distinct.to_numpy(zero_copy_only=False).astype(np.int64))
    else:
        numbers = codes.of_texts(map(str, distinct.to_pylist()))
    found: Int32Array = numbers[places]
    return found


def _clicked(column: Any, offsets: IntArray, problems: Problems, row: int) -> BoolArray:
    """Which shown documents were clicked, from positions counted from 1."""
    n_clicks = _sizes(column)
    list_of_click = np.repeat(np.arange(len(n_clicks)), n_clicks)
    positions = column.flatten().to_numpy(zero_copy_only=False).astype(np.int64)
    inside = (positions >= 1) & (positions <= np.diff(offsets)[list_of_click])
    if not inside.all():
        worst = int(np.flatnonzero(~inside)[0])
        line = row + int(list_of_click[worst]) + 1
        problems.note(NOT_SHOWN, line, f"position {positions[worst]}", int((~inside).sum()))
    clicked = np.zeros(int(offsets[-1]), np.bool_)
    clicked[offsets[list_of_click[inside]] + positions[inside] - 1] = True
    repeated = int(inside.sum()) - int(np.count_nonzero(clicked))
    if repeated:
        problems.note(REPEATED, row + 1, times=repeated)
    return clicked


def is_log(path: str) -> bool:
    """Whether the columns of a file are those of a log."""
    arrow, reader = load("pyarrow", "reading Parquet"), load("pyarrow.parquet", "reading Parquet")
    try:
        names = reader.read_schema(path).names
    except (arrow.ArrowException, OSError):
        return False
    return {"query", "shown", "clicks"} <= set(names)
