"""Which documents to judge to tell two rankers apart, and what their judgments say so far.

A metric that adds up discounted gains differs between two rankers by Σ w g over documents, where w is the document's
discount in the one list less that in the other, and g its gain. Documents at the same rank in both have w = 0 and need
no judgment. The others are drawn by priority sampling (Duffield, Lund and Thorup 2007): each has a random number u that
its ids give it, and is judged in the order of u / a, where a is large where its judgment would tell much: |w| times
how far its gain may be from what is foretold. After any number of judgments, the next priority τ makes the chance of
each to have been drawn min(1, a τ), and the sum over the judged, divided by these chances, has no bias: whoever stops
early or goes on has an honest estimate, with an interval.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import BoolArray, Float64Array, IdArray, IntArray, text_ids, whole_number
from rankwright.data.frames import Tabular
from rankwright.errors import InputError, require
from rankwright.judgments.files.judgment_files import qrels_of_judgments
from rankwright.judgments.judgment_table import Judgments
from rankwright.metrics.confidence_intervals import Interval
from rankwright.metrics.convention import Convention, PrecisionOver, as_convention
from rankwright.metrics.evaluation import ScoredLists, measures_of
from rankwright.metrics.metric_table import Measure
from rankwright.tables.text import ShownTable, counted

METRICS = ("dcg", "p")  # that add up gains of documents
# Standard errors that make a verdict. Judgments are looked at again and again while they come in: with 2.5, one verdict
# in twenty on rankers that are nearly alike would be wrong, with 2.8 one in seventy.
SURE = 2.8
FEWEST_JUDGED = 20  # before a verdict


@dataclass(frozen=True, slots=True, eq=False)
class PooledDocuments:
    """The documents that two rankers rank differently.

    `weights` are their shares in the difference of the metric, the second ranker less the first; `ranks` are the
    better of the two ranks, from 0. `n_tops` is how many documents either ranker has among the first, those with a
    share of 0 too.
    """

    query_ids: IdArray
    document_ids: IdArray
    weights: Float64Array
    ranks: IntArray
    n_tops: int

    def __len__(self) -> int:
        return len(self.weights)


def pooled(first: ScoredLists, second: ScoredLists, measure: Measure) -> PooledDocuments:
    """The documents among the first ones of either ranker whose share in the difference is not 0."""
    depth = measure.cutoff
    if measure.family not in METRICS or depth is None:
        raise InputError(f"{measure.metric.name} is no sum over documents: choose dcg@k or p@k, such as dcg@10")
    tops = [_tops(lists, depth, measure.convention) for lists in (first, second)]
    queries = sorted({query for top in tops for query in top})
    found: list[tuple[str, str, float, int]] = []
    n_tops = 0
    for query in queries:
        one, other = (top.get(query, {}) for top in tops)
        discounts = [_discounts(measure, depth, len(top)) for top in (one, other)]
        documents = sorted(one.keys() | other.keys())
        n_tops += len(documents)
        for document in documents:
            ranks = one.get(document), other.get(document)
            shares = [0.0 if rank is None else float(own[rank]) for rank, own in zip(ranks, discounts, strict=True)]
            best = min(rank for rank in ranks if rank is not None)
            if shares[0] != shares[1]:
                found.append((query, document, (shares[1] - shares[0]) / len(queries), best))
    if not found:
        raise InputError("both rankers have the same lists: there is nothing to tell apart")
    query_ids, document_ids, weights, ranks = zip(*found, strict=True)
    texts = np.dtypes.StringDType()
    return PooledDocuments(
        np.array(query_ids, texts), np.array(document_ids, texts), np.array(weights), np.array(ranks), n_tops
    )


def _discounts(measure: Measure, depth: int, length: int) -> Float64Array:
    if measure.family == "p":
        over = depth if measure.convention.precision_over is PrecisionOver.CUTOFF else max(1, min(depth, length))
        return np.full(depth, 1.0 / over)
    return measure.convention.discount.table(depth)


def _tops(lists: ScoredLists, depth: int, convention: Convention) -> dict[str, dict[str, int]]:
    """By query, the rank of each of the first documents."""
    if lists.query_ids is None or lists.document_ids is None:
        raise InputError("the documents have no ids, by which they are judged: name the column of document ids")
    ranking = lists.ranking(convention.scores, 1)
    names, queries = text_ids(lists.document_ids).tolist(), text_ids(lists.query_ids).tolist()
    return {
        queries[query]: {
            names[row]: rank
            for rank, row in enumerate(
                ranking.rows[rows.start : rows.start + min(depth, int(ranking.n_ranked[query]))].tolist()
            )
        }
        for query, rows in enumerate(ranking.groups.slices())
    }


def random_numbers(query_ids: IdArray, document_ids: IdArray, seed: int) -> Float64Array:
    """A number between 0 and 1 for each document of each query, which depends on its ids and the seed alone."""
    made = np.empty(len(query_ids))
    for row, (query, document) in enumerate(zip(query_ids.tolist(), document_ids.tolist(), strict=True)):
        text = f"{seed}\x1f{query}\x1f{document}".encode("utf-8", "surrogatepass")
        made[row] = int.from_bytes(hashlib.blake2b(text, digest_size=7).digest(), "big") + 1
    return np.asarray(made / 2**56, np.float64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JudgingPlan(Tabular):
    """Documents in the order in which to judge them. Print it for a table; `plan_comparison` makes it.

    Attributes
    ----------
    query_ids, document_ids : array of str
        What to judge, first things first.
    sizes : array of float64
        How much each judgment would tell, by which it was drawn.
    priorities : array of float64
        The order; ascending.
    weights : array of float64
        The share of each document's gain in the difference of the metric.
    foretold : array of float64
        What its gain is expected to be.
    measure : Measure
        The metric whose difference is to be told.
    n_pooled : int
        How many documents either ranker has among the first.
    """

    query_ids: IdArray
    document_ids: IdArray
    sizes: Float64Array
    priorities: Float64Array
    weights: Float64Array
    foretold: Float64Array
    measure: Measure
    n_pooled: int

    def __len__(self) -> int:
        return len(self.weights)

    def proposed(self, judged: Judgments | None, budget: int) -> IntArray:
        """Return which documents to judge next.

        Parameters
        ----------
        judged : Judgments or None
            What was judged already.
        budget : int
            How many to propose at most.

        Returns
        -------
        array of int64
            Places in the plan, in order.
        """
        budget = whole_number(budget, "budget", least=1)
        gains = self.gains_of(judged)
        return np.flatnonzero(np.isnan(gains))[:budget]

    def gains_of(self, judged: Judgments | None) -> Float64Array:
        """Return the gain of each document that was judged.

        Parameters
        ----------
        judged : Judgments or None
            What was judged so far, one grade for each document.

        Returns
        -------
        array of float64
            A gain for each document of the plan, NaN where it was not judged.
        """
        gains = np.full(len(self), np.nan)
        if judged is None:
            return gains
        label_of = single_labels(judged)
        labels = [label_of.get(pair) for pair in zip(self.query_ids.tolist(), self.document_ids.tolist(), strict=True)]
        known = np.array([label is not None for label in labels])
        if known.any():
            found = np.array([label for label in labels if label is not None], np.float32)
            gains[known] = _gains(found, self.measure)
        return gains

    def difference(self, gains: Float64Array) -> DifferenceEstimate:
        """Return what judgments so far say of the difference, second less first.

        Parameters
        ----------
        gains : array of float64
            The gain of each document of the plan, NaN where it was not judged. What counts is judged in the plan's
            order, up to the first gap: what was judged for other reasons would bend the estimate.

        Returns
        -------
        DifferenceEstimate
            The estimate, its interval, and the verdict.
        """
        judged = ~np.isnan(gains)
        n_drawn = int(np.argmin(judged)) if not judged.all() else len(self)
        limit = self.priorities[n_drawn] if n_drawn < len(self) else math.inf
        chances = np.minimum(1.0, self.sizes * limit) if math.isfinite(limit) else np.ones(len(self))
        drawn = np.arange(len(self)) < n_drawn
        centre = self._centre(gains, drawn, chances)
        left = ((gains - centre) * self.weights)[drawn] / chances[drawn]
        mean = float((self.weights * centre).sum() + left.sum())
        error = math.sqrt(float(((1 - chances[drawn]) * left**2).sum()))
        return DifferenceEstimate(mean, error, n_drawn, int(judged.sum()) - n_drawn, len(self))

    def _centre(self, gains: Float64Array, drawn: BoolArray, chances: Float64Array) -> Float64Array:
        """What gains are foretold to be, shifted by how far those judged lie from it on average."""
        if not drawn.any():
            return self.foretold
        trust = 1 / chances[drawn]
        shift = float((trust * (gains - self.foretold)[drawn]).sum() / trust.sum())
        return np.asarray(self.foretold + shift, np.float64)

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the plan as columns by name, first things first."""
        return {
            "query": self.query_ids.tolist(),
            "document": self.document_ids.tolist(),
            "tells": (self.sizes / self.sizes.max()).tolist(),
        }

    def shown(self) -> ShownTable:
        """Return the first documents to judge as people read them."""
        columns = self.columns()
        rows = [[query, document, f"{tells:.3f}"] for query, document, tells in zip(*columns.values(), strict=True)][
            :20
        ]
        which = f"{counted(len(self), 'document')} that two rankers rank differently"
        title = f"{which}, of {self.n_pooled:,} that either has first"
        return ShownTable(title, list(columns), rows, ["tells"])


