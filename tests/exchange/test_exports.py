"""Rankers of ours in every format that takes them, and what is refused, why, and what to take instead."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import SettingError
from rankwright.exchange.exporting import VerificationError
from rankwright.exchange.subject import ForestSubject, NetSubject, NotExportableError, subject_of
from rankwright.exchange.target import ExportOptions
from rankwright.exchange.target_table import TARGETS
from rankwright.exchange.targets import search_plugins

LIBRARY_OF = {"onnx": "onnxruntime", "onnx-regressor": "onnxruntime", "lightgbm": "lightgbm",
              "xgboost-json": "xgboost", "xgboost-ubj": "xgboost"}  # fmt: skip


@pytest.fixture(scope="module")
def data() -> rw.RankingDataset:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(600, 6)).astype(np.float32) * 3
    features[:, 5] = rng.integers(0, 6, 600)
    features[rng.random(features.shape) < 0.1] = np.nan
    labels = np.clip(np.nan_to_num(features[:, 0]) + np.nan_to_num(features[:, 5]) % 3, 0, 4).round()
    return rw.RankingDataset.from_arrays(features, labels, qid=np.repeat(np.arange(30), 20))


@pytest.fixture(scope="module")
def forest(data) -> rw.LambdaMART:
    return rw.LambdaMART(n_trees=5, max_leaves=8, threads=1).fit(data)


def skip_unless_at_hand(name: str) -> None:
    if name in LIBRARY_OF:
        pytest.importorskip(LIBRARY_OF[name])
    if name == "c" and shutil.which("gcc") is None:
        pytest.skip("no compiler")


@pytest.mark.parametrize("name", [name for name, target in TARGETS.items() if "forest" in target.takes])
def test_forests_go_everywhere(name, forest, tmp_path):
    skip_unless_at_hand(name)
    missing = "never" if name == "ranklib" else "kept"
    report = forest.export(tmp_path / "model.out", to=name, verify=True, missing=missing)
    assert report.files[0] == str(tmp_path / "model.out")
    assert all(verdict.passed and verdict.wrong_leaves == 0 for verdict in report.verdicts)
    assert all((tmp_path / path).exists() for path in report.files)
    sample = (tmp_path / "model.sample.csv").read_text().splitlines()
    assert sample[0].startswith("expected_score,feature_1,feature_2")
    assert len(sample) > 20


@pytest.mark.parametrize("name", ["onnx", "c", "solr", "plugin-linear"])
@pytest.mark.parametrize("scaling", [None, "zscore"])
def test_weighted_sums_go_with_their_scaling(name, scaling, data, tmp_path):
    skip_unless_at_hand(name)
    ranker = rw.LinearRegression(scaling=scaling).fit(data)
    report = ranker.export(tmp_path / "model.out", to=name, verify=True)
    assert report.verdicts[0].passed


@pytest.mark.parametrize("name", ["onnx", "c", "solr"])
@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid"])
def test_plain_nets_go_with_their_scaling(name, activation, data, tmp_path):
    skip_unless_at_hand(name)
    ranker = rw.RankNet(hidden=(4, 3), activation=activation, encoding="none", epochs=1, scaling="zscore").fit(data)
    report = ranker.export(tmp_path / "model.out", to=name, verify=True)
    assert report.verdicts[0].passed


def test_logarithms_go_to_onnx_and_not_to_solr(data, tmp_path):
    skip_unless_at_hand("onnx")
    ranker = rw.RankNet(hidden=(4,), activation="gelu", encoding="none", epochs=1, scaling="log+zscore").fit(data)
    assert ranker.export(tmp_path / "net.onnx", to="onnx", verify=True).verdicts[0].passed
    with pytest.raises(NotExportableError, match=r"logarithms.*take onnx or c"):
        ranker.export(tmp_path / "net.json", to="solr")


@pytest.mark.parametrize("name", ["ranklib", "solr", "plugin-xgboost", "plugin-xgboost-raw", "vespa-lightgbm"])
def test_categories_are_refused_with_an_alternative(name, data, tmp_path):
    ranker = rw.LambdaMART(n_trees=2, max_leaves=6, categorical=[6], threads=1).fit(data)
    with pytest.raises(NotExportableError, match="categories, as feature feature_6 needs: take"):
        ranker.export(tmp_path / "model.out", to=name)
    assert list(tmp_path.iterdir()) == []


def test_missing_sides_are_refused_where_there_are_none(forest, tmp_path):
    with pytest.raises(NotExportableError, match=r"send them left: take .* or say --missing never"):
        forest.export(tmp_path / "model.xml", to="ranklib")


def test_a_ranker_that_compares_documents_has_nowhere_to_go(data, tmp_path):
    ranker = rw.SortNet(hidden=2, max_iter=1, epochs=1, scaling=None).fit(data)
    with pytest.raises(NotExportableError, match="rankwright itself"):
        ranker.export(tmp_path / "model.onnx", to="onnx")


def test_a_scaling_by_query_has_nowhere_to_go(data, tmp_path):
    ranker = rw.LinearRegression(scaling="query-minmax").fit(data)
    with pytest.raises(NotExportableError, match="all documents of a query"):
        ranker.export(tmp_path / "model.onnx", to="onnx")


def test_lift_makes_the_least_score_0(forest, data, tmp_path):
    report = forest.export(tmp_path / "model.json", to="plugin-xgboost", lift=True, verify=True, sample=data)
    assert report.lift > 0
    scores = [float(line.split(",")[0]) for line in (tmp_path / "model.sample.csv").read_text().splitlines()[1:]]
    assert min(scores) >= 0
    assert scores[0] == pytest.approx(forest.predict(data)[0] + report.lift)


def test_lift_is_for_trees(data, tmp_path):
    with pytest.raises(rw.RankwrightError, match="no lowest score"):
        rw.LinearRegression().fit(data).export(tmp_path / "model.json", to="solr", lift=True)


@pytest.fixture(scope="module")
def made_of_forests(data, forest) -> dict[str, Any]:
    bag = rw.BLMART(n_bags=2, n_trees=3, max_leaves=4, threads=1).fit(data)
    return {
        "bag": bag,
        "mean": rw.mean_of([bag, rw.MART(n_trees=2, max_leaves=4, threads=1).fit(data)]),
        "compressed": rw.compress(forest, data, max_loss=0.5, threads=1, means=["exact", "prune"]).model,
    }


@pytest.mark.parametrize("kind", ["bag", "mean", "compressed"])
@pytest.mark.parametrize("name", [name for name, target in TARGETS.items() if "forest" in target.takes])
def test_bags_and_compressed_models_go_everywhere(name, kind, made_of_forests, tmp_path):
    skip_unless_at_hand(name)
    missing = "never" if name == "ranklib" else "kept"
    report = made_of_forests[kind].export(tmp_path / "model.out", to=name, verify=True, missing=missing)
    assert report.verdicts
    assert all(verdict.passed and verdict.wrong_leaves == 0 for verdict in report.verdicts)


@pytest.mark.parametrize("name", ["c", "onnx", "lightgbm", "xgboost-json", "xgboost-ubj"])
def test_categories_go_where_there_are_any(name, data, tmp_path):
    skip_unless_at_hand(name)
    ranker = rw.LambdaMART(n_trees=3, max_leaves=6, categorical=[6], threads=1).fit(data)
    report = ranker.export(tmp_path / "model.out", to=name, verify=True, sample=data)
    assert report.verdicts
    assert all(verdict.passed and verdict.wrong_leaves == 0 for verdict in report.verdicts)


@pytest.mark.parametrize("name", ["lightgbm", "xgboost-json", "xgboost-ubj"])
def test_treelite_is_a_second_witness(name, forest, tmp_path):
    skip_unless_at_hand(name)
    pytest.importorskip("treelite")
    report = forest.export(tmp_path / "model.out", to=name, verify=True)
    assert [verdict.by.split()[0] for verdict in report.verdicts][1] == "treelite"
    assert report.absent == ()


def test_treelite_is_not_asked_what_it_reads_otherwise(data, tmp_path):
    pytest.importorskip("treelite")
    skip_unless_at_hand("lightgbm")
    ranker = rw.LambdaMART(n_trees=2, max_leaves=6, categorical=[6], threads=1).fit(data)
    report = ranker.export(tmp_path / "model.txt", to="lightgbm", verify=True)
    assert len(report.verdicts) == 1
    assert "treelite reads categories" in report.absent[0]


@pytest.mark.parametrize("scaling", ["log", "log+zscore"])
def test_logarithms_go_to_c(scaling, data, tmp_path):
    skip_unless_at_hand("c")
    ranker = rw.RankNet(hidden=(4,), activation="gelu", epochs=1, scaling=scaling).fit(data)
    report = ranker.export(tmp_path / "net.c", to="c", verify=True, sample=data)
    assert report.verdicts[0].passed


def test_a_wrong_threshold_is_found(forest, tmp_path, monkeypatch):
    """The verdict is no formality: a file with a threshold one float off is refused, and nothing is written."""

    def one_float_off(forest, threshold, *more):
        moved = threshold.copy()
        moved[0] = np.nextafter(np.float32(moved[0]), np.float32(np.inf))
        return wrong(forest, moved, *more)

    wrong = search_plugins._dumped
    monkeypatch.setattr(search_plugins, "_dumped", one_float_off)
    with pytest.raises(VerificationError, match="in a wrong leaf"):
        forest.export(tmp_path / "model.json", to="plugin-xgboost", verify=True)
    assert list(tmp_path.iterdir()) == []


def test_the_plugins_feature_set_names_every_feature(forest, tmp_path):
    forest.export(tmp_path / "model.json", to="plugin-xgboost")
    described = json.loads((tmp_path / "model.featureset.json").read_text())
    assert [one["name"] for one in described["featureset"]["features"]] == [f"feature_{n}" for n in range(1, 7)]


def test_unknown_targets_list_the_known_ones(forest, tmp_path):
    with pytest.raises(rw.RankwrightError, match=r"unknown target 'onx'; did you mean 'onnx'\?"):
        forest.export(tmp_path / "model", to="onx")


def test_the_least_score_is_no_more_than_any_score(forest, data):
    subject = subject_of(forest.trained())
    assert isinstance(subject, ForestSubject)
    assert subject.least_score <= forest.predict(data).min()
    assert subject.lifted().least_score == pytest.approx(0, abs=1e-4)
    assert subject.lifted().least_score >= 0


def test_other_tools_explain_an_exported_forest_as_we_do(forest, data, tmp_path):
    lightgbm, xgboost = pytest.importorskip("lightgbm"), pytest.importorskip("xgboost")
    rows = data.features[:50]
    forest.export(tmp_path / "model.txt", to="lightgbm")
    by_documents = lightgbm.Booster(model_file=str(tmp_path / "model.txt")).predict(rows, pred_contrib=True)
    np.testing.assert_allclose(by_documents[:, :-1], contributions_of(forest, "documents", rows), atol=1e-12)
    forest.export(tmp_path / "model.json", to="xgboost-json")
    booster = xgboost.Booster(model_file=str(tmp_path / "model.json"))
    matrix = xgboost.DMatrix(rows, feature_names=booster.feature_names, feature_types=booster.feature_types)
    by_curvature = booster.predict(matrix, pred_contribs=True)
    np.testing.assert_allclose(by_curvature[:, :-1], contributions_of(forest, "curvature", rows), atol=1e-6)


def contributions_of(forest: rw.LambdaMART, cover: str, rows: np.ndarray) -> np.ndarray:
    return forest.forest_.explained(cover).contributions(rows)


@pytest.mark.parametrize("name", ["lightgbm", "xgboost-json", "xgboost-ubj"])
def test_covers_come_back(name, forest, tmp_path):
    forest.export(tmp_path / "model.out", to=name)
    back = rw.load(tmp_path / "model.out").forest_
    inner = back.feature >= 0
    assert (
        np.sort(back.curvature[inner]).tolist()
        == np.sort(forest.forest_.curvature[forest.forest_.feature >= 0]).tolist()
    )
    assert name != "lightgbm" or back.count.sum() == forest.forest_.count.sum()


def test_a_weighted_sum_is_called_so_where_a_target_holds_trees(data, tmp_path):
    with pytest.raises(NotExportableError, match="holds trees, and this is a weighted sum of features"):
        rw.LinearRegression().fit(data).export(tmp_path / "model.txt", to="lightgbm")


@pytest.mark.parametrize(("constant", "told"), [(0.5, "0.5 lower"), (-0.5, "0.5 higher")])
def test_a_constant_that_a_format_lacks_is_told_without_a_sign(constant, told, data):
    subject = subject_of(rw.LinearRegression(scaling=None).fit(data).trained())
    assert isinstance(subject, NetSubject)
    layer = replace(subject.layers[0], bias=np.array([constant]))
    written = TARGETS["plugin-linear"].write(replace(subject, layers=(layer,)), ExportOptions())
    assert list(written.notes) == [f"scores are {told} than ours: the format has no constant"]


@pytest.mark.parametrize("target", ["xgboost-json", "xgboost-ubj"])
def test_xgboost_takes_a_plain_matrix_for_features_without_names(target, forest, data, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    path = tmp_path / f"model.{TARGETS[target].suffix}"
    report = forest.export(path, to=target)
    assert any("calls the first f0" in note for note in report.notes)
    booster = xgboost.Booster(model_file=str(path))
    np.testing.assert_allclose(booster.predict(xgboost.DMatrix(data.features)), forest.predict(data), rtol=1e-5)


@pytest.mark.parametrize("names", [(), ("bm25", "age", 'a */ "b"', "d", "e", "colour")])
def test_exports_carry_the_names_that_tables_show(names, data, tmp_path):
    named = data.with_features(data.features, names, None)
    ranker = rw.LambdaMART(n_trees=2, max_leaves=4, threads=1).fit(named)
    shown = [f"feature_{name}" for name in data.names] if not names else list(names)
    for target in ("onnx", "c"):
        ranker.export(tmp_path / f"model.{target}", to=target)
    assert json.dumps(shown).encode() in (tmp_path / "model.onnx").read_bytes()
    comment = (tmp_path / "model.h").read_text().partition("/* The columns:")[2].partition("*/")[0]
    assert [json.loads(line.partition("] ")[2]) for line in comment.strip().splitlines()] == shown


@pytest.mark.parametrize("target", ["lightgbm", "xgboost-json", "plugin-xgboost"])
def test_features_without_names_have_none_when_an_export_is_read(target, forest, data, tmp_path):
    path = tmp_path / "model.out"
    forest.export(path, to=target)
    if target == "plugin-xgboost":  # a list alone does not tell how many scores its trees give
        path.write_text(f'{{"objective": "rank:ndcg", "splits": {path.read_text()}}}')
    again = rw.load(path)
    assert again.trained_.feature_names == ()
    np.testing.assert_allclose(again.predict(data), forest.predict(data), rtol=1e-5, atol=1e-6)


def test_an_export_does_not_replace_its_model(forest, tmp_path):
    path = tmp_path / "model.rw"
    forest.save(path)
    before = path.read_bytes()
    with pytest.raises(SettingError, match="is an input, and would be replaced by the output"):
        rw.export(path, path, to="onnx")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
