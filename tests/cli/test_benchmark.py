"""`rankwright benchmark`, as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import rankwright as rw

OVER_FOLDS = ("benchmark", "letor", "--rankers", "prank,adarank", "--trials", "2", "--results", "kept")


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
def test_any_documents_can_be_cut_into_folds(rankwright):
    options = ("--rankers", "prank,adarank", "--folds", "3", "--trials", "1")
    result = rankwright("benchmark", "letor/Fold1/train.txt", *options)
    assert result.code == 0, result.stderr
    assert "on 6 queries" in result.stdout.splitlines()[-1]


@pytest.mark.usefixtures("folds", "experiments_here")
def test_results_of_another_comparison_are_refused(rankwright):
    arguments = OVER_FOLDS
    assert rankwright(*arguments).code == 0
    other = rankwright(*arguments, "--seed", "1")
    assert other.code == 2
    assert "other settings or on other data" in other.stderr


@pytest.mark.usefixtures("folds", "experiments_here")
def test_a_table_of_queries_slices_and_a_page(rankwright):
    options = ("--per-query", "queries.tsv", "--slice", "documents", "--report", "page.html", "--json")
    made = rankwright(*OVER_FOLDS, *options)
    assert made.code == 0, made.stderr
    document = json.loads(made.stdout)
    assert {"systems", "chosen", "spread", "slices"} <= document.keys()
    header, *rows = Path("queries.tsv").read_text().splitlines()
    assert header.split("\t")[:3] == ["query", "documents", "prank:map"]
    assert len(rows) == document["queries"] == 12
    assert "prank" in Path("page.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("folds")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("letor",), "`rankwright benchmark` needs --rankers: rankwright benchmark DATA --rankers NAMES"),
        (("--rankers", "rankboost,adarank"), "`rankwright benchmark` needs DATA"),
        (("letor", "--rankers", "prank"), "needs two rankers or more, got prank"),
        (("letor", "--rankers", "prank,adarank", "--folds", "3"), "letor has folds of its own"),
        ((".", "--rankers", "rankboost,adarank"), "no folders Fold1"),
        ((".", "--rankers", "rankbost"), "did you mean 'rankboost'"),
        (("letor/Fold1/train.txt", "--rankers", "prank,adarank", "--folds", "2"), "needs 3 folds or more"),
        (("letor/Fold1/train.txt", "--rankers", "prank,adarank", "--seeds", "0"), "seeds must be 1 or more"),
        (("letor", "--rankers", "prank,adarank", "--fuse", "rrf"), "`rankwright compare` has it"),
        (("letor", "--rankers", "prank,adarank", "--slice", ","), "--slice names nothing to slice by"),
    ],
)
def test_wrong_usage_is_one_line(rankwright, arguments, message):
    result = rankwright("benchmark", *arguments)
    assert result.code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.usefixtures("folds", "experiments_here")
def test_seeds_and_folds_are_told_apart_from_queries(rankwright):
    arguments = ("benchmark", "letor", "--rankers", "lambdarank,adarank", "--trials", "1", "--seeds", "3")
    result = rankwright(*arguments, "--results", "kept")
    assert result.code == 0, result.stderr
    assert "of the uncertainty of the mean" in " ".join(result.stdout.split())
    document = json.loads(rankwright(*arguments, "--results", "kept", "--json").stdout)
    (spread,) = document["spread"]["map"].values()
    assert (spread["queries"], spread["seeds"], spread["folds"]) == (12, 3, 2)
    assert spread["variance"]["queries"] is not None
    kept = json.loads(Path("kept/Fold1-lambdarank.json").read_text())
    by_seed = np.array(kept["by_seed"]["map"])
    assert by_seed.shape == (3, 6)
    assert np.allclose(by_seed.mean(axis=0), kept["values"]["map"])
    other = rankwright("benchmark", "letor", "--rankers", "lambdarank,adarank", "--trials", "1", "--results", "kept")
    assert "other settings or on other data" in other.stderr


@pytest.mark.usefixtures("experiments_here")
def test_rankers_over_folds_of_a_table_with_columns_of_its_own(rankwright, tmp_path, monkeypatch, small_data):
    monkeypatch.chdir(tmp_path)
    rw.write(small_data, "plain.csv")
    header, rest = Path("plain.csv").read_text().split("\n", 1)
    Path("own.csv").write_text("search,stars," + header.split(",", 2)[2] + "\n" + rest)
    options = ("--rankers", "prank,adarank", "--folds", "3", "--trials", "1", "--json")
    plain = rankwright("benchmark", "plain.csv", *options)
    own = rankwright("benchmark", "own.csv", *options, "--query", "search", "--label", "stars")
    assert own.code == 0, own.stderr
    assert json.loads(own.stdout)["systems"] == json.loads(plain.stdout)["systems"]


@pytest.mark.parametrize("command", [("cv",), ("tune",), ("benchmark", "--rankers", "prank,adarank")])
def test_folders_of_letor_are_read_with_the_options_of_their_format(rankwright, tmp_path, small_data, command):
    rw.write(small_data, tmp_path / "train.txt")
    for part in ("Fold1/train.txt", "Fold1/vali.txt", "Fold1/test.txt"):
        (tmp_path / part).parent.mkdir(exist_ok=True)
        (tmp_path / part).write_bytes((tmp_path / "train.txt").read_bytes())
    told = rankwright(command[0], str(tmp_path), *command[1:], "--label", "stars")
    assert told.code == 2
    assert "svmlight files have no --query, --label and the like here" in told.stderr
