"""How the cases are trained, and how model files are read and compared, through public names alone."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load as load_arrays
from tests.compatibility.cases import Case, Interrupted

import rankwright as rw

HERE = Path(__file__).parent
TRAIN, VALID = HERE / "data" / "train.txt", HERE / "data" / "valid.txt"
MODELS, SCORES = HERE / "models", HERE / "models" / "scores.json"
TRAINED = HERE / "trained"
PUBLIC = HERE / "public.json"
CHECKPOINTS = HERE / "checkpoints"
TOLERANCE = 1e-4  # of `near` cases on another machine than the one they were recorded on
EXACT_NETS = os.environ.get("RANKWRIGHT_EXACT_NETS") == "1"
COMPILED = os.environ.get("RANKWRIGHT_KERNELS") != "reference"
same_sums = pytest.mark.skipif(not COMPILED, reason="the kernels' twins sum in another order")


@cache
def train_data() -> rw.RankingDataset:
    return rw.read_svmlight(TRAIN)


@cache
def valid_data() -> rw.RankingDataset:
    return rw.read_svmlight(VALID)


def scored_data() -> rw.RankingDataset:
    """The documents whose scores are recorded."""
    return valid_data().take_queries([0, 1, 2])


def ranker_of(case: Case, *, threads: int = 1) -> Any:
    inner = {} if case.inner is None else {"ranker": ranker_of(case.inner)}
    kind = getattr(rw, case.kind)
    # Models were recorded before rankers corrected clicks.
    before = {"debias": "none"} if "debias" in kind.settings() else {}
    return kind(**(before | dict(case.settings)), **inner, threads=threads)


def train(case: Case, *, threads: int = 1, **options: Any) -> Any:
    if case.valid:
        options["valid"] = valid_data()
    return ranker_of(case, threads=threads).fit(train_data(), **options)


def with_budget(interrupted: Interrupted, steps: int) -> Case:
    case = interrupted.case
    return replace(case, settings=dict(case.settings) | {interrupted.budget: steps})


def file_of(ranker: Any, folder: Path) -> bytes:
    """The content of the ranker's model file."""
    ranker.save(folder / "model.rw")
    return (folder / "model.rw").read_bytes()


def must_be_exact(case: Case) -> bool:
    return COMPILED and (EXACT_NETS or not case.near)


def count_features_from_1(header: dict[str, Any]) -> bool:
    """Put features in the settings of a header as files hold them now; whether there were any."""
    settings = header.get("header", header).get("settings", {})
    before = {name: settings[name] for name in ("monotone", "categorical") if settings.get(name)}
    if "monotone" in before:
        settings["monotone"] = [[str(feature + 1), way] for feature, way in before["monotone"]]
    if "categorical" in before:
        settings["categorical"] = [str(feature + 1) for feature in before["categorical"]]
    return bool(before)


def assert_same_model(found: bytes, expected: bytes, *, exact: bool) -> None:
    """The same bytes; or else the same header, watched values apart, and arrays that are close."""
    (header, arrays), (wanted_header, wanted_arrays) = parts_of(found), parts_of(expected)
    # Files recorded before models kept which queries they were trained on have none of that.
    older = "seen_queries" not in wanted_header.get("header", wanted_header)
    if older:
        header.get("header", header).pop("seen_queries", None)
    # Those of 0.2.0 have numbers of features from 0; now files hold them as texts, from 1.
    older = count_features_from_1(wanted_header) or older
    # Those recorded before the fingerprints of trees' data were made by query have others.
    older = forget_other_fingerprints(header, wanted_header) or older
    # Those recorded before forests kept the curvature of their nodes have none of that, nor has what was begun then.
    both = arrays.keys() & wanted_arrays.keys()
    arrays, wanted_arrays = (
        {name: own for name, own in each.items() if name in both or not name.endswith("curvature")}
        for each in (arrays, wanted_arrays)
    )
    if not exact:
        header, wanted_header = without_values(header), without_values(wanted_header)
    assert header == wanted_header
    assert arrays.keys() == wanted_arrays.keys()
    for name, wanted in wanted_arrays.items():
        assert (arrays[name].dtype, arrays[name].shape) == (wanted.dtype, wanted.shape), name
        _same_numbers(exact)(arrays[name], wanted, err_msg=name)
    changed = parts_of(found)[1].keys() != arrays.keys() or parts_of(expected)[1].keys() != wanted_arrays.keys()
    assert found == expected or not exact or older or changed


def assert_same_scores(found: NDArray[Any], expected: list[float], *, exact: bool) -> None:
    _same_numbers(exact)(found, np.array(expected))


def _same_numbers(exact: bool) -> Callable[..., None]:
    if exact:
        return np.testing.assert_array_equal
    return partial(np.testing.assert_allclose, rtol=TOLERANCE, atol=TOLERANCE)


def parts_of(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The kind, version and header of a model file, and its arrays, as any tool that knows safetensors reads them."""
    length = int.from_bytes(content[:8], "little")
    document = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["rankwright"])
    return {name: value for name, value in document.items() if name != "checksum"}, load_arrays(content)


def forget_other_fingerprints(header: Any, wanted: Any) -> bool:
    """Leave out of both headers, and of the bags in them, fingerprints that were made in two ways; were there any?"""
    if isinstance(header, list) and isinstance(wanted, list):
        return any([forget_other_fingerprints(*pair) for pair in zip(header, wanted, strict=False)])
    if not (isinstance(header, dict) and isinstance(wanted, dict)):
        return False
    given = [str(one.get("training_data")).startswith("by-query-") for one in (header, wanted)]
    if given[0] != given[1]:
        del header["training_data"], wanted["training_data"]
    both = [name for name in header if name in wanted]
    return any([forget_other_fingerprints(header[name], wanted[name]) for name in both]) or given[0] != given[1]


def without_values(header: Any) -> Any:
    """The header, and those of the bags in it, without what was measured while training."""
    if isinstance(header, list):
        return [without_values(one) for one in header]
    if not isinstance(header, dict):
        return header
    measured = ("values", "out_of_bag")
    return {name: None if name in measured else without_values(value) for name, value in header.items()}
