"""The share of training pairs that scores put the wrong way round."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.errors import InputError
from rankwright.metrics.evaluation import ScoredLists, evaluate_lists
from rankwright.metrics.metric_table import parse_metric
from rankwright.objectives.objective import Judged

MEASURE = parse_metric("pair-error:standard(ties=averaged, unjudged=skip)")


class TrainingPairError:
    """Counts wrong pairs of a dataset: those given as preferences, else those of different labels.

    Equal scores are wrong by half. Pairs with target ½ have no right order and do not count.
    """

    def __init__(self, data: Judged, *, threads: int) -> None:
        self.data, self.threads = data, threads
        if data.preferences is None and data.labels is None:
            raise InputError("training needs labels or preferences, and the dataset has neither")

    def __call__(self, scores: Float64Array) -> float:
        """The share of wrong pairs; 0 where there are none."""
        return self._of_labels(scores) if self.data.preferences is None else self._of_preferences(scores)

    def _of_labels(self, scores: Float64Array) -> float:
        assert self.data.labels is not None
        lists = ScoredLists(scores=scores, labels=self.data.labels, groups=self.data.groups)
        result = evaluate_lists(lists, [MEASURE], MEASURE.convention, threads=self.threads)
        mean = next(iter(result.results.values())).mean
        return 0.0 if np.isnan(mean) else mean

    def _of_preferences(self, scores: Float64Array) -> float:
        assert self.data.preferences is not None
        pairs = self.data.preferences
        counted = pairs.probability != 0.5
        if not counted.any():
            return 0.0
        gap = (scores[pairs.better] - scores[pairs.worse])[counted] * np.sign(pairs.probability[counted] - 0.5)
        return float(np.mean((gap < 0) + 0.5 * (gap == 0)))
