"""Frames in place of arrays: columns are found by name, and answers have the frame's shape."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.utils.metadata_routing import MetadataRequest

from rankwright.data.columns import ROLES, USUAL_NAMES, Columns, find_layout, quoted_list
from rankwright.data.frames import is_frame, names_are_text, table_of, values_of
from rankwright.errors import InputError, InputTypeError, Parameter, folded_name, require_input
from rankwright.formats.dataset_tables import from_frame
from rankwright.rankers.known_features import KnownFeatures, missing_features
from rankwright.rankers.trained import TrainedRanker

# The parameters of `fit` that may name a column of a frame, and the roles of these columns.
ROLE_OF = {
    "qid": "query",
    "sample_weight": "document_weight",
    "query_weight": "query_weight",
    "position": "position",
    "propensity": "propensity",
}


def judged_frame(frame: Any, label: str | None, beside: Mapping[str, Any], known: Columns | None = None) -> Any:
    """The dataset of a frame that holds labels and query ids beside its features.

    `label`, and what is given beside, name columns; what is not named is looked for as in `known`, or under its usual
    names.
    """
    roles: dict[str, str | None] = {"label": label}
    others: dict[str, Any] = {}
    for name, value in beside.items():
        if value is None:
            continue
        if name not in ROLE_OF:
            others[name] = value
        elif isinstance(value, str):
            roles[ROLE_OF[name]] = value
        else:
            raise InputTypeError(
                f"{name} must name a column of the frame, got {type(value).__name__}; or give features alone as X, and "
                f"y and qid as arrays"
            )
    try:
        data = from_frame(frame, _known_columns(frame, roles, known))
    except InputError as error:
        raise InputError(error.message.shown(_of_fit)) from None
    if data.labels is None:
        raise InputError(
            f"there is no label column: found {quoted_list(table_of(frame).names)}; wanted one of "
            f"{', '.join(USUAL_NAMES['label'])}, or its name as label="
        )
    require_input(others.pop("group", None) is None, "a frame brings its query ids: leave out group")
    scores = others.pop("initial_scores", None)
    return data.with_initial_scores(scores) if scores is not None else data


def _of_fit(parameter: Parameter) -> Parameter:
    """The parameter of `fit` that names the same column as one of `Columns`; others stay as they are."""
    if parameter.name not in ROLES:
        return parameter
    name = next((name for name, role in ROLE_OF.items() if role == parameter.name), parameter.name)
    return Parameter(name, python=f"{name}=…")


def _known_columns(frame: Any, roles: Mapping[str, str | None], known: Columns | None) -> Columns:
    """The columns of the roles: those given, else those known that the frame has."""
    names = set(table_of(frame).names)
    found = {role: roles.get(role) for role in ROLES}
    for role in ROLES:
        before = None if known is None else known.given(role)
        if found[role] is None and before in names:
            found[role] = before
    return Columns(**found)


def columns_of(X: Any, y: Any, beside: Mapping[str, Any]) -> Columns | None:
    """The columns that `fit` was told by name, for the frames that come later; None where X is no frame."""
    if not is_frame(X):
        return None
    named = {ROLE_OF[name]: value for name, value in beside.items() if name in ROLE_OF and isinstance(value, str)}
    label = beside.get("label") if y is None else y
    return Columns(**named, label=label if isinstance(label, str) else None)


def named_column(name: str, value: Any) -> None:
    """Raise where `value` names a column, and there is no frame that could have it."""
    if isinstance(value, str):
        raise InputTypeError(
            f"{name}={value!r} would name a column of a frame, and X is not one, or y is given as an array; give a "
            f"value for each row"
        )


def features_to_score(frame: Any, known: KnownFeatures) -> Any:
    """The columns of a frame that a trained ranker looks at, as a frame or as a mapping of columns."""
    table = table_of(frame)
    if known.names:
        if not names_are_text(frame):
            return np.asarray(table.matrix(table.names))
        missing = [name for name in known.names if name not in table.columns]
        if missing:
            raise InputError(missing_features(missing, table.names))
        return frame.select(list(known.names)) if hasattr(frame, "select") else frame[list(known.names)]
    if len(table.names) == known.n_features:
        return np.asarray(table.matrix(table.names))
    usual = {folded_name(name) for names in USUAL_NAMES.values() for name in names}
    rest = [name for name in table.names if folded_name(name) not in usual]
    if len(rest) != known.n_features:
        raise InputError(
            f"the ranker was trained on {known.n_features} features without names, and the frame has "
            f"{len(table.names)} columns: {quoted_list(table.names)}; choose the features"
        )
    return np.asarray(table.matrix(rest))


def query_ids_of(frame: Any, qid: Any, trained: TrainedRanker, *, asks_for_lists: bool = False) -> Any:
    """The query ids of a frame: `qid` itself, the column it names, or where they matter, the usual column.

    Where lists are asked for and the ranker does not look at them, a frame without such a column is one list.
    """
    table = table_of(frame)
    if qid is None and (trained.looks_at_queries or asks_for_lists):
        columns = _known_columns(frame, {}, trained.findings.columns)
        try:
            qid = find_layout(table.names, columns).query
        except InputError:
            if trained.looks_at_queries:
                raise
    if not isinstance(qid, str):
        return qid
    if qid not in table.columns:
        raise InputError(f"there is no column {qid!r} to take query ids from: found {quoted_list(table.names)}")
    return table.ids(qid)


def refuse_labels_in(frame: Any, y: Any) -> None:
    """Raise where the features that go with `y` hold the labels themselves, under one of their usual names."""
    usual = {folded_name(name) for name in USUAL_NAMES["label"]}
    table = table_of(frame)
    for name in table.names:
        if folded_name(name) in usual and table.library.is_numeric(table.columns[name]):
            labels = np.asarray(values_of(y))
            if labels.shape == (table.n_rows,) and np.array_equal(table.numbers(name), labels):
                raise InputError(
                    f"column {name!r} of X holds the labels themselves, which a ranker would learn to copy: leave it "
                    f"out of X, or give the whole frame as fit(frame, label={name!r}, qid=…)"
                )


class PlainRequest(MetadataRequest):  # type: ignore[misc]  # scikit-learn ships no types
    """A request that hands on columns as NumPy's arrays.

    scikit-learn cuts metadata into folds as it cuts NumPy's arrays, which the arrays of pandas that hold Arrow's texts
    (`frame["query"].values`) do not take.
    """

    @classmethod
    def of(cls, request: MetadataRequest) -> Self:
        """The same request, for plain columns."""
        plain = cls(owner=request.owner)
        plain.__dict__.update(request.__dict__)
        return plain

    def __sklearn_clone__(self) -> Self:
        return self.of(super().__sklearn_clone__())

    def _route_params(self, *, params: Any, **how: Any) -> Any:
        plain = {name: value if is_frame(value) else values_of(value) for name, value in params.items()}
        return super()._route_params(params=plain, **how)
