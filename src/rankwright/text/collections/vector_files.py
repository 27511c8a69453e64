"""Vectors of documents, read from files that other programs wrote: NumPy's .npy, or Parquet with ids."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.data.frames import load_package
from rankwright.errors import FileFormatError

ID_COLUMNS = ("id", "document", "document_id", "doc_id", "docid", "docno")
VECTOR_COLUMNS = ("vector", "embedding", "vectors", "embeddings")


def read_vector_file(path: str | os.PathLike[str]) -> tuple[list[str] | None, NDArray[np.float32]]:
    """The ids and the vectors of a file; None where the file has no ids (.npy), and rows are in the index's order."""
    name = os.fspath(path)
    if Path(path).suffix.lower() in (".parquet", ".pq"):
        return _from_parquet(name)
    try:
        found = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise FileFormatError(name, f"these are no vectors of NumPy's (.npy) or Parquet: {error}") from None
    if not isinstance(found, np.ndarray) or found.ndim != 2 or found.dtype.kind != "f":
        shape = getattr(found, "shape", "several arrays")
        raise FileFormatError(name, f"vectors must be a matrix of floats, a row each, got {shape}")
    return None, np.ascontiguousarray(found, np.float32) if found.dtype != np.float32 else found


def _from_parquet(name: str) -> tuple[list[str], NDArray[np.float32]]:
    parquet = load_package("pyarrow.parquet", "reading vectors from Parquet")
    try:
        table = parquet.read_table(name)
    except FileNotFoundError:
        raise
    except Exception as error:
        raise FileFormatError(name, f"this is no file of Parquet: {error}") from None
    ids = _column(table, ID_COLUMNS, name, "ids").to_pylist()
    column = _column(table, VECTOR_COLUMNS, name, "vectors").combine_chunks()
    try:
        flat = np.asarray(column.flatten(), np.float32)
        sizes = np.asarray(column.value_lengths() if hasattr(column, "value_lengths") else [0])
    except (AttributeError, ValueError, TypeError) as error:
        raise FileFormatError(name, f"the column of vectors must hold lists of numbers: {error}") from None
    if not ids or column.null_count or not (sizes == sizes[0]).all() or len(flat) % len(ids):
        raise FileFormatError(name, "every row must have a vector, all of the same number of values")
    return [str(one) for one in ids], flat.reshape(len(ids), -1)


def _column(table: Any, names: tuple[str, ...], path: str, what: str) -> Any:
    for name in names:
        if name in table.column_names:
            return table[name]
    found = ", ".join(table.column_names)
    raise FileFormatError(path, f"a column of {what} is wanted, called {' or '.join(names[:2])}; there are {found}")
