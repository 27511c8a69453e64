from __future__ import annotations

import gzip
import io
import subprocess
import sys
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankwright as rw
from rankwright.errors import FileFormatError, SettingError, UnknownNameError
from rankwright.formats.reading import FORMATS, format_of

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


def test_the_ending_names_the_format_to_write(small_data, tmp_path):
    with pytest.raises(SettingError, match=r"the ending of '.*data\.xyz' names no format; wanted one of \.letor"):
        rw.write(small_data, tmp_path / "data.xyz")
    rw.write(small_data, tmp_path / "data.xyz", format="csv")
    assert rw.read(tmp_path / "data.xyz").equals(small_data)


def test_text_is_written_as_letor_text_and_read_by_its_beginning(small_data, tmp_path):
    rw.write(small_data, tmp_path / "data.txt.gz")
    assert format_of(tmp_path / "data.txt.gz") == "svmlight"
    assert rw.read(tmp_path / "data.txt.gz").equals(small_data)


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


def test_compressed_standard_input_shows_its_format_too(small_data, tmp_path, monkeypatch):
    rw.write(small_data, tmp_path / "data.csv.gz")

    class Input:
        buffer = io.BufferedReader(io.BytesIO((tmp_path / "data.csv.gz").read_bytes()))

    monkeypatch.setattr(sys, "stdin", Input)
    assert rw.read("-").equals(small_data)


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
