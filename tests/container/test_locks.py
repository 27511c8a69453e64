"""What killed processes leave behind is removed by the next; what living ones use, and what is not ours, is not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from rankwright.container.atomic import UNFINISHED, atomic_file, remove_unfinished
from rankwright.container.locks import SCRATCH, scratch_folder

HOLDER = """
import sys
from pathlib import Path
from rankwright.container.atomic import atomic_file
from rankwright.container.locks import scratch_folder

where = sys.argv[1]
with scratch_folder("study", where) as scratch, atomic_file(Path(where, "model.rw")) as file:
    Path(scratch, "deep").mkdir()
    Path(scratch, "deep", "file").write_bytes(b"content")
    file.write(bytes(100_000))
    print("here", flush=True)
    sys.stdin.read()
"""


def ours(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if SCRATCH.fullmatch(path.name) or UNFINISHED.fullmatch(path.name)]


@pytest.fixture
def holder(tmp_path):
    """A process that has a scratch folder and an unfinished file in `tmp_path`."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        yield process
        process.kill()


def test_what_a_living_process_uses_stays_and_what_a_killed_one_left_goes(holder, tmp_path):
    for ending in (None, signal.SIGKILL):
        if ending is not None:
            holder.send_signal(ending)
            holder.wait()
        assert len(ours(tmp_path)) == 2
        with scratch_folder("spool", str(tmp_path)):
            pass
        remove_unfinished(tmp_path)
        assert len(ours(tmp_path)) == (2 if ending is None else 0)


def test_a_file_that_is_being_written_stays_while_others_are_written(tmp_path):
    with atomic_file(tmp_path / "one") as one:
        with atomic_file(tmp_path / "two") as two:
            two.write(b"2")
        one.write(b"1")
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {"one": b"1", "two": b"2"}


def test_a_scratch_folder_lasts_as_long_as_its_block(tmp_path):
    with scratch_folder("ray", str(tmp_path)) as first, scratch_folder("ray", str(tmp_path)) as second:
        Path(first, "file").write_bytes(b"1")
        assert first != second
        assert len(ours(tmp_path)) == 2
    assert list(tmp_path.iterdir()) == []


def test_by_default_it_is_in_the_systems_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with scratch_folder("spool") as folder:
        assert Path(folder).parent == tmp_path


def test_what_only_looks_like_ours_stays(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").write_bytes(b"1")
    (tmp_path / "rankwright-study-abcdefgh").symlink_to(tmp_path / "elsewhere")
    (tmp_path / ".rankwright-0123456789ab.tmp").symlink_to(tmp_path / "elsewhere" / "file")
    for name in ("rankwright-study", "rankwright-study-abc", "rankwright-data-abcdefgh", "my-rankwright-ray-abcdefgh"):
        (tmp_path / name).mkdir()
    for name in (".model.rw.0123456789ab.tmp", ".rankwright-0123.tmp", "rankwright-0123456789ab.tmp"):
        (tmp_path / name).write_bytes(b"1")
    before = sorted(tmp_path.rglob("*"))
    with scratch_folder("spool", str(tmp_path)):
        remove_unfinished(tmp_path)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("lasts", [True, False])
def test_a_file_taken_for_abandoned_while_it_was_made_is_made_again(tmp_path, monkeypatch, lasts):
    from rankwright.container import atomic

    answers = iter([False, True])
    monkeypatch.setattr(atomic, "hold", lambda *_: lasts or next(answers))
    with atomic_file(tmp_path / "file") as file:
        file.write(b"content")
    assert (tmp_path / "file").read_bytes() == b"content"
    assert len(list(tmp_path.iterdir())) == (1 if lasts else 2)


def test_many_at_once_do_not_take_each_others_work_for_abandoned(tmp_path):
    def work(number: int) -> None:
        for _ in range(60):
            with scratch_folder("study", str(tmp_path)) as folder, atomic_file(tmp_path / f"file-{number}") as file:
                Path(folder, "own").write_bytes(b"1")
                file.write(b"1")
                assert Path(folder, "own").read_bytes() == b"1"

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"file-{number}" for number in range(8)]


def test_a_folder_that_is_not_there_holds_nothing_abandoned(tmp_path):
    remove_unfinished(tmp_path / "absent")
    os.mkfifo(tmp_path / ".rankwright-0123456789ab.tmp")
    remove_unfinished(tmp_path)
    assert list(tmp_path.iterdir()) == []
