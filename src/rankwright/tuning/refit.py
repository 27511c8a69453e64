"""The chosen settings, trained on all the training data.

The number of steps comes from the trials. Where they were validated on folds, it is the mean number of steps that the
models of the chosen trial kept, rounded up; it is not scaled for the larger data. Where validation data was given, it
chooses the steps again. A ranker that validates itself is trained as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sklearn.base import clone

from rankwright.data.dataset import RankingDataset
from rankwright.rankers.ranker import Ranker
from rankwright.tuning.trials import TrialResult


@dataclass(frozen=True, slots=True, eq=False)
class Refit:
    """The trained ranker, and how many steps it was told to take; None if it chose them itself."""

    ranker: Ranker
    steps: int | None

    def to_dict(self) -> dict[str, Any]:
        """The refit as a dictionary for JSON."""
        return {"steps": self.steps, "settings": self.ranker.stored_settings(), "model": self.ranker.facts()}


def refit(
    ranker: Ranker, chosen: TrialResult, train: RankingDataset, valid: RankingDataset | None, metric: str, seed: int
) -> Refit:
    """`ranker` trained on `train`, with the number of steps that the chosen trial suggests."""
    known = ranker.get_params(deep=False)
    settings: dict[str, Any] = {"select": metric, "seed": seed}
    steps = None
    if valid is None and ranker.budget is not None and not ranker.validates_itself:
        # Whatever a study's records say: a model keeps at most the steps that it may take, and one more for SortNet,
        # which counts its random first net.
        steps = max(1, math.ceil(min(chosen.mean_steps, (ranker.most_steps() or 0) + 1)))
        settings |= {ranker.budget: steps, "early_stopping": None}
    ranker.set_params(**{name: value for name, value in settings.items() if name in known})
    return Refit(_fitted(ranker, train, valid), steps)


def with_seed(ranker: Ranker, seed: int, train: RankingDataset, valid: RankingDataset | None) -> Ranker:
    """The same ranker trained again with another seed; itself where nothing in it is random."""
    if "seed" not in ranker.get_params(deep=False):
        return ranker
    return _fitted(clone(ranker).set_params(seed=seed), train, valid)


def _fitted(ranker: Ranker, train: RankingDataset, valid: RankingDataset | None) -> Ranker:
    ranker.fit(train, valid=valid)
    if ranker.history_.interrupted:
        # A model of fewer steps is not what was chosen. The study keeps the trials, and the same call goes on there.
        raise KeyboardInterrupt
    return ranker
