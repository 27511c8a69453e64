"""A full disk, and a folder that cannot be written to: every command names the user's path in one line."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from tests.here_engine import HereEngine

import rankwright as rw
from rankwright.catalog import training
from rankwright.tuning import cross_validation, tuner

FORBIDDEN = Path("/sys")  # where not even root may create a file
SMALL_TREES = ["--set", "n_trees=3", "--set", "max_leaves=4", "--threads", "1"]
SEARCH = ["--set", "n_trees=2", "--search", "max_leaves=3,4", "--strategy", "grid"]
FOLDS = ["--rankers", "linear-regression,prank", "--strategy", "random", "--trials", "1"]

# The arguments of each command, and the path that its error names; {} is the folder that cannot be written to.
COMMANDS: dict[str, tuple[list[str], str]] = {
    "train": (["train", "data.txt", *SMALL_TREES, "--out", "{}/m.rw"], "{}/m.rw"),
    "train, checkpoint": (["train", "data.txt", *SMALL_TREES, "--out", "m2.rw", "--checkpoint", "{}/c"], "{}/c"),
    "bag": (["bag", "data.txt", "--bags", "2", *SMALL_TREES, "--out", "{}/b.rw"], "{}/b.rw"),
    "tune": (["tune", "data.txt", "--valid", "data.txt", *SEARCH, "--out", "{}/t.rw"], "{}/t.rw"),
    "tune, study": (
        ["tune", "data.txt", "--valid", "data.txt", *SEARCH, "--study", "{}/study", "--out", "t2.rw"],
        "{}/study",
    ),
    "cv": (["cv", "data.txt", "--folds", "2", *SMALL_TREES[:-2], "--per-query", "{}/q.csv"], "{}/q.csv"),
    "benchmark": (["benchmark", "letor", *FOLDS, "--results", "{}/r"], "{}/r"),
    "compress": (["compress", "model.rw", "--data", "data.txt", "--out", "{}/s.rw"], "{}/s.rw"),
    "convert": (["convert", "data.txt", "{}/d.csv"], "{}/d.csv"),
    "convert to Parquet": (["convert", "data.txt", "{}/d.parquet"], "{}/d.parquet"),
    "convert to .gz": (["convert", "data.txt", "{}/d.txt.gz"], "{}/d.txt.gz"),
    "convert to .zst": (["convert", "data.txt", "{}/d.txt.zst"], "{}/d.txt.zst"),
    "score": (["score", "model.rw", "data.txt", "--out", "{}/s.txt"], "{}/s.txt"),
    "evaluate": (["evaluate", "data.txt", "--model", "model.rw", "--per-query", "{}/q.tsv"], "{}/q.tsv"),
    "quickstart": (["quickstart", "--out", "{}/q"], "{}/q"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("no-room")
    rng = np.random.default_rng(0)
    features = rng.random((600, 6)).astype(np.float32)
    data = rw.RankingDataset.from_arrays(features, (3 * features[:, 0]).astype(int), group=np.full(60, 10))
    rw.write_svmlight(data, folder / "data.txt")
    for part in ("train", "vali", "test"):
        (folder / "letor" / "Fold1").mkdir(parents=True, exist_ok=True)
        rw.write_svmlight(data.take_queries(np.arange(20)), folder / "letor" / "Fold1" / f"{part}.txt")
    rw.LambdaMART(n_trees=40, max_leaves=8).fit(data).save(folder / "model.rw")
    return folder


@pytest.fixture(autouse=True)
def no_processes(monkeypatch, folder):
    monkeypatch.chdir(folder)
    for module in (training, tuner, cross_validation):
        monkeypatch.setattr(module, "open_engine", lambda *_: HereEngine())


@contextmanager
def full_disk() -> Iterator[None]:
    """In this block files cannot grow beyond 300 bytes; the system says so when they are written to."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (300, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


# Without --study, `tune` writes its records elsewhere, before the model.
@pytest.mark.parametrize("name", [name for name in COMMANDS if name != "tune"])
def test_a_full_disk_is_told_with_the_path_that_was_given(rankwright, tmp_path, name):
    arguments, path = COMMANDS[name]
    with full_disk():
        result = rankwright(*(argument.format(tmp_path) for argument in arguments))
    assert result.code == 2
    *_, told = result.stderr.splitlines()
    assert told.startswith(f"error: {path.format(tmp_path)}")
    assert told.endswith(": file too large")
    assert "Traceback" not in result.stderr
    assert not list(tmp_path.rglob("*.tmp"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full here")
@pytest.mark.parametrize("arguments", [["list", "rankers"], ["convert", "data.txt", "-", "--to", "csv"]], ids=" ".join)
def test_results_that_cannot_be_printed_are_told(arguments):
    command = [sys.executable, "-c", "from rankwright.cli.app import main; main()", *arguments]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (result.returncode, result.stderr) == (2, "error: standard output: no space left on device\n")


@pytest.mark.skipif(not FORBIDDEN.is_dir(), reason="there is no /sys here")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_folder_that_cannot_be_written_to_is_told_with_the_path_that_was_given(rankwright, name):
    arguments, path = COMMANDS[name]
    result = rankwright(*(argument.format(FORBIDDEN) for argument in arguments))
    assert result.code == 2
    *_, told = result.stderr.splitlines()
    assert told.startswith(f"error: {path.format(FORBIDDEN)}")
    assert told.endswith((": permission denied", ": operation not permitted", ": read-only file system"))
