"""Settings written as text, such as `max_leaves=15`, into a ranker or an objective."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from inspect import signature
from typing import Any

from rankwright.bagging.bagging import Bagging
from rankwright.catalog.rankers import ranker_named
from rankwright.catalog.setting_types import check_types
from rankwright.compression.distillation import StudentParams
from rankwright.errors import SettingError, UnknownNameError
from rankwright.objectives.objective import Objective
from rankwright.objectives.registry import objective_named, paper_lambdarank
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.rankers.ranker import Ranker

OF_RANKER = "ranker__"  # what settings of a bag's ranker begin with, as scikit-learn has it

PLAIN_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.IGNORECASE)  # .01 too, which JSON does not read


def ranker_from_text(name: str, settings: Iterable[str] = (), **given: Any) -> Ranker:
    """The ranker of that name; each setting reads `key=value`, with a JSON value or plain text.

    `given` are settings that have their type already; None leaves the default. What a bag is made of is named by
    `ranker=ranknet`, and set by `ranker__epochs=20` and the like.
    """
    kind = ranker_named(name)
    known = signature(kind.__init__).parameters.keys() - {"self"}
    values = values_of(settings) | {key: value for key, value in given.items() if value is not None}
    if issubclass(kind, Bagging):
        values = _with_ranker(values)
    for key in values:
        if key not in known:
            raise UnknownNameError(f"setting of {name}", key, known=known)
    check_types(kind, values)
    return kind(**values)


def _with_ranker(values: dict[str, Any]) -> dict[str, Any]:
    """The settings of a bag, with a ranker in place of its name and of settings of its own."""
    ranker = values.get("ranker")
    own = [key for key in values if key.startswith(OF_RANKER)]
    if not isinstance(ranker, str) and (ranker is not None or not own):
        return values
    settings = {key.removeprefix(OF_RANKER): values[key] for key in own}
    rest = {key: value for key, value in values.items() if key not in own}
    return rest | {"ranker": ranker_from_text(ranker or LambdaMART.name, **settings)}


def objective_from_text(name: str, settings: Iterable[str] = ()) -> Objective:
    """The objective of that name; each setting reads `key=value`, and `mode=paper` is lambdarank's plain formula."""
    values = values_of(settings)
    mode = values.pop("mode", "default")
    if mode == "default":
        try:
            return objective_named(name, **values)
        except TypeError:
            raise SettingError(f"objective {name} cannot have the settings {values}") from None
    family, _, metric = name.partition(":")
    if mode != "paper" or family != "lambdarank" or values:
        raise SettingError(
            f"mode is default, or for lambdarank and with no other setting paper, got {mode!r} of {name}"
        )
    return paper_lambdarank(metric) if metric else paper_lambdarank()


def student_from_text(settings: Iterable[str] = ()) -> StudentParams:
    """How what learns from a larger model is to learn; each setting reads `key=value`."""
    values = values_of(settings)
    known = signature(StudentParams).parameters
    for key in values:
        if key not in known:
            raise UnknownNameError("setting of a student", key, known=known)
    check_types(StudentParams, values)
    return StudentParams(**values)


def values_of(settings: Iterable[str]) -> dict[str, Any]:
    """The settings that texts such as `max_leaves=15` give, by name."""
    values: dict[str, Any] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        if not equals:
            raise SettingError(f"a setting reads like max_leaves=15, got {text!r}")
        values[key.strip()] = _value_of(value.strip())
    return values


def _value_of(text: str) -> Any:
    """What JSON reads, else the text itself; Python's words for true, false and nothing do as well."""
    words = {"True": True, "False": False, "None": None}
    if text in words:
        return words[text]
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return float(text) if PLAIN_NUMBER.fullmatch(text) else text
