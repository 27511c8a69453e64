"""Models of other libraries, small and awkward: missing values, zeros, categories, every kind of split."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

N_ROWS, N_FEATURES, CATEGORY = 300, 5, 4  # the last feature holds categories


@dataclass(frozen=True)
class Case:
    """A model to make: its library, its settings, and what its data is like."""

    library: str
    settings: tuple[tuple[str, Any], ...]
    missing: bool
    categories: bool

    def __str__(self) -> str:
        chosen = ",".join(f"{name}={value}" for name, value in self.settings)
        return f"{self.library}({chosen}){' missing' * self.missing}{' categories' * self.categories}"


def rows(case: Case, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    features = np.round(rng.normal(size=(N_ROWS, N_FEATURES)), 2).astype(np.float32)
    features[rng.random(features.shape) < 0.2] = 0
    if case.missing:
        features[rng.random(features.shape) < 0.15] = np.nan
    features[:, CATEGORY] = rng.integers(0, 9, N_ROWS)
    labels = np.nan_to_num(features[:, 0]) + features[:, CATEGORY] % 3 + rng.normal(size=N_ROWS) * 0.3
    return features, labels


def lightgbm_model(case: Case) -> tuple[Any, Callable[[np.ndarray], Any]]:
    import lightgbm

    features, labels = rows(case)
    settings = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 3, "objective": "regression"}
    data = lightgbm.Dataset(features, labels, categorical_feature=[CATEGORY] if case.categories else [])
    model = lightgbm.train(settings | dict(case.settings), data, 4)
    return model, lambda given: model.predict(given, num_threads=1)


def xgboost_model(case: Case) -> tuple[Any, Callable[[np.ndarray], Any]]:
    import xgboost

    features, labels = rows(case)
    types = ["q"] * (N_FEATURES - 1) + ["c" if case.categories else "q"]

    def matrix(given: np.ndarray, known: Any = None) -> Any:
        return xgboost.DMatrix(given, known, feature_types=types, enable_categorical=True)

    settings = {"nthread": 1, "max_cat_to_onehot": 2} | dict(case.settings)
    model = xgboost.train(settings, matrix(features, labels), 4)
    return model, lambda given: model.predict(matrix(given), output_margin=True)


def catboost_model(case: Case) -> tuple[Any, Callable[[np.ndarray], Any]]:
    import catboost

    features, labels = rows(case)
    settings = {"iterations": 4, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    model = catboost.CatBoost(settings | dict(case.settings))
    model.fit(features, labels)
    return model, lambda given: model.predict(given, thread_count=1)


def sklearn_model(case: Case) -> tuple[Any, Callable[[np.ndarray], Any]]:
    from sklearn import ensemble, tree

    settings = dict(case.settings)
    name = settings.pop("model")
    kind = getattr(ensemble, name, None) or getattr(tree, name)
    features, labels = rows(case)
    model = kind(random_state=0, **settings).fit(features, labels)
    return model, model.predict


MAKERS: dict[str, Callable[[Case], tuple[Any, Callable[[np.ndarray], Any]]]] = {
    "lightgbm": lightgbm_model,
    "xgboost": xgboost_model,
    "catboost": catboost_model,
    "sklearn": sklearn_model,
}


def leaves_of(case: Case, model: Any, features: np.ndarray) -> np.ndarray | None:
    """The library's own numbers of the leaves that documents reach, a column a tree; None where it does not tell."""
    if case.library == "lightgbm":
        return np.asarray(model.predict(features, pred_leaf=True, num_threads=1))
    if case.library == "xgboost":
        import xgboost

        types = ["q"] * (N_FEATURES - 1) + ["c" if case.categories else "q"]
        matrix = xgboost.DMatrix(features, feature_types=types, enable_categorical=True)
        return np.asarray(model.predict(matrix, pred_leaf=True)).reshape(len(features), -1)
    if case.library == "catboost":
        return np.asarray(model.calc_leaf_indexes(features))
    if hasattr(model, "apply"):
        return np.asarray(model.apply(features)).reshape(len(features), -1)
    return None


def grid(library: str, missing: Any, categories: Any, **choices: Any) -> Iterator[Case]:
    names = list(choices)
    for values in product(*choices.values()):
        for lacks in missing:
            for has in categories:
                yield Case(library, tuple(zip(names, values, strict=True)), lacks, has)


BOTH = (False, True)


def all_cases() -> list[Case]:
    """Library × settings × missing × categories × bins × leaves."""
    return [
        *grid("lightgbm", BOTH, BOTH, num_leaves=(2, 7, 31), max_bin=(3, 15, 255), zero_as_missing=BOTH,
              use_missing=(True,)),
        *grid("lightgbm", BOTH, BOTH, num_leaves=(2, 7, 31), max_bin=(3, 15, 255), use_missing=(False,)),
        *grid("lightgbm", BOTH, BOTH, num_leaves=(7,), boosting=("dart", "goss"), max_bin=(255,)),
        *grid("xgboost", BOTH, BOTH, max_depth=(1, 3, 6), max_bin=(4, 256), tree_method=("hist", "approx"),
              base_score=(0.5,)),
        *grid("xgboost", BOTH, BOTH, max_depth=(1, 3, 6), max_bin=(4, 256), tree_method=("hist", "approx"),
              booster=("dart",), rate_drop=(0.3,)),
        *grid("xgboost", BOTH, (False,), max_depth=(3, 6), tree_method=("exact",), num_parallel_tree=(1, 3),
              subsample=(0.5,)),
        *grid("xgboost", BOTH, BOTH, grow_policy=("lossguide",), max_leaves=(4, 20), max_depth=(0,), eta=(0.1, 1.0)),
        *grid("catboost", (False,), (False,), depth=(1, 4, 6), border_count=(8, 254),
              grow_policy=("SymmetricTree", "Lossguide", "Depthwise")),
        *grid("catboost", (True,), (False,), depth=(2, 6), border_count=(8, 254), nan_mode=("Min", "Max"),
              grow_policy=("SymmetricTree", "Lossguide", "Depthwise")),
        *grid("sklearn", BOTH, (False,), model=("RandomForestRegressor", "ExtraTreesRegressor"),
              n_estimators=(5,), max_leaf_nodes=(2, 8, None)),
        *grid("sklearn", BOTH, (False,), model=("DecisionTreeRegressor",), max_depth=(1, 4, None)),
        *grid("sklearn", (False,), (False,), model=("GradientBoostingRegressor",), n_estimators=(5,),
              max_depth=(1, 3, 6)),
        *grid("sklearn", BOTH, (False,), model=("HistGradientBoostingRegressor",), max_iter=(4,),
              max_leaf_nodes=(3, 31), max_bins=(8, 255)),
    ]  # fmt: skip
