"""Scores of treelite, which reads the model files of LightGBM and XGBoost: a second witness beside the libraries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.errors import MissingExtraError
from rankwright.exchange.target import NotRunError, TargetRun
from rankwright.imports.lightgbm_rules import TYPE_SHIFT, ZERO

DECISION_TYPES = re.compile(rb"^decision_type=(.*)$", re.MULTILINE)
WITH_CATEGORIES = re.compile(rb"^num_cat=[1-9]", re.MULTILINE)


def run_lightgbm_text(path: Path, features: Float32Array, names: Sequence[str]) -> TargetRun:  # noqa: ARG001
    """Treelite's scores of a LightGBM text, unless it holds what treelite reads otherwise than LightGBM."""
    treelite = _treelite()
    content = path.read_bytes()
    if WITH_CATEGORIES.search(content):
        raise NotRunError("treelite reads categories between -1 and 0 as unknown ones, where LightGBM reads 0")
    found = (int(word) for line in DECISION_TYPES.findall(content) for word in set(line.split()))
    if any(decision >> TYPE_SHIFT == ZERO for decision in found):
        raise NotRunError("treelite has no zeros that count as missing, as this file has")
    return _run(treelite, treelite.frontend.load_lightgbm_model(str(path)), features)


def run_xgboost_model(path: Path, features: Float32Array, names: Sequence[str]) -> TargetRun:  # noqa: ARG001
    """Treelite's scores of an XGBoost model file, JSON or UBJSON by its ending."""
    treelite = _treelite()
    choice = {".json": "json", ".ubj": "ubjson"}[path.suffix]
    return _run(treelite, treelite.frontend.load_xgboost_model(str(path), format_choice=choice), features)


def _treelite() -> Any:
    try:
        import treelite
    except ImportError:
        raise MissingExtraError("running treelite", "treelite", "oracles") from None
    return treelite


def _run(treelite: Any, model: Any, features: Float32Array) -> TargetRun:
    scores = np.asarray(treelite.gtil.predict(model, features, nthread=1, pred_margin=True))
    return TargetRun(scores.reshape(-1), f"treelite {treelite.__version__}")
