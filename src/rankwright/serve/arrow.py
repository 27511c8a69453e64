"""Features in an Arrow stream: a column for each feature, or one column whose values are lists of all features.

The second is quicker to read: most of the time goes into the names of columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from importlib.util import find_spec
from struct import error as StructError
from struct import unpack_from
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.errors import MissingExtraError, RankwrightError
from rankwright.serve.features import Id, check_documents, check_names, column_numbers
from rankwright.serve.models import ServedModel
from rankwright.web.messages import WebError

ID_COLUMN = "id"  # where it is no feature
LIST_COLUMN = "features"  # the same


def arrow_features(body: bytes, model: ServedModel, most: int) -> tuple[Float32Array, list[Id] | None]:
    """The features, and ids where the stream has a column of them."""
    if find_spec("pyarrow") is None:
        raise MissingExtraError("a body of Arrow", "pyarrow", "frames")
    try:
        return _features_and_ids(body, model, most)
    except RankwrightError:
        raise
    # What a stream may hold that is none is Arrow's to tell, in errors of many kinds.
    except (ValueError, TypeError, OSError, MemoryError, NotImplementedError, OverflowError, KeyError) as error:
        told = str(error).partition("\n")[0][:200]
        raise WebError(HTTPStatus.BAD_REQUEST, f"the body is no Arrow stream as it is wanted: {told}") from None


def _features_and_ids(body: bytes, model: ServedModel, most: int) -> tuple[Float32Array, list[Id] | None]:
    import pyarrow as pa

    content = pa.py_buffer(body)
    _check_messages(content)
    # Handing columns to other threads costs more than reading them.
    table = pa.ipc.open_stream(content, options=pa.ipc.IpcReadOptions(use_threads=False)).read_all()
    check_documents(table.num_rows, most)  # a column of nulls may claim to have any number of rows
    table.validate(full=True)  # offsets and lengths of a stranger's, before anything follows them
    names, ids = table.column_names, None
    if ID_COLUMN in names and ID_COLUMN not in model.features:
        ids = table.column(ID_COLUMN).to_pylist()
        if not all(isinstance(one, str | int) for one in ids):
            raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, "ids are texts or whole numbers")
        names = [name for name in names if name != ID_COLUMN]
    if names == [LIST_COLUMN] and LIST_COLUMN not in model.features:
        return _list_features(table.column(LIST_COLUMN), model), ids
    return _named_features(table, names, model), ids


def _check_messages(content: Any) -> None:
    """Raise where a stream is compressed: a small body could claim to unpack to more than there is memory."""
    import pyarrow as pa

    messages = pa.ipc.MessageReader.open_stream(content)
    while True:
        try:
            message = messages.read_next_message()
        except StopIteration:
            return
        if message.type != "schema" and _is_compressed(message.metadata):
            raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, "the body must not be compressed")


# Numbers of fields in Arrow's own description of messages, Message.fbs.
KIND, HEADER = 1, 2  # of a message: what its header is, and the header
COMPRESSION = 3  # of a batch of records
DICTIONARY_KIND, DICTIONARY_DATA = 2, 1  # the kind of a batch of a dictionary's values, and its field of records


def _is_compressed(metadata: Any) -> bool:
    """Whether a message of records says that its buffers are compressed; a FlatBuffer that is none raises."""
    content = memoryview(metadata)
    try:
        message = unpack_from("<I", content, 0)[0]
        kind_place, header = _field(content, message, KIND), _field(content, message, HEADER)
        records = header + unpack_from("<I", content, header)[0]
        if content[kind_place] != DICTIONARY_KIND:
            return _field(content, records, COMPRESSION) != 0
        inner = _field(content, records, DICTIONARY_DATA)
        return _field(content, inner + unpack_from("<I", content, inner)[0], COMPRESSION) != 0
    except (StructError, IndexError):
        raise ValueError("a message that is none") from None


def _field(content: memoryview, table: int, number: int) -> int:
    """Where a field of a FlatBuffer's table stands; 0 where it is absent."""
    fields = table - unpack_from("<i", content, table)[0]
    place = 4 + 2 * number
    if place + 2 > unpack_from("<H", content, fields)[0]:
        return 0
    offset: int = unpack_from("<H", content, fields + place)[0]
    return table + offset if offset else 0


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
