"""The input of a ranker: a dataset, or arrays and frames as scikit-learn's users have them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import validate_data

from rankwright.data.dataset import RankingDataset, joined
from rankwright.data.frames import is_frame
from rankwright.data.groups import Groups
from rankwright.errors import InputError, InputTypeError, RankwrightError
from rankwright.formats.data_file import DataFile, as_data_file
from rankwright.rankers import trained
from rankwright.rankers.frames import features_to_score, judged_frame, named_column, query_ids_of, refuse_labels_in

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
    """The dataset to train on; `ranker` learns the number and the names of its features from it.

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
    remember_features(ranker, data)
    return with_something_to_learn(data)


def _one_label(y: Any, label: Any) -> Any:
    if y is not None and label is not None:
        raise InputError("y and label both say what the labels are: give one of them")
    return label if y is None else y


def _data_of_arrays(ranker: BaseEstimator, X: Any, y: Any, beside: Mapping[str, Any]) -> RankingDataset:
    if y is None and beside["preferences"] is None:
        raise InputError(
            f"{ranker.name} requires y to be passed, but the target y is None, and preferences are as well"
        )
    for name, value in {"y": y, **beside}.items():
        named_column(name, value)
    if is_frame(X):
        refuse_labels_in(X, y)
        features, n_docs = X, len(X) if hasattr(X, "__len__") else X.num_rows
    else:
        features, y = _checked(ranker, X, y, reset=True)
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


def validation_data(ranker: BaseEstimator, valid: Any) -> RankingDataset | None:
    """The dataset to validate on: a dataset, a file, or `(X, y, qid)` with or without initial scores as a fourth.

    Several, by name, become one; the ranker remembers how many queries each of them has.
    """
    if valid is None:
        return None
    if isinstance(valid, Mapping):
        return _several(ranker, valid)
    file = as_data_file(valid)
    if file is not None:
        valid = file_for(ranker, file).read()
    if isinstance(valid, RankingDataset):
        return aligned(ranker, valid)
    if is_frame(valid):
        return aligned(ranker, judged_frame(valid, None, {}, getattr(ranker, "columns_", None)))
    if not isinstance(valid, tuple | list) or len(valid) not in (3, 4):
        found = f"{len(valid)} parts" if isinstance(valid, tuple | list) else type(valid).__name__
        raise InputError(
            f"valid must be a RankingDataset, a file, a frame, (X, y, qid), or (X, y, qid, initial_scores), got {found}"
        )
    X, y, qid, initial_scores = (*valid, None)[:4]
    return _rows(ranker, X, y, qid=qid, initial_scores=initial_scores)


def _several(ranker: BaseEstimator, valid: Mapping[str, Any]) -> RankingDataset:
    if not valid:
        raise InputError("valid names no documents: give a dataset, or several by name")
    parts = {str(name): validation_data(ranker, own) for name, own in valid.items()}
    absent = [name for name, part in parts.items() if part is None]
    if absent:
        raise InputError(f"valid has no documents called {absent[0]!r}: it is None")
    given = [part for part in parts.values() if part is not None]
    ranker.watched_parts_ = {name: part.n_queries for name, part in zip(parts, given, strict=True)}
    return joined(given)


def judged_data(ranker: BaseEstimator, X: Any, y: Any, qid: Any, sample_weight: Any = None) -> RankingDataset:
    """The documents and labels to measure a trained ranker on.

    Metrics weigh queries, not documents: a query counts as much as its documents do on average.
    """
    if isinstance(X, RankingDataset):
        refuse_beside_a_dataset({"y": y, "qid": qid, "sample_weight": sample_weight})
        return aligned(ranker, X)
    if is_frame(X) and (y is None or isinstance(y, str)):
        beside = {"qid": qid, "sample_weight": sample_weight}
        data = aligned(ranker, judged_frame(X, y, beside, getattr(ranker, "columns_", None)))
    else:
        group = _one_query(len(X)) if qid is None else None
        data = _rows(ranker, X, y, qid=qid, group=group, document_weights=sample_weight)
    if data.document_weights is None:
        return data
    sums = np.add.reduceat(data.document_weights.astype(np.float64), data.groups.offsets[:-1])
    return replace(data, query_weights=(sums / data.groups.sizes).astype(np.float32))


