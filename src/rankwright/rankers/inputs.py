"""The input of a ranker: a dataset, or arrays and frames as scikit-learn's users have them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_array, check_X_y

from rankwright.data.columns import Columns
from rankwright.data.dataset import RankingDataset, joined
from rankwright.data.frames import is_frame, of_sparse
from rankwright.data.groups import Groups
from rankwright.errors import InputError, InputTypeError, RankwrightError
from rankwright.formats.reading import as_data_file
from rankwright.rankers.frames import features_to_score, judged_frame, named_column, query_ids_of, refuse_labels_in
from rankwright.rankers.known_features import KnownFeatures
from rankwright.rankers.lesson_facts import NothingToLearnError
from rankwright.rankers.trained import TrainedRanker

# Names in `fit` that differ from those in a dataset, because scikit-learn's users know them.
IN_A_DATASET = {
    "query_weight": "query_weights",
    "sample_weight": "document_weights",
    "position": "positions",
    "propensity": "propensities",
}


class NotTrainedError(RankwrightError, NotFittedError):  # type: ignore[misc]  # scikit-learn ships no types
    """A ranker is asked for what only a trained one has."""


def check_trained(ranker: BaseEstimator) -> None:
    """Raise unless the ranker is trained."""
    if not ranker.__sklearn_is_fitted__():
        raise NotTrainedError(
            f"this {type(ranker).__name__} is not trained: call fit first, or read a trained one with rankwright.load"
        )


class OneQueryWarning(UserWarning):
    """Rows came without query ids and were taken as the documents of one query."""


def training_data(ranker: BaseEstimator, X: Any, y: Any, beside: Mapping[str, Any]) -> RankingDataset:
    """The dataset to train on.

    `beside` holds what else `fit` was given besides rows and labels, by the names of its parameters.
    """
    label = beside.get("label")
    rest = {name: value for name, value in beside.items() if name != "label"}
    if isinstance(X, RankingDataset):
        refuse_beside_a_dataset({"y": y, "label": label} | rest)
        data = X
    elif is_frame(X) and (y is None or isinstance(y, str)) and rest["preferences"] is None:
        data = judged_frame(X, _one_label(y, label), rest)
    else:
        data = _data_of_arrays(ranker, X, _one_label(y, label), rest)
    return with_something_to_learn(data)


def _one_label(y: Any, label: Any) -> Any:
    if y is not None and label is not None:
        raise InputError("y and label both say what the labels are: give one of them")
    return label if y is None else y


def _data_of_arrays(ranker: BaseEstimator, X: Any, y: Any, beside: Mapping[str, Any]) -> RankingDataset:
    if y is None and beside["preferences"] is None:
        told = f"{ranker.name} requires y to be passed, but the target y is None, and preferences are as well"
        raise InputError(told)
    for name, value in {"y": y, **beside}.items():
        named_column(name, value)
    if is_frame(X):
        refuse_labels_in(X, y)
        features, n_docs = X, len(X) if hasattr(X, "__len__") else X.num_rows
    else:
        features, y = _checked(ranker, X, y)
        n_docs = len(features)
    parts = {IN_A_DATASET.get(name, name): value for name, value in beside.items()}
    if parts["qid"] is None and parts["group"] is None:
        parts["group"] = _one_query(n_docs, stacklevel=6)
    return _finite(RankingDataset.from_arrays(features, y, **parts))


def _finite(data: RankingDataset) -> RankingDataset:
    """The data, after a check that no feature of a frame is infinite; arrays were checked already."""
    if data.feature_names and np.isinf(data.features).any():
        row, column = np.argwhere(np.isinf(data.features))[0]
        raise InputError(f"column {data.feature_names[column]!r} of X contains infinity: {data.features[row, column]}")
    return data


@dataclass(frozen=True, slots=True, eq=False)
class Validation:
    """What to validate on: documents, and how many queries each of their parts has, where several were given."""

    documents: RankingDataset | None = None
    parts: Mapping[str, int] = field(default_factory=dict)


def validation_data(ranker: BaseEstimator, known: KnownFeatures, columns: Columns | None, valid: Any) -> Validation:
    """The documents to validate on: a dataset, a file, or `(X, y, qid)` with or without initial scores as a fourth.

    Several, by name, become one with parts. `known` are the features of the training data, and `columns` the columns
    that `fit` was told by name.
    """
    if not isinstance(valid, Mapping):
        return Validation(None if valid is None else _validation_part(ranker, known, columns, valid))
    if not valid:
        raise InputError("valid names no documents: give a dataset, or several by name")
    absent = [name for name, own in valid.items() if own is None]
    if absent:
        raise InputError(f"valid has no documents called {absent[0]!r}: it is None")
    parts = {str(name): _validation_part(ranker, known, columns, own) for name, own in valid.items()}
    return Validation(joined(list(parts.values())), {name: part.n_queries for name, part in parts.items()})


def _validation_part(
    ranker: BaseEstimator, known: KnownFeatures, columns: Columns | None, valid: Any
) -> RankingDataset:
    file = as_data_file(valid)
    if file is not None:
        valid = known.file(file).read()
    if isinstance(valid, RankingDataset):
        return known.aligned(valid)
    if is_frame(valid):
        return known.aligned(judged_frame(valid, None, {}, columns))
    if not isinstance(valid, tuple | list) or len(valid) not in (3, 4):
        found = f"{len(valid)} parts" if isinstance(valid, tuple | list) else type(valid).__name__
        raise InputError(
            f"valid must be a RankingDataset, a file, a frame, (X, y, qid), or (X, y, qid, initial_scores), got {found}"
        )
    X, y, qid, initial_scores = (*valid, None)[:4]
    return _rows(ranker, known, X, y, qid=qid, initial_scores=initial_scores)


def judged_data(ranker: Any, X: Any, y: Any, qid: Any, sample_weight: Any = None) -> RankingDataset:
    """The documents and labels to measure a trained ranker on.

    Metrics weigh queries, not documents: a query counts as much as its documents do on average.
    """
    trained: TrainedRanker = ranker.trained_
    if isinstance(X, RankingDataset):
        refuse_beside_a_dataset({"y": y, "qid": qid, "sample_weight": sample_weight})
        return trained.aligned(X)
    if is_frame(X) and (y is None or isinstance(y, str)):
        beside = {"qid": qid, "sample_weight": sample_weight}
        data = trained.aligned(judged_frame(X, y, beside, trained.findings.columns))
    else:
        group = _one_query(len(X)) if qid is None else None
        data = _rows(ranker, trained.features, X, y, qid=qid, group=group, document_weights=sample_weight)
    if data.document_weights is None:
        return data
    sums = np.add.reduceat(data.document_weights.astype(np.float64), data.groups.offsets[:-1])
    return replace(data, query_weights=(sums / data.groups.sizes).astype(np.float32))


def scoring_data(ranker: Any, X: Any, qid: Any = None, *, asks_for_lists: bool = False) -> RankingDataset:
    """The documents to score, with the features of training.

    Without query ids they count as one query, which most models do not look at.
    """
    trained: TrainedRanker = ranker.trained_
    if isinstance(X, RankingDataset):
        refuse_beside_a_dataset({"qid": qid})
        return trained.aligned(X)
    if qid is None and ready_to_score(trained.features, X):
        return RankingDataset(features=X, labels=None, groups=Groups(np.array([0, len(X)])))
    file = as_data_file(X)
    if file is not None:
        refuse_beside_a_dataset({"qid": qid})
        return trained.aligned((file if trained.takes_any_width else trained.features.file(file)).read())
    if trained.takes_any_width:
        return trained.aligned(_rows_of_any_width(X, qid))
    if is_frame(X):
        qid = query_ids_of(X, qid, trained, asks_for_lists=asks_for_lists)
    return _rows(ranker, trained.features, X, None, qid=qid, group=None if qid is not None else "one")


def _rows_of_any_width(X: Any, qid: Any) -> RankingDataset:
    """Rows for a model that does not tell how many features there are."""
    rows = np.asarray(X.toarray() if hasattr(X, "toarray") else X)
    return RankingDataset.from_arrays(rows, qid=qid, group=None if qid is not None else [len(rows)])


def ready_to_score(known: KnownFeatures, X: Any) -> bool:
    """Whether an array would pass all checks unchanged; they take longer than scoring one query with a forest."""
    if type(X) is not np.ndarray or X.dtype != np.float32 or X.ndim != 2 or not X.flags.c_contiguous:
        return False
    as_trained = X.shape[1] == known.n_features and not known.names
    return as_trained and len(X) > 0 and not np.isinf(X).any()


def _rows(
    ranker: BaseEstimator, known: KnownFeatures, X: Any, y: Any, *, group: Any = None, **parts: Any
) -> RankingDataset:
    """Rows with the features of training, as a dataset."""
    for name, value in {"y": y, **parts}.items():
        named_column(name, value)
    if is_frame(X):
        features = features_to_score(X, known)
    else:
        features, y = _checked(ranker, X, y, known)
    n_docs = len(features) if hasattr(features, "__len__") else features.num_rows
    group = [n_docs] if isinstance(group, str) else group
    return known.aligned(_finite(RankingDataset.from_arrays(features, y, group=group, **parts)))


def with_something_to_learn(data: RankingDataset) -> RankingDataset:
    """`data`; raises if it has no documents, or all its weights are 0."""
    if data.n_docs == 0:
        raise NothingToLearnError("the data has no documents: there is nothing to learn from")
    for name in ("document_weights", "query_weights"):
        weights = getattr(data, name)
        if weights is not None and not weights.any():
            raise InputError(f"{name} are all zero: there is nothing to learn from")
    return data


def _one_query(n_docs: int, *, stacklevel: int = 4) -> list[int]:
    """The group sizes of rows without query ids; the warning points at the caller of the ranker's method."""
    message = f"no qid: the {n_docs} rows are taken as the documents of one query"
    warnings.warn(message, OneQueryWarning, stacklevel=stacklevel)
    return [n_docs]


