from __future__ import annotations

import os

import pytest

from rankwright.container.atomic import atomic_file


def test_the_file_appears_when_the_block_ends(tmp_path):
    path = tmp_path / "result"
    with atomic_file(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["result"]


def test_a_failure_leaves_everything_as_it_was(tmp_path):
    path = tmp_path / "result"
    path.write_bytes(b"old")

    def fail():
        with atomic_file(path) as file:
            file.write(b"new")
            raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        fail()
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["result"]


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with atomic_file(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_the_usual_permissions_hold(tmp_path):
    before = os.umask(0o027)
    try:
        with atomic_file(tmp_path / "result") as file:
            file.write(b"new")
    finally:
        os.umask(before)
    assert (tmp_path / "result").stat().st_mode & 0o777 == 0o640


def test_errors_of_other_files_keep_their_names(tmp_path):
    with pytest.raises(FileNotFoundError) as caught, atomic_file(tmp_path / "result"):
        (tmp_path / "source").read_bytes()
    assert caught.value.filename == str(tmp_path / "source")


@pytest.mark.parametrize(("place", "error"), [("none/result", FileNotFoundError), ("folder", IsADirectoryError)])
def test_errors_name_the_path_the_caller_gave(tmp_path, place, error):
    (tmp_path / "folder").mkdir()
    with pytest.raises(error) as caught, atomic_file(tmp_path / place) as file:
        file.write(b"new")
    assert caught.value.filename == str(tmp_path / place)
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]