def scoring_data(ranker: BaseEstimator, X: Any, qid: Any = None, *, asks_for_lists: bool = False) -> RankingDataset:
    """The documents to score; without query ids they count as one query, which most models do not look at."""
    if isinstance(X, RankingDataset):
        refuse_beside_a_dataset({"qid": qid})
        return aligned(ranker, X)
    if qid is None and ready_to_score(ranker, X):
        return RankingDataset(features=X, labels=None, groups=Groups(np.array([0, len(X)])))
    file = as_data_file(X)
    if file is not None:
        refuse_beside_a_dataset({"qid": qid})
        return aligned(ranker, file_for(ranker, file).read())
    if is_frame(X):
        qid = query_ids_of(X, qid, ranker, asks_for_lists=asks_for_lists)
    return _rows(ranker, X, None, qid=qid, group=None if qid is not None else "one")


def ready_to_score(ranker: BaseEstimator, X: Any) -> bool:
    """Whether an array is what all checks would make of it: those take longer than scoring a query with a forest."""
    if type(X) is not np.ndarray or X.dtype != np.float32 or X.ndim != 2 or not X.flags.c_contiguous:
        return False
    as_trained = X.shape[1] == ranker.n_features_in_ and not hasattr(ranker, "feature_names_in_")
    return as_trained and len(X) > 0 and not np.isinf(X).any()


def _rows(ranker: BaseEstimator, X: Any, y: Any, *, group: Any = None, **parts: Any) -> RankingDataset:
    """Rows of features for a trained ranker, as a dataset."""
    for name, value in {"y": y, **parts}.items():
        named_column(name, value)
    if is_frame(X):
        features = features_to_score(X, ranker)
    else:
        features, y = _checked(ranker, X, y, reset=False)
    n_docs = len(features) if hasattr(features, "__len__") else features.num_rows
    group = [n_docs] if isinstance(group, str) else group
    return aligned(ranker, _finite(RankingDataset.from_arrays(features, y, group=group, **parts)))


def aligned(ranker: BaseEstimator, data: RankingDataset) -> RankingDataset:
    """The data with the features that the ranker was trained on, in their order."""
    names = tuple(getattr(ranker, "feature_names_in_", ()))
    return trained.aligned(data, int(ranker.n_features_in_), names, ranker.categories_)


def file_for(ranker: BaseEstimator, file: DataFile) -> DataFile:
    """The file, read with the features that the ranker was trained on."""
    names = getattr(ranker, "feature_names_in_", None)
    own = {} if names is None else {"features": [str(name) for name in names]}
    return file.with_defaults(n_features=int(ranker.n_features_in_), **own).with_categories(ranker.categories_)


def with_something_to_learn(data: RankingDataset) -> RankingDataset:
    """`data`; raises if all its weights are 0."""
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


def _checked(ranker: BaseEstimator, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
    # scikit-learn's own check: its users know its messages, and its name and width bookkeeping comes with it.
    options = {"dtype": np.float32, "ensure_all_finite": "allow-nan", "accept_sparse": ["csr", "csc"], "order": "C"}
    try:
        if y is None:
            return _dense(validate_data(ranker, X, reset=reset, **options)), None
        labels = np.asarray(y)
        X, _ = validate_data(ranker, X, np.zeros(len(labels)) if labels.ndim == 1 else labels, reset=reset, **options)
    except RankwrightError:
        raise
    except TypeError as error:
        raise InputTypeError(str(error)) from None
    except ValueError as error:
        raise InputError(str(error)) from None
    return _dense(X), labels


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


def remember_features(ranker: BaseEstimator, data: RankingDataset) -> None:
    """Tell the ranker the number, the names and the categories, if any, of the features it is trained on."""
    remember_names(ranker, data.n_features, data.feature_names)
    ranker.categories_ = data.categories


def remember_names(ranker: BaseEstimator, n_features: int, names: Sequence[str]) -> None:
    """The same, of features without categories."""
    ranker.n_features_in_, ranker.categories_ = n_features, None
    if names:
        ranker.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(ranker, "feature_names_in_"):
        del ranker.feature_names_in_


def check_features(ranker: BaseEstimator, n_features: int, names: Sequence[str]) -> None:
    """Raise if the features are not those of training: as many and, where both have names, of the same names."""
    known = tuple(getattr(ranker, "feature_names_in_", ()))
    if n_features != ranker.n_features_in_:
        raise InputError(f"the ranker was trained on {ranker.n_features_in_} features, got {n_features}")
    missing = [name for name in known if name not in names] if names else []
    if missing:
        raise InputError(trained.missing_features(missing, names))


def refuse_beside_a_dataset(given: Mapping[str, Any]) -> None:
    """Raise if a caller also gives what a dataset, or a file of one, holds itself."""
    extra = [name for name, value in given.items() if value is not None]
    if extra:
        raise InputError(
            f"a RankingDataset or a file brings its own {', '.join(extra)}; give it to the dataset instead"
        )
