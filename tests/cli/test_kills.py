"""Commands killed in the middle of their writes: files are whole, the next run ends as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwright as rw

SWEEP = Path(__file__).with_name("kill_sweep.py")
ROOT = Path(__file__).parents[2]
TREES = ["--set", "n_trees=3", "--set", "max_leaves=4", "--set", "min_docs_in_leaf=5", "--seed", "1"]
OLD = "what was there before"
# Records hold times, and are named by the process that wrote them.
STUDY = ["records/", "searches/", "refit.json", "claims.lock"]

CASES: dict[str, dict[str, Any]] = {
    "train": {
        "command": [
            "train",
            "{}/data.txt",
            *TREES,
            "--threads",
            "1",
            "--checkpoint",
            "saved",
            "--out",
            "model.rw",
            "--force",
        ],
        "old": {"model.rw": OLD},
    },
    "bag": {
        "command": [
            *["bag", "{}/data.txt", "--bags", "2", *TREES, "--threads", "1", "--checkpoint", "saved"],
            *["--out", "model.rw", "--force"],
        ],
        "old": {"model.rw": OLD},
    },
    "tune": {
        "command": [
            *["tune", "{}/data.txt", "--folds", "2", "--set", "n_trees=4", "--search", "max_leaves=3,4"],
            *["--strategy", "halving", "--min-budget", "1", "--study", "study", "--out", "model.rw", "--force"],
        ],
        "old": {"model.rw": OLD},
        "unlike": [f"study/{name}" for name in STUDY],
    },
    "benchmark": {
        "command": [
            *["benchmark", "{}/letor", "--rankers", "linear-regression,prank", "--strategy", "random"],
            *["--trials", "1", "--results", "results", "--per-query", "queries.tsv", "--force"],
        ],
        "old": {"queries.tsv": OLD},
        "unlike": STUDY,
    },
    "compress": {
        "command": [
            *["compress", "{}/model.rw", "--data", "{}/data.txt", "--means", "exact,prune", "--threads", "1"],
            *["--out", "small.rw", "--force"],
        ],
        "old": {"small.rw": OLD},
        "unlike": ["stdout"],  # it tells how fast models score
    },
    "convert": {"command": ["convert", "{}/data.txt", "data.parquet", "--force"], "old": {"data.parquet": OLD}},
    "convert, compressed": {
        "command": ["convert", "{}/data.txt", "data.csv.gz", "--force"],
        "old": {"data.csv.gz": OLD},
    },
    "score": {"command": ["score", "{}/model.rw", "-", "--out", "scores.txt", "--force"], "old": {"scores.txt": OLD}},
}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kills")
    features = np.random.default_rng(0).random((120, 4)).astype(np.float32)
    data = rw.RankingDataset.from_arrays(features, (3 * features[:, 0]).astype(int), group=np.full(12, 10))
    rw.write_svmlight(data, folder / "data.txt")
    (folder / "letor" / "Fold1").mkdir(parents=True)
    for part in ("train", "vali", "test"):
        rw.write_svmlight(data, folder / "letor" / "Fold1" / f"{part}.txt")
    rw.LambdaMART(n_trees=4, max_leaves=4, min_docs_in_leaf=5, threads=1).fit(data).save(folder / "model.rw")
    return folder


def sweep(names: Iterable[str], kills: int | None, inputs: Path, folder: Path) -> dict[str, dict[str, Any]]:
    """What was found about commands that were killed at some writes, about so many, or at all."""
    cases = {name: {"unlike": [], "kills": kills} | CASES[name] for name in names}
    for case in cases.values():
        case["command"] = [argument.format(inputs) for argument in case["command"]]
    search_path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    with (inputs / "data.txt").open("rb") as data:
        result = subprocess.run(
            [sys.executable, str(SWEEP), str(folder.resolve()), json.dumps(cases)],
            capture_output=True, text=True, check=False, stdin=data,
            env=os.environ | {"PYTHONPATH": search_path, "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
    assert result.returncode == 0, result.stderr
    found: dict[str, dict[str, Any]] = json.loads(result.stdout)
    return found


def test_a_kill_at_some_writes_costs_nothing(inputs, tmp_path):
    found = sweep(CASES, 3, inputs, tmp_path)
    assert {name: own["faults"] for name, own in found.items()} == {name: [] for name in CASES}
    assert all(len(own["killed"]) >= 3 for own in found.values())


@pytest.mark.slow
def test_a_kill_costs_nothing_where_others_do_the_work(inputs, tmp_path, monkeypatch):
    processes = CASES["tune"] | {"command": [*CASES["tune"]["command"], "--workers", "2"]}
    monkeypatch.setitem(CASES, "tune on processes", processes)
    found = sweep(["tune on processes"], 6, inputs, tmp_path)["tune on processes"]
    assert found["faults"] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_kill_at_any_write_costs_nothing(name, inputs, tmp_path):
    found = sweep([name], None, inputs, tmp_path)[name]
    assert found["faults"] == []
    assert len(found["killed"]) == found["writes"] >= 5
