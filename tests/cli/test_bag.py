"""`rankwright bag`: bagged models, the study of their variance, and runs that are killed."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time

import pytest

import rankwright as rw

TRAINED_BY = [["--threads", "1"], ["--threads", "2"], ["--cluster", "local", "--workers", "2"]]
TREES = ["--set", "n_trees=3", "--set", "max_leaves=4"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bag")
    parts = rw.synthetic.web_search(n_queries=40, seed=3).split(valid=0.3, test=0.3, seed=0)
    for name, part in zip(("train", "valid", "test"), parts, strict=True):
        rw.write_svmlight(part, folder / f"{name}.txt")
    return folder


@pytest.fixture
def run(rankwright, folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    return rankwright


def test_it_is_a_thin_form_of_train(run, folder):
    told = run("bag", "train.txt", "--bags", "3", *TREES, "--test", "test.txt", "--out", "bag.rw", "--json")
    assert told.code == 0, told.stderr
    assert json.loads(told.stdout)["ranker"] == "bl-mart"
    assert json.loads(told.stdout)["test"]["queries"] == 12
    same = ["train", "train.txt", "--ranker", "blmart", "--set", "n_bags=3", *TREES, "--out", "same.rw", "--no-profile"]
    assert run(*same).stdout.splitlines()[1].startswith("last ndcg@10")  # bags are not chosen among
    assert (folder / "same.rw").read_bytes() == (folder / "bag.rw").read_bytes()
    assert rw.load(folder / "bag.rw").n_bags_ == 3


@pytest.mark.parametrize(
    ("ranker", "settings", "name"),
    [
        ("mart", ["n_trees=2"], "bagboo"),
        ("ranknet", ["epochs=2", "hidden=[3]"], "bagging"),
        ("sortnet", ["max_iter=1", "epochs=2"], "bagging"),
    ],
)
def test_any_ranker_can_be_bagged(ranker, settings, name, run, folder):
    chosen = [part for setting in settings for part in ("--set", setting)]
    told = run("bag", "train.txt", "--ranker", ranker, "--bags", "2", *chosen, "--out", "any.rw")
    assert told.code == 0, told.stderr
    assert rw.load(folder / "any.rw").name == name
    assert run("score", "any.rw", "test.txt", "--out", "scores.txt").code == 0
    described = json.loads(run("inspect", "any.rw", "--json").stdout)
    assert described["model"]["bags"] == 2


def test_the_study_tells_means_and_variances_and_draws_them(run, folder):
    arguments = ["bag", "--study", "train.txt", "--valid", "valid.txt", "--test", "test.txt", "--samples", "3"]
    arguments += ["--bags", "3", *TREES, "--metrics", "ndcg@3,map", "--picture", "png", "--out", "study"]
    told = run(*arguments, "--json")
    assert told.code == 0, told.stderr
    document = json.loads(told.stdout)
    assert len(document["table"]) == 4 * 2
    assert sorted(path.name for path in (folder / "study").iterdir()) == [
        "bags.csv", "bags.png", "samples.csv", "study.json", "table.csv", "trees.csv", "trees.png",
    ]  # fmt: skip
    with (folder / "study" / "bags.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * 3
    last = next(row for row in rows if row["bags"] == "3" and row["metric"] == "map" and "with o" in row["ranker"])
    cell = next(row for row in document["table"] if row["metric"] == "map" and "with o" in row["ranker"])
    assert float(last["mean"]) == pytest.approx(cell["mean"], abs=1e-12)
    shown = run(*arguments)
    assert "BL-MART with overfitting" in shown.stdout
    assert "over 3 samples of 50% of the training queries" in shown.stdout


def test_parts_that_are_not_given_are_held_back(run):
    arguments = ["bag", "--study", "train.txt", "--samples", "2", "--bags", "2", *TREES, "--metrics", "map"]
    told = run(*arguments, "--out", "held", "--json")
    assert told.code == 0, told.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--samples", "1"], "a variance needs 2 samples or more, got 1"),
        (["--sample-fraction", "1"], "between 0 and 1, got 1.0"),
        (["--ranker", "mart"], "--study compares LambdaMART with BL-MART"),
        (["--set", "wings=2"], "unknown setting of bl-mart 'wings'"),
        (["--metrics", "wings"], "unknown metric 'wings'"),
        (["--picture", "gif"], "a picture is one of svg, png, pdf, got 'gif'"),
    ],
)
def test_nonsense_is_told_in_one_line(arguments, message, run, folder):
    told = run("bag", "--study", "train.txt", *arguments, "--out", "wrong")
    assert told.code == 2
    assert message in told.stderr
    assert told.stderr.count("\n") == 1
    assert not (folder / "wrong").exists()


# A driver that rests after each bag it saved, so that it can be caught in the middle.
SLOWLY = [
    sys.executable,
    "-c",
    "import time, rankwright.bagging.bag_training as b\n"
    "save = b.BagFiles.save\n"
    "b.BagFiles.save = lambda *bag: (save(*bag), time.sleep(0.1))\n"
    "from rankwright.cli.app import main; main()",
]
SMALL = ["bag", "train.txt", *TREES]


def finished_bags(checkpoint):
    return {path: path.stat().st_mtime_ns for path in checkpoint.glob("bag-*/checkpoint.rw")}


def wait_for_bags(number, checkpoint, process):
    while len(finished_bags(checkpoint)) < number and process.poll() is None:
        time.sleep(0.005)


@pytest.fixture(scope="module")
def twelve_bags(folder):
    """The file of twelve bags that nobody interrupted."""
    rw.BLMART(n_bags=12, n_trees=3, max_leaves=4).fit(folder / "train.txt").save(folder / "whole.rw")
    return (folder / "whole.rw").read_bytes()


@pytest.mark.parametrize("who", TRAINED_BY, ids=" ".join)
def test_a_run_killed_at_any_moment_goes_on_to_the_identical_file(who, run, folder, twelve_bags, tmp_path):
    arguments = [*SMALL, "--bags", "12", "--checkpoint", str(tmp_path)]
    with subprocess.Popen([*SLOWLY, *arguments, *who, "--out", "never.rw"], cwd=folder) as process:
        wait_for_bags(3, tmp_path, process)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    finished = finished_bags(tmp_path)
    assert 3 <= len(finished) < 12
    assert run(*arguments, "--out", "resumed.rw").code == 0
    assert {path: path.stat().st_mtime_ns for path in finished} == finished  # not trained again
    assert (folder / "resumed.rw").read_bytes() == twelve_bags
    assert not (folder / "never.rw").exists()


@pytest.mark.parametrize("who", TRAINED_BY, ids=" ".join)
def test_ctrl_c_keeps_the_bags_that_are_finished(who, folder, tmp_path):
    arguments = [*SMALL, "--bags", "1000", *who, "--out", "kept.rw", "--checkpoint", str(tmp_path)]
    with subprocess.Popen([*SLOWLY, *arguments], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not (tmp_path / "bag-0000" / "checkpoint.rw").exists() and process.poll() is None:
            time.sleep(0.005)
        wait_for_bags(len(finished_bags(tmp_path)) + 3, tmp_path, process)  # so that the first one is taken
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert errors.decode().count("interrupted after") == 1
    model = rw.load(folder / "kept.rw")
    assert model.history_.interrupted
    assert 2 <= model.n_bags_ < 1000
    assert len(model.history_.values) == model.n_bags_


def test_workers_write_the_same_file(run, folder):
    bag = [*SMALL, "--bags", "3"]
    assert run(*bag, "--out", "threads.rw").code == 0
    told = run(*bag, "--cluster", "local", "--workers", "2", "--out", "workers.rw", "--json")
    assert told.code == 0, told.stderr
    assert json.loads(told.stdout)["steps"] == 3
    assert (folder / "threads.rw").read_bytes() == (folder / "workers.rw").read_bytes()


def test_ray_writes_the_same_file(run, folder, two_nodes):
    bag = [*SMALL, "--bags", "3"]
    assert run(*bag, "--out", "threads.rw").code == 0
    told = run(*bag, "--cluster", two_nodes.address, "--out", "ray.rw", "--json")
    assert told.code == 0, told.stderr
    assert json.loads(told.stdout)["steps"] == 3
    assert (folder / "threads.rw").read_bytes() == (folder / "ray.rw").read_bytes()


def test_a_folder_of_shards_is_bagged(run, folder):
    (folder / "shards").mkdir()
    for part in ("train", "test"):
        data = rw.read(folder / f"{part}.txt")
        rw.write(data, folder / "shards" / f"{part}.parquet")
    bag = ["bag", "shards", "--bags", "3", "--overfit", *TREES, "--set", "bag_fraction=0.3"]
    told = run(*bag, "--valid", "valid.txt", "--out", "sharded.rw")
    assert told.code == 0, told.stderr
    assert told.stdout.splitlines()[1].startswith("last ndcg@10")
    assert rw.load(folder / "sharded.rw").n_bags_ == 3


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--workers", "2"], "--workers goes with --cluster"),
        (["--cluster", "local", "--workers", "0"], "workers must be 1 or more, got 0"),
        (["--cluster", "127.0.0.1:1"], "there is no Ray cluster to join at 127.0.0.1:1"),
        (["--cluster", "atuo"], "local, auto, or the HOST:PORT of a Ray cluster, got 'atuo'"),
        (["--study", "--cluster", "local"], "--study trains here"),
    ],
)
def test_a_wrong_cluster_is_told_in_a_line(options, problem, run):
    told = run("bag", "train.txt", *options, "--out", "wrong.rw")
    assert told.code == 2
    assert problem in told.stderr
    assert told.stderr.count("\n") == 1
