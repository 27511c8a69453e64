"""Rankers trained and measured on folds, and what their values say: figures with intervals, and who is ahead."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.metrics.confidence_intervals import bootstrap_interval, weighted_mean
from rankwright.metrics.evaluation import RESAMPLES, evaluate
from rankwright.metrics.significance import randomisation_p_value
from rankwright.reproduce.experiment import Setup
from rankwright.reproduce.outcome import Claim, Figure
from rankwright.reproduce.sources import DataSource, fold
from rankwright.tuning.trials import for_json, from_json

THREADS = 1  # of a part: parts run side by side, and times are those of one processor


def convention_of(source: DataSource) -> str:
    """The convention that the set's authors count by."""
    return "mslr" if source.stands_for.startswith("MSLR") else "letor"


def values_on(ranker: Any, data: RankingDataset, metrics: Sequence[str], convention: str) -> dict[str, Any]:
    """Each metric's value of each query, for a ranker."""
    return values_of(ranker.predict(data), data, metrics, convention)


def values_of(scores: Float64Array, data: RankingDataset, metrics: Sequence[str], convention: str) -> dict[str, Any]:
    """Each metric's value of each query, for scores of its documents."""
    found = evaluate(scores, data, metrics, convention, threads=THREADS)
    return {metric: for_json(found[metric].values) for metric in metrics}


def fitted(ranker: Any, setup: Setup, source: DataSource, number: int, metrics: Sequence[str]) -> dict[str, Any]:
    """What a ranker reaches on the test documents of a fold, and the processor's seconds that training took."""
    return best_fitted([ranker], setup, source, number, metrics)


def best_fitted(
    rankers: Sequence[Any], setup: Setup, source: DataSource, number: int, metrics: Sequence[str]
) -> dict[str, Any]:
    """The same of the ranker that does best by MAP on the validation documents of the fold, and the seconds of all."""
    train, vali, test = fold(source, number, setup.seed)
    start = time.process_time()
    for ranker in rankers:
        ranker.fit(train, valid=vali)
    seconds = time.process_time() - start
    best = rankers[0] if len(rankers) == 1 else best_on(vali, rankers, convention_of(source))
    return {"values": values_on(best, test, metrics, convention_of(source)), "training_seconds": seconds}


def best_on(vali: RankingDataset, rankers: Sequence[Any], convention: str) -> Any:
    """The trained ranker with the best MAP on these documents."""
    return max(
        rankers, key=lambda one: evaluate(one.predict(vali), vali, ["map"], convention, threads=THREADS)["map"].mean
    )


Values = Sequence[Sequence[float | None]]  # of each fold: a value for each query


def figure_of(folds: Values, paper: float | None = None, *, times: float = 1.0) -> Figure:
    """The mean of the folds' means with its 95 % interval over queries, beside the paper's figure."""
    values, weights = _joined(folds)
    if not len(values):
        return Figure(paper=paper)
    low, high = bootstrap_interval(values, weights, resamples=RESAMPLES, seed=0, threads=THREADS)
    return Figure(times * weighted_mean(values, weights), paper, times * low, times * high)


def ahead(
    text: str,
    first: Values,
    second: Values,
    names: tuple[str, str],
    *,
    otherwise: str,
    times: float = 1.0,
    digits: int = 4,
    of: str = "queries",
) -> Claim:
    """The statement that the first is better on the same queries; undecided where chance could do as much.

    `otherwise` says why the second might be better, and `of` says what there is a value for.
    """
    mine, other = _joined(first), _joined(second)
    gaps = mine[0] - other[0]
    low, high = bootstrap_interval(gaps, mine[1], resamples=RESAMPLES, seed=0, threads=THREADS)
    means = [times * weighted_mean(*one) for one in (mine, other)]
    gap, *ends = (f"{times * one:+.{digits}f}" for one in (weighted_mean(gaps, mine[1]), low, high))
    p_value = randomisation_p_value(gaps * mine[1], threads=THREADS)
    found = (
        f"{names[0]} {means[0]:.{digits}f}, {names[1]} {means[1]:.{digits}f}; difference {gap}, 95 % interval "
        f"{' to '.join(ends)} (p {p_value:.4f}, randomisation test)"
    )
    if low > 0:
        return Claim(text, True, found)
    if high < 0:
        return Claim(text, False, found, otherwise)
    reach = (high - low) / 2
    noise = f"chance alone moves the mean of {len(gaps):,} {of} by {times * reach:.{digits}f} either way"
    return Claim(text, None, found, noise + _enough(len(gaps), reach, weighted_mean(gaps, mine[1]), of))


def _enough(n: int, reach: float, gap: float, of: str) -> str:
    """How many values would tell the difference that was found: its interval shrinks with the root of their number."""
    if gap == 0:
        return ""
    return f"; to tell a difference of this size it would take about {_rounded(n * (reach / gap) ** 2):,} {of}"


def _rounded(number: float) -> int:
    """The number with two digits that count, upwards."""
    unit: int = 10 ** max(math.floor(math.log10(number)) - 1, 0)
    return math.ceil(number / unit) * unit


def best_of(values: Mapping[str, Values]) -> str:
    """The name of the values with the highest mean."""
    return max(values, key=lambda name: figure_of(values[name]).ours or 0.0)


def _joined(folds: Values) -> tuple[Float64Array, Float64Array]:
    """The values of all queries that count, and weights that make each fold count the same."""
    arrays = [from_json(values) for values in folds]
    known = [one[~np.isnan(one)] for one in arrays]
    weights = [np.full(len(one), 1 / max(len(one), 1)) for one in known]
    return np.concatenate(known), np.concatenate(weights)


def by_fold(results: Iterable[Mapping[str, Any]], metric: str) -> list[Sequence[float | None]]:
    """A metric's values, a list for each result."""
    return [result["values"][metric] for result in results]
