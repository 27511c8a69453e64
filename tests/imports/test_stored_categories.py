"""Categories that LightGBM and XGBoost store beside their trees: values are mapped as these libraries map them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import rankwright as rw

SIZES, COLOURS = [10, 20, 30, 45], ["red", "blue", "green"]
FILES = {"lightgbm": ("text", "json"), "xgboost": ("json", "ubj")}


def frame_of_categories() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=200).round(2),
            "size": pd.Categorical(rng.choice(SIZES, 200)),
            "colour": pd.Categorical(rng.choice(COLOURS, 200)),
            "same": pd.Categorical([7] * 200),
        }
    )
    frame.loc[::17, ["size", "colour"]] = None
    return frame


def labels_of(frame: pd.DataFrame) -> Any:
    return frame["x"] + 2 * frame["size"].isin([10, 30]) + (frame["colour"] == "red")


def trained(library: str, frame: pd.DataFrame) -> tuple[Any, np.ndarray]:
    """A model of the library, and its own scores of the frame."""
    if library == "lightgbm":
        import lightgbm

        settings = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 3}
        model = lightgbm.train(settings, lightgbm.Dataset(frame, labels_of(frame)), 4)
        return model, np.asarray(model.predict(frame, num_threads=1))
    import xgboost

    matrix = xgboost.DMatrix(frame, labels_of(frame), enable_categorical=True)
    booster = xgboost.train({"nthread": 1, "max_cat_to_onehot": 2}, matrix, 4)
    return booster, booster.predict(matrix)


def written(library: str, model: Any, form: str, folder: Any) -> Any:
    path = folder / f"model.{form}"
    if (library, form) == ("lightgbm", "json"):
        path.write_text(json.dumps(model.dump_model()))
    else:
        model.save_model(path)
    return path


@pytest.fixture(scope="module", params=["lightgbm", "xgboost"])
def known(request) -> tuple[str, Any, np.ndarray]:
    pytest.importorskip(request.param)
    return request.param, *trained(request.param, frame_of_categories())


@pytest.mark.oracle
class TestValuesAreMapped:
    @pytest.mark.parametrize("form", ["live", "first file", "second file"])
    def test_in_frames_of_any_encoding(self, known, form, tmp_path):
        library, model, scores = known
        if form != "live":
            ranker = rw.load(written(library, model, FILES[library][form == "second file"], tmp_path))
        else:
            ranker = rw.load(model)
        frame = frame_of_categories()
        other_codes = frame.assign(colour=frame["colour"].cat.set_categories(COLOURS[::-1]))
        plain = frame.assign(size=frame["size"].astype(float), same=7, colour=frame["colour"].astype(object))
        for same in (frame, other_codes, plain):
            np.testing.assert_allclose(ranker.predict(same), scores, atol=1e-6)

    def test_after_saving_and_from_a_file_of_raw_values(self, known, tmp_path):
        _, model, scores = known
        rw.load(model).save(tmp_path / "model.rw")
        frame_of_categories().assign(qid=1, label=0).to_csv(tmp_path / "data.csv", index=False)
        found = rw.load(tmp_path / "model.rw").predict(tmp_path / "data.csv")
        np.testing.assert_allclose(found, scores, atol=1e-6)

    def test_the_live_model_is_not_given_our_codes(self, known):
        _, model, scores = known
        data = rw.from_frame(frame_of_categories().assign(qid=1, label=1))
        with pytest.raises(rw.RankwrightError, match=r"give rankwright\.load\(model\)"):
            rw.evaluate(model, data, ["ndcg@10"])
        imported = rw.evaluate(rw.load(model), data, ["ndcg@10"])["ndcg@10"].mean
        assert imported == rw.evaluate(scores, data, ["ndcg@10"])["ndcg@10"].mean


@pytest.mark.oracle
def test_numbers_are_numbers_in_rows_without_names():
    pytest.importorskip("lightgbm")
    frame = frame_of_categories()[["x", "size"]]
    import lightgbm

    settings = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 3}
    labels = frame["x"] + 2 * frame["size"].isin([10, 30])
    model = lightgbm.train(settings, lightgbm.Dataset(frame, labels), 4)
    rows = frame.astype(float).to_numpy(np.float32)
    with pytest.warns(UserWarning, match="feature names"):
        found = rw.load(model).predict(rows)
    np.testing.assert_allclose(found, model.predict(frame, num_threads=1), atol=1e-6)


@pytest.mark.oracle
@pytest.mark.parametrize("number", [-1.5, 0.25])
def test_categories_may_be_any_numbers(number):
    lightgbm = pytest.importorskip("lightgbm")
    frame = pd.DataFrame({"x": pd.Categorical([number, 3.0, 7.5] * 40)})
    labels = (frame["x"].astype(float) == number) * 1.0
    settings = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 3, "min_data_per_group": 1, "cat_smooth": 0}
    model = lightgbm.train(settings, lightgbm.Dataset(frame, labels), 2)
    assert len(set(model.predict(frame, num_threads=1))) > 1
    np.testing.assert_allclose(rw.load(model).predict(frame), model.predict(frame, num_threads=1), atol=1e-6)


def lightgbm_text(categories: str, infos: str = "0:1:2") -> str:
    return (
        "tree\nversion=v4\nnum_class=1\nnum_tree_per_iteration=1\nlabel_index=0\nmax_feature_idx=1\n"
        f"objective=regression\nfeature_names=a b\nfeature_infos={infos} [0:1]\n\nTree=0\nnum_leaves=2\nnum_cat=1\n"
        "split_feature=0\nsplit_gain=1\nthreshold=0\ndecision_type=1\nleft_child=-1\nright_child=-2\nleaf_value=1 2\n"
        "cat_boundaries=0 1\ncat_threshold=5\nis_linear=0\nshrinkage=1\n\n\nend of trees\n\nparameters:\n"
        f"end of parameters\n\npandas_categorical:{categories}\n"
    )


@pytest.mark.parametrize(
    ("categories", "message"),
    [
        ('[["x", 1, 2]]', "neither all texts nor all numbers"),
        ("[[[1], [2], [3]]]", "neither all texts nor all numbers"),
        ("[[null, 1, 2]]", "neither all texts nor all numbers"),
        ('[["x", "y", "x"]]', "must be different"),
        ("[[16777216, 16777217, 1]]", "in single precision"),
        ("[[1e300, 2, 3]]", "in single precision"),
        ("[[1, 2]]", "that is not there"),
        ("[[1, 2, 3], [4, 5]]", "does not tell which these are"),
        ('{"a": [1, 2, 3]}', "not a list of lists"),
        ("[1, 2, 3]", "not a list of lists"),
        ("[[1, 2", "damaged"),
    ],
)
def test_other_kinds_are_refused(categories, message, tmp_path):
    (tmp_path / "model.txt").write_text(lightgbm_text(categories))
    with pytest.raises(rw.RankwrightError, match=message):
        rw.load(tmp_path / "model.txt")


def test_ordered_categories_are_refused(tmp_path):
    """LightGBM compares their codes as numbers, and its file does not tell whose they are."""
    (tmp_path / "model.txt").write_text(lightgbm_text("[[1, 2, 3]]", infos="[0:2]"))
    with pytest.raises(rw.RankwrightError, match="it has 0 categorical features"):
        rw.load(tmp_path / "model.txt")


def test_an_unknown_value_counts_as_missing(tmp_path):
    (tmp_path / "model.txt").write_text(lightgbm_text("[[10, 20, 30]]"))
    frame = pd.DataFrame({"a": [10, 20, 30, 25, 0, np.nan], "b": 0})
    assert rw.load(tmp_path / "model.txt").predict(frame).tolist() == [1, 2, 1, 2, 2, 2]


def test_truth_values_are_numbers(tmp_path):
    (tmp_path / "model.txt").write_text(lightgbm_text("[[false, true, 2]]"))
    ranker = rw.load(tmp_path / "model.txt")
    frame = pd.DataFrame({"a": pd.Categorical([False, True]), "b": 0})
    assert ranker.predict(frame).tolist() == [1, 2]


def test_texts_that_are_no_numbers_are_still_refused(tmp_path):
    (tmp_path / "model.txt").write_text(lightgbm_text("[[10, 20, 30]]"))
    with pytest.raises(rw.RankwrightError, match="column 'a' holds texts"):
        rw.load(tmp_path / "model.txt").predict(pd.DataFrame({"a": ["10", "red"], "b": 0}))


def test_the_mean_keeps_the_categories(tmp_path):
    (tmp_path / "model.txt").write_text(lightgbm_text('[["x", "y", "z"]]'))
    ranker, frame = rw.load(tmp_path / "model.txt"), pd.DataFrame({"a": ["z", "y", "x"], "b": 0})
    assert rw.mean_of([ranker, ranker]).predict(frame).tolist() == ranker.predict(frame).tolist() == [1, 2, 1]
    (tmp_path / "other.txt").write_text(lightgbm_text('[["z", "y", "x"]]'))
    with pytest.raises(rw.RankwrightError, match="the same categories"):
        rw.mean_of([ranker, rw.load(tmp_path / "other.txt")])
