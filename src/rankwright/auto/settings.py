"""The settings of the search over all kinds of rankers."""

from __future__ import annotations

import re
from typing import ClassVar

from rankwright.errors import SettingError, require
from rankwright.settings.setting import setting, settings_class
from rankwright.settings.shared import AimedSettings, RankerSettings

DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(s|m|h|$)", re.IGNORECASE)
SECONDS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([kmg]?)b?", re.IGNORECASE)
BYTES = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}


@settings_class
class AutoSettings(AimedSettings, RankerSettings):
    """The best blend of rankers that a search over families and settings finds.

    Parameters
    ----------
    budget
        How long to search and train: seconds, or a text such as `90s`, `10m` or `2h`. It is processor time, of as many
        workers as there are. None stands for ten minutes, unless `trials` is given.
    trials
        Instead of `budget`: how many configurations to try. The outcome then depends on nothing but data and seed.
    folds
        How many folds of the queries configurations are measured on; None takes 5 of little data and 3 of more.
    limit_cost
        The most trees and layers of nets that a document may visit to be scored; None sets no limit.
    limit_size
        The most bytes of the model file: a number, or a text such as `5MB`; None sets no limit.
    """

    name: ClassVar[str] = "auto"

    # Elsewhere a name: of the setting that counts steps. A search counts none.
    budget: float | str | None = setting(None, above=0)  # type: ignore[misc, assignment]
    trials: int | None = setting(None, least=1)
    folds: int | None = setting(None, least=2)
    limit_cost: int | None = setting(None, least=1)
    limit_size: float | str | None = setting(None, above=0)


def seconds_of(text: float | str) -> float:
    """How many seconds a text such as `10m` says; a number is seconds."""
    if isinstance(text, str):
        parts = DURATION.findall(text)
        if not parts or DURATION.sub("", text).strip():
            raise SettingError(f"a budget reads like 90s, 10m or 1h30m, or is a number of seconds, got {text!r}")
        seconds = sum(float(number) * SECONDS[unit.lower()] for number, unit in parts)
    else:
        seconds = float(text)
    require(seconds > 0, f"budget must be above 0, got {text!r}")
    return seconds


def bytes_of(text: float | str) -> float:
    """How many bytes a text such as `5MB` says; a number is bytes."""
    found = SIZE.fullmatch(text.strip()) if isinstance(text, str) else None
    if isinstance(text, str) and found is None:
        raise SettingError(f"a size reads like 500kB or 5MB, got {text!r}")
    size = float(text) if found is None else float(found[1]) * BYTES[found[2].lower()]
    require(size >= 1, f"limit_size must be a byte or more, got {text!r}")
    return size
