"""Which bag a ranker makes: one of its own where there is one, else `Bagging`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rankwright.bagging.bagging import Bagging
from rankwright.catalog.settings import OF_RANKER, ranker_from_text
from rankwright.rankers.ranker import Ranker

OWN_BAGS = {"lambdamart": "bl-mart", "mart": "bagboo"}


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
    return ranker_from_text(Bagging.name, [*own, *of_ranker], **given)
