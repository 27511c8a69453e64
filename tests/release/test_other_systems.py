"""The package without what other systems lack: Windows has no fcntl and no resource, macOS no nameless files in memory.

Nobody has run it on those systems. Here a process takes away what they lack before the package is loaded, and then
trains, saves, loads, bags and tunes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rankwright.cluster.in_process import SerialEngine
from rankwright.cluster.opening import open_engine
from rankwright.cluster.shared_memory import SharedValue, mapped_value
from rankwright.errors import ClusterError

# `sys.platform` is another one only while our module of locks is loaded: other libraries ask it too.
WITHOUT_POSIX = """
import os, socket, sys, types
import numpy, scipy.stats, sklearn.base, safetensors, rich, typer
held = set()
def locking(descriptor, mode, n):
    place = (os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR))
    if mode == 1 and place in held:
        raise OSError("held")
    (held.add if mode == 1 else held.discard)(place)
sys.modules["msvcrt"] = types.SimpleNamespace(locking=locking, LK_NBLCK=1, LK_UNLCK=0)
sys.modules["fcntl"] = sys.modules["resource"] = None
for name in ("geteuid", "sysconf", "memfd_create", "fork", "sched_getaffinity"):
    delattr(os, name)
del os.O_NOFOLLOW, os.O_NONBLOCK, os.O_CLOEXEC
del socket.send_fds, socket.recv_fds, socket.AF_UNIX
really, sys.platform = sys.platform, "win32"
import rankwright.container.locks
sys.platform = really

import rankwright as rw
from pathlib import Path
from rankwright.settings.spaces import Choice

data = rw.synthetic.web_search(20, docs_per_query=12, seed=0)
Path(".rankwright-0123456789ab.tmp").write_text("left by a process that was killed")
ranker = rw.LambdaMART(n_trees=5, min_docs_in_leaf=2).fit(data)
ranker.save("model.rw")
assert (rw.load("model.rw").predict(data) == ranker.predict(data)).all()
assert sorted(path.name for path in Path().iterdir()) == ["model.rw"]
with rw.open_engine(workers=2) as engine:
    assert rw.BLMART(n_bags=2, n_trees=3).on(engine).fit(data).n_bags_ == 2
plan = rw.TuningPlan(trials=2, folds=2)
found = rw.tune(rw.LambdaMART(n_trees=3), data, space={"l2": Choice((0.0, 1.0))}, plan=plan, study="study")
assert found.settings
print("done")
"""


CORE = Path(__file__).parents[2] / "native" / "core"
FOR_ARM64 = shutil.which("aarch64-linux-gnu-g++")  # apt install g++-aarch64-linux-gnu


@pytest.mark.slow
@pytest.mark.skipif(FOR_ARM64 is None, reason="there is no compiler for arm64 here")
@pytest.mark.parametrize("source", sorted(CORE.glob("*/*.cpp")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_kernels_compile_for_arm64(source):
    options = ["-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Wno-psabi", "-Werror"]
    command = [str(FOR_ARM64), *options, "-ffp-contract=off", f"-I{CORE.parent}", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_it_runs_without_what_windows_lacks(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.stdout == "done\n", done.stderr


def test_values_are_shared_without_files_in_memory(monkeypatch):
    monkeypatch.delattr(os, "memfd_create")
    shared = SharedValue({"a": b"some bytes"})
    try:
        assert mapped_value(os.dup(shared.descriptor), shared.layout) == {"a": b"some bytes"}
    finally:
        shared.close()


def test_tasks_run_one_after_another_where_processes_cannot_be_handed_files(monkeypatch):
    monkeypatch.delattr("socket.send_fds")
    heard = []
    with open_engine(workers=4) as engine:
        assert isinstance(engine, SerialEngine)
        assert engine.share("first", key="data") == engine.share("second", key="data") == "first"
        done = list(engine.run(_joined, "ab", shared="x", listener=lambda *told: heard.append(told)))
        with pytest.raises(ClusterError, match="one model on several processes"):
            engine.crew()
    assert [(one.number, one.result) for one in done] == [(0, "xa"), (1, "xb")]
    assert heard == [(0, "a"), (1, "b")]


def _joined(shared, task, report):
    report(task)
    return shared + task
