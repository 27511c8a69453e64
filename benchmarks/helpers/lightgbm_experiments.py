"""An experiment of a grid by LightGBM, as a sensible loop over it would have it: its Dataset is made once a fold."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import lightgbm
from benchmarks.helpers.boosting import labels_of

from rankwright.arrays import thread_count
from rankwright.tuning.folds import Folds
from rankwright.tuning.trials import Experiment

N_TREES, PATIENCE = 1000, 100


@dataclass(frozen=True)
class PeerOutcome:
    seconds: float  # without the making of the Dataset
    cpu_seconds: float
    value: float
    trees: int


_datasets: dict[int, tuple[Any, Any]] = {}


def run_lightgbm(folds: Folds, experiment: Experiment, report: Any) -> PeerOutcome:  # noqa: ARG001
    train, valid = _datasets_of(folds, experiment.fold)
    settings = experiment.settings
    params = {
        "objective": "lambdarank",
        "metric": "ndcg",
        "eval_at": [10],
        "num_leaves": settings["max_leaves"],
        "min_data_in_leaf": math.ceil(settings["min_docs_in_leaf"] * train.num_data()),
        "learning_rate": settings["learning_rate"],
        "bagging_fraction": settings["query_fraction"],
        "bagging_freq": 1 if settings["query_fraction"] < 1 else 0,
        "bagging_by_query": True,
        "feature_fraction": settings["feature_fraction"],
        "seed": experiment.seed,
        "num_threads": thread_count(None),
        "verbose": -1,
    }
    start, cpu = time.perf_counter(), time.process_time()
    model = lightgbm.train(
        params,
        train,
        num_boost_round=N_TREES,
        valid_sets=[valid],
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )
    seconds, cpu_seconds = time.perf_counter() - start, time.process_time() - cpu
    # Trees after the best are grown, and then left out of the model.
    trees = min(N_TREES, model.current_iteration() + PATIENCE)
    return PeerOutcome(seconds, cpu_seconds, float(model.best_score["valid_0"]["ndcg@10"]), trees)


def _datasets_of(folds: Folds, fold: int) -> tuple[Any, Any]:
    if fold not in _datasets:
        data = folds.fold(fold)
        # Without the filter a Dataset serves every value of min_data_in_leaf.
        options: dict[str, Any] = {"params": {"feature_pre_filter": False, "verbose": -1}, "free_raw_data": False}
        train = lightgbm.Dataset(data.train.features, labels_of(data.train), group=data.train.groups.sizes, **options)
        valid = train.create_valid(data.measured.features, labels_of(data.measured), group=data.measured.groups.sizes)
        _datasets[fold] = train.construct(), valid.construct()
    return _datasets[fold]
