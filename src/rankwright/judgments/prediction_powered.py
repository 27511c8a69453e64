"""Metrics with few human labels: many labels by a model, corrected by the few queries that people judged too.

For each query, x is the metric by the model's labels and y by people's. Of n queries both are known, of all n + N
queries x is. The estimate is the mean of y less λ times how far the mean of x on those n lies from the mean of x on
all: prediction-powered inference with power tuning (Angelopoulos et al. 2023), which is the regression estimator of
double sampling (Cochran 1977). λ is the slope of y on x, so that labels that tell nothing do no harm. Where x and y
correlate with ρ, intervals are √(1 − ρ² N / (N + n)) as wide as with people's labels alone.

Estimates hold where the queries that people judged were drawn at random from all queries.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IdArray, as_vector, text_ids
from rankwright.data.dataset import RankingDataset
from rankwright.data.frames import Tabular
from rankwright.errors import InputError, require, require_input, require_type
from rankwright.judgments.files.judgment_files import qrels_of_judgments
from rankwright.judgments.judgment_table import Judgments
from rankwright.judgments.ratings import Repeats, without_repeats
from rankwright.metrics.confidence_intervals import COVERAGE, Interval, none_unless_finite
from rankwright.metrics.convention import Convention, Empty, as_convention
from rankwright.metrics.evaluation import ScoredLists, evaluate_lists, measures_of
from rankwright.metrics.metric_table import Measure, Metrics
from rankwright.progress.stages import announce
from rankwright.tables.text import ShownTable, counted

FEWEST_QUERIES = 5  # that people judged, for an estimate
FEWEST_VALUES = 3  # for a line and what is left of it
TOP_ALONE = ("p", "dcg", "mrr", "hit", "wta")  # metrics that look at nothing but the first documents
UNBOUNDED = ("dcg",)  # metrics that may be above 1
MOST_IMAGINED = 4.0  # queries, half of them at each bound
# The skewness of what the model leaves open, as a share of the square root of the number of queries: where queries
# begin to be imagined, and where the most are.
SLIGHTLY_SKEWED, STRONGLY_SKEWED = 0.2, 0.5
NO_SPREAD = 1e-15
DEFAULT_METRICS = ("ndcg@10", "p@10", "mrr@10")


@dataclass(frozen=True, slots=True)
class PoweredEstimate:
    """An estimate of a mean over queries, from the few that people judged and the many that a model did.

    Attributes
    ----------
    mean, interval : float, Interval
        The estimate and its 95 % interval.
    human_mean, human_interval : float, Interval
        The same from people's labels alone.
    model_mean : float
        The mean by the model's labels on all queries, bias and all.
    correlation : float
        How the two go together on the queries that have both.
    slope : float
        λ: how much of the model's mean is used.
    n_human, n_queries : int
        How many queries people judged, and how many there are in all.
    """

    mean: float
    interval: Interval
    human_mean: float
    human_interval: Interval
    model_mean: float
    correlation: float
    slope: float
    n_human: int
    n_queries: int

    @property
    def width_ratio(self) -> float:
        """How wide the interval is, as a share of that from people's labels alone."""
        width, alone = (one.high - one.low for one in (self.interval, self.human_interval))
        return width / alone if alone > 0 else math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in types JSON can hold."""
        return {
            "mean": none_unless_finite(self.mean),
            **self.interval.to_dict(),
            "human": {"mean": none_unless_finite(self.human_mean)} | self.human_interval.to_dict(),
            "model": {"mean": none_unless_finite(self.model_mean)},
            "correlation": none_unless_finite(self.correlation),
            "slope": none_unless_finite(self.slope),
            "human_queries": self.n_human,
            "queries": self.n_queries,
        }


def powered_mean(
    by_people: ArrayLike,
    by_model: ArrayLike,
    by_model_elsewhere: ArrayLike,
    *,
    bounds: tuple[float, float] | None = None,
) -> PoweredEstimate:
    """Estimate a mean from values by people and by a model on the same queries, and by the model on others.

    Parameters
    ----------
    by_people, by_model : array of float64, shape (n,)
        The value of each query that people judged, by their labels and by the model's; three queries at least.
    by_model_elsewhere : array of float64, shape (N,)
        The value by the model's labels of each other query.
    bounds : tuple of two floats, optional
        The lowest and the highest value that a query may have. Where values pile up at one of them, a few imagined
        queries at both ends keep the interval honest, as Agresti and Coull's do for shares.

    Returns
    -------
    PoweredEstimate
        The mean over all queries there could be, with an interval.

    Examples
    --------
    >>> import numpy as np
    >>> import rankwright as rw
    >>> people, model = np.array([0.1, 0.4, 0.5, 0.8]), np.array([0.3, 0.6, 0.7, 1.0])
    >>> round(rw.judgments.powered_mean(people, model, np.full(100, 0.7)).mean, 3)  # the model says 0.2 too much
    0.498
    """
    from scipy.special import stdtrit

    y = _finite(by_people, "by_people")
    x, others = _finite(by_model, "by_model", len(y)), _finite(by_model_elsewhere, "by_model_elsewhere")
    require_input(len(y) >= FEWEST_VALUES, f"by_people must have {FEWEST_VALUES} values or more, got {len(y)}")
    n, every = len(y), np.concatenate([x, others])
    human_mean, model_mean = float(y.mean()), float(every.mean())
    deviations = x - x.mean()
    squares, products = float(deviations @ deviations), float(deviations @ (y - human_mean))
    total = float(((y - human_mean) ** 2).sum())
    slope = products / squares if squares > 0 else 0.0
    shift = float(x.mean()) - model_mean
    mean = human_mean - slope * shift
    rest = y - human_mean - slope * deviations
    imagined = _imagined(rest) if total > NO_SPREAD else MOST_IMAGINED
    apart = imagined * float(np.abs(rest).max()) ** 2
    centre = mean  # of the interval
    if bounds is not None and imagined:
        centre, apart = _drawn_inwards(mean, n, imagined, bounds)
    n_counted = n + imagined
    left = (float(rest @ rest) + apart) / (n_counted - 2)
    of_people = left * (1 / n_counted + (shift**2 / squares if squares > 0 else 0.0))
    of_model = slope**2 * float(every.var(ddof=1)) / len(every)
    variance, high = of_people + of_model, (1 + COVERAGE) / 2
    # Satterthwaite's degrees of freedom of a sum of two variances
    freedom = n_counted - 2.0
    if variance > 0:
        freedom = variance**2 / (of_people**2 / (n_counted - 2) + of_model**2 / (len(every) - 1))
    half = float(stdtrit(freedom, high)) * math.sqrt(variance)
    half_alone = float(stdtrit(n - 1, high)) * math.sqrt(total / (n - 1) / n)
    correlation = products / math.sqrt(squares * total) if squares > 0 and total > 0 else math.nan
    return PoweredEstimate(
        mean,
        Interval(min(centre - half, mean), max(centre + half, mean)),
        human_mean,
        Interval(human_mean - half_alone, human_mean + half_alone),
        model_mean,
        correlation,
        slope,
        n,
        len(every),
    )


def _finite(values: ArrayLike, name: str, length: int | None = None) -> Float64Array:
    made: Float64Array = as_vector(values, name=name, dtype=np.float64, length=length)
    require_input(bool(np.isfinite(made).all()), f"{name} must hold finite numbers")
    return made


def _imagined(rest: Float64Array) -> float:
    """How many queries to imagine: none where what the model leaves open is symmetric, four where it piles up."""
    spread = float((rest**2).mean())
    if spread < NO_SPREAD:  # the model tells all
        return 0.0
    skewness = abs(float((rest**3).mean())) / math.sqrt(spread**3 * len(rest))
    return MOST_IMAGINED * min(1.0, max(0.0, (skewness - SLIGHTLY_SKEWED) / (STRONGLY_SKEWED - SLIGHTLY_SKEWED)))


def _drawn_inwards(mean: float, n: int, imagined: float, bounds: tuple[float, float]) -> tuple[float, float]:
    """The mean with imagined queries at both bounds, and what they and the shift add to the sum of squares."""
    centre = (n * mean + imagined * sum(bounds) / 2) / (n + imagined)
    squares = sum((bound - centre) ** 2 for bound in bounds) * imagined / 2
    return centre, n * (mean - centre) ** 2 + squares


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PoweredEvaluation(Tabular):
    """Metrics estimated with few human labels. Print it for a table.

    Attributes
    ----------
    convention : Convention
        The convention of the metrics.
    estimates : mapping from str to mapping from str to PoweredEstimate
        By system, or `first - second` for the difference of two, the estimate of each metric.
    n_partly : int
        How many queries people judged only in part, so that they do not count as judged by people.
    n_unknown : int
        How many human labels are of documents that no list has.
    repeats : Repeats
        What people judged twice: the later grade counts, and none where no times tell which it is.
    """

    convention: Convention
    estimates: Mapping[str, Mapping[str, PoweredEstimate]]
    n_partly: int
    n_unknown: int
    repeats: Repeats

    def __getitem__(self, metric: str) -> PoweredEstimate:
        """Return the estimate of a metric, where there is one system."""
        (one,) = self.estimates.values()
        return one[metric]

    def to_dict(self) -> dict[str, Any]:
        """Return the estimates as a dictionary for JSON."""
        systems = {
            system: {metric: one.to_dict() for metric, one in own.items()} for system, own in self.estimates.items()
        }
        told = {"judged_in_part": self.n_partly, "labels_of_unknown_documents": self.n_unknown}
        return {"convention": self.convention.name, "estimates": systems} | told | {"repeats": self.repeats.to_dict()}

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the estimates as columns by name, a row for each system and metric."""
        rows = [(system, metric, one) for system, own in self.estimates.items() for metric, one in own.items()]
        return {
            "system": [system for system, _, _ in rows],
            "metric": [metric for _, metric, _ in rows],
            "mean": [one.mean for *_, one in rows],
            "low": [one.interval.low for *_, one in rows],
            "high": [one.interval.high for *_, one in rows],
            "human": [one.human_mean for *_, one in rows],
            "model": [one.model_mean for *_, one in rows],
        }

    def shown(self) -> ShownTable:
        """Return the table as people read it."""
        names = ["system", "metric", "estimate (95 % interval)", "people alone (95 % interval)", "model alone", "ρ"]
        rows = [
            [system, metric, f"{one.mean:.4f} ({one.interval})", f"{one.human_mean:.4f} ({one.human_interval})",
             f"{one.model_mean:.4f}", "-" if math.isnan(one.correlation) else f"{one.correlation:.2f}"]
            for system, own in self.estimates.items() for metric, one in own.items()
        ]  # fmt: skip
        some = next(iter(next(iter(self.estimates.values())).values()))
        title = f"convention {self.convention}: people judged {some.n_human:,} of {counted(some.n_queries, 'query')}"
        notes = []
        if self.n_partly:
            which = counted(self.n_partly, "query was", "queries were")
            notes.append(f"{which} judged by people in part, and count for the model alone")
        if self.n_unknown:
            which = counted(self.n_unknown, "human label is", "human labels are")
            notes.append(f"{which} of documents that are in no list")
        notes += [f"human labels: {line}" for line in self.repeats.told]
        notes.append("estimates hold if the queries that people judged were drawn at random")
        return ShownTable(title, names, rows, names[2:], notes)


