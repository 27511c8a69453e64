"""Engines that can be run here, and the scores that they give with a file: the other half of `engine_rules`."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
from collections.abc import Sequence
from ctypes import CDLL, c_size_t, c_void_p
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.errors import InputError, MissingExtraError
from rankwright.exchange.target import NotRunError, TargetRun
from rankwright.imports.lightgbm_formats import TYPE_SHIFT, ZERO

DECISION_TYPES = re.compile(rb"^decision_type=(.*)$", re.MULTILINE)
WITH_CATEGORIES = re.compile(rb"^num_cat=[1-9]", re.MULTILINE)


def _library(module: str, name: str, package: str | None = None) -> Any:
    """Another tool's library, which runs a target; an error that says how to get it where it is not installed."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtraError(f"running {name}", package or module, "oracles") from None


def run_onnx(path: Path, features: Float32Array, names: Sequence[str]) -> TargetRun:  # noqa: ARG001
    """ONNX Runtime's scores."""
    onnxruntime = _library("onnxruntime", "ONNX Runtime")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    scores = session.run(None, {"features": np.ascontiguousarray(features, np.float32)})[0]
    return TargetRun(scores[:, 0], f"ONNX Runtime {onnxruntime.__version__}")


def run_lightgbm(path: Path, features: Float32Array, names: Sequence[str]) -> TargetRun:  # noqa: ARG001
    """LightGBM's scores."""
    lightgbm = _library("lightgbm", "LightGBM")
    booster = lightgbm.Booster(model_file=str(path))
    return TargetRun(booster.predict(features, num_threads=1, raw_score=True), f"LightGBM {lightgbm.__version__}")


def run_xgboost(path: Path, features: Float32Array, names: Sequence[str]) -> TargetRun:  # noqa: ARG001
    """XGBoost's margins."""
    xgboost = _library("xgboost", "XGBoost", "xgboost-cpu")
    booster = xgboost.Booster({"nthread": 1}, model_file=str(path))
    matrix = xgboost.DMatrix(
        features, feature_names=booster.feature_names, feature_types=booster.feature_types, enable_categorical=True
    )
    return TargetRun(booster.predict(matrix, output_margin=True), f"XGBoost {xgboost.__version__}")


def run_treelite(path: Path, features: Float32Array, names: Sequence[str]) -> TargetRun:  # noqa: ARG001
    """Scores of treelite, which reads the files of LightGBM and XGBoost: a second witness beside them.

    LightGBM's text may hold what treelite reads otherwise than LightGBM.
    """
    treelite = _library("treelite", "treelite")
    if path.suffix == ".txt":
        content = path.read_bytes()
        if WITH_CATEGORIES.search(content):
            raise NotRunError("treelite reads categories between -1 and 0 as unknown ones, where LightGBM reads 0")
        decisions = (int(word) for line in DECISION_TYPES.findall(content) for word in set(line.split()))
        if any(decision >> TYPE_SHIFT == ZERO for decision in decisions):
            raise NotRunError("treelite has no zeros that count as missing, as this file has")
        model = treelite.frontend.load_lightgbm_model(str(path))
    else:
        choice = {".json": "json", ".ubj": "ubjson"}[path.suffix]
        model = treelite.frontend.load_xgboost_model(str(path), format_choice=choice)
    scores = np.asarray(treelite.gtil.predict(model, features, nthread=1, pred_margin=True))
    return TargetRun(scores.reshape(-1), f"treelite {treelite.__version__}")


def run_gcc(path: Path, features: Float32Array, names: Sequence[str]) -> TargetRun:  # noqa: ARG001
    """Scores of the compiled file."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise MissingExtraError("compiling the C file", "gcc", "oracles")
    with TemporaryDirectory() as folder:
        library = Path(folder) / "model.so"
        command = [compiler, "-O2", "-shared", "-fPIC", str(path), "-o", str(library), "-lm"]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode:
            raise InputError(f"{compiler} refuses {path.name}: {made.stderr[:300]}")
        scored_by = re.findall(r"void (\w+_score_many)\(", path.read_text())[0]
        rows, scores = np.ascontiguousarray(features, np.float32), np.empty(len(features))
        addresses = c_void_p(rows.ctypes.data), c_void_p(scores.ctypes.data)
        CDLL(str(library))[scored_by](addresses[0], c_size_t(len(rows)), c_size_t(rows.shape[1]), addresses[1])
    return TargetRun(scores, f"{Path(compiler).name} -O2")
