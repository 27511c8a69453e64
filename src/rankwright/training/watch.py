"""A metric on held-out documents, as the loop watches it."""

from __future__ import annotations

from collections.abc import Callable

from rankwright.arrays import Float32Array, Float64Array
from rankwright.data.groups import Groups
from rankwright.errors import InputError
from rankwright.metrics.evaluation import ScoredLists, evaluate_lists
from rankwright.metrics.registry import as_measure
from rankwright.training.loop import Watch


def watch_metric(
    metric: str | Callable[..., float],
    labels: Float32Array | None,
    groups: Groups,
    current_scores: Callable[[], Float64Array],
    *,
    threads: int,
) -> Watch:
    """A watch over the mean of `metric`, such as `ndcg@10:letor`, for the scores that `current_scores` gives."""
    measure = as_measure(metric)
    if labels is None:
        raise InputError(f"the validation data has no labels to watch {measure.name} with")

    def measure_now() -> float:
        lists = ScoredLists(scores=current_scores(), labels=labels, groups=groups)
        evaluation = evaluate_lists(lists, [measure], measure.convention, threads=threads)
        return next(iter(evaluation.results.values())).mean

    return Watch(measure.name, measure_now, measure.higher_is_better)
