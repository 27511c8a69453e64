"""What callers give to be evaluated: judged documents in any form, and scores or whatever gives them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from rankwright.arrays import Float64Array, as_vector
from rankwright.data.columns import Columns, quoted_list
from rankwright.data.dataset import RankingDataset
from rankwright.data.frames import is_frame, table_of, values_of
from rankwright.errors import InputError, InputTypeError, require_input
from rankwright.formats.dataset_tables import from_frame
from rankwright.formats.reading import as_data_file


def judgments_of(
    data: Any, labels: Any = None, qid: Any = None, group: Any = None, *, with_features: bool = False
) -> RankingDataset:
    """The documents with their labels, however they were given; features of a frame are read only on request."""
    if isinstance(data, RankingDataset):
        _refuse({"labels": labels, "qid": qid, "group": group}, "a RankingDataset")
        return data
    if data is None:
        return _of_arrays(labels, qid, group)
    if is_frame(data):
        return _of_frame(data, labels, qid, group, None if with_features else ())
    file = as_data_file(data)
    if file is not None:
        _refuse({"labels": labels, "qid": qid, "group": group}, "a file")
        return file.read()
    raise InputTypeError(
        f"data must be a RankingDataset, a frame or a file, got {type(data).__name__}; or leave it out, and give "
        f"labels= and qid="
    )


def check_no_data(scores: Any) -> None:
    """Raise where data stands in the place of scores."""
    if isinstance(scores, RankingDataset) or is_frame(scores):
        raise InputTypeError(
            f"scores must be one number for each document, got {type(scores).__name__}: scores come first, data second"
        )


def scores_of(scores: Any, data: Any) -> Any:
    """The scores, which may be a column of the frame they are measured on."""
    check_no_data(scores)
    if not isinstance(scores, str):
        return values_of(scores)
    if not is_frame(data):
        raise InputTypeError(f"scores={scores!r} would name a column of a frame, and data is {type(data).__name__}")
    table = table_of(data)
    if scores not in table.columns:
        raise InputError(f"there is no column {scores!r} to take scores from: found {quoted_list(table.names)}")
    return table.numbers(scores)


def _refuse(given: dict[str, Any], owner: str) -> None:
    extra = [name for name, value in given.items() if value is not None]
    if extra:
        raise InputError(f"{owner} brings its own {' and '.join(extra)}: leave them out")


def _of_arrays(labels: Any, qid: Any, group: Any) -> RankingDataset:
    if labels is None or (qid is None and group is None):
        raise InputError(
            "nothing to measure against: give data, or labels= with a label for each document and qid= with its query"
        )
    for name, value in {"labels": labels, "qid": qid}.items():
        if isinstance(value, str):
            raise InputTypeError(f"{name}={value!r} would name a column of a frame: give the frame as data")
    n_docs = len(as_vector(values_of(labels), name="labels", dtype=np.float32))
    return RankingDataset.from_arrays(np.empty((n_docs, 0), np.float32), labels, qid=qid, group=group)


def _of_frame(frame: Any, labels: Any, qid: Any, group: Any, features: Sequence[str] | None) -> RankingDataset:
    """The labels and query ids of a frame, and some or all of its features."""
    require_input(group is None, "a frame brings its query ids: leave out group")
    if all(value is None or isinstance(value, str) for value in (labels, qid)):
        data = from_frame(frame, Columns(query=qid, label=labels), features=features)
        if data.labels is None:
            told = f"there is no label column: found {quoted_list(table_of(frame).names)}; name it with labels="
            raise InputError(told)
        return data
    table = table_of(frame)
    columns = [table.columns.get(value) if isinstance(value, str) else value for value in (labels, qid)]
    return _of_arrays(columns[0], columns[1], None)


class ScoringSystem(Protocol):
    """Anything that scores documents: a trained ranker, or another library's model."""

    def predict(self, X: Any) -> Any:
        """The score of each document, in the caller's row order."""


def predicted_by(system: Any, data: RankingDataset) -> Any:
    """The scores of the documents, in the row order of their source.

    Systems that say they take datasets, as rankers do, get the dataset; all others get the matrix of features.
    """
    if not hasattr(system, "predict"):
        return system
    if getattr(type(system), "takes_datasets", False):  # as those of rankers do
        return system.predict(data)
    if _splits_categories(system):
        raise InputError("the model splits categories of a frame: give rankwright.load(model), which knows their codes")
    features: Any = data.in_source_order(data.dense("another library's model").features)
    options: dict[str, Any] = {}
    package = type(system).__module__.partition(".")[0]
    if package == "xgboost" and not hasattr(system, "get_booster"):  # a Booster wants a matrix of its own kind
        features, best = import_module(package).DMatrix(features), system.attributes().get("best_iteration")
        options |= {} if best is None else {"iteration_range": (0, int(best) + 1)}  # as its estimators predict
    found: Float64Array = np.asarray(system.predict(features, **options), np.float64)
    return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found


def _splits_categories(system: Any) -> bool:
    """Whether a live model of LightGBM or XGBoost was trained on a frame with categories, whose codes it knows."""
    booster = system.get_booster() if hasattr(system, "get_booster") else getattr(system, "booster_", system)
    return bool(getattr(booster, "pandas_categorical", None)) or "c" in (getattr(booster, "feature_types", None) or ())