def powered_evaluation(
    systems: Mapping[str, ScoredLists],
    human: Judgments,
    model_labels: Judgments | None = None,
    metrics: Metrics = DEFAULT_METRICS,
    convention: str | Convention = "standard",
    *,
    threads: int | None = None,
) -> PoweredEvaluation:
    """Estimate metrics of one system, or of several and of their differences, with few human labels.

    Parameters
    ----------
    systems : mapping from str to ScoredLists
        What each system ranked, with the model's labels; `ScoredLists.of_dataset` makes such lists.
    human : Judgments
        Labels by people, one for each document: of whole queries that were drawn at random.
    model_labels : Judgments, optional
        Labels by the model, in place of those of the lists.
    metrics : str, or sequence of str, default ("ndcg@10", "p@10", "mrr@10")
        What to estimate.
    convention : str or Convention, default "standard"
        The rules for metrics.
    threads : int, optional
        How many threads to use. It never changes the result.

    Returns
    -------
    PoweredEvaluation
        Estimates with intervals, of each system, and of each one's difference from the first.
    """
    require_type(human, Judgments, "human", "Judgments")
    rules = as_convention(convention)
    measures = measures_of(metrics, rules)
    skips = next((one.name for one in measures if one.convention.empty is Empty.SKIP), None)
    told = "leaves out queries with nothing relevant, which are others for people and for the model"
    require(skips is None, f"{skips} {told}: choose another convention")
    announce("measuring")
    human, repeats = without_repeats(human)
    pairs = {name: _values(lists, human, model_labels, measures, threads) for name, lists in systems.items()}
    estimates = {
        name: {metric: _estimate(*own, metric, _bounds(metric)) for metric, own in found.items()}
        for name, found in pairs.items()
    }
    first, *others = pairs
    for other in others:
        estimates[f"{other} - {first}"] = {
            metric: _estimate(*_difference(pairs[other][metric], pairs[first][metric]), metric, None)
            for metric in pairs[first]
        }
    lists = next(iter(systems.values()))
    labels, n_unknown = labels_for(lists, human)
    return PoweredEvaluation(rules, estimates, _n_partly(lists, labels), n_unknown, repeats)


