"""The same scores under several conventions, side by side, with a line for each on why it differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from rankwright.data.dataset import RankingDataset
from rankwright.data.frames import Tabular
from rankwright.errors import InputError
from rankwright.metrics.convention import (
    CONVENTIONS,
    DEFAULT,
    Convention,
    Empty,
    MapOver,
    PrecisionOver,
    ScorePrecision,
    Short,
    Stop,
    Unjudged,
    as_convention,
)
from rankwright.metrics.evaluation import DEFAULT_METRICS, Evaluation, ScoredLists, evaluate_lists
from rankwright.metrics.evaluation_inputs import judgments_of, scores_of
from rankwright.metrics.metric_table import parse_metric
from rankwright.ranking.gains import EXPONENTIAL, LETOR, LINEAR, LOG2, RECIPROCAL
from rankwright.ranking.order import Ties
from rankwright.tables.text import ShownTable, counted

SMALLEST_EFFECT = 5e-5  # what four decimals can show


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ConventionComparison(Tabular):
    """The same scores under several conventions.

    `compare_conventions` makes it. Print it for a table.

    Attributes
    ----------
    metrics : tuple of str
        The names of the metrics.
    evaluations : mapping of str to Evaluation
        The evaluation under each convention, by its name. A metric that cannot be counted under one is missing there.
    why : mapping of str to str
        For each convention, which of its rules make a difference, and which metrics it cannot count.
    headline : str
        One line that belongs beside the numbers.
    """

    metrics: tuple[str, ...]
    evaluations: Mapping[str, Evaluation]
    why: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as a dictionary for JSON, as `rankwright evaluate --convention all --json` prints it.

        Returns
        -------
        dict
            `conventions`: by name, the evaluation's dictionary and `why` it differs.
        """
        return {
            "conventions": {
                name: evaluation.to_dict() | {"why": self.why[name]} for name, evaluation in self.evaluations.items()
            }
        }

    @property
    def headline(self) -> str:
        """One line that belongs beside the numbers: how many queries there are, and how many have nothing relevant."""
        evaluation = next(iter(self.evaluations.values()))
        return (
            f"{counted(evaluation.n_queries, 'query')}, {evaluation.nothing_relevant} with nothing relevant; "
            f"{counted(evaluation.groups.n_docs, 'document')}"
        )

    def table(self) -> list[list[str]]:
        """Return the table as text.

        Returns
        -------
        list of list of str
            One row for each convention: its name, then the mean of each metric, or `-` where it cannot be counted.
        """
        return [
            [name, *(f"{results[metric].mean:.4f}" if metric in results else "-" for metric in self.metrics)]
            for name, results in ((name, evaluation.results) for name, evaluation in self.evaluations.items())
        ]

    def shown(self) -> ShownTable:
        """Return the table as people read it."""
        reasons = [f"{name}: {reason}" for name, reason in self.why.items()]
        return ShownTable(self.headline, ["convention", *self.metrics], self.table(), self.metrics, ["", *reasons])

    def columns(self) -> dict[str, list[Any]]:
        """Return the means under each convention.

        Returns
        -------
        dict of str to list
            Columns by name: `convention`, then one for each metric, NaN where it cannot be counted.
        """
        evaluations = self.evaluations.values()
        return {"convention": list(self.evaluations)} | {
            metric: [one.results[metric].mean if metric in one.results else float("nan") for one in evaluations]
            for metric in self.metrics
        }


def compare_conventions(
    scores: ArrayLike,
    data: RankingDataset,
    metrics: Sequence[str] = DEFAULT_METRICS,
    conventions: Iterable[str | Convention] = tuple(CONVENTIONS),
    *,
    threads: int | None = None,
    seed: int = 0,
) -> ConventionComparison:
    """Evaluate the same scores under several conventions, and say what makes the numbers differ.

    Parameters
    ----------
    scores : array-like of shape (n_docs,)
        One score for each document, in the row order in which the data was given; higher is better.
    data : RankingDataset
        The queries with their labels.
    metrics : sequence of str, default ("ndcg@10", "ndcg@5", "map", "mrr")
        What to count. A convention in a name is left out.
    conventions : iterable of str or Convention, optional
        The conventions to count under; all named ones by default.
    threads : int, optional
        How many threads to use; `OMP_NUM_THREADS` or every core by default. It never changes the result.
    seed : int, default 0
        The seed of the bootstrap intervals.

    Returns
    -------
    ConventionComparison
        An evaluation for each convention, and why it differs.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.RankingDataset.from_arrays([[0.0]] * 3, [0, 2, 1], group=[3])
    >>> found = rw.compare_conventions([0.1, 0.5, 0.7], data, ["ndcg"], ["standard", "trec(ties=input)"])
    >>> found.table()
    [['standard', '0.7967'], ['trec(ties=input)', '0.8597']]
    """
    judged = judgments_of(data)
    lists = ScoredLists.of_dataset(scores_of(scores, data), judged)
    plain = [parse_metric(metric).metric.name for metric in metrics]
    standard, _ = _evaluate_what_can_be(lists, plain, CONVENTIONS[DEFAULT], threads, seed)
    evaluations, why = {}, {}
    for convention in map(as_convention, conventions):
        usable, notes = _usable(convention, lists)
        evaluation, problems = _evaluate_what_can_be(lists, plain, usable, threads, seed)
        evaluations[usable.name] = evaluation
        reasons = list(_reasons(usable, lists, standard, threads))
        why[usable.name] = "; ".join([*(reasons or ["counts these metrics as standard does"]), *notes, *problems])
    return ConventionComparison(tuple(plain), evaluations, why)


