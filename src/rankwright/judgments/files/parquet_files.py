"""Judgments in Parquet, a batch at a time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, Int32Array
from rankwright.clicks.logs.log_blocks import Codes
from rankwright.clicks.logs.parquet_logs import column_codes, column_numbers, is_null
from rankwright.data.frames import load_package
from rankwright.errors import FileFormatError
from rankwright.formats.parquet import arrow_errors
from rankwright.formats.storage.places import FilePath, opened
from rankwright.formats.storage.streams import input_name
from rankwright.judgments.files.columns import HowToRead
from rankwright.judgments.files.gathering import Gathering, RowBlock

ROWS_AT_A_TIME = 1 << 18
READING = "reading Parquet"


def read_parquet_judgments(path: FilePath, gathering: Gathering, how: HowToRead) -> None:
    """Gather the judgments of a Parquet file with a row for each."""
    parquet, file = load_package("pyarrow.parquet", READING), input_name(path)
    opened(str(path)).close()  # what the system says of a file that cannot be opened names the file
    with arrow_errors(file), parquet.ParquetFile(str(path)) as source:
        names = source.schema_arrow.names
        roles = how.roles_of(names, file)
        _check_types(source.schema_arrow, roles, file)
        row = 0
        for batch in source.iter_batches(ROWS_AT_A_TIME, columns=list(dict.fromkeys(roles.values()))):
            columns = {role: batch.column(name) for role, name in roles.items()}
            place_of = partial(_place, file, row)
            gathering.add(_block(columns, gathering, how, place_of), place_of)
            row += batch.num_rows


def _place(file: str, first: int, row: int) -> str:
    return f"{file}, row {first + row + 1}"


def _check_types(schema: Any, roles: dict[str, str], file: str) -> None:
    types = load_package("pyarrow.types", READING)
    for role, name in roles.items():
        kind = schema.field(name).type
        is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_null(kind)
        is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_dictionary(kind)
        fits = is_number if role in ("grade", "preference", "error") else is_number or is_text
        if role == "time":
            fits = is_number or types.is_timestamp(kind)
        if role in ("query", "document", "rater", "other"):
            fits = fits and not types.is_floating(kind)
        if not fits or schema.names.count(name) > 1:
            wanted = "a number" if role in ("grade", "preference", "error", "time") else "whole numbers or texts"
            raise FileFormatError(file, f"the column {name} is of type {kind}; wanted {wanted}")


def _block(columns: dict[str, Any], gathering: Gathering, how: HowToRead, place_of: Callable[[int], str]) -> RowBlock:
    n_rows = len(columns["query"])
    numbers = {role: column_numbers(columns[role]) for role in ("grade", "preference", "error") if role in columns}
    if "rater" in columns:
        raters = _codes(columns["rater"], gathering.raters)
    else:
        raters = np.full(n_rows, gathering.raters.of_texts([how.rater])[0], np.int32)
    if "kind" in columns:
        names = ["" if one is None else str(one) for one in columns["kind"].to_pylist()]
        gathering.name_kinds(raters, names, place_of)
    comments = (
        ["" if one is None else str(one) for one in columns["comment"].to_pylist()] if "comment" in columns else []
    )
    return RowBlock(
        _codes(columns["query"], gathering.queries),
        _codes(columns["document"], gathering.documents),
        raters,
        numbers.get("grade", np.full(n_rows, np.nan)),
        _codes(columns["other"], gathering.documents) if "other" in columns else None,
        numbers.get("preference"),
        numbers.get("error"),
        _times(columns["time"]) if "time" in columns else None,
        comments if any(comments) else None,
    )


def _codes(column: Any, codes: Codes) -> Int32Array:
    """The numbers of ids, -1 where there is none."""
    arrow, types = load_package("pyarrow", READING), load_package("pyarrow.types", READING)
    absent = is_null(column)
    if types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if types.is_string(column.type) or types.is_large_string(column.type):
        lengths = load_package("pyarrow.compute", READING).binary_length(column).fill_null(0)
        absent |= np.asarray(lengths.to_numpy(zero_copy_only=False)) == 0
    if not absent.any():
        return column_codes(column, codes)
    found = np.full(len(absent), -1, np.int32)
    if not absent.all():
        found[~absent] = column_codes(column.filter(arrow.array(~absent)), codes)
    return found


def _times(column: Any) -> Float64Array:
    types = load_package("pyarrow.types", READING)
    if not types.is_timestamp(column.type):
        return column_numbers(column)
    micro = column.cast(load_package("pyarrow", READING).timestamp("us", tz=column.type.tz)).cast("int64")
    return column_numbers(micro) / 1e6