def _values(
    lists: ScoredLists,
    human: Judgments,
    model_labels: Judgments | None,
    measures: Sequence[Measure],
    threads: int | None,
) -> dict[str, tuple[Float64Array, Float64Array, BoolArray]]:
    """By metric: the value of each query by people, by the model, and whether people judged enough of the query."""
    by_model = lists if model_labels is None else replace(lists, labels=labels_for(lists, model_labels)[0])
    labels, _ = labels_for(lists, human)
    x = evaluate_lists(by_model, measures, "standard", threads=threads)
    y = evaluate_lists(replace(lists, labels=labels), measures, "standard", threads=threads)
    needed = ~np.isnan(by_model.labels)
    found = {}
    for measure, (name, result) in zip(measures, x.results.items(), strict=True):
        wanted = _top(lists, measure, threads) if measure.family in TOP_ALONE else needed
        judged = _all_of(lists, ~wanted | ~np.isnan(labels)) & _any_of(lists, ~np.isnan(labels))
        short = name if measure.convention.name == "standard" else measure.metric.name
        found[short] = (y.results[name].values, result.values, judged)
    return found


def _top(lists: ScoredLists, measure: Measure, threads: int | None) -> BoolArray:
    """Which rows are among the first ones of their query that the metric looks at."""
    ranking = lists.ranking(measure.convention.scores, threads or 1)
    depths = np.minimum(ranking.n_ranked, measure.cutoff or ranking.n_ranked)
    ranks = ranking.ranks()
    return np.asarray((ranks >= 0) & (ranks < depths[lists.groups.query_of_row]), np.bool_)


