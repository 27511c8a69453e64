"""Training, scoring and evaluating from the command line, as one story."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest

import rankwright as rw

MODEL = "model.rw"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Train, valid and test data, and a model trained on them."""
    folder = tmp_path_factory.mktemp("train")
    train, valid, test = rw.synthetic.web_search(n_queries=30, seed=3).split(valid=0.2, test=0.2, seed=0)
    for part, name in ((train, "train.txt.gz"), (valid, "valid.txt"), (test, "test.txt")):
        rw.write_svmlight(part, folder / name)
    rw.LambdaMART(n_trees=6, max_leaves=5).fit(rw.read(folder / "train.txt.gz")).save(folder / MODEL)
    return folder


@pytest.fixture
def run(rankwright, folder, monkeypatch):
    monkeypatch.chdir(folder)
    return rankwright


def test_training_tells_what_it_chose_and_measured(run, folder):
    parts = ["--valid", "valid.txt", "--test", "test.txt", "--set", "n_trees=6", "--set", "max_leaves=5"]
    result = run("train", "train.txt.gz", *parts, "--out", "chosen.rw", "--json")
    assert result.code == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["watched"] == "ndcg@10"
    assert told["valid"]["metrics"]["ndcg@10"]["mean"] == pytest.approx(told["best_value"])
    chosen = rw.load(folder / "chosen.rw")
    assert chosen.n_trees_ == told["best_step"] + 1
    assert told["test"]["metrics"]["ndcg@10"]["mean"] == pytest.approx(chosen.score(rw.read(folder / "test.txt")))


def test_scores_are_the_models_in_input_order(run, folder):
    result = run("score", MODEL, "test.txt")
    expected = rw.load(folder / MODEL).predict(rw.read(folder / "test.txt"))
    assert [float(line) for line in result.stdout.splitlines()] == expected.tolist()


def test_a_run_and_objects_say_the_same(run, folder):
    assert run("score", MODEL, "test.txt", "--to", "trec", "--out", "test.run").code == 0
    objects = [json.loads(line) for line in run("score", MODEL, "test.txt", "--to", "jsonl").stdout.splitlines()]
    scores = rw.load(folder / MODEL).predict(rw.read(folder / "test.txt"))
    assert [entry["score"] for entry in objects] == scores.tolist()
    assert sorted(rw.read_run(folder / "test.run").scores.tolist()) == sorted(scores.tolist())


def test_evaluating_a_model_is_evaluating_its_scores(run):
    run("score", MODEL, "test.txt", "--out", "scores.txt")
    by_model, by_scores = (
        json.loads(run("evaluate", "test.txt", *what, "--json").stdout)
        for what in (["--model", MODEL], ["--scores", "scores.txt"])
    )
    assert by_model == by_scores


@pytest.mark.parametrize(
    "settings",
    [["max_leaves=5", "n_trees=60"], ["epochs=60", "dropout=0.2", "hidden=[4]"]],
    ids=["lambdamart", "ranknet"],
)
def test_a_killed_run_goes_on_to_the_same_model(run, folder, settings, request):
    ranker = request.node.callspec.id
    chosen = [word for setting in settings for word in ("--set", setting)]
    base = ["train", "train.txt.gz", "--ranker", ranker, *chosen, "--out"]
    assert run(*base, "whole.rw").code == 0
    slowly = (
        "import time, rankwright.training.driver as c\n"
        "save, c.SECONDS_BETWEEN = c.Checkpoint.save, 0.0\n"
        "c.Checkpoint.save = lambda *state: (save(*state), time.sleep(0.05))\n"
        "from rankwright.cli.app import main; main()"
    )
    state = f"state-{ranker}"
    command = [sys.executable, "-c", slowly, *base, "never.rw", "--checkpoint", state]
    process = subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL)
    while not (folder / state / "checkpoint.rw").exists():
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert not (folder / "never.rw").exists()
    assert run(*base, "resumed.rw", "--checkpoint", state).code == 0
    assert (folder / "resumed.rw").read_bytes() == (folder / "whole.rw").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "train.txt.gz", "--out", "x.rw", "--ranker", "lambdamort"], "did you mean 'lambdamart'?"),
        (["train", "train.txt.gz", "--out", "x.rw", "--set", "leaves=3"], "unknown setting of lambdamart 'leaves'"),
        (["train", "train.txt.gz", "--out", "x.rw", "--set", "max_leaves=1"], "max_leaves must be between 2 and"),
        (["train", "train.txt.gz", "--out", "x.rw", "--set", "max_leaves"], "a setting reads like max_leaves=15"),
        (["train", "train.txt.gz", "--out", "-"], "a model goes to a file"),
        (["score", "test.txt", "test.txt"], "test.txt: this is not a file of Rankwright's"),
        (["evaluate", "test.txt"], "nothing to evaluate"),
    ],
)
def test_what_is_wrong_is_said_on_one_line(run, folder, arguments, message):
    result = run(*arguments)
    assert result.code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (folder / "x.rw").exists()


def test_the_rankers_are_listed(run):
    names = [row["name"] for row in json.loads(run("list", "rankers", "--json").stdout)["rankers"]]
    forests = "lambdamart bl-mart mart bagboo"
    nets = "ranknet lambdarank net sortnet bagging blend"
    linear = (
        "linear-regression prank kernel-prank oap-bpm rankprop ranksvm ranksvm-struct svmmap listnet smoothrank crr"
    )
    boosted = "adarank rankboost frank boltzrank coordinate-ascent"
    assert names == f"{forests} {nets} {linear} {boosted}".split()


def test_the_help_says_where_settings_are_listed(rankwright, monkeypatch):
    monkeypatch.setenv("COLUMNS", "400")
    assert "`rankwright list settings RANKER` shows them all" in rankwright("train", "--help").stdout
