"""A metric on held-out documents, as the loop watches it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from rankwright.arrays import Float32Array, Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError
from rankwright.metrics.evaluation import ScoredLists, evaluate_lists
from rankwright.metrics.metric_table import as_measure
from rankwright.training.loop import Listener, Progress, Watch


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


class Watches(NamedTuple):
    """What is watched while a ranker learns: the first chooses the step, the others are only measured."""

    first: Watch | None = None
    others: Mapping[str, Watch] = MappingProxyType({})


def watches_of(
    metric: str | Callable[..., float],
    data: RankingDataset | None,
    parts: Mapping[str, int],
    current_scores: Callable[[], Float64Array],
    *,
    threads: int,
) -> Watches:
    """The watches over validation data; of several `parts`, each with its number of queries, the first chooses."""
    if data is None:
        return Watches()
    if not parts:
        return Watches(watch_metric(metric, data.labels, data.groups, current_scores, threads=threads))
    every, first = {}, 0
    for name, n_queries in parts.items():  # one part after another
        begin, end = data.groups.offsets[[first, first + n_queries]].tolist()
        labels = None if data.labels is None else data.labels[begin:end]
        groups = Groups.of_sizes(data.groups.sizes[first : first + n_queries])
        scores = partial(_some_of, current_scores, slice(begin, end))
        every[name] = watch_metric(metric, labels, groups, scores, threads=threads)
        first += n_queries
    return Watches(every.pop(next(iter(parts))), every)


def _some_of(current_scores: Callable[[], Float64Array], rows: slice) -> Float64Array:
    return np.ascontiguousarray(current_scores()[rows])


def appender(measure: Callable[[], float], values: list[float]) -> Listener:
    """A listener that measures after each step, and keeps what it finds."""

    def hear(progress: Progress) -> None:  # noqa: ARG001
        values.append(measure())

    return hear