def _usable(convention: Convention, lists: ScoredLists) -> tuple[Convention, list[str]]:
    """The convention, or the nearest one that the data allows, and a note on what it lacks."""
    if convention.ties is Ties.DOCUMENT_ID and lists.document_ids is None:
        return replace(convention, ties=Ties.INPUT), ["its ties by document id need ids, which this data lacks"]
    return convention, []


def _evaluate_what_can_be(
    lists: ScoredLists, metrics: Sequence[str], convention: Convention, threads: int | None, seed: int
) -> tuple[Evaluation, list[str]]:
    """The evaluation of the metrics that the data allows, and what is wrong with the others."""
    try:
        return evaluate_lists(lists, metrics, convention, threads=threads, seed=seed), []
    except InputError:
        pass  # now one by one
    possible, problems = [], []
    for metric in metrics:
        try:
            evaluate_lists(lists, [metric], convention, threads=threads)
        except InputError as error:
            problems.append(f"no {metric}: {error}")
        else:
            possible.append(metric)
    return evaluate_lists(lists, possible, convention, threads=threads, seed=seed), problems


def _reasons(convention: Convention, lists: ScoredLists, standard: Evaluation, threads: int | None) -> Iterator[str]:
    """Each rule that matters in words, and what it alone does to the first metric that depends on it."""
    idle = []
    for rule in convention.changes_from(CONVENTIONS[DEFAULT]):
        concerned = [name for name, result in standard.results.items() if rule in result.measure.metric.depends_on]
        if not concerned:
            continue
        metric, phrase = concerned[0], phrase_of(rule, convention)
        alone = replace(CONVENTIONS[DEFAULT], **{rule: getattr(convention, rule)})
        try:
            effect = evaluate_lists(lists, [metric], alone, threads=threads)[metric].mean - standard[metric].mean
        except InputError:  # the evaluation of the convention itself says what is wrong
            yield phrase
        else:
            if abs(effect) < SMALLEST_EFFECT:
                idle.append(phrase)
            else:
                yield f"{phrase} ({metric} {effect:+.4f})"
    if idle:
        yield f"without effect here: {', '.join(idle)}"


_EMPTY = {Empty.ZERO: "counts 0", Empty.ONE: "counts 1", Empty.SKIP: "is left out"}
_WORDS: Mapping[object, str] = {
    EXPONENTIAL: "gain 2^l - 1",
    LINEAR: "linear gain",
    LOG2: "discount 1/log2(p + 1)",
    LETOR: "ranks 1 and 2 undiscounted, then 1/log2(p)",
    RECIPROCAL: "discount 1/p",
    Short.TRUNCATE: "a list shorter than k counts as it is",
    Short.ZERO: "NDCG@k of a list shorter than k is 0",
    PrecisionOver.CUTOFF: "P@k divides by k",
    PrecisionOver.LIST: "P@k divides by the list's length where that is less than k",
    MapOver.REACHABLE: "MAP@k divides by the relevant documents, at most k",
    MapOver.RELEVANT: "MAP@k divides by all relevant documents",
    Ties.INPUT: "ties in input order",
    Ties.DOCUMENT_ID: "ties by descending document id",
    Ties.PESSIMISTIC: "the lower label first on ties",
    Ties.OPTIMISTIC: "the higher label first on ties",
    Ties.AVERAGED: "ties averaged",
    ScorePrecision.DOUBLE: "scores compared in double precision",
    ScorePrecision.SINGLE: "scores compared in single precision",
    Unjudged.ZERO: "unjudged documents have label 0",
    Unjudged.SKIP: "unjudged documents left out",
    Stop.GRADED: "ERR takes graded labels",
    Stop.LABEL: "ERR takes labels as probabilities",
}


# The rules that need more words than their value.
_PHRASES: Mapping[str, Callable[[Convention], str]] = {
    "empty": lambda convention: f"a query with nothing relevant {_EMPTY[convention.empty]}",
    "empty_map": lambda convention: f"for MAP a query with nothing relevant {_EMPTY[convention.empty_of_map]}",
    "relevant": lambda convention: f"relevant means label {convention.relevant}",
    "max_grade": lambda convention: f"the highest grade is {convention.max_grade:g}",
}


def phrase_of(rule: str, convention: Convention) -> str:
    """A rule of the convention in words."""
    if rule in _PHRASES:
        return _PHRASES[rule](convention)
    value = getattr(convention, rule)
    return _WORDS.get(value, f"{rule} {value.name}")
