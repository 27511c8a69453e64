"""The comparisons of the page of results, from what `benchmarks.quality.rankers` has kept: nothing is trained here.

A set takes part where every system of a comparison has been tested on all of its folds; the others are named.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

from benchmarks.quality.data_sets import SETS, n_folds
from benchmarks.quality.rankers import DEFAULTS, TUNED, Task, summary


class Comparison(NamedTuple):
    """The first system against the others, how many folds of each set they are tested on, and on which sets."""

    title: str
    systems: Sequence[str]
    folds: int
    sets: Sequence[str]


LARGER = ("web-3000", "web-30000", "topics")  # on which CatBoost takes more than an hour together
EIGHT = tuple(name for name in SETS if name not in LARGER)
COMPARISONS = {
    "quality-defaults": Comparison("Everybody with their defaults", DEFAULTS, 5, EIGHT),
    "quality-tuned": Comparison("Everybody tuned with the same effort: eight settings each", TUNED, 3, EIGHT),
    "quality-bags": Comparison(
        "BL-MART beside bags of LightGBM, and beside single models",
        ("bl-mart()", "bagged-lightgbm(bags=30)", "lambdamart()", "catboost()"),
        3,
        EIGHT,
    ),
    "quality-bags-tuned": Comparison(
        "BL-MART, not tuned, beside tuned CatBoost", ("bl-mart()", "tuned-catboost(trials=8)"), 3, EIGHT
    ),
    "quality-defaults-larger": Comparison("Everybody with their defaults, on larger sets", DEFAULTS, 5, LARGER),
}


def stored(name: str) -> dict[str, Any] | None:
    """A comparison by the results that are kept; None where no set has them all."""
    title, systems, folds, asked = COMPARISONS[name]
    place = list(COMPARISONS).index(name)
    lacking = {own: [system for system in systems if not _is_kept(system, own, folds)] for own in asked}
    sets = [own for own, missing in lacking.items() if not missing]
    if not sets:
        return None
    options = ["--systems", *systems, "--sets", *sets, "--folds", str(folds)]
    command = shlex.join(["python", "-m", "benchmarks.quality.rankers", *options])
    left_out = {own: missing for own, missing in lacking.items() if missing}
    told = {"title": title, "place": place, "command": command, "left_out": left_out}
    return summary(systems, sets, folds) | told


def _is_kept(system: str, own: str, folds: int) -> bool:
    return all(Task(*one).path.exists() for one in product([system], [own], range(min(folds, n_folds(own)))))
