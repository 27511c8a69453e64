"""Rankers among scikit-learn's tools: pipelines, searches, cross-validation, frames and sparse matrices."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.contracts.trained import quick

import rankwright as rw
from rankwright.catalog.rankers import RANKERS, ranker_named
from rankwright.data.dataset import RankingDataset
from rankwright.rankers.inputs import OneQueryWarning
from rankwright.rankers.ranker import Ranker

EACH = pytest.mark.parametrize("name", RANKERS)
Rows = tuple[Any, Any, Any]


@pytest.fixture
def rows(small_data: RankingDataset) -> Rows:
    """Features, labels and query ids of documents in no order."""
    order = np.random.default_rng(2).permutation(small_data.n_docs)
    assert small_data.labels is not None
    return small_data.features[order], small_data.labels[order], small_data.qid[order]


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def by_hand(ranker: Ranker, rows: Rows, splitter: rw.QueryKFold) -> list[float]:
    X, y, qid = rows
    return [
        clone(ranker).fit(X[train], y[train], qid=qid[train]).score(X[test], y[test], qid=qid[test])
        for train, test in splitter.split(X, qid=qid)
    ]


def scaled_by_hand(rows: Rows) -> Any:
    X, _, _ = rows
    return StandardScaler().fit_transform(X)


def plain_pipeline(ranker: Ranker) -> Pipeline:
    return Pipeline([("scale", StandardScaler()), ("ranker", ranker)])


@EACH
def test_a_pipeline_hands_query_ids_on_by_the_steps_name(name, rows):
    X, y, qid = rows
    pipeline = plain_pipeline(quick(name)).fit(X, y, ranker__qid=qid)
    expected = quick(name).fit(scaled_by_hand(rows), y, qid=qid).predict(scaled_by_hand(rows), qid=qid)
    assert np.array_equal(pipeline.predict(X, qid=qid), expected)


@EACH
def test_make_pipeline_names_the_step_after_the_ranker(name, rows):
    X, y, qid = rows
    step = ranker_named(name).__name__.lower()
    pipeline = make_pipeline(StandardScaler(), quick(name)).fit(X, y, **{f"{step}__qid": qid})
    assert pipeline.predict(X, qid=qid).shape == (len(X),)


@EACH
@pytest.mark.usefixtures("routing")
def test_a_pipeline_routes_query_ids_unasked(name, rows):
    X, y, qid = rows
    pipeline = plain_pipeline(quick(name)).fit(X, y, qid=qid)
    alone = quick(name).fit(scaled_by_hand(rows), y, qid=qid)
    assert np.array_equal(pipeline.predict(X, qid=qid), alone.predict(scaled_by_hand(rows), qid=qid))
    assert pipeline.score(X, y, qid=qid) == alone.score(scaled_by_hand(rows), y, qid=qid)


@EACH
@pytest.mark.usefixtures("routing")
def test_cross_validation_routes_query_ids_to_all_who_want_them(name, rows):
    X, y, qid = rows
    splitter = rw.QueryKFold(3, seed=1)
    expected = by_hand(quick(name), rows, splitter)
    result = cross_validate(quick(name), X, y, params={"qid": qid}, cv=splitter)
    assert result["test_score"].tolist() == expected
    assert cross_val_score(quick(name), X, y, params={"qid": qid}, cv=splitter).tolist() == expected


@EACH
@pytest.mark.usefixtures("routing")
def test_requests_may_be_said_aloud(name, rows):
    X, y, qid = rows
    ranker = quick(name).set_fit_request(qid=True).set_score_request(qid=True)
    result = cross_val_score(ranker, X, y, params={"qid": qid, "groups": qid}, cv=_by_groups(3))
    assert result.tolist() == by_hand(quick(name), rows, rw.QueryKFold(3))
    renamed = quick(name).set_fit_request(qid="query").set_score_request(qid="query")
    by_name = rw.QueryKFold(3).set_split_request(qid="query")
    assert cross_val_score(renamed, X, y, params={"query": qid}, cv=by_name).tolist() == result.tolist()


def _by_groups(n_splits: int) -> rw.QueryKFold:
    return rw.QueryKFold(n_splits).set_split_request(qid=False)


@EACH
@pytest.mark.usefixtures("routing")
def test_a_search_finds_the_setting_that_cross_validation_finds(name, rows):
    X, y, qid = rows
    splitter = rw.QueryKFold(3)
    # A bag scales nothing: its members do; nor does a blend, which combines their scores.
    others = {"bagging": ("ranker__scaling", "query-minmax"), "blend": ("combine", "rrf")}
    setting, value = others.get(name, ("scaling", "query-minmax"))
    grid: dict[str, list[Any]] = {setting: [None, value], "seed": [0]}
    search = GridSearchCV(quick(name), grid, cv=splitter).fit(X, y, qid=qid)
    means = [np.mean(by_hand(quick(name).set_params(**{setting: given}), rows, splitter)) for given in grid[setting]]
    assert search.cv_results_["mean_test_score"] == pytest.approx(means, abs=1e-12)
    assert search.best_score_ == pytest.approx(max(means), abs=1e-12)
    assert search.score(X, y, qid=qid) == search.best_estimator_.score(X, y, qid=qid)


@EACH
@pytest.mark.usefixtures("routing")
def test_a_search_over_a_pipeline(name, rows):
    X, y, qid = rows
    search = GridSearchCV(plain_pipeline(quick(name)), {"ranker__seed": [0, 1]}, cv=rw.QueryKFold(2))
    search.fit(X, y, qid=qid)
    assert search.score(X, y, qid=qid) == search.best_estimator_.score(X, y, qid=qid)


@pytest.mark.usefixtures("routing")
def test_query_ids_may_be_an_array_of_pandas(rows):
    pandas = pytest.importorskip("pandas")
    X, y, qid = rows
    ids = pandas.Series([f"query {one}" for one in qid], dtype="str").array
    assert not isinstance(ids, np.ndarray)
    splitter, ranker = rw.QueryKFold(3), quick("lambdamart")
    expected = by_hand(ranker, (X, y, np.array(ids, dtype=str)), splitter)
    assert cross_validate(ranker, X, y, params={"qid": ids}, cv=splitter)["test_score"].tolist() == expected
    search = GridSearchCV(ranker, {"seed": [0]}, cv=splitter).fit(X, y, qid=ids)
    assert search.best_score_ == pytest.approx(np.mean(expected), abs=1e-12)
    assert search.score(X, y, qid=ids) == search.best_estimator_.score(X, y, qid=np.array(ids, dtype=str))


@pytest.mark.usefixtures("routing")
def test_weights_and_initial_scores_are_routed_where_asked(rows):
    X, y, qid = rows
    start, weight = np.linspace(0, 1, len(y)), np.linspace(1, 2, len(y))
    ranker = quick("lambdamart").set_fit_request(initial_scores=True, sample_weight=True)
    ranker.set_score_request(sample_weight=False)
    params = {"qid": qid, "initial_scores": start, "sample_weight": weight}
    result = cross_validate(ranker, X, y, params=params, cv=rw.QueryKFold(2), return_estimator=True)
    train, _ = next(rw.QueryKFold(2).split(X, qid=qid))
    first = quick("lambdamart").fit(
        X[train], y[train], qid=qid[train], initial_scores=start[train], sample_weight=weight[train]
    )
    assert result["estimator"][0].forest_.equals(first.forest_)


def test_without_routing_scores_would_mix_queries_and_warn(rows):
    X, y, qid = rows
    with pytest.warns(OneQueryWarning, match="taken as the documents of one query"):
        cross_val_score(quick("lambdamart"), X, y, groups=qid, params={"qid": qid}, cv=rw.QueryKFold(2))


@EACH
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_bring_their_names(name, library, rows):
    X, y, qid = rows
    frames = pytest.importorskip(library)
    columns = [f"feature {number}" for number in range(X.shape[1])]
    frame = frames.DataFrame({column: X[:, number] for number, column in enumerate(columns)})
    ranker = quick(name).fit(frame, frames.Series(y), qid=frames.Series(qid))
    assert ranker.feature_names_in_.tolist() == columns
    assert np.array_equal(
        ranker.predict(frame, qid=frames.Series(qid)), quick(name).fit(X, y, qid=qid).predict(X, qid=qid)
    )
    assert ranker.score(frame, frames.Series(y), qid=frames.Series(qid)) == ranker.score(frame, y, qid=qid)
    answer = ranker.predict(frame[columns[::-1]], qid=qid)  # columns are found by name
    assert np.array_equal(answer, ranker.predict(frame, qid=qid))
    assert type(answer) is frames.Series
    with pytest.raises(ValueError, match="the data lacks 'feature 0', which the ranker was trained on"):
        ranker.predict(frame[columns[1:]], qid=qid)


@EACH
def test_the_model_file_keeps_the_names(name, rows, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, y, qid = rows
    frame = pandas.DataFrame(X, columns=list("abcde"))
    quick(name).fit(frame, y, qid=qid).save(tmp_path / "model.rw")
    assert rw.load(tmp_path / "model.rw").feature_names_in_.tolist() == list("abcde")


@EACH
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csc_array, sparse.coo_array])
def test_sparse_matrices_are_dense_ones_with_zeros(name, kind, rows):
    X, y, qid = rows
    thin = np.where(np.abs(X) > 0.5, X, 0)
    ranker = quick(name).fit(kind(thin), y, qid=qid)
    expected = quick(name).fit(thin, y, qid=qid).predict(thin, qid=qid)
    assert np.array_equal(ranker.predict(kind(thin), qid=qid), expected)


@EACH
def test_score_weighs_a_query_by_its_documents(name, rows):
    X, y, qid = rows
    ranker = quick(name).fit(X, y, qid=qid)
    chosen = np.isin(qid, np.unique(qid)[::2])
    assert ranker.score(X, y, qid=qid, sample_weight=1.0 * chosen) == pytest.approx(
        ranker.score(X[chosen], y[chosen], qid=qid[chosen]), abs=1e-12
    )
    data = RankingDataset.from_arrays(X, y, qid=qid)
    with pytest.raises(ValueError, match="a RankingDataset or a file brings its own sample_weight"):
        ranker.score(data, sample_weight=np.ones(len(y)))


@EACH
def test_score_forgets_nothing_the_ranker_learned(name, rows):
    """It looks at data, and learns no number or name of features from it."""
    X, y, qid = rows
    ranker = quick(name).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="features"):
        ranker.score(X[:, :2], y, qid=qid)
    assert ranker.n_features_in_ == X.shape[1]