@dataclass(frozen=True, slots=True)
class DifferenceEstimate:
    """How far the second ranker is above the first, as judgments so far tell.

    Attributes
    ----------
    mean, error : float
        The estimate, and its standard error.
    n_judged, n_elsewhere, n_documents : int
        How many documents were judged in the order of the plan, and how many out of it, which do not count; and how
        many matter.
    """

    mean: float
    error: float
    n_judged: int
    n_elsewhere: int
    n_documents: int

    @property
    def interval(self) -> Interval:
        """What the difference may be, as sure as a verdict has to be."""
        return Interval(self.mean - SURE * self.error, self.mean + SURE * self.error)

    @property
    def is_sure(self) -> bool:
        """Whether it is clear which one is better."""
        enough = self.n_judged >= min(FEWEST_JUDGED, self.n_documents)
        return enough and self.mean != 0 and abs(self.mean) > SURE * self.error

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in types JSON can hold."""
        told = {"difference": self.mean, "error": self.error, **self.interval.to_dict(), "sure": self.is_sure}
        return told | {
            "judged": self.n_judged,
            "judged_out_of_order": self.n_elsewhere,
            "documents": self.n_documents,
        }

    def told(self, metric: str) -> list[str]:
        """Return what is known so far in words.

        Parameters
        ----------
        metric : str
            What the metric is called.

        Returns
        -------
        list of str
            A line for each fact.
        """
        lines = []
        if self.n_elsewhere:
            which = f"{counted(self.n_elsewhere, 'document')} judged out of the plan's order"
            lines.append(f"{which}: left out, since what was chosen otherwise would bend the estimate")
        if not self.n_judged:
            return [*lines, "nothing was judged yet in the plan's order"]
        far = f"the second ranker's {metric} is {self.mean:+.4f} from the first's ({self.interval})"
        better = f"the {'second' if self.mean > 0 else 'first'} ranker is better"
        verdict = better if self.is_sure else "it is not clear yet which is better"
        return [*lines, f"{counted(self.n_judged, 'document')} judged: {far}", verdict]


def plan_comparison(
    first: ScoredLists,
    second: ScoredLists,
    metric: str = "dcg@10",
    convention: str | Convention = "standard",
    *,
    expected: Judgments | None = None,
    seed: int = 0,
) -> JudgingPlan:
    """Put documents in the order in which judgments tell two rankers apart with the fewest labels.

    Parameters
    ----------
    first, second : ScoredLists
        What the two rankers ranked; labels play no part.
    metric : str, default "dcg@10"
        What to compare them by: `dcg@k` or `p@k`, which add up gains of documents.
    convention : str or Convention, default "standard"
        The rules for the metric.
    expected : Judgments, optional
        Grades that a model foretells. The better they are, the fewer labels it takes; if they are wrong, it takes more
        labels, and the estimate still holds.
    seed : int, default 0
        The same seed gives the same order, whatever the order of rows.

    Returns
    -------
    JudgingPlan
        The documents, first things first.
    """
    (measure,) = measures_of(metric, as_convention(convention))
    pool = pooled(first, second, measure)
    foretold, spread = _foretold(pool, expected, measure)
    sizes = np.abs(pool.weights) * spread
    sizes = np.maximum(sizes, sizes.max() * 1e-3)
    priorities = random_numbers(pool.query_ids, pool.document_ids, seed) / sizes
    order = np.lexsort((pool.document_ids, pool.query_ids, priorities))
    return JudgingPlan(
        query_ids=pool.query_ids[order],
        document_ids=pool.document_ids[order],
        sizes=sizes[order],
        priorities=priorities[order],
        weights=pool.weights[order],
        foretold=foretold[order],
        measure=measure,
        n_pooled=pool.n_tops,
    )


def _foretold(pool: PooledDocuments, expected: Judgments | None, measure: Measure) -> tuple[Float64Array, Float64Array]:
    """What gains are expected, and how far from it they may be; where nothing is expected, the same for all."""
    if expected is None:
        return np.zeros(len(pool)), np.ones(len(pool))
    label_of = single_labels(expected)
    labels = [label_of.get(pair) for pair in zip(pool.query_ids.tolist(), pool.document_ids.tolist(), strict=True)]
    known = [label for label in labels if label is not None]
    require(bool(known), "no expected grade is of a document that the rankers rank differently")
    usual = float(np.mean(known))
    gains = _gains(np.array([usual if label is None else label for label in labels], np.float32), measure)
    # A gain that is expected to be large may be far off; one that is expected to be none is seldom so.
    least = max(float(gains.mean()) / 4, 1e-6)
    return gains, np.sqrt(np.maximum(gains, least))


def _gains(labels: Any, measure: Measure) -> Float64Array:
    if measure.family == "p":
        return measure.convention.relevant.of(labels).astype(np.float64)
    return np.asarray(measure.convention.gain(labels), np.float64)


def single_labels(judgments: Judgments) -> dict[tuple[str, str], float]:
    """The one grade of each document; several of one are an error."""
    qrels = qrels_of_judgments(judgments)
    pairs = zip(qrels.query_ids.tolist(), qrels.document_ids.tolist(), strict=True)
    return dict(zip(pairs, qrels.labels.tolist(), strict=True))
