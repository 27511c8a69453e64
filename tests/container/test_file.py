from __future__ import annotations

import hashlib
import json
import pickle
import struct
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwright.container.file import (
    BLANK_CHECKSUM,
    DTYPES,
    container_kind,
    is_container,
    read_container,
    write_container,
)
from rankwright.errors import ContainerError, SettingError

HEADER = {"name": "zscore", "settings": {"floor": 0.1, "steps": [1, 2.5, None, True, "ü"]}}
ARRAYS = {"weights": np.arange(6, dtype=np.float32).reshape(2, 3), "offsets": np.array([0, 3, 9])}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "model.rw"
    write_container(path, "test", HEADER, ARRAYS)
    return path


def same(mine, theirs):
    return mine.dtype == theirs.dtype and mine.shape == theirs.shape and np.array_equal(mine, theirs, equal_nan=True)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
)


@settings(max_examples=15)  # every example is fsynced
@given(header=st.dictionaries(st.text(), JSON))
def test_the_header_comes_back(tmp_path_factory, header):
    path = tmp_path_factory.mktemp("header") / "model.rw"
    write_container(path, "test", header, {})
    assert read_container(path, "test").header == header


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 0, 2), (2, 3, 5)])
def test_arrays_come_back(tmp_path, dtype, shape):
    array = np.random.default_rng(0).integers(0, 100, size=shape).astype(dtype)
    write_container(tmp_path / "a.rw", "test", {}, {"array": array, "turned": array.T})
    read = read_container(tmp_path / "a.rw").arrays
    assert same(read["array"], array)
    assert same(read["turned"], array.T)


def test_special_numbers_come_back(tmp_path):
    array = np.array([np.nan, np.inf, -np.inf, -0.0, np.finfo(np.float64).tiny], dtype=">f8")
    write_container(tmp_path / "a.rw", "test", {}, {"array": array})
    read = read_container(tmp_path / "a.rw").arrays["array"]
    assert read.tobytes() == array.astype("<f8").tobytes()


def test_what_is_read_cannot_be_written_to(path):
    with pytest.raises(ValueError, match="read-only"):
        read_container(path).arrays["offsets"][0] = 1


def test_the_same_content_gives_the_same_bytes(path, tmp_path):
    again = tmp_path / "again.rw"
    for _ in range(5):
        write_container(again, "test", dict(reversed(HEADER.items())), dict(reversed(ARRAYS.items())))
        assert again.read_bytes() == path.read_bytes()


def test_other_tools_can_open_the_arrays(path):
    from safetensors.numpy import load_file

    assert same(load_file(path)["weights"], ARRAYS["weights"])


def test_the_kind_is_told_and_checked(path):
    assert read_container(path).kind == "test"
    with pytest.raises(ContainerError, match=r"model.rw: this file holds a 'test'; a 'forest' was wanted"):
        read_container(path, "forest")


def test_every_changed_byte_is_refused(path, tmp_path):
    content = path.read_bytes()
    broken = tmp_path / "broken.rw"
    for place, byte in enumerate(content):
        flipped = byte ^ (1 << place % 8)  # every byte, and every bit in some of them
        broken.write_bytes(content[:place] + bytes([flipped]) + content[place + 1 :])
        with pytest.raises(ContainerError):
            read_container(broken)


def test_every_shortened_or_lengthened_file_is_refused(path, tmp_path):
    content = path.read_bytes()
    broken = tmp_path / "broken.rw"
    for cut in [content[:length] for length in range(len(content))] + [content + b"\0", content + content]:
        broken.write_bytes(cut)
        with pytest.raises(ContainerError):
            read_container(broken)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"2 qid:1 1:0.5\n",
        b"\xff" * 100,
        pickle.dumps({"a": 1}),
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 2) + b"{}",
        struct.pack("<Q", 200_000) + b"[" * 200_000,
        struct.pack("<Q", 40) + b'{"__metadata__":{"rankwright":"[1,2,3]"}}'.ljust(40),
        struct.pack("<Q", 1 << 62),
    ],
)
def test_files_of_other_formats_are_refused(tmp_path, content):
    (tmp_path / "other").write_bytes(content)
    with pytest.raises(ContainerError, match="other: this is not a file of Rankwright's"):
        read_container(tmp_path / "other")


def forged(document: dict[str, object], tensors: str = "") -> bytes:
    """A file with the given words in its metadata and a checksum that is right."""
    text = json.dumps({"checksum": BLANK_CHECKSUM} | document)
    opening = (f'{{"__metadata__":{{"rankwright":{json.dumps(text)}}}{tensors}}}').encode()
    content = struct.pack("<Q", len(opening)) + opening
    return content.replace(BLANK_CHECKSUM.encode(), hashlib.sha256(content).hexdigest().encode())


DOCUMENT = {"format": "rankwright", "version": 1, "kind": "test", "header": {}}


