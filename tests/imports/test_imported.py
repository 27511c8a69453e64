"""What an imported forest can do: all that forests of ours can, but for training."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankwright as rw
from rankwright.catalog.rankers import load_trained

TREE = """<tree id="1" weight="{weight}"><split><feature> {feature} </feature><threshold> 0.5 </threshold>
<split pos="left"><output> {left} </output></split><split pos="right"><output> {right} </output></split></split>
</tree>"""


@pytest.fixture
def ranklib(tmp_path):
    """A RankLib model of two trees, which uses features 1 and 3."""
    path = tmp_path / "model.txt"
    trees = TREE.format(weight=0.5, feature=1, left=2, right=4), TREE.format(weight=1.0, feature=3, left=10, right=20)
    path.write_text("## LambdaMART\n## No. of trees = 2\n\n<ensemble>\n" + "\n".join(trees) + "\n</ensemble>\n")
    return path


@pytest.fixture
def data() -> rw.RankingDataset:
    features = np.array([[0.5, 9, 0.5], [0.6, 9, 0.5], [np.nan, 9, 0.4], [0.1, 9, np.nan]], np.float32)
    return rw.RankingDataset.from_arrays(features, [0, 1, 1, 2], qid=[1, 1, 2, 2])


def test_ranklib_scores_by_hand(ranklib, data):
    ranker = rw.load(ranklib)
    assert ranker.source == "RankLib XML"
    assert ranker.predict(data).tolist() == [0.5 * 2 + 10, 0.5 * 4 + 10, 0.5 * 4 + 10, 0.5 * 2 + 20]


def test_documents_may_have_any_width_where_the_file_tells_none(ranklib, data):
    ranker, scores = rw.load(ranklib), rw.load(ranklib).predict(data)
    wider = np.hstack([data.features, np.ones((4, 2), np.float32)])
    assert ranker.predict(wider).tolist() == scores.tolist()
    assert load_trained(ranklib).predict(rw.RankingDataset.from_arrays(wider, group=[4])).tolist() == scores.tolist()
    narrower = ranker.predict(data.features[:, :1])
    assert narrower.tolist() == [11, 12, 12, 11]  # what lacks is 0


def test_it_is_saved_as_our_own_file(ranklib, data, tmp_path):
    ranker = rw.load(ranklib)
    ranker.save(tmp_path / "model.rw")
    again = rw.load(tmp_path / "model.rw")
    assert isinstance(again, rw.ImportedForest)
    assert again.source == "RankLib XML"
    assert again.predict(data).tolist() == ranker.predict(data).tolist()
    assert rw.describe_model(tmp_path / "model.rw").facts["source"] == "RankLib XML"


def test_it_cannot_be_trained(ranklib, data):
    with pytest.raises(rw.RankwrightError, match="cannot be trained"):
        rw.load(ranklib).fit(data)


def test_the_mean_of_two_is_the_mean_of_their_scores(ranklib, data):
    ours = rw.LambdaMART(n_trees=2, max_leaves=2, min_docs_in_leaf=1, threads=1).fit(data)
    theirs = rw.load(ranklib)
    mean = rw.mean_of([ours, theirs])
    np.testing.assert_allclose(mean.predict(data), (ours.predict(data) + theirs.predict(data)) / 2, atol=1e-6)


def test_it_is_compressed(small_data, tmp_path):
    ranker = rw.LambdaMART(n_trees=8, max_leaves=4, threads=1).fit(small_data)
    ranker.export(tmp_path / "model.txt", to="lightgbm")
    found = rw.compress(rw.load(tmp_path / "model.txt"), small_data, max_loss=0.5, threads=1, means=["exact", "prune"])
    assert isinstance(found.model, rw.ImportedForest)
    assert found.model.n_trees_ <= 8


class Foreign:
    """A model of a library that nobody has heard of."""

    def predict(self, X):
        assert isinstance(X, np.ndarray)
        return X[:, :1]


def test_whatever_predicts_is_evaluated_and_compared(data):
    scores = np.nan_to_num(data.features[:, 0])
    filled = rw.RankingDataset.from_arrays(np.nan_to_num(data.features), data.labels, qid=data.qid)
    direct = rw.evaluate(scores, filled, ["ndcg@10"])["ndcg@10"].mean
    assert rw.evaluate(Foreign(), filled, ["ndcg@10"])["ndcg@10"].mean == direct
    comparison = rw.compare({"foreign": Foreign(), "worst": -np.asarray(filled.labels)}, filled, ["ndcg@10"])
    assert comparison.best == {"ndcg@10": "foreign"}


@pytest.mark.oracle
@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_live_models_are_compared_with_their_imports(library, small_data):
    from tests.imports.makers import MAKERS, Case

    model, _ = MAKERS[library](Case(library, (), False, False))
    ranker = rw.load(model)
    evaluations = [rw.evaluate(one, small_data, ["ndcg@10"])["ndcg@10"].mean for one in (model, ranker)]
    assert evaluations[0] == pytest.approx(evaluations[1], abs=1e-12)


@pytest.mark.oracle
@pytest.mark.parametrize("ending", ["json", "ubj"])
def test_weights_of_dart_are_found_where_each_version_keeps_them(ending, tmp_path):
    """Before 3.4 trees lie in `gbtree` and their weights beside it; since then weights lie in `model`."""
    from tests.imports.makers import MAKERS, Case

    from rankwright.imports.wire import ubjson

    pytest.importorskip("xgboost")
    settings = (("booster", "dart"), ("rate_drop", 0.5), ("max_depth", 3))
    model, _ = MAKERS["xgboost"](Case("xgboost", settings, False, False))
    model.save_model(tmp_path / "older.json")
    document = json.loads((tmp_path / "older.json").read_text())
    booster = document["learner"]["gradient_booster"]
    trees = booster["gbtree"]["model"] | {"weight_drop": booster["weight_drop"]}
    document["learner"]["gradient_booster"] = {"model": trees, "name": "gbtree"}
    newer = tmp_path / f"newer.{ending}"
    newer.write_bytes(json.dumps(document).encode() if ending == "json" else ubjson.written(document))
    features = np.random.default_rng(0).normal(size=(50, 5)).astype(np.float32)
    older = rw.load(tmp_path / "older.json")
    assert len(set(booster["weight_drop"])) > 1
    assert rw.load(newer).predict(features).tolist() == older.predict(features).tolist()


def test_trees_that_are_not_where_they_should_be_are_missed(tmp_path):
    model = {"gbtree_model_param": {"num_trees": "2"}, "trees": []}
    learner = {"gradient_booster": {"model": model, "name": "gbtree"}, "learner_model_param": {"num_feature": "2"}}
    (tmp_path / "model.json").write_text(json.dumps({"learner": learner}))
    with pytest.raises(rw.RankwrightError, match="there are 0 trees and gbtree_model_param tells of 2"):
        rw.load(tmp_path / "model.json")


def test_a_model_may_have_any_name(ranklib, data):
    scores = rw.load(ranklib).predict(data)
    renamed = ranklib.rename(ranklib.with_name("theirs.rw"))
    assert rw.load(renamed).predict(data).tolist() == scores.tolist()


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        (b"binf....", "save it as .json"),
        (b"\x80\x04\x95", "give the live model"),
        (b"\x1f\x8b\x08", "decompress it"),
        (b"1 qid:1 1:0.5\n", "nor a model of another tool"),
    ],
)
def test_files_that_cannot_be_read_are_told_apart(content, hint, tmp_path):
    path = tmp_path / "model"
    path.write_bytes(content)
    with pytest.raises(rw.RankwrightError, match=hint):
        rw.load(path)


@pytest.mark.oracle
def test_catboosts_binary_form_scores_as_its_json(tmp_path):
    pytest.importorskip("catboost")
    from tests.imports.makers import MAKERS, Case

    model, _ = MAKERS["catboost"](Case("catboost", (("depth", 3),), False, False))
    for form in ("cbm", "json"):
        model.save_model(str(tmp_path / f"model.{form}"), format=form)
    features = np.random.default_rng(0).normal(size=(50, 5)).astype(np.float32)
    binary, text = (rw.load(tmp_path / f"model.{form}").predict(features) for form in ("cbm", "json"))
    assert binary.tolist() == text.tolist()


@pytest.mark.parametrize(("installed", "told"), [(False, "format='json'"), (True, "CatBoost cannot turn it into JSON")])
def test_a_binary_form_that_cannot_be_read_is_one_line(installed, told, tmp_path, monkeypatch):
    from rankwright.imports import catboost_formats

    monkeypatch.setattr(catboost_formats, "find_spec", lambda _: installed or None)
    monkeypatch.setattr(catboost_formats, "TO_JSON", "import os; os.abort()")
    (tmp_path / "model.cbm").write_bytes(b"CBM1....")
    with pytest.raises(rw.RankwrightError, match=told) as raised:
        rw.load(tmp_path / "model.cbm")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("feature", [2**32, 2**31, -(2**32), -2])
def test_features_out_of_reach_do_not_wrap_around(feature):
    from rankwright.imports.assembly import TreeTable, assembled

    def table() -> TreeTable:
        return TreeTable(
            feature=np.array([feature, -1, -1]),
            threshold=np.zeros(3, np.float32),
            left=np.array([1, -1, -1]),
            right=np.array([2, -1, -1]),
            missing_left=np.zeros(3, np.bool_),
            value=np.array([0.0, 1.0, 2.0]),
        )

    with pytest.raises(rw.RankwrightError, match="splits feature"):
        assembled([table()], 3)


@pytest.mark.parametrize("ranker", ["imported", "trained"])
def test_arrays_that_need_no_check_score_as_others_do(ranker, ranklib, data):
    model = rw.load(ranklib) if ranker == "imported" else rw.LambdaMART(n_trees=2, max_leaves=2).fit(data)
    rows = np.nan_to_num(data.features)
    scores = model.predict(rows).tolist()
    for same in (rows.astype(np.float64), np.asfortranarray(rows), rows.tolist(), np.hstack([rows, rows])[:, :3]):
        assert model.predict(same).tolist() == scores
    assert model.predict(data.features).tolist() == model.predict(data).tolist()  # NaN among them


@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinite_values_are_refused_in_arrays_of_any_kind(value, data):
    model = rw.LambdaMART(n_trees=2, max_leaves=2).fit(data)
    rows = data.features.copy()
    rows[1, 2] = value
    for given in (rows, rows.astype(np.float64)):
        with pytest.raises(rw.RankwrightError, match="infinity"):
            model.predict(given)


def test_arrays_of_another_width_or_of_no_rows_are_refused(data):
    model = rw.LambdaMART(n_trees=2, max_leaves=2).fit(data)
    for given in (data.features[:, :2].copy(), data.features[:0]):
        with pytest.raises(rw.RankwrightError):
            model.predict(given)
