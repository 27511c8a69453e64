"""Ids of queries and documents in text files.

They are int64 if all of them are whole numbers written the usual way, else NumPy's variable-width strings: `7` is a
number, `007` and `+7` are not, so that writing an id gives back the text that was read.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rankwright.arrays import IdArray


def ids_of_text(texts: Sequence[str]) -> IdArray:
    """Ids of the given texts."""
    ids = np.array(texts, dtype=np.dtypes.StringDType())
    try:
        integers = ids.astype(np.int64)
    except (ValueError, OverflowError):
        return ids
    return integers if (integers.astype(ids.dtype) == ids).all() else ids


def join_ids(parts: Sequence[IdArray]) -> IdArray:
    """The ids of all parts; numbers only where every part has numbers."""
    if len(parts) == 1:
        return parts[0]
    if not all(ids.dtype == np.int64 for ids in parts):
        parts = [text_ids(ids) for ids in parts]
    return np.concatenate(parts) if parts else np.empty(0, np.int64)


def text_ids(ids: IdArray) -> IdArray:
    """The same ids as strings."""
    return ids.astype(np.dtypes.StringDType())