@pytest.mark.parametrize(
    ("document", "tensors", "message"),
    [
        (DOCUMENT | {"version": 2}, "", "format version 2; this release reads version 1"),
        (DOCUMENT | {"version": "1"}, "", "not a file of Rankwright's"),
        (DOCUMENT | {"format": "other"}, "", "not a file of Rankwright's"),
        (DOCUMENT | {"header": []}, "", "lacks what every file"),
        (DOCUMENT | {"more": 1}, "", "lacks what every file"),
        (DOCUMENT, ',"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}', "arrays cannot be read"),
        (DOCUMENT, ',"a":{"dtype":"F33","shape":[0],"data_offsets":[0,0]}', "arrays cannot be read"),
        (DOCUMENT, ',"a":{"dtype":"BF16","shape":[0],"data_offsets":[0,0]}', "arrays cannot be read"),
        (DOCUMENT, ',"a":7', "arrays cannot be read"),
    ],
)
def test_a_file_with_the_right_checksum_is_still_checked(tmp_path, document, tensors, message):
    (tmp_path / "forged").write_bytes(forged(document, tensors))
    with pytest.raises(ContainerError, match=message):
        read_container(tmp_path / "forged")


def test_the_forger_can_make_a_good_file(tmp_path):
    (tmp_path / "forged").write_bytes(forged(DOCUMENT))
    assert read_container(tmp_path / "forged").kind == "test"


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ({"a": float("nan")}, "header.a is nan, which JSON cannot hold"),
        ({"a": [0, {1, 2}]}, r"header.a\[1\] is {1, 2}"),
        ({"a": np.float32(1)}, "header.a is np.float32"),
        ({"a": {1: 2}}, "header.a has the key 1; keys must be strings"),
    ],
)
def test_a_header_json_cannot_hold_is_refused(tmp_path, header, message):
    with pytest.raises(SettingError, match=message):
        write_container(tmp_path / "a.rw", "test", header, {})
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("array", [np.array(["text"]), np.array([object()]), np.array([1j]), np.array([1], "M8[s]")])
def test_arrays_that_are_not_plain_numbers_are_refused(tmp_path, array):
    with pytest.raises(SettingError, match=r"array 'a' has dtype .* which a file cannot hold"):
        write_container(tmp_path / "a.rw", "test", {}, {"a": array})


KILLED_WRITE = """
import io, os, signal, sys
import numpy as np
from rankwright.container import atomic, file

path, moment = sys.argv[1:]
die = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)

if moment == "in the middle":
    def half(file, data):
        io.FileIO.write(file, bytes(data)[:len(data) // 2]); die()
    atomic.NamedOutput.write = half
elif moment == "before the disk has it":
    os.fsync = die
elif moment == "before the name changes":
    atomic.Path.replace = die
elif moment == "after the name changed":
    atomic._sync_folder = die
file.write_container(path, "test", {"new": True}, {"a": np.zeros(100_000)})
"""


@pytest.mark.parametrize("moment", ["in the middle", "before the disk has it", "before the name changes"])
def test_a_killed_write_leaves_the_old_file(path, moment):
    old = path.read_bytes()
    result = subprocess.run([sys.executable, "-c", KILLED_WRITE, str(path), moment], check=False)
    assert result.returncode == -9
    assert path.read_bytes() == old
    assert len(list(path.parent.iterdir())) == 2  # what was written so far is still there …
    write_container(path.with_name("other.rw"), "test", {}, {})
    assert sorted(entry.name for entry in path.parent.iterdir()) == ["model.rw", "other.rw"]  # … until the next write


def test_a_write_killed_after_the_name_changed_leaves_the_new_file(path):
    result = subprocess.run([sys.executable, "-c", KILLED_WRITE, str(path), "after the name changed"], check=False)
    assert result.returncode == -9
    assert read_container(path).header == {"new": True}


def test_a_file_is_known_by_its_ending_or_its_beginning(path, tmp_path):
    assert is_container(tmp_path / "absent.rw")
    assert not is_container(tmp_path / "absent")
    assert not is_container(tmp_path)
    (tmp_path / "whole").write_bytes(path.read_bytes())
    assert is_container(tmp_path / "whole")
    (tmp_path / "cut").write_bytes(path.read_bytes()[:100])
    (tmp_path / "text").write_text("1 qid:1 1:0.5\n")
    (tmp_path / "empty").write_bytes(b"")
    assert is_container(tmp_path / "cut")
    assert not is_container(tmp_path / "text")
    assert not is_container(tmp_path / "empty")


def test_the_beginning_of_a_file_tells_its_kind(tmp_path):
    write_container(tmp_path / "some.rw", "forest", {}, {"a": np.zeros(3)})
    assert container_kind(tmp_path / "some.rw") == "forest"
    (tmp_path / "other.rw").write_text("1 qid:1 1:1")
    assert container_kind(tmp_path / "other.rw") is None
    assert container_kind(tmp_path / "nosuch.rw") is None
