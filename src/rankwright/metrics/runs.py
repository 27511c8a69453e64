"""Evaluate what a system retrieved (a TREC run) against judgments (TREC qrels), as trec_eval does.

A run ranks only the documents it retrieved. Judged documents that it lacks have no rank, but count towards what could
be found; retrieved documents without a judgment are unjudged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IdArray, IntArray, as_ids, as_scores, as_vector
from rankwright.data.groups import Groups
from rankwright.errors import InputError
from rankwright.metrics.convention import Convention
from rankwright.metrics.evaluation import DEFAULT_METRICS, RESAMPLES, Evaluation, ScoredLists, evaluate_lists
from rankwright.metrics.metric import Metric
from rankwright.metrics.registry import Measure


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Qrels:
    """Judgments: a query, a document and a label each. A negative label means unjudged, as in trec_eval."""

    queries: IdArray
    documents: IdArray
    labels: Float32Array

    def __init__(self, queries: ArrayLike, documents: ArrayLike, labels: ArrayLike) -> None:
        label_of_row = as_vector(labels, name="labels", dtype=np.float32)
        object.__setattr__(self, "queries", _text_ids(queries, "queries", len(label_of_row)))
        object.__setattr__(self, "documents", _text_ids(documents, "documents", len(label_of_row)))
        object.__setattr__(self, "labels", np.where(label_of_row < 0, np.float32(np.nan), label_of_row))


@dataclass(frozen=True, slots=True, eq=False, init=False)
class Run:
    """Retrieved documents: a query, a document and a score each. Order and ranks come from the scores alone."""

    queries: IdArray
    documents: IdArray
    scores: Float64Array

    def __init__(self, queries: ArrayLike, documents: ArrayLike, scores: ArrayLike) -> None:
        score_of_row = as_scores(scores)
        object.__setattr__(self, "queries", _text_ids(queries, "queries", len(score_of_row)))
        object.__setattr__(self, "documents", _text_ids(documents, "documents", len(score_of_row)))
        object.__setattr__(self, "scores", score_of_row)


def _text_ids(ids: ArrayLike, name: str, length: int) -> IdArray:
    """Ids as text, which is what both files hold: 7 and "7" are the same."""
    return as_ids(ids, name=name, length=length).astype(np.dtypes.StringDType())


def evaluate_run(
    run: Run,
    qrels: Qrels,
    metrics: Sequence[str | Metric | Measure] = DEFAULT_METRICS,
    convention: str | Convention = "trec",
    *,
    complete: bool = False,
    threads: int | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Evaluation:
    """The evaluation of `run` over the queries that both it and `qrels` have.

    With `complete` the queries of `qrels` that the run lacks count too, with nothing retrieved: trec_eval's -c.
    """
    lists = _joined(run, qrels, complete)
    return evaluate_lists(lists, metrics, convention, threads=threads, seed=seed, resamples=resamples)


def _joined(run: Run, qrels: Qrels, complete: bool) -> ScoredLists:
    """The rows of each query: those retrieved, then those judged but not retrieved. Queries in alphabetical order."""
    queries, query = _numbered(qrels.queries, run.queries)
    documents, document = _numbered(qrels.documents, run.documents)
    n_judged = len(qrels.queries)
    pair = query * len(documents) + document  # a number for each query and document
    judged_pair, run_pair = pair[:n_judged], pair[n_judged:]
    by_pair = np.argsort(judged_pair, kind="stable")
    _refuse_repeats(judged_pair[by_pair], "the qrels judge", queries, documents)
    _refuse_repeats(np.sort(run_pair), "the run retrieves", queries, documents)

    counted = _counted_queries(query, n_judged, len(queries), complete)
    label_of_run = _labels_of(run_pair, judged_pair[by_pair], qrels.labels[by_pair])
    retrieved = counted[query[n_judged:]]
    unretrieved = counted[query[:n_judged]] & ~np.isin(judged_pair, run_pair)

    query_of_row = np.concatenate([query[n_judged:][retrieved], query[:n_judged][unretrieved]])
    order = np.argsort(query_of_row, kind="stable")
    n_rows = np.bincount(query_of_row, minlength=len(queries))[counted]
    n_ranked = np.bincount(query[n_judged:][retrieved], minlength=len(queries))[counted]
    n_missing = int(unretrieved.sum())
    return ScoredLists(
        scores=np.concatenate([run.scores[retrieved], np.zeros(n_missing)])[order],
        labels=np.concatenate([label_of_run[retrieved], qrels.labels[unretrieved]])[order],
        groups=Groups.of_sizes(n_rows),
        n_ranked=n_ranked,
        document_ids=np.concatenate([run.documents[retrieved], qrels.documents[unretrieved]])[order],
        query_ids=queries[counted],
    )


def _numbered(first: IdArray, second: IdArray) -> tuple[IdArray, IntArray]:
    """The distinct ids of both arrays in alphabetical order, and the place there of each id, first and second."""
    distinct, place = np.unique(np.concatenate([first, second]), return_inverse=True)
    return distinct, place.astype(np.int64)


def _refuse_repeats(sorted_pairs: IntArray, who: str, queries: IdArray, documents: IdArray) -> None:
    again = np.flatnonzero(sorted_pairs[1:] == sorted_pairs[:-1])
    if len(again):
        query, document = divmod(int(sorted_pairs[again[0]]), len(documents))
        raise InputError(f"{who} document {documents[document]!r} of query {queries[query]!r} twice")


def _counted_queries(query: IntArray, n_judged: int, n_queries: int, complete: bool) -> BoolArray:
    is_judged = np.bincount(query[:n_judged], minlength=n_queries) > 0
    return is_judged if complete else is_judged & (np.bincount(query[n_judged:], minlength=n_queries) > 0)


def _labels_of(pairs: IntArray, judged_pairs: IntArray, labels: Float32Array) -> Float32Array:
    """The label of each pair among the judged ones, which are sorted; NaN where it is not judged."""
    found = np.full(len(pairs), np.nan, np.float32)
    if len(judged_pairs):
        place = np.minimum(np.searchsorted(judged_pairs, pairs), len(judged_pairs) - 1)
        is_judged = judged_pairs[place] == pairs
        found[is_judged] = labels[place[is_judged]]
    return found
