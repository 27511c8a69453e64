"""Live models of other tools: each writes itself in its own format, and that is read."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rankwright.errors import InputError
from rankwright.imports import catboost_json, lightgbm_text, xgboost_model
from rankwright.imports.foreign import ForeignForest


def of_lightgbm(model: Any) -> ForeignForest:
    """The forest of a `lightgbm.Booster`, or of an estimator that has one."""
    booster = model if hasattr(model, "model_to_string") else model.booster_
    best = int(getattr(booster, "best_iteration", -1))
    return lightgbm_text.read(booster.model_to_string(num_iteration=best if best > 0 else -1).encode())


def of_xgboost(model: Any) -> ForeignForest:
    """The forest of an `xgboost.Booster`, or of an estimator that has one, up to its best iteration."""
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    best = booster.attributes().get("best_iteration")
    chosen = booster if best is None or booster is model else booster[: int(best) + 1]
    return xgboost_model.read_ubjson(bytes(chosen.save_raw(raw_format="ubj")))


def of_catboost(model: Any) -> ForeignForest:
    """The forest of a `catboost.CatBoost` and its relatives."""
    if not hasattr(model, "save_model"):
        raise InputError(f"a {type(model).__name__} is no model of CatBoost")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        model.save_model(str(path), format="json")
        return catboost_json.read(path.read_bytes())
