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


TWO = ("--scores", "best=perfect.txt", "--scores", "chance=chance.txt")


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
        (("data.txt", "--rankers", "prank,adarank", "--seeds", "0"), "seeds must be 1 or more"),
        (("data.txt", "--rankers", "prank,adarank", "--fuse", "rrf"), "leave out --fuse and --diff"),
        (("data.txt", "--seeds", "3"), "--seeds goes with --rankers"),
        (("data.txt", *TWO, "--fuse", "rff"), "did you mean 'rrf'"),
        (("data.txt", *TWO, "--top", "3"), "--top goes with --diff"),
        (("data.txt", *TWO, "--diff", "best"), "two systems, A,B, got 'best'"),
        (("data.txt", *TWO, "--diff", "best,chnce"), "did you mean 'chance'"),
        (("data.txt", *TWO, "--slice", "6"), "unknown value of queries '6'"),
        (("data.txt", *TWO, "--slices", "short.txt"), "has no header of query and columns"),
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


@pytest.mark.usefixtures("files")
def test_fused_sliced_and_side_by_side_in_80_columns(rankwright, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    closer = ("--slice", "documents,1", "--diff", "best,chance", "--top", "2", "--fuse", "rrf,combsum")
    result = rankwright("compare", "data.txt", *TWO, "--metrics", "ndcg@10,map", *closer)
    assert result.code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert max(map(len, lines)) <= 80
    for told in ("t-test", "won/tied/lost", "four times out of five", "query", "▼", "rrf", "combsum"):
        assert told in " ".join(result.stdout.split()), told
    assert "ndcg@10 by documents: " in result.stdout
    assert "lost 2 of 2" in result.stdout
    assert "best is better than" in " ".join(lines[-4:])


@pytest.mark.usefixtures("files")
def test_the_same_as_json_and_as_markdown(rankwright, small_data):
    lines = [f"{query}\t{'even' if query % 2 == 0 else 'odd'}" for query in small_data.query_ids.tolist()]
    Path("columns.tsv").write_text("\n".join(["query\tkind", *lines]))
    arguments = ("compare", "data.txt", *TWO, "--metrics", "map", "--slices", "columns.tsv", "--diff", "best,chance")
    document = json.loads(rankwright(*arguments, "--json").stdout)
    against = document["systems"]["chance"]["map"]["against_best"]
    assert against["wins"] + against["ties"] + against["losses"] == against["queries"] == 40
    assert against["effect"] == "large"
    assert {"t_p_value", "t_p_value_holm", "detectable", "queries_needed", "standard_error"} <= against.keys()
    assert [test["slice"] for test in document["slices"]["tests"]] == ["even", "odd"]
    assert document["diff"]["systems"] == ["best", "chance"]
    assert len(document["diff"]["queries"]) == 20
    assert document["conclusion"].startswith("best is better than chance")
    text = rankwright(*arguments, "--markdown").stdout
    assert "| even | 20 |" in text
    assert text.rstrip().endswith(document["conclusion"])


@pytest.mark.usefixtures("folds", "experiments_here")
def test_seeds_and_folds_are_told_apart_from_queries(rankwright):
    arguments = ("compare", "letor", "--rankers", "lambdarank,adarank", "--trials", "1", "--seeds", "3")
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
    other = rankwright("compare", "letor", "--rankers", "lambdarank,adarank", "--trials", "1", "--results", "kept")
    assert "other settings or on other data" in other.stderr


RUNS = {"a.run": "q Q0 x 1 3 a\nq Q0 y 2 2 a\n", "b.run": "q Q0 y 1 9 b\nq Q0 z 2 1 b\n"}


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in RUNS.items():
        Path(name).write_text(text)
    Path("qrels").write_text("q 0 y 1\nq 0 x 0\n")


@pytest.mark.usefixtures("runs")
def test_runs_are_fused_into_a_run(rankwright):
    result = rankwright("fuse", "a.run", "b.run", "--method", "combmnz", "--weights", "1,2", "--out", "fused.run")
    assert result.code == 0, result.stderr
    # y: 2 runs have it, with 0 of 1 and 1 of 1; x: 1 of 1 in one run; z: 0 in one.
    expected = ["q Q0 y 1 4.0 combmnz", "q Q0 x 2 1.0 combmnz", "q Q0 z 3 0.0 combmnz"]
    assert Path("fused.run").read_text().splitlines() == expected
    whole = rankwright("fuse", "a.run", "b.run", "--out", "-", "--tag", "mine")
    assert whole.stdout.splitlines()[0] == f"q Q0 y 1 {1 / 61 + 1 / 62!r} mine"


@pytest.mark.usefixtures("runs")
def test_a_fusion_of_runs_is_one_more_system(rankwright):
    arguments = ("compare", "--run", "a.run", "--run", "b.run", "--qrels", "qrels", "--metrics", "mrr")
    document = json.loads(rankwright(*arguments, "--fuse", "rrf", "--json").stdout)
    assert {name: own["mrr"]["mean"] for name, own in document["systems"].items()} == {
        "a.run": 0.5,
        "b.run": 1.0,
        "rrf": 1.0,
    }


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.run", "--out", "f"), "two systems or more, got 1"),
        (("a.run", "b.run", "--method", "comb", "--out", "f"), "unknown method of fusion 'comb'"),
        (("a.run", "b.run", "--weights", "1,x", "--out", "f"), "numbers separated by commas, found 'x'"),
        (("a.run", "b.run", "--weights", "1", "--out", "f"), "weights must have 2 values, got 1"),
        (("a.run", "b.run", "--normalisation", "max", "--out", "f"), "rrf looks at ranks"),
    ],
)
def test_what_cannot_be_fused_is_one_line(rankwright, arguments, message):
    result = rankwright("fuse", *arguments)
    assert result.code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path("f").exists()


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
