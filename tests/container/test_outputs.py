"""Where an output may go."""

from __future__ import annotations

import os
import stat
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from rankwright.container.atomic import atomic_file
from rankwright.container.file import write_container
from rankwright.container.outputs import check_output, check_output_folder, destination, inputs_kept
from rankwright.errors import SettingError

OTHER_USER = 12345


def write_to(path, content=b"new"):
    with atomic_file(path) as file:
        file.write(content)


@pytest.fixture
def data(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "data").write_bytes(b"old")
    (tmp_path / "link").symlink_to("data")
    (tmp_path / "link of a link").symlink_to("folder/../link")
    (tmp_path / "second name").hardlink_to(tmp_path / "data")
    return tmp_path / "data"


SPELLINGS = ["data", "./data", "folder/../data", "link", "link of a link", "second name"]


class TestInputs:
    @pytest.mark.parametrize("name", SPELLINGS)
    @pytest.mark.parametrize("write", [check_output, write_to])
    def test_no_output_replaces_one_however_it_is_spelt(self, data, name, write):
        with inputs_kept(["data"]), pytest.raises(SettingError, match="would be replaced by the output"):
            write(name)
        assert data.read_bytes() == b"old"

    @pytest.mark.usefixtures("data")
    def test_an_input_may_be_named_by_a_link(self):
        with inputs_kept(["link"]), pytest.raises(SettingError, match="is the same file as the input link"):
            write_to("data")

    def test_a_folder_that_is_not_there_has_no_parent(self, data):
        with inputs_kept(["data"]), pytest.raises(FileNotFoundError):
            write_to("none/../data")
        assert data.read_bytes() == b"old"

    def test_after_the_block_it_is_a_file_like_any_other(self, data):
        with inputs_kept(["data", "none", "folder", "-", ""]):
            write_to("another")
        write_to("data")
        assert data.read_bytes() == b"new"


class TestBeforeWork:
    @pytest.mark.usefixtures("data")
    def test_a_folder_is_no_file_and_a_file_no_folder(self):
        with pytest.raises(SettingError, match="folder is a folder: name a file"):
            check_output("folder")
        with pytest.raises(SettingError, match="data is a file: name a folder"):
            check_output_folder("data")

    @pytest.mark.usefixtures("data")
    @pytest.mark.parametrize(
        ("name", "told"),
        [
            ("", "is empty"),
            ("new/", "new/ is a folder"),
            ("s3://bucket/new", "is an address"),
            ("x" * 300, "File name too long"),
        ],
    )
    def test_odd_names_are_told(self, name, told):
        with pytest.raises((SettingError, OSError), match=told) as caught:
            check_output(name)
        assert getattr(caught.value, "filename", name) == name

    def test_the_folder_of_a_file_must_be_there(self, data):
        with pytest.raises(SettingError, match="none/new cannot be written: there is no folder none"):
            check_output("none/new")
        (data.parent / "dangling").symlink_to("none/new")
        with pytest.raises(FileNotFoundError):
            check_output("dangling")
        with pytest.raises(SettingError, match="there is no folder data"):
            check_output_folder("data/new/folder")
        check_output_folder("new/folder")

    @pytest.mark.parametrize(("protected", "path"), [("data", "data"), ("folder", "folder/new")])
    def test_what_is_write_protected_stays(self, data, monkeypatch, protected, path):
        allowed = os.access
        kept = (data.parent / protected).resolve()
        monkeypatch.setattr(os, "access", lambda one, mode: os.path.realpath(one) != str(kept) and allowed(one, mode))
        with pytest.raises(SettingError, match="write-protected"):
            check_output(path)
        if protected == "data":
            with pytest.raises(PermissionError):
                write_to(path)
            assert data.read_bytes() == b"old"


class TestPermissions:
    @pytest.mark.parametrize("mode", [0o600, 0o640, 0o666, 0o755])
    def test_an_existing_file_keeps_its_mode_from_the_first_byte(self, data, mode):
        data.chmod(mode)
        with atomic_file(data) as file:
            assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == mode
            file.write(b"new")
        assert stat.S_IMODE(data.stat().st_mode) == mode

    def test_a_program_that_runs_as_its_owner_is_not_made(self, data):
        data.chmod(0o4755)
        write_to(data)
        assert stat.S_IMODE(data.stat().st_mode) == 0o755

    def test_an_existing_file_keeps_its_owner_where_that_is_allowed(self, data, monkeypatch):
        asked = []
        monkeypatch.setattr(os, "fchown", lambda _, user, group: asked.append((user, group)))
        write_to(data)
        assert asked == [(data.stat().st_uid, data.stat().st_gid)]

    def test_permissions_of_a_group_are_not_given_to_another_group(self, data, monkeypatch):
        def refuse(*_):
            raise PermissionError

        monkeypatch.setattr(os, "fchown", refuse)
        data.chmod(0o664)
        write_to(data)
        assert stat.S_IMODE(data.stat().st_mode) == 0o604


