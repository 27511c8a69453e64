"""Bytes come out as they went in, whatever the compression; what is wrong with a file is said in one line."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import stat
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.errors import FileFormatError, MissingExtraError
from rankwright.formats.storage.streams import (
    COMPRESSIONS,
    LONGEST_LINE,
    LongLineError,
    atomic_output,
    atomic_text_output,
    input_name,
    open_input,
    open_line_blocks,
)

SUFFIXES = ["", *(kind.suffix for kind in COMPRESSIONS)]
LINES = b"".join(b"%d some text\n" % (i * i) for i in range(2000))


def write(path, content):
    with atomic_output(path) as file:
        file.write(content)
    return path


def read(path, size=-1):
    with open_input(path) as file:
        return b"".join(iter(lambda: file.read(size), b""))


def pretend_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("content", [LINES, b"x", b"\0binary\xff" * 9], ids=["lines", "byte", "binary"])
def test_what_was_written_is_read(tmp_path, suffix, content):
    path = write(tmp_path / f"file{suffix}", content)
    assert read(path) == read(path, 7) == content
    assert suffix == "" or path.read_bytes() != content


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_the_name_does_not_matter_when_reading(tmp_path, suffix):
    content = write(tmp_path / f"file{suffix}", LINES).read_bytes()
    for other in SUFFIXES:
        disguised = tmp_path / f"disguised{other}"
        disguised.write_bytes(content)
        assert read(disguised) == LINES


@pytest.mark.parametrize("suffix", SUFFIXES[1:])
def test_members_one_after_another_are_one_file(tmp_path, suffix):
    members = [write(tmp_path / f"{i}{suffix}", part).read_bytes() for i, part in enumerate([LINES, b"", b"end"])]
    joined = tmp_path / "joined"
    joined.write_bytes(b"".join(members))
    assert read(joined) == LINES + b"end"


def test_zeros_after_a_gzip_member_are_padding(tmp_path):
    path = tmp_path / "padded.gz"
    path.write_bytes(gzip.compress(b"one") + b"\0" * 100 + gzip.compress(b"two") + b"\0" * 70_000)
    assert read(path) == b"onetwo"


@pytest.mark.parametrize("suffix", SUFFIXES[1:])
def test_a_truncated_file_is_an_error_wherever_it_is_cut(tmp_path, suffix):
    content = write(tmp_path / f"whole{suffix}", LINES).read_bytes()
    path = tmp_path / f"cut{suffix}"
    for length in [4, 5, 20, len(content) // 2, len(content) - 9, len(content) - 1]:
        path.write_bytes(content[:length])
        with pytest.raises(FileFormatError, match=rf"cut\{suffix}: ends in the middle of its \{suffix} data"):
            read(path)


@pytest.mark.parametrize("suffix", SUFFIXES[1:])
def test_a_damaged_file_is_an_error(tmp_path, suffix):
    path = write(tmp_path / f"file{suffix}", LINES)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match="data"):
        read(path)


def test_garbage_after_a_gzip_member_is_an_error(tmp_path):
    path = tmp_path / "file.gz"
    path.write_bytes(gzip.compress(LINES) + b"garbage")
    with pytest.raises(FileFormatError, match=r"damaged \.gz data"):
        read(path)


@pytest.mark.parametrize(
    ("tool", "content"), [("bzip2", bz2.compress(b"x")), ("xz", lzma.compress(b"x")), ("zip", b"PK\x03\x04rest")]
)
def test_other_compressions_are_named(tmp_path, tool, content):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=f"compressed with {tool}; wanted plain text"):
        read(path)


def test_zstandard_is_asked_for_where_it_is_missing(tmp_path, monkeypatch):
    path = write(tmp_path / "file.zst", LINES)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"\[zstd\]"):
        read(path)
    with pytest.raises(MissingExtraError, match=r"\[zstd\]"):
        write(tmp_path / "other.zst", LINES)
    assert list(tmp_path.iterdir()) == [path]


def test_the_system_says_what_is_no_file(tmp_path):
    with pytest.raises(FileNotFoundError) as missing:
        read(tmp_path / "missing")
    assert missing.value.filename == str(tmp_path / "missing")
    with pytest.raises(IsADirectoryError) as folder:
        read(tmp_path)
    assert folder.value.filename == str(tmp_path)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_standard_input_is_read_like_a_file(tmp_path, monkeypatch, suffix):
    pretend_input(monkeypatch, write(tmp_path / f"file{suffix}", LINES).read_bytes())
    assert read("-") == LINES
    assert input_name("-") == "standard input"
    sys.stdin.buffer.read()  # still open


@given(st.lists(st.sampled_from([b"", b"a", b"bc", b"\r", b"long line " * 3]), max_size=12), st.booleans())
def test_line_blocks_hold_whole_lines(tmp_path_factory, lines, ends_with_newline):
    content = b"\n".join(lines) + (b"\n" if ends_with_newline else b"")
    path = tmp_path_factory.mktemp("lines") / "file"
    path.write_bytes(content)
    for block_size in (1, 2, 3, 5, 8, 13, 100):
        blocks = [block.tobytes() for block in open_line_blocks(path, block_size)]
        assert b"".join(blocks) == content
        assert all(block.endswith(b"\n") for block in blocks[:-1])
        assert all(blocks)


def test_a_byte_order_mark_is_dropped(tmp_path):
    path = tmp_path / "file"
    for content in (b"", b"1", b"1 2\n3"):
        path.write_bytes(b"\xef\xbb\xbf" + content)
        assert b"".join(block.tobytes() for block in open_line_blocks(path, 1)) == content


def test_a_binary_file_has_no_lines(tmp_path):
    path = tmp_path / "file.npy"
    np.save(path, np.zeros(9))
    with pytest.raises(FileFormatError, match=r"file\.npy: is a binary file; wanted text"):
        list(open_line_blocks(path))


def test_an_endless_line_is_an_error_before_it_fills_the_memory(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"line\n" + b"x" * 5000 + b"\nline\n")
    for block_size in (1, 100, 5000):
        assert sum(len(block) for block in open_line_blocks(path, block_size, longest_line=5001)) == 5011
        with pytest.raises(LongLineError, match="more than 5000 bytes"):
            list(open_line_blocks(path, block_size, longest_line=5000))
    with path.open("wb") as file:
        file.truncate(1 << 40)  # a terabyte of zeros that takes no room
        file.write(b"x" * 70_000)
    with pytest.raises(LongLineError, match=f"more than {LONGEST_LINE} bytes"):
        list(open_line_blocks(path))


def read_ahead_threads():
    return [thread for thread in threading.enumerate() if thread.name == "rankwright-read-ahead"]


def test_a_reader_that_is_given_up_ends_its_thread(tmp_path):
    path = write(tmp_path / "file", LINES * 10)
    blocks = open_line_blocks(path, 10)
    assert len(next(blocks))
    blocks.close()
    deadline = time.monotonic() + 10
    while read_ahead_threads() and time.monotonic() < deadline:
        time.sleep(0.001)
    assert read_ahead_threads() == []


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, suffix):
    path = write(tmp_path / f"file{suffix}", b"old")
    with pytest.raises(ZeroDivisionError), atomic_output(path) as file:
        file.write(b"x" * (1 // 0))
    assert read(path) == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "file"
    with atomic_output(path) as file:
        file.write(b"content")
        file.flush()
        assert not path.exists()
    assert path.read_bytes() == b"content"


def test_a_new_file_has_the_usual_permissions_and_a_link_stays_one(tmp_path):
    usual = tmp_path / "usual"
    usual.touch()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    write(link, b"content")
    assert link.is_symlink()
    assert (tmp_path / "target").read_bytes() == b"content"
    assert stat.S_IMODE((tmp_path / "target").stat().st_mode) == stat.S_IMODE(usual.stat().st_mode)


def test_special_files_are_written_to_and_not_replaced(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    write(pipe, b"through")
    reader.join()
    assert received == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_output_that_cannot_be_is_named_as_the_user_named_it(tmp_path):
    with pytest.raises(FileNotFoundError) as missing:
        write(tmp_path / "no folder" / "file", b"")
    assert missing.value.filename == str(tmp_path / "no folder" / "file")
    with pytest.raises(IsADirectoryError):
        write(tmp_path, b"")


def test_standard_output_takes_bytes(capsysbinary):
    write("-", b"bytes \xff\n")
    assert capsysbinary.readouterr().out == b"bytes \xff\n"


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_text_is_written_as_utf_8(tmp_path, suffix):
    path = tmp_path / f"file{suffix}"
    with atomic_text_output(path) as file:
        file.write("é\n")
    assert read(path) == "é\n".encode()
    with pytest.raises(ZeroDivisionError), atomic_text_output(path) as file:
        file.write("x" * (1 // 0))
    assert read(path) == "é\n".encode()
