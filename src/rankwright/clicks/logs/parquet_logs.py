"""Logs as Parquet, a row for each list: read a batch at a time, from Arrow's buffers, while the next is decoded."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float32Array, Int32Array, IntArray
from rankwright.clicks.logs.log_blocks import LOWEST_FIRST, MOST_PROPENSITY, Codes, LogBlock, LogFault, Naming, Problems
from rankwright.data.frames import load_package
from rankwright.errors import FileFormatError
from rankwright.formats.parquet import parquet_columns
from rankwright.kernels.records import Texts

LISTS_AT_A_TIME = 1 << 18
REQUIRED = ("query", "shown", "clicks")
OPTIONAL = ("first", "propensity", "policy")
WANTED = "query, shown (a list of ids) and clicks (a list of positions from 1)"


def parquet_blocks(path: str, naming: Naming, problems: Problems) -> Iterator[LogBlock]:
    """The lists of a file, block by block."""
    arrow, reader = load_package("pyarrow", "reading Parquet"), load_package("pyarrow.parquet", "reading Parquet")
    Path(path).open("rb").close()  # what the system says of a file that cannot be opened names the file
    try:
        with reader.ParquetFile(path) as file:
            names = _checked_names(path, file.schema_arrow)
            row = 0
            for batch in _ahead(file.iter_batches(LISTS_AT_A_TIME, columns=names)):
                yield _block({name: batch.column(name) for name in names}, naming, problems, row)
                row += batch.num_rows
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise FileFormatError(path, f"cannot be read as Parquet: {' '.join(str(error).split())}") from None


def _ahead(batches: Iterator[Any]) -> Iterator[Any]:
    """The same batches, each decoded while the one before it is worked on."""
    with ThreadPoolExecutor(1, thread_name_prefix="rankwright-parquet") as pool:
        upcoming = pool.submit(next, batches, None)
        while (batch := upcoming.result()) is not None:
            upcoming = pool.submit(next, batches, None)
            yield batch


def _checked_names(path: str, schema: Any) -> list[str]:
    """The columns to read, once their types are those of a log."""
    types = load_package("pyarrow.types", "reading Parquet")
    names = [name for name in (*REQUIRED, *OPTIONAL) if name in schema.names]
    if tuple(names[:3]) != REQUIRED:
        raise FileFormatError(path, f"found the columns {', '.join(schema.names)[:200]}; wanted {WANTED}")
    for name in names:
        kind = schema.field(name).type
        is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        inner = kind.value_type if is_list else kind
        is_number = types.is_integer(inner) or types.is_floating(inner) or types.is_null(inner)
        fits = (
            not types.is_nested(inner)
            and (is_list == (name in ("shown", "clicks")) or name == "propensity")
            and (is_number or name not in ("clicks", "first", "propensity"))
        )
        if not fits or schema.names.count(name) > 1:
            raise FileFormatError(path, f"the column {name} is of type {kind}; wanted {WANTED}")
    return names


def _block(columns: dict[str, Any], naming: Naming, problems: Problems, row: int) -> LogBlock:
    usable = _usable(columns, problems, row)
    if not usable.all():
        chosen = load_package("pyarrow", "reading Parquet").array(usable)
        columns = {name: column.filter(chosen) for name, column in columns.items()}
    rows = row + 1 + np.flatnonzero(usable)  # as problems tell them, from 1
    sizes = _sizes(columns["shown"])
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes)])
    first = _first_ranks(columns["first"]).astype(np.int32) if "first" in columns else None
    chances = _propensities(columns["propensity"], sizes) if "propensity" in columns else None
    return LogBlock(
        column_codes(columns["query"], naming.queries),
        offsets,
        column_codes(columns["shown"].flatten(), naming.documents),
        _clicked(columns["clicks"], offsets, problems, rows),
        first if first is not None and first.any() else None,
        None if chances is None or np.isnan(chances).all() else chances,
        column_codes(columns["policy"].fill_null(_blank(columns["policy"])), naming.policies)
        if "policy" in columns
        else None,
    )


def _usable(columns: dict[str, Any], problems: Problems, row: int) -> BoolArray:
    """Which lists can be read; what is wrong with the others is noted, once for each."""
    shown, sizes = columns["shown"], _sizes(columns["shown"])
    faults: list[tuple[str, BoolArray, str]] = [
        (LogFault.NO_QUERY, is_null(columns["query"]), ""),
        (LogFault.EMPTY, sizes == 0, ""),
    ]
    values = shown.flatten()
    if values.null_count:
        missing = np.zeros(len(sizes), np.bool_)
        missing[np.repeat(np.arange(len(sizes)), sizes)[is_null(values)]] = True
        faults.append((LogFault.BROKEN, missing, "the id of a shown document is missing"))
    if "first" in columns:
        ranks = _first_ranks(columns["first"])
        wrong = (ranks < 0) | (ranks >= LOWEST_FIRST)
        faults.append((LogFault.BROKEN, wrong, f"first must be a position from 1 to {LOWEST_FIRST:,}"))
    if "propensity" in columns:
        faults.append((LogFault.BROKEN, _wrong_propensities(columns["propensity"], sizes),
                       "propensity must be one number above 0, or one for each shown document"))  # fmt: skip
    usable = np.ones(len(sizes), np.bool_)
    for problem, found, detail in faults:
        found = found & usable
        if found.any():
            problems.note(problem, row + int(np.argmax(found)) + 1, detail, int(found.sum()))
            usable &= ~found
    return usable


def _sizes(column: Any) -> IntArray:
    sizes = load_package("pyarrow.compute", "reading Parquet").list_value_length(column).fill_null(0)
    return np.asarray(sizes.to_numpy(zero_copy_only=False), np.int64)


def is_null(column: Any) -> BoolArray:
    """Which values are absent."""
    return np.asarray(column.is_null().to_numpy(zero_copy_only=False), np.bool_)


def _is_list(column: Any) -> bool:
    return bool(load_package("pyarrow.types", "reading Parquet").is_nested(column.type))


def column_numbers(column: Any) -> np.ndarray:
    """Numbers as float64; NaN where there is none."""
    filled = column.cast("float64", safe=False).fill_null(np.nan)
    return np.asarray(filled.to_numpy(zero_copy_only=False), np.float64)


def _first_ranks(column: Any) -> IntArray:
    """The rank, from 0, of the first document of each list; -1 where it is no whole number."""
    positions = column_numbers(column.fill_null(1) if column.null_count else column)
    whole = np.isfinite(positions) & (positions == np.rint(positions)) & (np.abs(positions) < 2**62)
    return np.where(whole, positions, 0).astype(np.int64) - 1


def _wrong_propensities(column: Any, sizes: IntArray) -> BoolArray:
    values = column_numbers(column.flatten() if _is_list(column) else column)
    wrong: BoolArray = (values <= 0) | (values > MOST_PROPENSITY)  # unknown ones, NaN, are not
    if not _is_list(column):
        return wrong
    n_given = _sizes(column)
    found: BoolArray = (n_given != sizes) & ~is_null(column)
    found[np.repeat(np.arange(len(sizes)), n_given)[wrong]] = True
    return found


def _propensities(column: Any, sizes: IntArray) -> Float32Array:
    """A propensity for each shown document, NaN where it is not known."""
    if not _is_list(column):
        return np.repeat(column_numbers(column), sizes).astype(np.float32)
    chances = np.full(int(sizes.sum()), np.nan, np.float32)
    chances[np.repeat(~is_null(column), sizes)] = column_numbers(column.flatten())
    return chances


def _blank(column: Any) -> Any:
    """What stands for a policy that is not known."""
    types = load_package("pyarrow.types", "reading Parquet")
    return -1 if types.is_signed_integer(column.type) else 0 if types.is_unsigned_integer(column.type) else ""


def column_codes(column: Any, codes: Codes) -> Int32Array:
    """The numbers of ids: of whole numbers and texts straight from Arrow's buffers."""
    arrow, types = load_package("pyarrow", "reading Parquet"), load_package("pyarrow.types", "reading Parquet")
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_integer(column.type) and not types.is_uint64(column.type):
        return codes.of_integers(np.asarray(column.to_numpy(zero_copy_only=False), np.int64))
    if not (types.is_string(column.type) or types.is_large_string(column.type)):
        column = arrow.array([_text(one) for one in column.to_pylist()], arrow.large_string())
    texts = column.cast(arrow.large_string())
    _, offsets, data = texts.buffers()
    if not len(texts) or offsets is None:
        return np.empty(0, np.int32)
    starts = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    bytes_ = np.empty(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return codes.of_encoded(Texts(bytes_, starts))


def _text(one: Any) -> str:
    return one.decode() if isinstance(one, bytes) else str(one)


def _clicked(column: Any, offsets: IntArray, problems: Problems, rows: IntArray) -> BoolArray:
    """Which shown documents were clicked, from positions counted from 1; `rows` are those of the file."""
    n_clicks = _sizes(column)
    list_of_click = np.repeat(np.arange(len(n_clicks)), n_clicks)
    flat = column.flatten()
    given = np.asarray(flat.fill_null(0).to_numpy(zero_copy_only=False)) if len(flat) else np.empty(0, np.int64)
    inside = (given >= 1) & (given <= np.diff(offsets)[list_of_click]) & (given == np.rint(given))
    if not inside.all():
        worst = int(np.flatnonzero(~inside)[0])
        line = int(rows[list_of_click[worst]])
        problems.note(LogFault.NOT_SHOWN, line, f"position {given[worst]}", int((~inside).sum()))
    clicked = np.zeros(int(offsets[-1]), np.bool_)
    clicked[offsets[list_of_click[inside]] + given[inside].astype(np.int64) - 1] = True
    repeated = int(inside.sum()) - int(np.count_nonzero(clicked))
    if repeated:
        problems.note(LogFault.REPEATED, int(rows[0]), times=repeated)
    return clicked


def is_log(path: str) -> bool:
    """Whether the columns of a file are those of a log."""
    try:
        names = parquet_columns(path)
    except (FileFormatError, OSError):
        return False
    return {"query", "shown", "clicks"} <= set(names)