class TestSpecialFiles:
    @pytest.mark.parametrize("write", [write_to, lambda path: write_container(path, "some", {}, {})])
    def test_a_pipe_is_written_to_and_stays(self, tmp_path, write):
        pipe, got = tmp_path / "pipe", []
        os.mkfifo(pipe)
        reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
        reader.start()
        check_output(pipe)
        write(pipe)
        reader.join()
        assert pipe.is_fifo()
        assert got[0]
        assert list(tmp_path.iterdir()) == [pipe]

    def test_a_device_is_written_to_through_a_link(self, tmp_path):
        (tmp_path / "null").symlink_to(os.devnull)
        check_output(tmp_path / "null")
        write_to(tmp_path / "null")
        assert not (tmp_path / "null").is_file()
        assert (tmp_path / "null").is_symlink()

    def test_a_file_that_takes_the_place_of_a_device_is_not_touched(self, data, monkeypatch):
        device = Path(os.devnull).stat()
        monkeypatch.setattr("rankwright.container.atomic.special_file", lambda _: device)
        with pytest.raises(PermissionError, match="was replaced by another file"):
            write_to(data)
        assert data.read_bytes() == b"old"


class TestLinksOfOthers:
    """Anybody can put a link into a folder such as /tmp, and so lead an output of root's to a file of root's."""

    @pytest.fixture
    def shared(self, data, monkeypatch):
        folder = data.parent / "shared"
        folder.mkdir()
        folder.chmod(0o1777)
        (folder / "model.rw").symlink_to(data)
        (folder / "way").symlink_to(data.parent)
        monkeypatch.setattr(os, "geteuid", lambda: OTHER_USER)
        return folder

    def test_those_of_the_owner_of_the_folder_and_of_our_own_are_followed(self, shared, data):
        write_to(shared / "model.rw")
        assert data.read_bytes() == b"new"

    def test_those_of_others_are_not(self, shared, data, monkeypatch):
        real = shared.stat()
        owner = os.stat_result((*real[:4], OTHER_USER + 1, *real[5:]))
        plain = os.stat
        monkeypatch.setattr(os, "stat", lambda path, **how: owner if str(path) == str(shared) else plain(path, **how))
        for write in (check_output, write_to):
            for name in ("model.rw", "way/data"):
                with pytest.raises(PermissionError, match="a link of another user in a folder that is open to all"):
                    write(shared / name)
        for name in ("way", "way/folder", "way/new/folder"):
            with pytest.raises(PermissionError, match="a link of another user in a folder that is open to all"):
                check_output_folder(shared / name)
        assert data.read_bytes() == b"old"

    def test_a_link_that_comes_while_a_file_is_written_is_replaced_itself(self, data, tmp_path):
        with atomic_file(tmp_path / "new") as file:
            file.write(b"new")
            (tmp_path / "new").symlink_to(data)
        assert not (tmp_path / "new").is_symlink()
        assert (tmp_path / "new").read_bytes() == b"new"
        assert data.read_bytes() == b"old"

    def test_a_circle_of_links_ends(self, tmp_path):
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").symlink_to("a")
        with pytest.raises(OSError, match="symbolic links"):
            destination(tmp_path / "a")


NOBODY, SOMEBODY = 65_534, 65_533


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become another user")
def test_a_user_without_rights_is_told_and_harms_nothing():
    """In a process of that user, so that the system's own checks are in force; root passes them all."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        outcomes = {name: is_allowed for name, is_allowed in _set_up(place)}
        child = os.fork()
        if child == 0:  # no test runs in here
            code = 1
            try:
                os.chdir(place)
                os.setgid(NOBODY)
                os.setuid(NOBODY)
                code = 0 if {name: _may_write(name) for name in outcomes} == outcomes else 2
            finally:
                os._exit(code)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert {path.read_bytes() for path in (place / "closed").iterdir()} == {b"old"}
        assert (place / "own" / "protected").read_bytes() == b"old"
        assert not [path for path in place.rglob("*") if path.name.endswith(".tmp")]


def _set_up(place: Path) -> Iterator[tuple[str, bool]]:
    """Files of several users; which of them the user may write."""
    place.chmod(0o755)
    for folder, owner, mode in (("closed", 0, 0o755), ("own", NOBODY, 0o755), ("open", 0, 0o1777)):
        (place / folder).mkdir()
        (place / folder).chmod(mode)
        os.chown(place / folder, owner, owner)
    for file, owner, mode in (("closed/data", 0, 0o644), ("closed/free", 0, 0o666), ("own/protected", NOBODY, 0o444)):
        (place / file).write_bytes(b"old")
        (place / file).chmod(mode)
        os.chown(place / file, owner, owner)
    for link, target, owner in (
        ("open/of-root", "../own/a", 0),
        ("open/of-nobody", "../own/b", NOBODY),
        ("open/of-somebody", "../own/c", SOMEBODY),
        ("open/way", "../own", SOMEBODY),
    ):
        (place / link).symlink_to(target)
        os.chown(place / link, owner, owner, follow_symlinks=False)
    for name in ("own/new", "open/new", "open/of-root", "open/of-nobody"):
        yield name, True
    for name in ("closed/data", "closed/free", "closed/new", "own/protected", "open/of-somebody", "open/way/new"):
        yield name, False


def _may_write(name: str) -> bool:
    """Whether a file can be written; what the check before the work says must be what becomes of it."""
    told = []
    for write in (check_output, write_to):
        try:
            write(name)
            told.append(True)
        except (SettingError, PermissionError):
            told.append(False)
    assert told[0] == told[1]
    return told[0]
