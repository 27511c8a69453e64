"""Reading a model, whoever made it, opens that file and does nothing else: Python's audit events are the witness."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import rankwright as rw

# What reading a file must never cause, not even the first time, when modules are imported.
NEVER = ("subprocess.", "socket.", "os.system", "os.exec", "os.spawn", "os.posix_spawn", "os.fork", "pickle.",
         "shutil.", "os.remove", "os.rename", "os.mkdir", "urllib.")  # fmt: skip
WATCH = """
import json, sys
import rankwright as rw
paths, heard = json.loads(sys.stdin.read()), []
def listen(event, arguments):
    if watching:
        heard.append([event, [str(one) for one in arguments[:2]]])
def load(path):
    try:
        rw.load(path)
    except rw.RankwrightError as error:
        assert "strange" in str(error)
watching = False
sys.addaudithook(listen)
found = {}
for path in paths:
    times = []
    for _ in range(2):
        heard.clear()
        watching = True
        load(path)
        watching = False
        times.append(list(heard))
    found[path] = times
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def heard(tmp_path_factory):
    """What is heard while each file is read for the first and for the second time, in a process of its own."""
    folder = tmp_path_factory.mktemp("audited")
    features = np.random.default_rng(0).normal(size=(60, 3)).astype(np.float32)
    data = rw.RankingDataset.from_arrays(features, features[:, 0] > 0, qid=np.repeat(np.arange(6), 10))
    forest = rw.LambdaMART(n_trees=2, max_leaves=4).fit(data)
    for name in ("lightgbm", "xgboost-json", "xgboost-ubj", "onnx", "ranklib"):
        forest.export(folder / name, to=name, missing="never")
    for ranker in (
        forest,
        rw.RankNet(epochs=1).fit(data),
        rw.RankSVM().fit(data),
        rw.BLMART(n_bags=2, n_trees=2).fit(data),
    ):
        ranker.save(folder / f"{ranker.name}.rw")
    content = (folder / "lambdamart.rw").read_bytes()
    (folder / "strange.rw").write_bytes(content.replace(b'"lambdamart"', b'"os.system."'))
    paths = [str(path) for path in sorted(folder.iterdir()) if path.suffix in ("", ".rw")]
    ran = subprocess.run(
        [sys.executable, "-c", WATCH], input=json.dumps(paths), text=True, capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_nothing_runs_and_nothing_is_written(heard):
    assert len(heard) >= 10
    for path, times in heard.items():
        for event, arguments in (one for time in times for one in time):
            assert not event.startswith(NEVER), (path, event, arguments)
            assert event != "open" or "w" not in arguments[1], (path, arguments)


def test_once_modules_are_there_only_the_file_is_opened(heard):
    harmless = {"open", "builtins.id", "object.__getattr__", "mmap.__new__"}
    for path, (_, second) in heard.items():
        assert {event for event, _ in second} <= harmless, (path, second)
        assert {arguments[0] for event, arguments in second if event == "open"} == {path}