def _all_of(lists: ScoredLists, holds: BoolArray) -> BoolArray:
    """For each query, whether something holds of all its rows."""
    n_missing = np.bincount(lists.groups.query_of_row[~holds], minlength=lists.groups.n_queries)
    return np.asarray(n_missing == 0, np.bool_)


def _any_of(lists: ScoredLists, holds: BoolArray) -> BoolArray:
    return ~_all_of(lists, ~holds)


def _n_partly(lists: ScoredLists, labels: Float32Array) -> int:
    judged = ~np.isnan(labels)
    return int((_any_of(lists, judged) & ~_all_of(lists, judged | np.isnan(lists.labels))).sum())


def _bounds(metric: str) -> tuple[float, float] | None:
    """Between which values a metric lies, where it has bounds."""
    return None if metric.startswith(UNBOUNDED) else (0.0, 1.0)


def _difference(one: Any, other: Any) -> tuple[Float64Array, Float64Array, BoolArray]:
    return one[0] - other[0], one[1] - other[1], one[2] & other[2]


def _estimate(
    y: Float64Array, x: Float64Array, judged: BoolArray, metric: str, bounds: tuple[float, float] | None
) -> PoweredEstimate:
    n_human = int(judged.sum())
    if n_human < FEWEST_QUERIES:
        told = f"{metric}: people judged {counted(n_human, 'query')} as far as the metric looks"
        raise InputError(f"{told}; wanted {FEWEST_QUERIES} or more, drawn at random")
    found = powered_mean(y[judged], x[judged], x[~judged], bounds=bounds)
    if bounds is None:
        return found
    mean, low, high, human_low, human_high = np.clip(
        [found.mean, *found.interval, *found.human_interval], *bounds
    ).tolist()
    return replace(found, mean=mean, interval=Interval(low, high), human_interval=Interval(human_low, human_high))


def unlabelled_lists(scores: Any, data: RankingDataset) -> ScoredLists:
    """Lists of documents whose labels play no part, and may be absent."""
    labels = np.full(data.n_docs, np.nan, np.float32) if data.labels is None else data.labels
    return ScoredLists.of_dataset(scores, replace(data, labels=labels))


def labels_for(lists: ScoredLists, judgments: Judgments) -> tuple[Float32Array, int]:
    """The label of each row, NaN where there is none, and how many judgments are of rows that there are not."""
    if lists.query_ids is None or lists.document_ids is None:
        raise InputError("the documents have no ids, by which labels are found: name the column of document ids")
    qrels = qrels_of_judgments(judgments)
    queries = text_ids(lists.query_ids)[lists.groups.query_of_row]
    keys = {pair: row for row, pair in enumerate(_pairs(queries, text_ids(lists.document_ids)))}
    labels, n_unknown = np.full(len(lists.labels), np.nan, np.float32), 0
    for pair, label in zip(_pairs(qrels.query_ids, qrels.document_ids), qrels.labels.tolist(), strict=True):
        row = keys.get(pair)
        if row is None:
            n_unknown += 1
        else:
            labels[row] = label
    if np.isnan(labels).all():
        raise InputError("no label is of a document in the lists: the ids of queries and documents must be the same")
    return labels, n_unknown


def _pairs(queries: IdArray, documents: IdArray) -> Any:
    return zip(queries.tolist(), documents.tolist(), strict=True)
