"""What is tried: configurations of several families, first those of a list, then others drawn from their spaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import IntArray
from rankwright.bagging.settings import BLMARTSettings
from rankwright.catalog.rankers import RANKERS
from rankwright.data.dataset import RankingDataset
from rankwright.linear.settings import RankSVMSettings
from rankwright.mart.settings import LambdaMARTSettings
from rankwright.nets.settings import ListNetSettings, RankNetSettings
from rankwright.rankers.ranker import Ranker
from rankwright.tuning.trials import canonical

LAMBDAMART, BLMART = LambdaMARTSettings.name, BLMARTSettings.name
RANKNET, LISTNET, RANKSVM = RankNetSettings.name, ListNetSettings.name, RankSVMSettings.name
DRAWS = 0x6175  # added to the seed, so that these draws do not depend on others
Settings = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TrialCandidate:
    """A kind of ranker with some of its settings."""

    family: str
    settings: Settings

    def __hash__(self) -> int:
        return hash(self.key)

    @property
    def name(self) -> str:
        """The family, with the settings that are not its defaults."""
        told = ", ".join(f"{name}={_short(value)}" for name, value in self.settings.items())
        return f"{self.family}({told})"

    @property
    def key(self) -> str:
        """A text that is different for each candidate."""
        return canonical([self.family, dict(self.settings)])

    def ranker(self, metric: str, **more: Any) -> Ranker:
        """The untrained ranker; where it aims at a metric, at this one."""
        kind = RANKERS[self.family]
        aims = {"metric": metric} if "metric" in kind.settings() else {}
        return kind(**(aims | dict(self.settings) | more))


# What has been good on many sets, the safest first, each unlike the others, so that they can be blended.
FIRST = (
    TrialCandidate(BLMART, {}),
    TrialCandidate(LAMBDAMART, {}),
    TrialCandidate(RANKNET, {}),
    TrialCandidate(LISTNET, {}),
    TrialCandidate(LAMBDAMART, {"learning_rate": 0.03}),
    TrialCandidate(RANKSVM, {}),
    TrialCandidate(BLMART, {"learning_rate": 0.05, "feature_fraction": 0.3}),
    TrialCandidate(LAMBDAMART, {"objective": "lambdarank"}),
    TrialCandidate(LAMBDAMART, {"growth": "symmetric", "max_leaves": 64, "min_docs_in_leaf": 10}),
    TrialCandidate(RANKNET, {"hidden": [128, 64]}),
    TrialCandidate(BLMART, {"max_leaves": 15}),
    TrialCandidate(LISTNET, {"hidden": [32]}),
)
TAKES_NO_CATEGORIES = (RANKNET, LISTNET, RANKSVM)


def _forest(rng: np.random.Generator) -> Settings:
    return {
        "learning_rate": _log(rng, 0.02, 0.1),
        "max_leaves": int(rng.choice([4, 7, 10, 15, 25])),
        "min_docs_in_leaf": int(rng.choice([10, 20, 50, 100])),
        "query_fraction": float(rng.choice([0.3, 0.5, 0.8])),
        "feature_fraction": float(rng.choice([0.2, 0.3, 0.5, 0.8])),
        "objective": str(rng.choice(["yetirank", "lambdarank"])),
    }


def _bag(rng: np.random.Generator) -> Settings:
    return {name: value for name, value in _forest(rng).items() if name != "query_fraction"}


def _net(rng: np.random.Generator) -> Settings:
    hidden = [[16], [32], [64], [64, 32], [128, 64]][int(rng.integers(5))]
    return {"hidden": hidden, "weight_decay": _log(rng, 0.1, 10.0)}


DRAWN: tuple[tuple[str, Callable[[np.random.Generator], Settings]], ...] = (
    (LAMBDAMART, _forest),
    (BLMART, _bag),
    (RANKNET, _net),
    (LAMBDAMART, _forest),
    (LISTNET, _net),
)


def candidates(data: RankingDataset, seed: int) -> Iterator[TrialCandidate]:
    """The candidates for these data, without an end; the same for the same seed."""
    seen: set[str] = set()
    for candidate in _all(seed):
        if candidate.key in seen or (data.categories and candidate.family in TAKES_NO_CATEGORIES):
            continue
        seen.add(candidate.key)
        yield candidate


def _all(seed: int) -> Iterator[TrialCandidate]:
    yield from FIRST
    rng = np.random.default_rng([seed, DRAWS])
    while True:
        for family, draw in DRAWN:
            yield TrialCandidate(family, draw(rng))


def _log(rng: np.random.Generator, low: float, high: float) -> float:
    return float(f"{np.exp(rng.uniform(np.log(low), np.log(high))):.3g}")


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value).replace(" ", "")


@dataclass(frozen=True, slots=True, eq=False)
class AutoLesson:
    """What trials are made from; engines send it to their workers."""

    data: RankingDataset
    tests: tuple[IntArray, ...]  # the queries of each fold
    metric: str
    seed: int
    threads: int  # of each trial
