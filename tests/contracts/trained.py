"""Small rankers of every kind, and one of each, trained once, for all laws that only read it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from rankwright.catalog.rankers import RANKERS
from rankwright.data.dataset import RankingDataset
from rankwright.rankers.ranker import Ranker
from rankwright.settings.setting import small_settings
from rankwright.settings.spaces import Choice

# Whatever a ranker's size is called: small enough to check many laws. Nets that are told how units bend try no recipes.
QUICK: dict[str, Any] = {
    "activation": "relu",
    "n_trees": 3,
    "max_leaves": 5,
    "min_docs_in_leaf": 2,
    "epochs": 3,
    "max_iter": 2,
    "n_bags": 2,
    "n_rounds": 3,
    "n_sweeps": 2,
}
COUNTING = [name for name, kind in RANKERS.items() if kind.budget is not None]


def small(name: str, **changes: Any) -> Ranker:
    """A ranker that trains quickly, with the `small` values of its settings."""
    kind = RANKERS[name]
    own: dict[str, Any] = small_settings(kind)
    if "ranker" in kind.settings():  # a bag of other rankers
        own["ranker"] = small("lambdamart")
    if "rankers" in kind.settings():  # a blend of other rankers
        own["rankers"] = [small("lambdamart"), small("ranksvm")]
    if "n_bags" in own:
        own["threads"] = 1  # so that bags are finished one after another
    return kind(**(own | changes))


def quick(name: str, **changes: Any) -> Ranker:
    """A ranker that trains as quickly as it can, for laws that hold whatever it learned."""
    kind = RANKERS[name]
    if "ranker" in kind.settings():  # a bag of other rankers
        changes = {"ranker": quick("lambdamart")} | changes
    if "rankers" in kind.settings():  # a blend of other rankers
        changes = {"rankers": [quick("lambdamart"), quick("ranksvm")]} | changes
    return kind(**({key: value for key, value in QUICK.items() if key in kind.settings()} | changes))


def after(name: str, n_steps: int, **changes: Any) -> Ranker:
    """A small ranker that takes so many steps."""
    budget = RANKERS[name].budget
    return small(name, **(({} if budget is None else {budget: n_steps}) | changes))


def chance(name: str) -> dict[str, Any]:
    """Settings that make the ranker's steps random, if it has any."""
    return dict(RANKERS[name].chance or {})


def another_setting(name: str) -> dict[str, Any]:
    """A setting that makes a different run: the first of the search space, with another value than `small` has."""
    kind = RANKERS[name]
    for setting, dimension in kind.space.items():
        values = dimension.values if isinstance(dimension, Choice) else (dimension.low, dimension.high)
        now = getattr(small(name), setting)
        usable = [value for value in values if value != now]
        if usable:
            return {setting: usable[0]}
    raise AssertionError(f"{name} states no setting that a search looks at")


@cache
def learnable() -> RankingDataset:
    """Sixty queries whose labels follow the first two features, with some values missing."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(5, 25, size=60)
    features = rng.normal(size=(int(sizes.sum()), 4)).astype(np.float32)
    worth = features[:, 0] + np.abs(features[:, 1]) + 0.3 * rng.normal(size=len(features))
    features[rng.random(len(features)) < 0.1, 3] = np.nan
    return RankingDataset.from_arrays(features, np.clip(np.round(worth), 0, 4), qid=np.repeat(np.arange(60), sizes))


@cache
def trained(name: str) -> Ranker:
    """The small ranker, trained on `learnable`; tests must not change it."""
    return small(name).fit(learnable())


@cache
def scores(name: str) -> np.ndarray:
    """The scores of `trained` for its training documents."""
    return np.asarray(trained(name).predict(learnable()))
