"""Every configuration through its import, every export, and back: no wrong leaf, nothing refused without a reason."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.imports.makers import CATEGORY, MAKERS, Case, all_cases, leaves_of

import rankwright as rw
from rankwright.exchange.subject import NotExportableError, subject_of
from rankwright.exchange.target import ExportOptions
from rankwright.exchange.target_table import TARGETS
from rankwright.exchange.verifying import beyond_limits, made_up, verify

CASES = all_cases()
QUICK = CASES[::41]  # a sample over all libraries
BACK = ("lightgbm", "xgboost-json", "xgboost-ubj", "onnx", "onnx-regressor", "plugin-xgboost",
        "plugin-xgboost-objective", "plugin-xgboost-raw", "ranklib")  # fmt: skip
CHEAP = [name for name in TARGETS if name != "c"]  # compiling takes a second


def test_there_are_enough_of_them():
    assert len(CASES) >= 300
    assert len({case.library for case in QUICK}) == 4


def scored_by_both(case: Case, features: np.ndarray) -> np.ndarray:
    """The documents that the library itself agrees to score."""
    fine = np.ones(len(features), np.bool_)
    if case.library in ("xgboost", "sklearn"):
        fine &= ~np.isinf(features).any(axis=1)
    if case.library == "xgboost" and case.categories:
        fine &= ~((features[:, CATEGORY] < 0) | (features[:, CATEGORY] >= 2**24))
    if case.library == "sklearn" and not case.missing:
        fine &= ~np.isnan(features).any(axis=1)
    if case.library == "catboost" and not case.missing:
        fine &= ~np.isnan(features).any(axis=1)
    return features[fine]


def check_leaves(case: Case, theirs: np.ndarray, ours: np.ndarray) -> None:
    """Documents that share a leaf of theirs share one of ours, and the other way round, in every tree."""
    assert theirs.shape == ours.shape, str(case)
    for tree, (their, our) in enumerate(zip(theirs.T, ours.T, strict=True)):
        both = {(a, b) for a, b in zip(their.tolist(), our.tolist(), strict=True)}
        assert len(both) == len(np.unique(their)) == len(np.unique(our)), f"{case}: another leaf in tree {tree}"


def check(case: Case, folder: Path, targets: Sequence[str] = CHEAP) -> None:
    model, predict = MAKERS[case.library](case)
    ranker = rw.load(model)
    subject = subject_of(ranker.trained())
    features = made_up(subject)
    common = scored_by_both(case, features)
    theirs = np.asarray(predict(common), np.float64)
    ours = ranker.base_score_ + ranker.forest_.predict(common)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=2e-6 * max(1.0, np.abs(theirs).max()), err_msg=str(case))
    if (leaves := leaves_of(case, model, common)) is not None:
        check_leaves(case, leaves, ranker.forest_.apply(common))
    for name in targets:
        go_and_return(case, name, subject, features, folder)


def go_and_return(case: Case, name: str, subject, features: np.ndarray, folder: Path) -> None:
    options = ExportOptions(name="model", missing="never" if name == "ranklib" else "kept")
    if name == "ranklib":
        features = features[~np.isnan(features).any(axis=1)]
    try:
        written, reason = TARGETS[name].write(subject, options), ""
    except NotExportableError as error:
        written, reason = None, str(error)
    if written is None:
        assert "take " in reason, f"{case} to {name}: {reason}"
        return
    verdicts, absent = verify(TARGETS[name], subject, options, written, features)
    assert verdicts, absent
    assert all(verdict.passed for verdict in verdicts), f"{case} to {name}: {verdicts[0]}"
    if name in BACK and not (name == "onnx" and subject.forest.readings is not None):  # operators before the trees
        path = folder / f"model{TARGETS[name].suffix}"
        path.write_bytes(written.files[""])
        back = rw.load(path)
        inside = features[~beyond_limits(written, features)]
        width = int(back.n_features_in_)
        again = back.base_score_ + back.forest_.predict(inside[:, :width])
        np.testing.assert_allclose(again, subject.scores(inside), atol=1e-6, err_msg=f"{case} from {name}")


@pytest.mark.oracle
@pytest.mark.parametrize("case", QUICK, ids=str)
def test_some_round_trips(case, tmp_path):
    check(case, tmp_path)


@pytest.mark.slow
@pytest.mark.oracle
@pytest.mark.parametrize("case", [case for case in CASES if case not in QUICK], ids=str)
def test_all_round_trips(case, tmp_path):
    check(case, tmp_path)


@pytest.mark.oracle
@pytest.mark.parametrize("case", QUICK[::2], ids=str)
def test_some_go_to_c(case, tmp_path):
    skip_without_compiler()
    check(case, tmp_path, ["c"])


@pytest.mark.slow
@pytest.mark.oracle
@pytest.mark.parametrize("case", [case for case in CASES if case not in QUICK[::2]], ids=str)
def test_all_go_to_c(case, tmp_path):
    skip_without_compiler()
    check(case, tmp_path, ["c"])


def skip_without_compiler() -> None:
    if shutil.which("gcc") is None and shutil.which("cc") is None:
        pytest.skip("no compiler")


@pytest.mark.oracle
def test_lightgbm_writes_the_same_model_as_text_and_as_json(tmp_path):
    model, _ = MAKERS["lightgbm"](Case("lightgbm", (("num_leaves", 15),), True, True))
    model.save_model(tmp_path / "model.txt")
    (tmp_path / "model.json").write_text(json.dumps(model.dump_model()))
    first, second = rw.load(tmp_path / "model.txt"), rw.load(tmp_path / "model.json")
    assert first.source == "LightGBM text"
    assert second.source == "LightGBM JSON"
    features = made_up(subject_of(first.trained()))
    np.testing.assert_array_equal(first.forest_.predict(features), second.forest_.predict(features))


@pytest.mark.oracle
def test_xgboost_writes_the_same_model_in_three_ways(tmp_path):
    model, _ = MAKERS["xgboost"](Case("xgboost", (("base_score", 0.25),), True, False))
    for name in ("model.json", "model.ubj"):
        model.save_model(tmp_path / name)
    model.dump_model(tmp_path / "dump.json", dump_format="json", with_stats=True)
    rankers = [rw.load(tmp_path / name) for name in ("model.json", "model.ubj")]
    rankers.append(rw.load(tmp_path / "dump.json", objective="reg:squarederror"))
    assert [ranker.source for ranker in rankers] == ["XGBoost JSON", "XGBoost UBJSON", "XGBoost dump"]
    assert [ranker.base_score_ for ranker in rankers] == [0.25, 0.25, 0.0]
    features = made_up(subject_of(rankers[0].trained()))
    width = int(rankers[2].n_features_in_)
    scores = [rankers[0].forest_.predict(features), rankers[1].forest_.predict(features)]
    scores.append(rankers[2].forest_.predict(features[:, :width]))
    for other in scores[1:]:
        np.testing.assert_array_equal(scores[0], other)


@pytest.mark.parametrize(("written", "value"), [("5E-1", 0.5), ("[5E-1]", 0.5), ("[2.5E-1]", 0.25), (0.5, 0.5)])
def test_base_scores_of_all_versions(written, value):
    from rankwright.imports.xgboost_formats import base_score

    assert base_score(written, "rank:ndcg") == value


@pytest.fixture(scope="module")
def stopped():
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(120, 3)).astype(np.float32), rng.integers(0, 3, 120)
    settings = {"n_estimators": 30, "early_stopping_rounds": 3, "num_parallel_tree": 2, "subsample": 0.5}
    model = xgboost.XGBRanker(n_jobs=1, max_depth=2, learning_rate=1, random_state=0, **settings)
    qid = np.repeat(np.arange(12), 10)
    model.fit(features[:60], labels[:60], qid=qid[:60], verbose=False,
              eval_set=[(features[60:], labels[60:])], eval_qid=[qid[60:]])  # fmt: skip
    n_rounds = model.get_booster().num_boosted_rounds()
    assert model.best_iteration + 1 < n_rounds
    return model, features


@pytest.mark.oracle
class TestEarlyStopping:
    """One rule for files, estimators and Boosters: the trees up to the best iteration, as estimators predict."""

    @pytest.mark.parametrize("ending", ["json", "ubj"])
    def test_a_file_scores_as_the_ranker_does(self, stopped, ending, tmp_path):
        model, features = stopped
        model.save_model(tmp_path / f"model.{ending}")
        found = rw.load(tmp_path / f"model.{ending}")
        assert found.n_trees_ == 2 * (model.best_iteration + 1)
        np.testing.assert_allclose(found.predict(features), model.predict(features), atol=1e-6)

    def test_live_models_do_too(self, stopped):
        model, features = stopped
        scores = model.predict(features)
        data = rw.RankingDataset.from_arrays(features, np.arange(120) % 3, qid=np.repeat(np.arange(12), 10))
        for live in (model, model.get_booster()):
            np.testing.assert_allclose(rw.load(live).predict(features), scores, atol=1e-6)
            assert rw.evaluate(live, data)["ndcg@10"].mean == rw.evaluate(scores, data)["ndcg@10"].mean

    def test_it_is_told(self, stopped, caplog):
        with caplog.at_level("INFO"):
            rw.load(stopped[0])
        assert "trees best: the others are left out" in caplog.text


@pytest.mark.oracle
@pytest.mark.parametrize("objective", ["binary:logitraw", "binary:logistic", "binary:hinge", "count:poisson"])
@pytest.mark.parametrize("base_score", [None, 0.3])
def test_base_scores_are_those_of_the_objective(objective, base_score):
    xgboost = pytest.importorskip("xgboost")
    features = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    settings = {"objective": objective, "nthread": 1, "max_depth": 2}
    settings |= {} if base_score is None else {"base_score": base_score}
    model = xgboost.train(settings, xgboost.DMatrix(features, features[:, 0] > 0.3), 2)
    margins = model.predict(xgboost.DMatrix(features), output_margin=True)
    np.testing.assert_allclose(rw.load(model).predict(features), margins, atol=1e-6)


@pytest.mark.oracle
@pytest.mark.parametrize(
    "settings",
    [
        {"objective": "multi:softprob", "num_class": 3},
        {"objective": "reg:quantileerror", "quantile_alpha": [0.2, 0.8]},
        {"objective": "multi:softprob", "num_class": 3, "multi_strategy": "multi_output_tree"},
    ],
    ids=["classes", "quantiles", "leaves of several values"],
)
@pytest.mark.parametrize("form", ["dump", "dump with its objective", "file", "live"])
def test_models_of_several_scores_are_refused(settings, form, tmp_path):
    xgboost = pytest.importorskip("xgboost")
    features = np.random.default_rng(0).normal(size=(60, 2)).astype(np.float32)
    matrix = xgboost.DMatrix(features, np.arange(60) % 3)
    model = xgboost.train({"nthread": 1, "max_depth": 2, **settings}, matrix, 2)
    path = tmp_path / "model.json"
    if form == "file":
        model.save_model(path)
    elif form == "dump":
        model.dump_model(path, dump_format="json")
    else:
        trees = ",".join(model.get_dump(dump_format="json"))
        path.write_text(f'{{"objective":"{settings["objective"]}","splits":[{trees}]}}')
    with pytest.raises(rw.RankwrightError, match="several"):
        rw.load(model if form == "live" else path)


ONE_SPLIT = (
    '[{"nodeid": 0, "depth": 0, "split": "f1", "split_condition": 0.5, "yes": 1, "no": 2, "missing": 1, '
    '"children": [{"nodeid": 1, "leaf": -1}, {"nodeid": 2, "leaf": 1}]}]'
)


class TestBareListsOfTrees:
    """XGBoost's `dump_model` tells no objective, and trees of several classes look like those of one score."""

    def written(self, folder: Path, text: str = ONE_SPLIT) -> Path:
        (folder / "trees.json").write_text(text)
        return folder / "trees.json"

    def test_one_is_refused_with_what_to_do(self, tmp_path):
        with pytest.raises(rw.RankwrightError, match="whether they give one score or several") as raised:
            rw.load(self.written(tmp_path))
        assert "load(path, objective='rank:ndcg')" in str(raised.value)

    def test_what_the_message_says_works_in_a_shell(self, tmp_path):
        from rankwright.imports.xgboost_formats import AROUND_A_LIST

        command = AROUND_A_LIST.replace("LIST", self.written(tmp_path).name)
        subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
        assert rw.load(tmp_path / "MODEL.json").predict([[0, 0], [0, 1]]).tolist() == [-1, 1]

    def test_the_reader_may_state_the_objective(self, tmp_path):
        ranker = rw.load(self.written(tmp_path), objective="rank:ndcg")
        assert ranker.predict([[0, 0], [0, 1]]).tolist() == [-1, 1]

    def test_our_own_export_needs_no_statement(self, tmp_path):
        data = rw.synthetic.web_search(10, seed=0)
        plain = rw.RankingDataset.from_arrays(data.features, data.labels, qid=data.qid)
        ranker = rw.LambdaMART(n_trees=2, max_leaves=4, threads=1).fit(plain)
        rw.export(ranker, tmp_path / "own.json", to="plugin-xgboost")
        np.testing.assert_allclose(rw.load(tmp_path / "own.json").predict(plain), ranker.predict(plain), atol=1e-6)

    @pytest.mark.parametrize(
        ("objective", "told"),
        [
            ("multi:softprob", "may give several scores"),
            ("reg:quantileerror", "may give several scores"),
            ("ndcg", "one of XGBoost's, such as 'rank:ndcg'"),
        ],
    )
    def test_an_objective_of_several_scores_is_refused(self, objective, told, tmp_path):
        with pytest.raises(rw.RankwrightError, match=told):
            rw.load(self.written(tmp_path), objective=objective)

    def test_a_file_that_tells_its_own_takes_no_other(self, tmp_path):
        told = self.written(tmp_path, f'{{"objective":"rank:map","splits":{ONE_SPLIT}}}')
        with pytest.raises(rw.RankwrightError, match="the file tells 'rank:map'"):
            rw.load(told, objective="rank:ndcg")

    def test_other_models_take_none(self, tmp_path):
        data = rw.synthetic.web_search(10, seed=0)
        rw.LambdaMART(n_trees=1, max_leaves=2, threads=1).fit(data).save(tmp_path / "own.rw")
        with pytest.raises(rw.RankwrightError, match="other models tell their own"):
            rw.load(tmp_path / "own.rw", objective="rank:ndcg")
