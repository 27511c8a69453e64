"""Documents to train on, to validate on and to test on."""

from __future__ import annotations

import io
import sys

import pytest

from rankwright.catalog.training import read_parts


def test_all_parts_have_the_features_of_the_training_data(tmp_path):
    (tmp_path / "train.txt").write_text("1 qid:1 1:2 3:4\n0 qid:1 2:1\n")
    (tmp_path / "test.txt").write_text("1 qid:2 1:2\n")
    parts = read_parts(tmp_path / "train.txt", test=tmp_path / "test.txt")
    assert parts.valid is None
    assert parts.test is not None
    assert (parts.train.n_features, parts.test.n_features) == (3, 3)


def test_a_file_that_is_not_there_is_told_before_any_is_read(tmp_path):
    (tmp_path / "train.txt").write_text("not a line of data\n")
    with pytest.raises(FileNotFoundError, match="none"):
        read_parts(tmp_path / "train.txt", tmp_path / "none.txt")


def test_standard_input_is_read_from_its_first_byte(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"2 qid:1 1:0.5\n1 qid:1 1:0.2\n")))
    assert read_parts("-", format="svmlight").train.labels.tolist() == [2.0, 1.0]
