"""Evaluations of what a system retrieved (a TREC run) against judgments (TREC qrels), as trec_eval makes them.

A run ranks only the documents it retrieved. Judged documents that it lacks have no rank, but count towards what could
be found. Retrieved documents without a judgment are unjudged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from rankwright.arrays import Float32Array, IdArray, IntArray, distinct_ids
from rankwright.data.groups import Groups
from rankwright.errors import InputError, require_type
from rankwright.formats.trec import Qrels, Run
from rankwright.metrics.comparison.system_comparison import (
    ALPHA,
    SystemComparison,
    compare_evaluations,
    names_of_fusions,
)
from rankwright.metrics.convention import Convention
from rankwright.metrics.evaluation import (
    DEFAULT_METRICS,
    RESAMPLES,
    ComparedSystems,
    Evaluation,
    ScoredLists,
    evaluate_lists,
)
from rankwright.metrics.judgment_metrics import Subtopics
from rankwright.metrics.metric import Metric
from rankwright.metrics.metric_table import Measure
from rankwright.progress.stages import announce
from rankwright.ranking.fusion import fuse as fuse_runs


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
    """Evaluate a TREC run against TREC judgments.

    Parameters
    ----------
    run : Run
        What was retrieved for each query, with scores; `read_run` reads a file.
    qrels : Qrels
        The judgments; `read_qrels` reads a file. Judged documents that the run lacks count towards what could be
        found, retrieved documents without a judgment are unjudged. Labels below 0 count as unjudged.
    metrics : sequence of str, Metric or Measure, default ("ndcg@10", "ndcg@5", "map", "mrr")
        What to count; a name may carry a convention of its own.
    convention : str or Convention, default "trec"
        The rules for metrics that name no convention.
    complete : bool, default False
        Whether queries that are judged but absent from the run count, with nothing retrieved: trec_eval's `-c`. By
        default only queries that both have count.
    threads : int, optional
        How many threads to use; `OMP_NUM_THREADS` or every core by default. It never changes the result.
    seed : int, default 0
        The seed of the bootstrap intervals.
    resamples : int, default 1000
        How many times the bootstrap draws the queries anew, 1 or more.

    Returns
    -------
    Evaluation
        The mean, the 95 % interval and the values by query of each metric.

    Examples
    --------
    >>> import rankwright as rw
    >>> run = rw.Run(["q1", "q1"], ["d1", "d2"], [2.0, 1.0])
    >>> qrels = rw.Qrels(["q1", "q1"], ["d2", "d3"], [1, 1])
    >>> rw.evaluate_run(run, qrels, ["mrr", "recall@5"])["recall@5"].mean  # d3 was not retrieved
    0.5
    """
    require_type(run, Run, "run", "a Run, as read_run gives it")
    require_type(qrels, Qrels, "qrels", "Qrels, as read_qrels gives them")
    announce("measuring")
    lists = joined_lists(run, qrels, complete)
    return evaluate_lists(lists, metrics, convention, threads=threads, seed=seed, resamples=resamples)


def compare_runs(
    runs: Mapping[str, Run],
    qrels: Qrels,
    metrics: Sequence[str] = DEFAULT_METRICS,
    convention: str | Convention = "trec",
    *,
    alpha: float = ALPHA,
    threads: int | None = None,
    seed: int = 0,
    fuse: str | Sequence[str] = (),
) -> SystemComparison:
    """Compare TREC runs against the same judgments, over every query that is judged.

    Parameters
    ----------
    runs : mapping of str to Run
        The runs by name, two or more. A query that a run lacks counts as one for which it found nothing.
    qrels : Qrels
        The judgments.
    metrics : sequence of str, default ("ndcg@10", "ndcg@5", "map", "mrr")
        What to count. Runs are tested against the best by each metric; the first one orders the table.
    convention : str or Convention, default "trec"
        The rules for metrics that name no convention.
    alpha : float, default 0.05
        The level below which a corrected p-value is marked.
    threads : int, optional
        How many threads to use.
    seed : int, default 0
        The seed of the intervals and of the randomisation test.
    fuse : str or sequence of str, default ()
        Methods of fusion, such as `"rrf"`: for each, all runs fused are one more system, called by the method's name.

    Returns
    -------
    SystemComparison
        Means with intervals, the best run by each metric, and tests of the others against it.

    Examples
    --------
    >>> import rankwright as rw
    >>> qrels = rw.Qrels(["q1", "q1", "q2"], ["a", "b", "c"], [1, 0, 1])
    >>> good, poor = (rw.Run(["q1", "q1", "q2"], ["a", "b", "c"], scores) for scores in ([2, 1, 1], [1, 2, 1]))
    >>> rw.compare_runs({"good": good, "poor": poor}, qrels, ["mrr"]).best
    {'mrr': 'good'}
    """
    require_type(runs, Mapping, "runs", "a mapping of names to runs")
    require_type(qrels, Qrels, "qrels", "Qrels, as read_qrels gives them")
    announce("measuring")
    evaluations, lists = {}, {}
    n_judged = np.bincount(distinct_ids(qrels.query_ids)[1])
    fused = {method: fuse_runs(runs, method) for method in names_of_fusions(fuse, runs)}
    for name, run in (dict(runs) | fused).items():
        require_type(run, Run, f"run {name}", "a Run, as read_run gives it")
        try:
            lists[name] = joined_lists(run, qrels, complete=True)
            found = evaluate_lists(lists[name], metrics, convention, threads=threads, seed=seed)
        except InputError as error:
            raise InputError(f"{name}: {error}") from None
        # What was judged is the same for all; what each retrieved is not.
        evaluations[name] = replace(found, groups=Groups.of_sizes(n_judged))
    return replace(compare_evaluations(evaluations, alpha=alpha), material=ComparedSystems(lists))


def lists_of_run(run: Run) -> ScoredLists:
    """What a run retrieved, as lists of documents that nobody judged."""
    unjudged = Qrels(run.query_ids, run.document_ids, np.full(len(run), np.nan, np.float32))
    return joined_lists(run, unjudged, complete=False)


def joined_lists(run: Run, qrels: Qrels, complete: bool) -> ScoredLists:
    """The queries in alphabetical order, each with its retrieved rows and then those judged but not retrieved."""
    if qrels.subtopics is not None:
        return _with_subtopics(run, qrels, complete)
    labels = np.where(qrels.labels < 0, np.float32(np.nan), qrels.labels)  # trec_eval takes these for unjudged
    queries, run_query, judged_query = _numbered(run.query_ids, qrels.query_ids)
    documents, run_document, judged_document = _numbered(run.document_ids, qrels.document_ids)
    run_pair = run_query * len(documents) + run_document  # a number for each query and document
    judged_pair = judged_query * len(documents) + judged_document
    by_pair = np.argsort(judged_pair, kind="stable")
    _refuse_repeats(np.sort(run_pair), "the run retrieves", queries, documents)
    _refuse_repeats(judged_pair[by_pair], "the qrels judge", queries, documents)

    counts = np.bincount(judged_query, minlength=len(queries)) > 0
    if not complete:
        counts &= np.bincount(run_query, minlength=len(queries)) > 0
    retrieved = counts[run_query]
    missing = counts[judged_query] & ~np.isin(judged_pair, run_pair)
    label_of_run = _labels_of(run_pair, judged_pair[by_pair], labels[by_pair])

    query_of_row = np.concatenate([run_query[retrieved], judged_query[missing]])
    order = np.argsort(query_of_row, kind="stable")
    return ScoredLists(
        scores=np.concatenate([run.scores[retrieved], np.zeros(int(missing.sum()))])[order],
        labels=np.concatenate([label_of_run[retrieved], labels[missing]])[order],
        groups=Groups.of_sizes(np.bincount(query_of_row, minlength=len(queries))[counts]),
        n_ranked=np.bincount(run_query[retrieved], minlength=len(queries))[counts],
        document_ids=np.concatenate([run.document_ids[retrieved], qrels.document_ids[missing]])[order],
        query_ids=queries[counts],
    )


def _with_subtopics(run: Run, qrels: Qrels, complete: bool) -> ScoredLists:
    """The same where documents are judged for subtopics: a document's label is the highest that it has for one."""
    assert qrels.subtopics is not None
    pairs = list(zip(qrels.query_ids.tolist(), qrels.document_ids.tolist(), strict=True))
    highest: dict[tuple[str, str], float] = {}
    for pair, label in zip(pairs, qrels.labels.tolist(), strict=True):
        highest[pair] = max(label, highest.get(pair, label))
    queries, documents = zip(*highest, strict=True)
    lists = joined_lists(run, Qrels(queries, documents, list(highest.values())), complete)
    assert lists.query_ids is not None
    assert lists.document_ids is not None
    of_row = np.repeat(lists.query_ids, lists.groups.sizes).tolist()
    row_of = {pair: row for row, pair in enumerate(zip(of_row, lists.document_ids.tolist(), strict=True))}
    found = [
        (row_of[pair], subtopic)
        for pair, subtopic, label in zip(pairs, qrels.subtopics.tolist(), qrels.labels.tolist(), strict=True)
        if label > 0 and pair in row_of
    ]
    rows = np.array([row for row, _ in found], np.int64)
    _, numbers = np.unique(np.array([subtopic for _, subtopic in found], dtype=str), return_inverse=True)
    return replace(lists, subtopics=Subtopics(rows, numbers.astype(np.int64)))


def _numbered(first: IdArray, second: IdArray) -> tuple[IdArray, IntArray, IntArray]:
    """The distinct ids of both arrays in alphabetical order, and the place there of each id of either."""
    distinct, place = distinct_ids(np.concatenate([first, second]))
    return distinct, place[: len(first)].astype(np.int64), place[len(first) :].astype(np.int64)


def _refuse_repeats(sorted_pairs: IntArray, who: str, queries: IdArray, documents: IdArray) -> None:
    again = np.flatnonzero(sorted_pairs[1:] == sorted_pairs[:-1])
    if len(again):
        query, document = divmod(int(sorted_pairs[again[0]]), len(documents))
        raise InputError(f"{who} document {documents[document]!r} of query {queries[query]!r} twice")


def _labels_of(pairs: IntArray, judged_pairs: IntArray, labels: Float32Array) -> Float32Array:
    """The label of each pair among the judged ones, which are sorted; NaN where it is not judged."""
    found = np.full(len(pairs), np.nan, np.float32)
    if len(judged_pairs):
        place = np.minimum(np.searchsorted(judged_pairs, pairs), len(judged_pairs) - 1)
        is_judged = judged_pairs[place] == pairs
        found[is_judged] = labels[place[is_judged]]
    return found
