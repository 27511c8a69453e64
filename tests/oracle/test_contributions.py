"""Contributions of LightGBM, XGBoost and CatBoost, of the same models under the same cover."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import InputError

pytestmark = pytest.mark.oracle

N_DOCS, N_FEATURES = 600, 8


@pytest.fixture(scope="module")
def documents() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(N_DOCS, N_FEATURES)).astype(np.float32)
    features[:, 3] = rng.integers(0, 6, N_DOCS)
    features[:, 4] = 1.5  # constant
    labels = features[:, 0] * features[:, 1] + np.sin(features[:, 2]) + (features[:, 3] % 2)
    features[rng.random(N_DOCS) < 0.1, 5] = np.nan
    return features, labels


def test_lightgbm_by_documents(documents, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    features, labels = documents
    settings = {"objective": "regression", "num_leaves": 15, "num_threads": 1, "verbosity": -1, "min_data_in_leaf": 3}
    data = lightgbm.Dataset(features, labels, categorical_feature=[3], params=settings)
    booster = lightgbm.train(settings, data, 25)
    booster.save_model(tmp_path / "model.txt")
    theirs = booster.predict(features, pred_contrib=True, num_threads=1)
    mine = rw.load(tmp_path / "model.txt").explain(features, qid=np.zeros(N_DOCS, int), cover="documents")
    assert np.abs(mine.contributions - theirs[:, :-1]).max() <= 1e-5
    assert mine.base == pytest.approx(theirs[0, -1], abs=1e-5)


def test_lightgbm_tells_curvature_too(documents, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    features, labels = documents
    grades = np.clip(np.round(labels), 0, 4)
    settings = {"objective": "lambdarank", "num_leaves": 8, "num_threads": 1, "verbosity": -1}
    booster = lightgbm.train(settings, lightgbm.Dataset(features, grades, group=[100] * 6), 5)
    booster.save_model(tmp_path / "model.txt")
    ranker, qid = rw.load(tmp_path / "model.txt"), np.zeros(N_DOCS, int)
    by_cover = [ranker.explain(features, qid=qid, cover=cover) for cover in ("documents", "curvature")]
    assert not np.allclose(by_cover[0].contributions, by_cover[1].contributions)


def xgboost_model(documents, **settings):
    xgboost = pytest.importorskip("xgboost")
    features, labels = documents
    matrix = xgboost.DMatrix(features, labels)
    params = {"max_depth": 6, "nthread": 1, "min_child_weight": 0.5, "objective": "reg:squarederror"}
    return xgboost.train(params | settings, matrix, 20), matrix


@pytest.mark.parametrize("extension", ["json", "ubj"])
def test_xgboost_by_curvature(documents, tmp_path, extension):
    booster, matrix = xgboost_model(documents, objective="reg:pseudohubererror")
    booster.save_model(tmp_path / f"model.{extension}")
    theirs = booster.predict(matrix, pred_contribs=True)
    mine = rw.load(tmp_path / f"model.{extension}").explain(documents[0], qid=np.zeros(N_DOCS, int), cover="curvature")
    assert np.abs(mine.contributions - theirs[:, :-1]).max() <= 1e-5
    assert mine.base == pytest.approx(theirs[0, -1], abs=1e-5)


def test_xgboost_interactions(documents, tmp_path):
    booster, matrix = xgboost_model(documents)
    booster.save_model(tmp_path / "model.json")
    theirs = booster.predict(matrix, pred_interactions=True)
    mine = rw.load(tmp_path / "model.json").explain(documents[0], qid=np.zeros(N_DOCS, int), interactions=True)
    assert mine.interactions is not None
    assert np.abs(mine.interactions - theirs[:, :-1, :-1]).max() <= 1e-4  # theirs are sums in single precision


def test_xgboost_does_not_tell_documents(documents, tmp_path):
    booster, _ = xgboost_model(documents)
    booster.save_model(tmp_path / "model.json")
    with pytest.raises(InputError, match="does not tell how many documents"):
        rw.load(tmp_path / "model.json").explain(documents[0], qid=np.zeros(N_DOCS, int), cover="documents")


def test_catboost_by_documents(documents, tmp_path):
    catboost = pytest.importorskip("catboost")
    features, labels = documents
    model = catboost.CatBoostRegressor(
        iterations=20, depth=5, thread_count=1, verbose=False, allow_writing_files=False, boost_from_average=False
    )
    pool = catboost.Pool(features, labels)
    model.fit(pool)
    model.save_model(str(tmp_path / "model.json"), format="json")
    theirs = model.get_feature_importance(pool, type="ShapValues", thread_count=1)
    mine = rw.load(tmp_path / "model.json").explain(features, qid=np.zeros(N_DOCS, int), cover="documents")
    assert np.abs(mine.contributions - theirs[:, :-1]).max() <= 1e-4  # its leaves are double precision, ours single
