"""Whether pairs that are weighed by position rank held-out documents better than clicks as they are.

Weights make the sample of clicks smaller in effect, and they are wrong where users leave after a click; then a ranker
that is trained with them loses more than position bias costs. So quick forests are grown both ways, and the documents
of other queries tell which order is better, by what their clicks say once examination is taken out.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankwright.arrays import Float64Array, thread_count
from rankwright.clicks.bias import Debiasing
from rankwright.clicks.pairwise_debiasing import PairwiseDebiased
from rankwright.data.dataset import RankingDataset
from rankwright.debiasing.correction import SURE, WHAT, shown_documents
from rankwright.debiasing.held_out import held_out_scores
from rankwright.metrics.evaluation import ScoredLists, evaluate_lists
from rankwright.metrics.metric_table import as_measure
from rankwright.objectives.families import lambdarank
from rankwright.objectives.objective import Objective

N_TREES = 120
METRIC = "ndcg@10"


def pairs_verdict(
    data: RankingDataset, corrected: RankingDataset, found: Debiasing, *, seed: int, threads: int | None
) -> Debiasing:
    """The finding about bias, applied only if pairs weighed by position rank better, measured by corrected labels."""
    if not found.applied:
        return found
    gain = _gain(data, corrected, seed=seed, threads=threads)
    if gain >= SURE:
        reason = f"pairs weighed by position rank held-out documents better, by {gain:.1f} standard errors"
        return replace(found, reason=reason)
    reason = (
        f"pairs weighed by position rank held-out documents no better than clicks as they are ({gain:+.1f} standard "
        f"errors): clicks were taken as they are"
    )
    return replace(found, applied=False, reason=reason)


def _gain(data: RankingDataset, corrected: RankingDataset, *, seed: int, threads: int | None) -> float:
    """By how many standard errors, over queries, training with weighed pairs ranks better."""
    rows, shown, _ = shown_documents(data)
    assert corrected.labels is not None
    labels, plain = corrected.labels[rows], lambdarank(METRIC)

    def measured(objective: Objective, how: str) -> Float64Array:
        what = f"{WHAT}, pairs {how}"
        scores = held_out_scores(shown, objective, [N_TREES], what=what, seed=seed, threads=threads)[0]
        lists = ScoredLists(scores=scores, labels=labels, groups=shown.groups)
        return evaluate_lists(lists, [measure], measure.convention, threads=thread_count(threads))[METRIC].values

    measure = as_measure(METRIC)
    gains = measured(PairwiseDebiased(plain), "weighed by position") - measured(plain, "as they are")
    gains = gains[~np.isnan(gains)]
    error = float(gains.std(ddof=1)) / np.sqrt(len(gains)) if len(gains) > 1 else 0.0
    return float(gains.mean()) / error if error > 0 else 0.0
