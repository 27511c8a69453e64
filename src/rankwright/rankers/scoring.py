"""What a trained ranker makes of documents: scores, an order, the best of each query, and a measure of it."""

from __future__ import annotations

from typing import Any

from rankwright.arrays import Float64Array, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.data.frames import frame_of, is_frame, like_frame, plain_values
from rankwright.errors import InputError, require
from rankwright.formats.data_file import as_data_file
from rankwright.metrics.evaluation import evaluate
from rankwright.metrics.metric_table import as_measure
from rankwright.rankers.inputs import (
    aligned,
    check_trained,
    judged_data,
    scoring_data,
)
from rankwright.rankers.seen import warn_if_seen
from rankwright.rankers.state import RankerState
from rankwright.rankers.top import RANKED, ranked_columns
from rankwright.ranking.order import Ranking, rank


class ScoringRanker(RankerState):
    """A ranker that scores and ranks documents."""

    def predict(self, X: Any, qid: Any = None) -> Any:
        """Score documents.

        Parameters
        ----------
        X : RankingDataset, path, array, frame or sparse matrix
            The documents, with the features of the training data. Where both have names, features are found by name:
            their order does not matter, and other columns are left out.
        qid : array of whole numbers or strings, or str, optional
            The query id of each row, or the frame's column that has them. Rankers that look at a query's documents
            together, as SortNet and per-query scalings do, need it; others give the same scores without.

        Returns
        -------
        array of float64, or Series
            A score for each document, higher is better, in the caller's row order. A pandas or polars frame gets a
            Series, with the index of the frame.
        """
        data = self._documents(X, qid)
        scores = data.in_source_order(self._scores(self.seen_by_model(data)))
        return like_frame(X, scores, "score") if is_frame(X) else scores

    def predict_from_start(self, data: RankingDataset) -> Float64Array:
        """Score documents on top of their initial scores.

        Parameters
        ----------
        data : RankingDataset
            The documents, with or without initial scores.

        Returns
        -------
        array of float64
            The scores of `predict` plus the initial scores, if there are any: those that training looked at.
        """
        scores: Float64Array = self.predict(data)
        return scores if data.initial_scores is None else scores + data.in_source_order(data.initial_scores)

    def rank(self, X: Any, qid: Any = None) -> Ranking:
        """Rank the documents of each query.

        Parameters
        ----------
        X, qid
            As for `predict`.

        Returns
        -------
        Ranking
            The rows of each query, best first.
        """
        data = self._documents(X, qid, asks_for_lists=True)
        return rank(self._scores(self.seen_by_model(data)), data.groups)

    def top(self, X: Any, k: int = 10, qid: Any = None) -> Any:
        """List the best documents of each query.

        Parameters
        ----------
        X, qid
            As for `predict`.
        k : int, default 10
            How many documents of each query to list, 1 or more.

        Returns
        -------
        pandas.DataFrame, or polars.DataFrame where pandas is not installed
            The best documents first: `query`, `document` (its id, or its row from 0), `rank` from 1, and `score`.
        """
        require(k >= 1, f"k must be 1 or more, got {k}")
        data = self._documents(X, qid, asks_for_lists=True)
        found = ranked_columns(data, self._scores(self.seen_by_model(data)), k)
        return frame_of({name: plain_values(found[name]) for name in RANKED})

    def score(self, X: Any, y: Any = None, *, qid: Any = None, sample_weight: Any = None) -> float:
        """Measure the ranker by the metric that `select` names: what scikit-learn's search classes maximise.

        Parameters
        ----------
        X, y, qid
            Documents and labels, as for `fit`. Initial scores of a dataset count, as they do in training.
        sample_weight : array of numbers, optional
            A query counts as much as its documents do on average.

        Returns
        -------
        float
            The mean of the metric over the queries; negated where less is better.
        """
        check_trained(self)
        data = judged_data(self, X, y, qid, sample_weight)
        self.warn_if_seen(data)
        measure = as_measure(self.selected_metric)
        evaluation = evaluate(self.predict_from_start(data), data, [measure], measure.convention, threads=self.threads)
        mean = evaluation[measure.metric.name].mean
        return mean if measure.higher_is_better else -mean

    def warn_if_seen(self, data: RankingDataset, *, stacklevel: int = 2) -> None:
        """Warn where the ranker is about to be measured on queries that it was trained on.

        Parameters
        ----------
        data : RankingDataset
            The documents to measure it on.
        stacklevel : int, default 2
            Which call the warning points at: 1 is that of this method, 2 that of the function it is called in.
        """
        if self.seen_queries_ is None:
            return
        data = aligned(self, data)
        warn_if_seen(self.seen_queries_, data, self.name, threads=self.threads, stacklevel=stacklevel + 2)

    def scores_in_place(self, data: RankingDataset) -> Float64Array:
        """Score the rows of a dataset in its own order, query after query.

        Parameters
        ----------
        data : RankingDataset
            Documents with the features of the training data.

        Returns
        -------
        array of float64
            A score for each row of `data.features`.
        """
        return self._scores(self.seen_by_model(data))

    def _documents(self, X: Any, qid: Any = None, *, asks_for_lists: bool = False) -> RankingDataset:
        """The documents to score, as they were given; lists are asked for where each query's order is the answer."""
        check_trained(self)
        if qid is None and self.looks_at_queries and not _brings_queries(X):
            scales_lists = self.scaling_ is not None and not self.needs_qid
            why = f"scaling {self.scaling_name!r}" if scales_lists else self.name
            raise InputError(f"{why} looks at the documents of a query together: give qid, the query id of each row")
        return scoring_data(self, X, qid, asks_for_lists=asks_for_lists)

    def _scores(self, data: RankingDataset) -> Float64Array:
        return self.model_.scores(data, threads=thread_count(self.threads))


def _brings_queries(X: Any) -> bool:
    return isinstance(X, RankingDataset) or is_frame(X) or as_data_file(X) is not None
