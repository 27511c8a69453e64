"""How data comes to a ranker: a dataset, or arrays and frames as scikit-learn's users hold them."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from rankwright.data.dataset import RankingDataset
from rankwright.data.files import as_data_file
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError

PER_ROW = ("qid", "sample_weight", "position")


class OneQueryWarning(UserWarning):
    """Rows came without query ids and were taken as the documents of one query."""


def training_data(
    ranker: BaseEstimator,
    X: Any,
    y: Any,
    *,
    qid: Any = None,
    group: Any = None,
    sample_weight: Any = None,
    query_weight: Any = None,
    position: Any = None,
    preferences: Preferences | None = None,
) -> RankingDataset:
    """The dataset to train on; `ranker` learns the number and the names of its features from it."""
    if isinstance(X, RankingDataset):
        given = {"y": y, "qid": qid, "group": group, "sample_weight": sample_weight, "query_weight": query_weight}
        refuse_beside_a_dataset(given | {"position": position, "preferences": preferences})
        remember_features(ranker, X.n_features, X.feature_names)
        return X
    X, y = _checked(ranker, X, y, reset=True)
    if qid is None and group is None:
        warnings.warn(
            f"no qid: the {len(X)} rows are taken as the documents of one query", OneQueryWarning, stacklevel=3
        )
        group = [len(X)]
    return RankingDataset.from_arrays(
        X,
        y,
        qid=qid,
        group=group,
        preferences=preferences,
        query_weights=query_weight,
        document_weights=sample_weight,
        positions=position,
        feature_names=tuple(getattr(ranker, "feature_names_in_", ())),
    )


def validation_data(ranker: BaseEstimator, valid: Any) -> RankingDataset | None:
    """The dataset to validate on, from a dataset, from a file or from `(X, y, qid)`."""
    if valid is None:
        return None
    file = as_data_file(valid)
    if file is not None:
        valid = file.with_defaults(n_features=ranker.n_features_in_).read()
    if isinstance(valid, RankingDataset):
        check_features(ranker, valid.n_features, valid.feature_names)
        return valid
    try:
        X, y, qid = valid
    except (TypeError, ValueError):
        raise InputError(f"valid must be a RankingDataset, a file or (X, y, qid), got {type(valid).__name__}") from None
    X, y = _checked(ranker, X, y, reset=False)
    return RankingDataset.from_arrays(X, y, qid=qid)


def scoring_data(ranker: BaseEstimator, X: Any, qid: Any = None) -> RankingDataset:
    """The documents to score; without query ids they count as one query, which a score per document does not see."""
    if isinstance(X, RankingDataset):
        refuse_beside_a_dataset({"qid": qid})
        check_features(ranker, X.n_features, X.feature_names)
        return X
    X, _ = _checked(ranker, X, None, reset=False)
    return RankingDataset.from_arrays(X, qid=qid) if qid is not None else RankingDataset.from_arrays(X, group=[len(X)])


def _checked(ranker: BaseEstimator, X: Any, y: Any, *, reset: bool) -> tuple[Any, Any]:
    # scikit-learn's own check: its users know its messages, and its name and width bookkeeping comes with it.
    options = {"dtype": np.float32, "ensure_all_finite": "allow-nan", "accept_sparse": True, "order": "C"}
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
    """Raise where features are not as many as in training, or, where both have names, are called otherwise."""
    if n_features != ranker.n_features_in_:
        raise InputError(f"the ranker was trained on {ranker.n_features_in_} features, got {n_features}")
    trained = list(getattr(ranker, "feature_names_in_", ()))
    if trained and names and list(names) != trained:
        place = next(place for place, name in enumerate(names) if name != trained[place])
        raise InputError(
            f"the ranker was trained on other features: number {place + 1} was {trained[place]!r} and is "
            f"{names[place]!r}; wanted the same ones in the same order"
        )


def refuse_beside_a_dataset(given: Mapping[str, Any]) -> None:
    """Raise where a caller gives apart what a dataset, or a file of one, holds itself."""
    extra = [name for name, value in given.items() if value is not None]
    if extra:
        raise InputError(
            f"a RankingDataset, or a file, brings its own {', '.join(extra)}; give it to the dataset instead"
        )
