"""`rankwright compare`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rankwright as rw


@pytest.fixture
def files(tmp_path, monkeypatch, small_data):
    monkeypatch.chdir(tmp_path)
    rw.write(small_data, "data.txt")
    rw.RankBoost(n_rounds=5).fit(small_data).save("boost.rw")
    rw.AdaRank(n_rounds=5).fit(small_data).save("ada.rw")
    np.savetxt("chance.txt", np.random.default_rng(0).normal(size=small_data.n_docs))
    np.savetxt("perfect.txt", small_data.labels)
    np.savetxt("short.txt", [1.0, 2.0])
    return tmp_path


@pytest.mark.usefixtures("files")
def test_one_table_with_marks_and_their_meaning(rankwright):
    result = rankwright(
        "compare", "data.txt", "--model", "boost.rw", "--scores", "best=perfect.txt", "--metrics", "map"
    )
    assert result.code == 0, result.stderr
    assert "convention standard: 40 queries" in result.stdout
    assert f"{1:.4f} *" not in result.stdout  # the interval stands between
    assert ") *" in result.stdout
    assert "boost.rw" in result.stdout
    assert "Holm" in result.stdout


@pytest.mark.usefixtures("files")
def test_json_and_a_file_of_queries(rankwright):
    systems = ("--model", "boost=boost.rw", "--model", "ada=ada.rw", "--scores", "chance=chance.txt")
    options = ("--metrics", "ndcg@10,map", "--convention", "letor", "--per-query", "queries.tsv", "--json")
    result = rankwright("compare", "data.txt", *systems, *options)
    assert result.code == 0, result.stderr
    document = json.loads(result.stdout)
    assert (document["convention"], document["queries"]) == ("letor", 40)
    assert list(document["systems"]) == ["boost", "ada", "chance"]
    assert set(document["best"]) == {"ndcg@10", "map"}
    header, *rows = Path("queries.tsv").read_text().splitlines()
    assert header.split("\t")[:3] == ["query", "documents", "boost:ndcg@10"]
    assert len(rows) == 40


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("data.txt", "--model", "ada.rw"), "needs two systems or more, got 1"),
        (("data.txt", "--scores", "perfect.txt", "--scores", "short.txt"), "short.txt: has 2 scores, but the data has"),
        (("data.txt", "--scores", "perfect.txt", "--scores", "perfect.txt"), "two systems are called perfect.txt"),
        (("--model", "ada.rw", "--model", "boost.rw"), "give DATA with --model or --scores"),
        (("data.txt", "--trials", "3"), "--trials goes with --rankers"),
        ((".", "--rankers", "all", "--threads", "2"), "by --workers"),
        (("data.txt", "--folds", "."), "leave out DATA"),
        (("data.txt", "--folds", "3"), "--folds needs --rankers"),
        (("--rankers", "rankboost,adarank"), "--rankers needs DATA"),
        (
            ("--run", "a.run", "--run", "b.run", "--qrels", "q", "--label", "stars"),
            "TREC files, whose columns are fixed",
        ),
        ((".", "--rankers", "rankboost,adarank"), "no folders Fold1"),
        ((".", "--rankers", "rankbost"), "did you mean 'rankboost'"),
        (("data.txt", "--rankers", "prank,adarank", "--folds", "2"), "needs 3 folds or more"),
    ],
)
def test_what_cannot_be_compared_is_one_line(rankwright, arguments, message):
    result = rankwright("compare", *arguments)
    assert result.code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


OVER_FOLDS = ("compare", "letor", "--rankers", "prank,adarank", "--trials", "2", "--results", "kept")


@pytest.fixture
def folds(tmp_path, monkeypatch):
    """Two small folds of the LETOR layout."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for number in (1, 2):
        folder = tmp_path / "letor" / f"Fold{number}"
        folder.mkdir(parents=True)
        for part in ("train", "vali", "test"):
            features = rng.normal(size=(60, 3))
            labels = np.clip(np.round(features[:, 0] + rng.normal(size=60)), 0, 2)
            data = rw.RankingDataset.from_arrays(features, labels, qid=np.repeat(np.arange(6), 10))
            rw.write(data, folder / f"{part}.txt")
    return tmp_path


@pytest.mark.usefixtures("folds", "experiments_here")
def test_rankers_over_folds_and_a_run_that_goes_on(rankwright):
    arguments = (*OVER_FOLDS, "--json")
    first = rankwright(*arguments)
    assert first.code == 0, first.stderr
    assert first.stderr.count("on vali") == 4
    document = json.loads(first.stdout)
    assert document["convention"] == "letor"
    assert document["queries"] == 12
    assert list(document["chosen"]["prank"]) == ["Fold1", "Fold2"]
    Path("kept/Fold2-adarank.json").unlink()  # as if the run had been killed before
    again = rankwright(*arguments)
    assert again.stderr.count("on vali") == 1
    assert json.loads(again.stdout) == document


@pytest.mark.usefixtures("folds", "experiments_here")
def test_the_folder_may_still_be_given_as_folds_and_a_line_says_the_new_form(rankwright):
    old = rankwright("compare", "--folds", *OVER_FOLDS[1:], "--json")
    assert old.stderr.splitlines()[0].startswith(
        "--folds is a number of folds in other commands: write rankwright compare"
    )
    assert json.loads(old.stdout) == json.loads(rankwright(*OVER_FOLDS, "--json").stdout)


@pytest.mark.usefixtures("folds", "experiments_here")
def test_any_documents_can_be_cut_into_folds(rankwright):
    options = ("--rankers", "prank,adarank", "--folds", "3", "--trials", "1")
    result = rankwright("compare", "letor/Fold1/train.txt", *options)
    assert result.code == 0, result.stderr
    assert "on 6 queries" in result.stdout.splitlines()[-1]


@pytest.mark.usefixtures("folds", "experiments_here")
def test_results_of_another_comparison_are_refused(rankwright):
    arguments = OVER_FOLDS
    assert rankwright(*arguments).code == 0
    other = rankwright(*arguments, "--seed", "1")
    assert other.code == 2
    assert "other settings or on other data" in other.stderr


@pytest.mark.usefixtures("experiments_here")
def test_rankers_over_folds_of_a_table_with_columns_of_its_own(rankwright, tmp_path, monkeypatch, small_data):
    monkeypatch.chdir(tmp_path)
    rw.write(small_data, "plain.csv")
    header, rest = Path("plain.csv").read_text().split("\n", 1)
    Path("own.csv").write_text("search,stars," + header.split(",", 2)[2] + "\n" + rest)
    options = ("--rankers", "prank,adarank", "--folds", "3", "--trials", "1", "--json")
    plain = rankwright("compare", "plain.csv", *options)
    own = rankwright("compare", "own.csv", *options, "--query", "search", "--label", "stars")
    assert own.code == 0, own.stderr
    assert json.loads(own.stdout)["systems"] == json.loads(plain.stdout)["systems"]


@pytest.mark.parametrize("command", [("cv",), ("tune",), ("compare", "--rankers", "prank,adarank")])
def test_folders_of_letor_are_read_with_the_options_of_their_format(rankwright, tmp_path, small_data, command):
    rw.write(small_data, tmp_path / "train.txt")
    for part in ("Fold1/train.txt", "Fold1/vali.txt", "Fold1/test.txt"):
        (tmp_path / part).parent.mkdir(exist_ok=True)
        (tmp_path / part).write_bytes((tmp_path / "train.txt").read_bytes())
    told = rankwright(command[0], str(tmp_path), *command[1:], "--label", "stars")
    assert told.code == 2
    assert "svmlight files have no --query, --label and the like here" in told.stderr
