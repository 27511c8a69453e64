"""Too little address space (`ulimit -v`) is told in one line, before a library aborts for want of it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from rankwright import memory
from rankwright.cli import libraries
from rankwright.cli.app import describe
from rankwright.errors import NotEnoughMemoryError

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(not memory.OWN_PAGES.exists(), reason="this system does not tell what is mapped")


def test_training_under_a_low_limit_ends_in_one_line(tmp_path):
    (tmp_path / "data.txt").write_text("1 qid:1 1:2\n0 qid:1 1:1\n")
    limit = 300 << 20  # under which Python once looked for memory for ever
    result = subprocess.run(
        [sys.executable, "-c", "from rankwright.cli.app import main; main()", "train", "data.txt", "--out", "m.rw"],
        cwd=tmp_path,
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "COLUMNS": "200"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    told = "error: not enough memory: loading sklearn takes 0.4 GB of address space, and `ulimit -v` leaves 0."
    assert result.returncode == 2
    assert result.stderr.startswith(told)
    assert result.stderr.count("\n") == 1


def test_what_is_left_is_the_limit_less_what_is_mapped(monkeypatch):
    assert memory.free_address_space() == sys.maxsize
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10**12, 10**12))
    assert 10**11 < memory.free_address_space() < 10**12
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1, 1))
    assert memory.free_address_space() == memory.free_memory() == 0
    with pytest.raises(NotEnoughMemoryError, match="loading torch takes"):
        libraries.RoomFinder().find_spec("torch", None)
    libraries.RoomFinder().find_spec("json", None)


def test_a_library_that_finds_no_memory_is_told_without_its_advice():
    assert describe(MemoryError()) == "not enough memory"
    assert describe(RuntimeError("can't start new thread")) == "not enough memory: can't start new thread"
    error = ImportError("Please read this.\n\nOriginal error was: a.so: failed to map segment from shared object\n")
    assert describe(error) == "not enough memory: Original error was: a.so: failed to map segment from shared object"
