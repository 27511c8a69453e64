"""What is written in a format is read back from it."""

from __future__ import annotations

import gzip
import subprocess
import sys
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from rankwright.errors import FileFormatError, SettingError
from rankwright.formats.file_formats import FORMATS

ENDINGS = {"svmlight": ".letor", "csv": ".csv", "tsv": ".tsv", "parquet": ".parquet"}


def what_text_holds(data: rw.RankingDataset, name: str) -> rw.RankingDataset:
    """The part of a dataset that a file of the format has a place for."""
    if name != "svmlight":
        return data
    labels = np.full(data.n_docs, np.nan, np.float32) if data.labels is None else data.labels
    return replace(data, labels=labels, feature_names=(), query_weights=None, document_weights=None, positions=None)


@pytest.mark.parametrize("name", FORMATS)
@given(draw=st.data())
def test_what_is_written_is_read_back(name, datasets, draw, tmp_path_factory):
    data = draw.draw(datasets)
    if name == "svmlight":
        # Its ids are single words, and a `#` begins a comment.
        ids = [f"q{query}" for query in range(data.n_queries)]
        data = replace(data, query_ids=np.array(ids, np.dtypes.StringDType()), document_ids=None)
    path = tmp_path_factory.mktemp("files") / f"data{ENDINGS[name]}"
    rw.write(data, path)
    assert rw.read(path).equals(what_text_holds(data, name))
    assert rw.read(path, format=name).equals(what_text_holds(data, name))


def test_every_format_has_an_ending_here():
    assert ENDINGS.keys() == FORMATS.keys()
    endings = [suffix for kind in FORMATS.values() for suffix in kind.suffixes]
    assert len(set(endings)) == len(endings)


def test_options_go_to_the_formats_reader_and_writer(small_data, tmp_path):
    rw.write(small_data, tmp_path / "data.csv", delimiter=";")
    assert rw.read(tmp_path / "data.csv", features=["2"]).n_features == 1
    with pytest.raises(SettingError, match="csv files have no option 'absent' here; they have columns, features, drop"):
        rw.read(tmp_path / "data.csv", absent="zero")
    with pytest.raises(SettingError, match="parquet files have no option 'delimiter' here; they have columns"):
        rw.write(small_data, tmp_path / "data.parquet", delimiter=";")


def test_an_empty_file_an_absent_one_and_a_directory_are_errors(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    with pytest.raises(FileFormatError, match="holds no documents"):
        rw.read(tmp_path / "empty")
    with pytest.raises(FileNotFoundError):
        rw.read(tmp_path / "absent")
    with pytest.raises(IsADirectoryError):
        rw.read(tmp_path)


def test_pairs_and_weights_stand_beside_the_documents(tmp_path):
    (tmp_path / "data.csv").write_text("qid,x\nb,1\na,2\nb,3\n")
    (tmp_path / "pairs").write_text("2 0\n")
    (tmp_path / "weights").write_text("a 1\nb 3\n")
    data = rw.read(tmp_path / "data.csv", pairs=tmp_path / "pairs", query_weights=tmp_path / "weights")
    assert data.preferences is not None
    assert data.features[data.preferences.better, 0].tolist() == [3]
    np.testing.assert_array_equal(data.query_weights, [3, 1])
    (tmp_path / "pairs").write_text("0 1\n")
    with pytest.raises(FileFormatError, match=r"pairs: preference 0 joins rows .* of different queries"):
        rw.read(tmp_path / "data.csv", pairs=tmp_path / "pairs")
    (tmp_path / "weights").write_text("a 1\n")
    with pytest.raises(FileFormatError, match="weights: query b has no weight"):
        rw.read(tmp_path / "data.csv", query_weights=tmp_path / "weights")


@pytest.mark.parametrize("name", FORMATS)
def test_standard_input_is_read_whatever_its_format(small_data, tmp_path, name):
    path = tmp_path / f"data{ENDINGS[name]}"
    rw.write(small_data, path)
    code = "import rankwright as rw; data = rw.read('-'); print(data.n_docs, data.features.sum(dtype='float64'))"
    result = subprocess.run([sys.executable, "-c", code], input=path.read_bytes(), capture_output=True, check=True)
    assert result.stdout.split() == [str(number).encode() for number in (
        small_data.n_docs, small_data.features.sum(dtype="float64"),
    )]  # fmt: skip


@pytest.mark.parametrize("name", FORMATS)
def test_web_search_data_goes_through_every_format(real_data, tmp_path, name):
    with gzip.open(real_data("MSLR-sample/all.txt.gz"), "rb") as lines:
        (tmp_path / "first.txt").write_bytes(b"".join(islice(lines, 500)))
    data = rw.read(tmp_path / "first.txt")
    assert (data.n_docs, data.n_features) == (500, 136)
    rw.write(data, tmp_path / f"data{ENDINGS[name]}")
    assert rw.read(tmp_path / f"data{ENDINGS[name]}").equals(data)


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_all_of_the_web_search_sample_goes_through_every_format(real_data, tmp_path, name):
    data = rw.read(real_data("MSLR-sample/all.txt.gz"))
    assert (data.n_queries, data.n_docs, data.n_features) == (146, 16268, 136)
    rw.write(data, tmp_path / f"data{ENDINGS[name]}")
    assert rw.read(tmp_path / f"data{ENDINGS[name]}").equals(data)
