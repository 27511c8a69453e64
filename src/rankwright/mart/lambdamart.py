"""LambdaMART: boosted trees that follow λ-gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from rankwright.debiasing.stage import debiasing_view, plot_bias, position_ratios_view
from rankwright.errors import require
from rankwright.mart.forest_ranker import ForestRanker
from rankwright.mart.recipe import ForestRecipe
from rankwright.mart.settings import LambdaForestSettings, LambdaMARTSettings
from rankwright.objectives.families import UsualForces, lambdarank, objective_of, paper_lambdarank
from rankwright.objectives.objective import Objective
from rankwright.objectives.pairwise import Logistic
from rankwright.rankers.trained import TrainingFindings


def lambda_forces(settings: LambdaForestSettings, found: TrainingFindings) -> Objective:
    """The forces on documents: those asked for, LambdaRank's, or where nothing is asked, the usual ones."""
    weights = settings.pair_weights()
    are_plain = (settings.truncation, settings.sigma, settings.mode, weights) == (None, None, "default", {})
    if settings.objective is not None:
        require(
            are_plain,
            f"{', '.join(['truncation', 'sigma', *weights])} and mode shape LambdaRank's forces; an objective of "
            "your own has its own settings",
        )
        return objective_of(settings.objective)
    if are_plain:  # clicks stay clicks once they are corrected or weighed
        usual = UsualForces(settings.metric, settings.max_leaves)
        return lambdarank(settings.metric) if found.has_clicks else usual
    objective = paper_lambdarank(settings.metric) if settings.mode == "paper" else lambdarank(settings.metric)
    loss = settings.sigma and Logistic(settings.sigma)
    changes: dict[str, Any] = {"truncation": settings.truncation, "pair_loss": loss}
    return replace(objective, **{name: value for name, value in changes.items() if value is not None}, **weights)


class LambdaMART(ForestRanker, LambdaMARTSettings):
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

    recipe = ForestRecipe(forces=lambda_forces, debiases=True)
    takes_positions: ClassVar[bool] = True
    debiasing_, position_ratios_, plot_bias = debiasing_view, position_ratios_view, plot_bias
