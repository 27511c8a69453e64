"""Features in an Arrow stream: a column for each feature, or one column whose values are lists of all features.

The second is quicker to read: most of the time goes into the names of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from importlib.util import find_spec
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.errors import MissingExtraError
from rankwright.serve.features import Id, check_names, column_numbers
from rankwright.serve.models import ServedModel
from rankwright.web.messages import WebError

ID_COLUMN = "id"  # where it is no feature
LIST_COLUMN = "features"  # the same


def arrow_features(body: bytes, model: ServedModel) -> tuple[Float32Array, list[Id] | None]:
    """The features, and ids where the stream has a column of them."""
    if find_spec("pyarrow") is None:
        raise MissingExtraError("a body of Arrow", "pyarrow", "frames")
    import pyarrow as pa

    try:
        table = pa.ipc.open_stream(pa.py_buffer(body)).read_all()
        names, ids = table.column_names, None
        if ID_COLUMN in names and ID_COLUMN not in model.features:
            ids = table.column(ID_COLUMN).to_pylist()
            names = [name for name in names if name != ID_COLUMN]
        if names == [LIST_COLUMN] and LIST_COLUMN not in model.features:
            features = _list_features(table.column(LIST_COLUMN), model)
        else:
            features = _named_features(table, names, model)
    except (pa.ArrowException, OSError) as error:
        told = str(error).partition("\n")[0][:200]
        raise WebError(HTTPStatus.BAD_REQUEST, f"the body is no Arrow stream as it is wanted: {told}") from None
    if ids is not None and not all(isinstance(one, str | int) for one in ids):
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, "ids are texts or whole numbers")
    return features, ids


def _list_features(column: Any, model: ServedModel) -> Float32Array:
    import pyarrow as pa

    if column.type != pa.list_(pa.float32(), model.n_features) or column.null_count:
        told = f"{LIST_COLUMN} must be lists of {model.n_features} float32, of fixed size, got {column.type}"
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, told)
    numbers = column.combine_chunks().flatten().to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(numbers, np.float32).reshape(-1, model.n_features)


def _named_features(table: Any, names: Sequence[str], model: ServedModel) -> Float32Array:
    import pyarrow as pa

    check_names(names, model)
    categories = model.trained.features.categories or {}
    chosen = table if tuple(names) == model.features else table.select(list(model.features))
    if not categories and all(kind == pa.float32() for kind in chosen.schema.types):
        parts = [batch.to_tensor(null_to_nan=True).to_numpy() for batch in chosen.to_batches()]
        return np.concatenate(parts) if parts else np.empty((0, model.n_features), np.float32)
    features = np.empty((table.num_rows, model.n_features), np.float32)
    for place, name in enumerate(model.features):
        column = chosen.column(place)
        if name in categories:
            features[:, place] = column_numbers(column.to_pylist(), name, model)
        else:
            features[:, place] = column.cast(pa.float32()).to_numpy()
    return features
