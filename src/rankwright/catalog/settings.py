"""Settings written as text, such as `max_leaves=15`, into a ranker, a bag of rankers or an objective."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from typing import Any

from rankwright.bagging.settings import BaggingSettings
from rankwright.blending.settings import BlendSettings
from rankwright.catalog.kinds import kind_named
from rankwright.compression.distillation import StudentParams
from rankwright.errors import SettingError
from rankwright.mart.settings import LambdaMARTSettings
from rankwright.objectives.families import objective_named, paper_lambdarank
from rankwright.objectives.objective import Objective
from rankwright.rankers.ranker import Ranker
from rankwright.settings.text import check_values, values_of, with_none

OF_RANKER = "ranker__"  # what settings of a bag's ranker begin with, as scikit-learn has it
OWN_BAGS = {"lambdamart": "bl-mart", "mart": "bagboo"}


def ranker_from_text(name: str, settings: Iterable[str] = (), **given: Any) -> Ranker:
    """The ranker of that name; each setting reads `key=value`, with a JSON value or plain text.

    `given` are settings that have their type already; None leaves the default. What a bag is made of is named by
    `ranker=ranknet`, and set by `ranker__epochs=20` and the like.
    """
    return _ranker_of(name, values_of(settings) | {key: value for key, value in given.items() if value is not None})


def _ranker_of(name: str, values: dict[str, Any]) -> Ranker:
    """The ranker of that name with these settings, which are checked."""
    kind = kind_named(name)
    if issubclass(kind.settings, BaggingSettings):
        values = _with_ranker(values)
    if issubclass(kind.settings, BlendSettings):
        values = _with_rankers(values)
    values = with_none(kind.settings, values)
    check_values(kind.settings, values, name)
    return kind.ranker_class()(**values)


def _with_ranker(values: dict[str, Any]) -> dict[str, Any]:
    """The settings of a bag, with a ranker in place of its name and of settings of its own."""
    ranker = values.get("ranker")
    own = [key for key in values if key.startswith(OF_RANKER)]
    if not isinstance(ranker, str) and (ranker is not None or not own):
        return values
    settings = {key.removeprefix(OF_RANKER): values[key] for key in own}
    rest = {key: value for key, value in values.items() if key not in own}
    return rest | {"ranker": _ranker_of(ranker or LambdaMARTSettings.name, settings)}


def _with_rankers(values: dict[str, Any]) -> dict[str, Any]:
    """The settings of a blend, with rankers in place of their names."""
    rankers = values.get("rankers")
    if isinstance(rankers, str):
        rankers = [name.strip() for name in rankers.split(",")]
    if not isinstance(rankers, list):
        return values
    return values | {"rankers": [ranker_from_text(*_named(one)) if isinstance(one, str) else one for one in rankers]}


def _named(text: str) -> tuple[str, list[str]]:
    """The name of a ranker and its settings, from a text such as `ranknet epochs=20`."""
    try:
        name, *settings = shlex.split(text)
    except ValueError:
        raise SettingError(f"a ranker reads like 'ranknet epochs=20', got {text!r}") from None
    return name, settings


def blend_of(rankers: Sequence[str], settings: Iterable[str] = (), **given: Any) -> Any:
    """The blend of rankers, each a name with settings after blanks; `settings` and `given` are those of the blend."""
    named = {"rankers": [ranker_from_text(*_named(one)) for one in rankers]} if rankers else {}
    return ranker_from_text(BlendSettings.name, settings, **named, **given)


def bag_of(
    ranker: str, settings: Iterable[str] = (), *, n_bags: int | None = None, overfit: bool | None = None, **given: Any
) -> Ranker:
    """The bag of the ranker of that name: lambdamart makes bl-mart, mart makes bagboo, others make bagging.

    `settings` are those of the ranker, each as `key=value`; `given` are settings of the bag that have their type
    already. None leaves a default.
    """
    own = [f"{name}={value}" for name, value in (("n_bags", n_bags), ("overfit", overfit)) if value is not None]
    if ranker in OWN_BAGS:
        return ranker_from_text(OWN_BAGS[ranker], [*own, *settings], **given)
    of_ranker = [f"ranker={ranker}", *(f"{OF_RANKER}{setting}" for setting in settings)]
    return ranker_from_text(BaggingSettings.name, [*own, *of_ranker], **given)


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
        wanted = f"mode must be default, or paper for lambdarank without other settings, got {mode!r} for {name}"
        raise SettingError(wanted)
    return paper_lambdarank(metric) if metric else paper_lambdarank()


def student_from_text(settings: Iterable[str] = ()) -> StudentParams:
    """How what learns from a larger model is to learn; each setting reads `key=value`."""
    values = with_none(StudentParams, values_of(settings))
    check_values(StudentParams, values, "a student")
    return StudentParams(**values)
