"""The table of click models, and models read from files, every part of which is checked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from rankwright.arrays import Arrays, IdArray, arrays_with_prefix, as_ids
from rankwright.clicks.models.click_model import EACH_PAIR, KIND, ClickModel
from rankwright.clicks.models.counted import Cascade, DependentClicks, DocumentRate, RankRate, SimplifiedDBN
from rankwright.clicks.models.expected import DynamicBayesianNetwork, PositionBasedModel, UserBrowsingModel
from rankwright.clicks.models.list_matrices import KnownPairs
from rankwright.container.checks import (
    file_faults,
    read_array,
    read_field,
    read_integer,
    read_list,
    read_number,
    read_optional_number,
)
from rankwright.container.file import read_container
from rankwright.errors import InputError, UnknownNameError

MOST_STRENGTH = 1e12  # that a file may tell

CLICK_MODELS: Mapping[str, type[ClickModel]] = {
    kind.name: kind
    for kind in (
        RankRate,
        DocumentRate,
        Cascade,
        DependentClicks,
        SimplifiedDBN,
        PositionBasedModel,
        UserBrowsingModel,
        DynamicBayesianNetwork,
    )
}


def click_model(name: str, **settings: Any) -> ClickModel:
    """A click model, ready to be fitted.

    Parameters
    ----------
    name : str
        One of `CLICK_MODELS`: rank-rate, document-rate, cascade, dcm, sdbn, pbm, ubm or dbn.
    **settings
        `iterations`, `tolerance`, `strength` and `threads`; see `ClickModel`.

    Returns
    -------
    ClickModel
        The model.

    Examples
    --------
    >>> import rankwright as rw
    >>> log = rw.clicks.ClickLog.from_lists(["q"] * 4, [["a", "b"]] * 4, [[1], [1], [2], []])
    >>> model = rw.clicks.click_model("sdbn", strength=0).fit(log)
    >>> model.parameters_["attraction"].round(2).tolist()
    [0.5, 0.5]
    """
    if name not in CLICK_MODELS:
        raise UnknownNameError("click model", name, known=CLICK_MODELS)
    return CLICK_MODELS[name](**settings)


def load_click_model(path: str | os.PathLike[str]) -> ClickModel:
    """Read a click model from a file that `ClickModel.save` wrote.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    ClickModel
        The fitted model.
    """
    container = read_container(path, KIND)
    with file_faults(path, "click model"):
        settings = read_field(container.header, "settings", dict)
        model = click_model(
            read_field(container.header, "name", str),
            iterations=read_integer(settings, "iterations", least=1),
            tolerance=read_number(settings, "tolerance"),
            strength=read_optional_number(settings, "strength"),
        )
        model.n_iterations_ = read_integer(container.header, "n_iterations")
        known = _stored_pairs(container.header, container.arrays)
        model.queries_, model.documents_, model.query_ids_, model.document_ids_ = known
        model.parameters_ = _stored_parameters(container.arrays, len(known.queries), model._chances)
        model._check(model.parameters_)
        model.strengths_ = _stored_strengths(container.header)
        return model


def _stored_pairs(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> KnownPairs:
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


def _stored_parameters(arrays: Mapping[str, Any], n_pairs: int, chances: Mapping[str, int | None]) -> Arrays:
    """The fitted parameters: those of every model, and the chances that only some have, by their lengths."""
    parameters = arrays_with_prefix(arrays, "fitted.")
    lengths = {"attraction": EACH_PAIR, "usual": EACH_PAIR, "rank_attraction": None, **chances}
    for name, length in lengths.items():
        found = read_array(parameters, name, np.float64, (n_pairs if length == EACH_PAIR else length,))
        if not len(found) or not 0 <= found.min() <= found.max() <= 1:
            raise InputError(f"{name} must have chances between 0 and 1")
    for name, kind in (("clicks", np.float64), ("examined", np.float64), ("shown", np.int64)):
        if read_array(parameters, name, kind, (n_pairs,)).min() < 0:
            raise InputError(f"{name} must be 0 or more")
    return parameters


def _stored_strengths(header: Mapping[str, Any]) -> dict[str, float]:
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
