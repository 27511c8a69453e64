"""The input of a ranker: a dataset, or arrays and frames as scikit-learn's users have them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.formats.data_file import as_data_file
from rankwright.rankers import trained

# Names in `fit` that differ from those in a dataset, because scikit-learn's users know them.
IN_A_DATASET = {"query_weight": "query_weights", "sample_weight": "document_weights", "position": "positions"}


class OneQueryWarning(UserWarning):
    """Rows came without query ids and were taken as the documents of one query."""


def training_data(ranker: BaseEstimator, X: Any, y: Any, beside: Mapping[str, Any]) -> RankingDataset:
    """The dataset to train on; `ranker` learns the number and the names of its features from it.

    `beside` holds what else `fit` was given besides rows and labels, by the names of its parameters.
    """
    if isinstance(X, RankingDataset):
        refuse_beside_a_dataset({"y": y} | dict(beside))
        remember_features(ranker, X.n_features, X.feature_names)
        return with_something_to_learn(X)
    if y is None and beside["preferences"] is None:
        raise InputError(
            f"{ranker.name} requires y to be passed, but the target y is None, and preferences are as well"
        )
    X, y = _checked(ranker, X, y, reset=True)
    parts = {IN_A_DATASET.get(name, name): value for name, value in beside.items()}
    if parts["qid"] is None and parts["group"] is None:
        parts["group"] = _one_query(len(X))
    names = tuple(getattr(ranker, "feature_names_in_", ()))
    return with_something_to_learn(RankingDataset.from_arrays(X, y, feature_names=names, **parts))


def validation_data(ranker: BaseEstimator, valid: Any) -> RankingDataset | None:
    """The dataset to validate on: a dataset, a file, or `(X, y, qid)` with or without initial scores as a fourth."""
    if valid is None:
        return None
    file = as_data_file(valid)
    if file is not None:
        valid = file.with_defaults(n_features=ranker.n_features_in_).read()
    if isinstance(valid, RankingDataset):
        check_features(ranker, valid.n_features, valid.feature_names)
        return valid
    if not isinstance(valid, tuple | list) or len(valid) not in (3, 4):
        found = f"{len(valid)} parts" if isinstance(valid, tuple | list) else type(valid).__name__
        raise InputError(
            f"valid must be a RankingDataset, a file, (X, y, qid), or (X, y, qid, initial_scores), got {found}"
        )
    X, y, qid, initial_scores = (*valid, None)[:4]
    X, y = _checked(ranker, X, y, reset=False)
    return RankingDataset.from_arrays(X, y, qid=qid, initial_scores=initial_scores)


def judged_data(ranker: BaseEstimator, X: Any, y: Any, qid: Any, sample_weight: Any = None) -> RankingDataset:
    """The documents and labels to measure a trained ranker on.

    Metrics weigh queries, not documents: a query counts as much as its documents do on average.
    """
    if isinstance(X, RankingDataset):
        refuse_beside_a_dataset({"y": y, "qid": qid, "sample_weight": sample_weight})
        check_features(ranker, X.n_features, X.feature_names)
        return X
    X, y = _checked(ranker, X, y, reset=False)
    group = _one_query(len(X)) if qid is None else None
    data = RankingDataset.from_arrays(X, y, qid=qid, group=group, document_weights=sample_weight)
    if data.document_weights is None:
        return data
    sums = np.add.reduceat(data.document_weights.astype(np.float64), data.groups.offsets[:-1])
    return replace(data, query_weights=(sums / data.groups.sizes).astype(np.float32))


def scoring_data(ranker: BaseEstimator, X: Any, qid: Any = None) -> RankingDataset:
    """The documents to score; without query ids they count as one query, which most models do not look at."""
    if isinstance(X, RankingDataset):
        refuse_beside_a_dataset({"qid": qid})
        check_features(ranker, X.n_features, X.feature_names)
        return X
    X, _ = _checked(ranker, X, None, reset=False)
    return RankingDataset.from_arrays(X, qid=qid) if qid is not None else RankingDataset.from_arrays(X, group=[len(X)])


def with_something_to_learn(data: RankingDataset) -> RankingDataset:
    """`data`; raises if all its weights are 0."""
    for name in ("document_weights", "query_weights"):
        weights = getattr(data, name)
        if weights is not None and not weights.any():
            raise InputError(f"{name} are all zero: there is nothing to learn from")
    return data


def _one_query(n_docs: int) -> list[int]:
    """The group sizes of rows without query ids; the warning points at the caller of the ranker's method."""
    warnings.warn(f"no qid: the {n_docs} rows are taken as the documents of one query", OneQueryWarning, stacklevel=4)
    return [n_docs]


def _checked(ranker: BaseEstimator, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
    # scikit-learn's own check: its users know its messages, and its name and width bookkeeping comes with it.
    options = {"dtype": np.float32, "ensure_all_finite": "allow-nan", "accept_sparse": ["csr", "csc"], "order": "C"}
    if y is None:
        return _dense(validate_data(ranker, X, reset=reset, **options)), None
    labels = np.asarray(y)
    X, _ = validate_data(ranker, X, np.zeros(len(labels)) if labels.ndim == 1 else labels, reset=reset, **options)
    return _dense(X), labels


def _dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else X


def remember_features(ranker: BaseEstimator, n_features: int, names: Sequence[str]) -> None:
    """Tell the ranker the number and the names, if any, of the features it is trained on."""
    ranker.n_features_in_ = n_features
    if names:
        ranker.feature_names_in_ = np.array(names, dtype=object)
    elif hasattr(ranker, "feature_names_in_"):
        del ranker.feature_names_in_


def check_features(ranker: BaseEstimator, n_features: int, names: Sequence[str]) -> None:
    """Raise if the number of features is not that of training or, where both have names, the names differ."""
    trained.check_features(ranker.n_features_in_, list(getattr(ranker, "feature_names_in_", ())), n_features, names)


def refuse_beside_a_dataset(given: Mapping[str, Any]) -> None:
    """Raise if a caller also gives what a dataset, or a file of one, holds itself."""
    extra = [name for name, value in given.items() if value is not None]
    if extra:
        raise InputError(
            f"a RankingDataset or a file brings its own {', '.join(extra)}; give it to the dataset instead"
        )