def _checked(ranker: BaseEstimator, X: Any, y: Any, known: KnownFeatures | None = None) -> tuple[Any, Any]:
    """The rows and labels after scikit-learn's own checks, whose messages its users know."""
    options = {
        "dtype": np.float32, "ensure_all_finite": "allow-nan", "accept_sparse": ["csr", "csc"], "order": "C",
        "estimator": ranker,
    }  # fmt: skip
    try:
        labels = None if y is None else np.asarray(y)
        if labels is None:
            rows = check_array(X, input_name="X", **options)
        else:
            rows, _ = check_X_y(X, np.zeros(len(labels)) if labels.ndim == 1 else labels, **options)
    except RankwrightError:
        raise
    except TypeError as error:
        raise InputTypeError(str(error)) from None
    except ValueError as error:
        raise InputError(str(error)) from None
    if known is not None:
        _check_as_trained(type(ranker).__name__, rows, known)
    return of_sparse(rows, "zero") if hasattr(rows, "toarray") else rows, labels


def _check_as_trained(name: str, rows: Any, known: KnownFeatures) -> None:
    """Raise where rows have another number of features, and warn where training had names: as scikit-learn does."""
    if known.names:
        message = f"X does not have valid feature names, but {name} was fitted with feature names"
        warnings.warn(message, UserWarning, stacklevel=6)
    if rows.shape[1] != known.n_features:
        told = f"X has {rows.shape[1]} features, but {name} is expecting {known.n_features} features as input"
        raise InputError(told)


def refuse_beside_a_dataset(given: Mapping[str, Any]) -> None:
    """Raise if a caller also gives what a dataset, or a file of one, holds itself."""
    extra = [name for name, value in given.items() if value is not None]
    if extra:
        told = f"a RankingDataset or a file brings its own {', '.join(extra)}; give it to the dataset instead"
        raise InputError(told)
