"""What the file of a click model holds, every part of it checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwright.arrays import Arrays, IdArray, arrays_with_prefix, as_ids
from rankwright.clicks.models.list_matrices import KnownPairs
from rankwright.container.checks import read_array, read_field, read_list, read_number
from rankwright.errors import InputError

MOST_STRENGTH = 1e12  # that a file may tell


def stored_pairs(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> KnownPairs:
    """The pairs of a query and a document that the model knows."""
    queries = read_array(arrays, "pair.queries", np.int32, (None,))
    documents = read_array(arrays, "pair.documents", np.int32, (len(queries),))
    known = KnownPairs(queries, documents, _stored_ids(header, "query_ids"), _stored_ids(header, "document_ids"))
    for places, ids in ((known.queries, known.query_ids), (known.documents, known.document_ids)):
        if not len(places) or not 0 <= places.min() <= places.max() < len(ids):
            raise InputError("pairs name queries or documents that are not there")
    if not (np.diff(known.queries.astype(np.int64) << 32 | known.documents) > 0).all():
        raise InputError("pairs are not in order of their queries and documents")
    return known


def stored_parameters(arrays: Mapping[str, Any], n_pairs: int, chances: Mapping[str, tuple[int | None, ...]]) -> Arrays:
    """The fitted parameters: those of every model, and the chances that only some have, by their shapes."""
    parameters = arrays_with_prefix(arrays, "fitted.")
    forms = {"attraction": (n_pairs,), "usual": (n_pairs,), "rank_attraction": (None,), **chances}
    for name, form in forms.items():
        found = read_array(parameters, name, np.float64, form)
        if not len(found) or not 0 <= found.min() <= found.max() <= 1:
            raise InputError(f"{name} must have chances between 0 and 1")
    for name, kind in (("clicks", np.float64), ("examined", np.float64), ("shown", np.int64)):
        if read_array(parameters, name, kind, (n_pairs,)).min() < 0:
            raise InputError(f"{name} must be 0 or more")
    return parameters


def stored_strengths(header: Mapping[str, Any]) -> dict[str, float]:
    """How strongly rates were drawn to what is usual."""
    strengths = read_field(header, "strengths", dict)
    found = {name: read_number(strengths, name) for name in ("attraction", *strengths)}
    if not all(0 <= value <= MOST_STRENGTH for value in found.values()):
        raise InputError(f"strengths must lie between 0 and {MOST_STRENGTH:g}")
    return found


def _stored_ids(header: Mapping[str, Any], name: str) -> IdArray:
    kind = int if all(type(one) is int for one in read_field(header, name, list)) else str
    values = read_list(header, name, kind)
    ids = as_ids(np.array(values, np.int64 if kind is int else np.dtypes.StringDType()), name=name)
    if not bool((ids[1:] > ids[:-1]).all()):
        raise InputError(f"{name} must be in ascending order, each once")
    return ids
