"""The ending of a file names the format in which it is written."""

from __future__ import annotations

import pytest

import rankwright as rw
from rankwright.errors import SettingError
from rankwright.formats.file_formats import format_of


def test_the_ending_names_the_format_to_write(small_data, tmp_path):
    with pytest.raises(SettingError, match=r"the ending of '.*data\.xyz' names no format; wanted one of \.letor"):
        rw.write(small_data, tmp_path / "data.xyz")
    rw.write(small_data, tmp_path / "data.xyz", format="csv")
    assert rw.read(tmp_path / "data.xyz").equals(small_data)


def test_text_is_written_as_letor_text_and_read_by_its_beginning(small_data, tmp_path):
    rw.write(small_data, tmp_path / "data.txt.gz")
    assert format_of(tmp_path / "data.txt.gz") == "svmlight"
    assert rw.read(tmp_path / "data.txt.gz").equals(small_data)
