"""Whatever a caller gives, Python's door answers with an error of ours that can be read, never with one from inside."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest
from tests.contracts.trained import learnable, small, trained

import rankwright as rw
from rankwright.catalog.rankers import RANKERS
from rankwright.errors import RankwrightError

WRONG: Mapping[str, Any] = {
    "None": None,
    "a number": 5,
    "a fraction": 0.5,
    "a text": "nonsense",
    "an object": object(),
    "nothing": [],
    "a mapping": {"a": 1},
    "ragged rows": [[1.0, 2.0], [3.0]],
    "texts": ["a", "b"],
    "complex numbers": np.array([1 + 2j, 3.0]),
    "dates": np.array(["2020-01-01", "2021-01-01"], "datetime64[D]"),
    "objects": np.array([object(), {}], dtype=object),
    "three dimensions": np.zeros((2, 2, 2)),
    "a function": lambda *values: values,
    "a class": int,
    "bytes": b"bytes",
}
# What starts processes or reaches for the network whatever it is given.
ELSEWHERE = {"open_engine"}
# What trains for long with what it is given rightly; their data and rankers are checked by others here.
SLOW = {"tune", "nested_cross_validation", "cross_validate", "compress"}
MORE: Mapping[str, dict[str, Any]] = {"export": {"to": "lightgbm"}}  # what must be named
ALLOWED = (RankwrightError, OSError)  # a file that is not there is the system's error


def outcome(call: Callable[[], Any]) -> str | None:
    """What is wrong with the way a call ends; None where it works, or fails as it should."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = call()
            if isinstance(result, Iterator):
                next(result, None)
    except ALLOWED as error:
        message = str(error)
        return None if message.strip() and len(message) < 1000 else f"an unreadable message: {message[:200]!r}"
    except Exception as error:
        return f"{type(error).__name__}: {str(error)[:200]}"
    return None


def functions() -> dict[str, Any]:
    named = {name: getattr(rw, name) for name in rw.__all__ if name not in ELSEWHERE}
    return {name: one for name, one in named.items() if inspect.isfunction(one)}


def required(function: Any) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    return [
        one.name
        for one in parameters
        if one.default is one.empty and one.kind in (one.POSITIONAL_OR_KEYWORD, one.POSITIONAL_ONLY)
    ]


def right(name: str, parameter: str) -> Any:
    """A value that the parameter of a function can have, where one is known."""
    data = learnable()
    known = {
        "data": data, "ranker": trained("lambdamart"), "model": trained("lambdamart"), "scores": data.labels,
        "systems": {"a": data.labels, "b": data.features[:, 0]}, "objective": "ranknet", "text": "ndcg@10",
        "path": "out.txt", "target": "out.csv", "source": "in.txt", "paths": "in.txt",
        "groups": data.groups, "frame": {"qid": [1, 1], "label": [0, 1], "a": [1.0, 2.0]},
    }  # fmt: skip
    return known.get(parameter, known["ranker"] if (name, parameter) == ("tune", "ranker") else None)


@pytest.mark.parametrize("name", functions())
def test_every_function(name: str, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function = functions()[name]
    names = required(function)
    faults = []
    for place, parameter in enumerate(names[:1] if name in SLOW else names):
        for called, value in WRONG.items():
            arguments = [right(name, other) for other in names]
            arguments[place] = value
            fault = outcome(partial(function, *arguments, **MORE.get(name, {})))
            if fault is not None:
                faults.append(f"{name}({parameter}={called}): {fault}")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    "parameter", ["metrics", "convention", "labels", "qid", "group", "threads", "seed", "resamples"]
)
def test_what_evaluate_takes_besides(parameter):
    data = learnable()
    faults = []
    for called, value in WRONG.items():
        given = {parameter: value}
        arguments: dict[str, Any] = {"labels": data.labels, "qid": data.qid} if parameter in ("labels", "qid") else {}
        positional = [data.labels] if arguments else [data.labels, data]
        fault = outcome(partial(rw.evaluate, *positional, **(arguments | given)))
        if fault is not None:
            faults.append(f"evaluate({parameter}={called}): {fault}")
    assert not faults, "\n".join(faults)


PARAMETERS = (
    "X",
    "y",
    "qid",
    "group",
    "sample_weight",
    "query_weight",
    "position",
    "preferences",
    "initial_scores",
    "valid",
)


@pytest.mark.parametrize("parameter", PARAMETERS)
@pytest.mark.parametrize("name", ["lambdamart", "ranksvm", "bagging"])
def test_fit(name, parameter):
    data = learnable()
    arguments: dict[str, Any] = {"X": data.features, "y": data.labels, "qid": data.qid}
    if parameter == "group":
        del arguments["qid"]
    faults = []
    for called, value in WRONG.items():
        fault = outcome(partial(small(name).fit, **(arguments | {parameter: value})))
        if fault is not None:
            faults.append(f"{name}.fit({parameter}={called}): {fault}")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("name", RANKERS)
def test_predict_and_score(name):
    ranker, data = trained(name), learnable()
    calls = {
        "predict(X": lambda value: ranker.predict(value),
        "predict(qid": lambda value: ranker.predict(data.features, qid=value),
        "rank(X": lambda value: ranker.rank(value),
        "score(y": lambda value: ranker.score(data.features, value, qid=data.qid),
        "importances(kind": lambda value: ranker.importances(value),
    }
    faults = []
    for call, does in calls.items():
        for called, value in WRONG.items():
            fault = outcome(partial(does, value))
            if fault is not None:
                faults.append(f"{name}.{call}={called}): {fault}")
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("name", RANKERS)
def test_settings(name):
    faults = []
    for setting in RANKERS[name].settings():
        if setting == "module":  # a net of the caller's own
            continue
        for called, value in WRONG.items():
            fault = outcome(small(name, **{setting: value}).check)
            if fault is not None:
                faults.append(f"{name}({setting}={called}): {fault}")
    assert not faults, "\n".join(faults)
