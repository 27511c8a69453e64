"""The format of a file is shown by its ending or by its beginning."""

from __future__ import annotations

import io
import sys

import pytest

import rankwright as rw
from rankwright.errors import FileFormatError, SettingError, UnknownNameError
from rankwright.formats.file_formats import format_of


@pytest.mark.parametrize(
    ("beginning", "name"),
    [
        ("2 qid:10 1:0.03 2:0 #docid = GX0\n", "svmlight"),
        ("# a comment\n\n0 10:0.89 11:0.75\n", "svmlight"),
        ("0\n", "svmlight"),
        ("-1.5e3 qid:a\n", "svmlight"),
        ("nan qid:a 1:2\n", "svmlight"),
        ("1 qid:5 1:2 12", "svmlight"),  # cut off within a word
        ("qid,label,bm25\n1,2,3\n", "csv"),
        ("qid\tlabel\n", "csv"),
        ("qid;label", "csv"),
        ("1,2,3\n", "csv"),
        ("PAR1…", "parquet"),
    ],
)
def test_the_beginning_shows_the_format_where_the_ending_does_not(tmp_path, beginning, name):
    for path in (tmp_path / "data.txt", tmp_path / "data", tmp_path / "data.dat"):
        path.write_text(beginning)
        assert format_of(path) == name


def test_the_ending_counts_more_than_the_beginning(tmp_path):
    for ending in (".csv", ".csv.gz", ".CSV", ".parquet", ".pq", ".svm", ".tsv.zst"):
        path = tmp_path / f"data{ending}"
        path.write_text("0 1:2")
        assert path.name.lower().startswith(f"data.{format_of(path)[:3]}") or ending in (".pq", ".svm")


def test_what_shows_no_format_must_be_told(tmp_path):
    (tmp_path / "data.txt").write_text("once upon a time\n")
    with pytest.raises(FileFormatError, match=r"data\.txt: begins with 'once upon a time', which shows no format"):
        rw.read(tmp_path / "data.txt")
    (tmp_path / "data.txt").write_bytes(b"\1\0\2\0")
    with pytest.raises(FileFormatError, match=r"data\.txt: is a binary file; wanted text or Parquet"):
        rw.read(tmp_path / "data.txt")
    (tmp_path / "data.txt").write_text("good qid:1 1:0.5\n")
    with pytest.raises(FileFormatError, match=r"data\.txt:1: .*'good'"):
        rw.read(tmp_path / "data.txt")
    with pytest.raises(UnknownNameError, match=r"unknown format 'parket'; did you mean 'parquet'\?"):
        rw.read(tmp_path / "data.txt", format="parket")


def test_compressed_standard_input_shows_its_format_too(small_data, tmp_path, monkeypatch):
    rw.write(small_data, tmp_path / "data.csv.gz")

    class Input:
        buffer = io.BufferedReader(io.BytesIO((tmp_path / "data.csv.gz").read_bytes()))

    monkeypatch.setattr(sys, "stdin", Input)
    assert rw.read("-").equals(small_data)


def test_the_ending_names_the_format_to_write(small_data, tmp_path):
    with pytest.raises(SettingError, match=r"the ending of '.*data\.xyz' names no format; wanted one of \.letor"):
        rw.write(small_data, tmp_path / "data.xyz")
    rw.write(small_data, tmp_path / "data.xyz", format="csv")
    assert rw.read(tmp_path / "data.xyz").equals(small_data)


def test_text_is_written_as_letor_text_and_read_by_its_beginning(small_data, tmp_path):
    rw.write(small_data, tmp_path / "data.txt.gz")
    assert format_of(tmp_path / "data.txt.gz") == "svmlight"
    assert rw.read(tmp_path / "data.txt.gz").equals(small_data)
