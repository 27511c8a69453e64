"""`rankwright tune`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rankwright as rw
from rankwright import synthetic

SMALL = ("--set", "n_trees=4", "--set", "min_docs_in_leaf=5", "--search", "max_leaves=3,5", "--folds", "2")


@pytest.fixture(scope="module")
def train(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "train.txt"
    data = synthetic.web_search(30)
    rw.write(rw.RankingDataset.from_arrays(data.features[:, :6], data.labels, group=data.groups.sizes), str(path))
    return str(path)


def test_a_grid_is_searched_and_the_model_written_and_the_study_reported_on(
    rankwright, train, tmp_path, experiments_here
):
    model, study = tmp_path / "model.rw", tmp_path / "study"
    made = rankwright(
        "tune",
        train,
        "--strategy",
        "grid",
        *SMALL,
        "--study",
        str(study),
        "--out",
        str(model),
        "--workers",
        "1",
        "--json",
    )
    assert made.code == 0, made.stderr
    assert experiments_here == [(None, 1)]
    found = json.loads(made.stdout)
    assert (found["trials"], found["experiments"], found["steps_taken"]) == (2, 2 * 2, 2 * 2 * 4)
    assert found["best"]["settings"]["max_leaves"] in (3, 5)
    ranker = rw.load(model)
    assert ranker.max_leaves == found["best"]["settings"]["max_leaves"]
    assert ranker.n_trees_ == found["refit"]["steps"]
    again = rankwright("tune", train, "--strategy", "grid", *SMALL, "--study", str(study), "--workers", "1")
    assert again.code == 0
    assert "2 trials, 4 experiments, 16 steps" in again.stdout
    other = rankwright("tune", train, "--strategy", "grid", *SMALL, "--set", "l2=1", "--study", str(study))
    assert other.code == 2
    assert "holds another study: its settings differ" in other.stderr
    report = rankwright("tune", "--show", str(study), "--json")
    assert report.code == 0, report.stderr
    assert json.loads(report.stdout)["searches"][0]["search"] == "grid"
    assert (study / "report" / "searches.svg").exists()


@pytest.mark.usefixtures("experiments_here")
def test_nested_tells_a_figure_with_an_interval(rankwright, train):
    made = rankwright(
        "tune", train, "--strategy", "grid", *SMALL, "--nested", "2", "--metric", "ndcg@5", "--workers", "1", "--json"
    )
    assert made.code == 0, made.stderr
    found = json.loads(made.stdout)
    assert found["low"] <= found["mean"] <= found["high"]
    assert len(found["folds"]) == 2


@pytest.mark.usefixtures("experiments_here")
def test_the_folds_of_letor_choose_by_validation_and_are_tested(rankwright, train, tmp_path):
    for fold in ("Fold1", "Fold2"):
        (tmp_path / fold).mkdir()
        for part in ("train", "vali", "test"):
            (tmp_path / fold / f"{part}.txt").write_bytes(Path(train).read_bytes())
    arguments = ("tune", str(tmp_path), "--strategy", "grid", *SMALL, "--metric", "ndcg@5", "--workers", "1", "--json")
    made = rankwright(*arguments)
    assert made.code == 0, made.stderr
    found = json.loads(made.stdout)
    # The parts are one and the same here, so that testing finds what validation found.
    assert found["test"]["metrics"]["ndcg@5"]["mean"] == pytest.approx(found["best"]["value"])
    assert rankwright(*arguments, "--out", str(tmp_path / "model.rw")).code == 2


@pytest.mark.parametrize(("arguments", "message"), [
    ((), "give TRAIN"),
    (("TRAIN", "--strategy", "best"), "unknown strategy"),
    (("TRAIN", "--search", "leaves=3,4", "--trials", "2"), "no setting 'leaves'"),
    (("TRAIN", "--space", "slides"), "unknown space"),
    (("TRAIN", "--strategy", "grid"), "has a range"),
    (("TRAIN", "--search", "max_leaves"), "a search reads like"),
    (("TRAIN", "--show", "x"), "leave out TRAIN"),
    (("--show", "nowhere"), "holds no study"),
    (("TRAIN", "--trials", "2", "--nested", "3", "--out", "m.rw"), "writes no model"),
    (("TRAIN", "--trials", "2", "--out", "-"), "a model goes to a file"),
    (("nowhere.txt", "--trials", "2"), "nowhere.txt"),
])  # fmt: skip
def test_wrong_usage_is_one_line(arguments, message, rankwright, train):
    made = rankwright("tune", *(train if one == "TRAIN" else one for one in arguments))
    assert made.code == 2
    assert message in made.stderr
    assert made.stderr.count("\n") == 1
