"""LambdaMART: boosted trees that follow λ-gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from rankwright.errors import require
from rankwright.objectives.families import UsualForces, lambdarank, learns_alone, objective_named, paper_lambdarank
from rankwright.objectives.objective import Objective
from rankwright.objectives.pair_losses import Logistic
from rankwright.trees.debiased import DebiasedRanker
from rankwright.trees.forest_ranker import ForestRanker
from rankwright.trees.params import SplitGain
from rankwright.trees.settings import LambdaMARTSettings


class LambdaMART(DebiasedRanker, ForestRanker, LambdaMARTSettings):
    """Each tree is fitted to forces on the documents. The force on a pair is how far RankNet would push the two
    documents apart, times how much it matters that they are in order; so pairs at the top of the list pull hardest.
    For NDCG that is YetiRank's measure, for other metrics what `metric` would gain if they changed places. Give `valid`
    to keep the trees up to the best one, and `early_stopping` to stop growing soon after it.

    Attributes
    ----------
    forest_ : Forest
        The trained trees.
    n_trees_ : int
        How many there are: those up to the best step if validation data was given.
    base_score_ : float
        What the trees' values are added to.
    feature_importances_ : array of float64
        Each feature's share of the gain of all splits.
    history_ : History
        What was watched after each tree.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=30, seed=0)
    >>> train, valid = data.split(valid=0.2, seed=0)
    >>> ranker = rw.LambdaMART(n_trees=20, max_leaves=7, early_stopping=5).fit(train, valid=valid)
    >>> scores = ranker.predict(valid)
    >>> 0 < rw.evaluate(scores, valid, ["ndcg@10"])["ndcg@10"].mean <= 1
    True
    """

    def _objective(self) -> Objective:
        return self._weighed_by_position(self._forces())

    def _learns_alone(self) -> bool:
        return learns_alone(self._forces())

    def _forces(self) -> Objective:
        weights = self.pair_weights()
        are_plain = (self.truncation, self.sigma, self.mode, weights) == (None, None, "default", {})
        if self.objective is not None:
            require(
                are_plain,
                f"{', '.join(['truncation', 'sigma', *weights])} and mode shape LambdaRank's forces; an objective of "
                "your own has its own settings",
            )
            return objective_named(self.objective) if isinstance(self.objective, str) else self.objective
        if are_plain:  # clicks stay clicks once they are corrected or weighed
            has_clicks = self.debiasing_ is not None or self.propensity_weights_ is not None or self._has_clicks
            return lambdarank(self.metric) if has_clicks else UsualForces(self.metric)
        objective = paper_lambdarank(self.metric) if self.mode == "paper" else lambdarank(self.metric)
        changes: dict[str, Any] = {"truncation": self.truncation, "pair_loss": self.sigma and Logistic(self.sigma)}
        return replace(objective, **{name: value for name, value in changes.items() if value is not None}, **weights)

    def _split_gain(self) -> SplitGain:
        return self.split_gain or ("least-squares" if self.mode == "paper" else "newton")
