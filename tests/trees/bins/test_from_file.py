"""Codes straight from a file are those of the dataset that reading the file gives, bit for bit."""

from __future__ import annotations

import os
import re
import tracemalloc
from functools import partial
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from rankwright.data.dataset import RankingDataset
from rankwright.errors import FileFormatError, InputError, SettingError
from rankwright.formats import parquet
from rankwright.formats.blocks import Rows, Runs
from rankwright.formats.delimited import csv_files as delimited
from rankwright.formats.file_formats import FORMATS, write
from rankwright.formats.reading import DataFile, as_data_file, read, stream
from rankwright.formats.storage.streams import open_line_blocks
from rankwright.trees.bins import from_file
from rankwright.trees.bins.binned import bin_dataset, without_features
from rankwright.trees.bins.binning import fit_bins
from rankwright.trees.bins.from_file import bin_file
from rankwright.trees.bins.sampling import RowSample, highest_of_sample, lowest

FILES = ["data.txt", "data.txt.gz", "data.txt.zst", "data.parquet", "data.csv", "data.csv.gz", "data.tsv"]
SMALL_SAMPLE = 150  # fewer rows than the data has


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Many blocks and many pieces, even of small files."""
    monkeypatch.setattr(parquet, "VALUES_READ_AT_ONCE", 300)
    monkeypatch.setattr(delimited, "open_line_blocks", partial(open_line_blocks, block_size=1000))
    monkeypatch.setattr(from_file, "PIECE_SIZE", 1600)


def test_a_sample_takes_memory_for_the_rows_there_are():
    tracemalloc.start()
    try:
        sample = RowSample()  # of 200,000 rows: 40 GB, were they there
        for block in range(3):
            sample.add(Rows(np.zeros((20, 50_000), np.float32), Runs.of(np.full(20, block))))
        assert sample.features().shape == (60, 50_000)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 60e6


def documents(n_docs: int = 600, *, moved: bool, names: bool = False, extras: bool = False) -> RankingDataset:
    """Numbers of many kinds, missing ones, and a category (feature 2); with `moved`, queries' rows are not together."""
    rng = np.random.default_rng(5)
    features = rng.normal(size=(n_docs, 5)).astype(np.float32)
    features[rng.random(features.shape) < 0.3] = 0
    features[:, 2] = rng.integers(0, 9, n_docs)
    features[rng.random(n_docs) < 0.2, 3] = np.nan
    queries = np.sort(rng.integers(0, 40, n_docs))
    query_of_row = rng.permutation(queries) if moved else queries
    given: dict[str, Any] = {
        "query_weights": rng.random(len(np.unique(queries))),
        "document_weights": rng.random(n_docs),
        "positions": rng.integers(0, 10, n_docs),
    }
    return RankingDataset.from_arrays(
        features,
        rng.integers(0, 5, n_docs),
        qid=query_of_row,
        feature_names=("age", "clicks", "kind", "price", "size") if names else (),
        document_ids=[f"d{row}" for row in range(n_docs)],
        **(given if extras else {}),
    )


def assert_same(binned, expected):
    assert binned.codes.dtype == expected.codes.dtype
    assert np.array_equal(binned.codes, expected.codes)
    for name in ("edges", "offsets", "categorical"):
        assert np.array_equal(getattr(binned.mapper, name), getattr(expected.mapper, name))
    assert binned.documents.equals(expected.documents)
    assert binned.feature_names == expected.feature_names


@pytest.mark.parametrize("moved", [False, True], ids=["rows together", "rows apart"])
@pytest.mark.parametrize("sample_size", [SMALL_SAMPLE, 10_000])
@pytest.mark.parametrize("name", FILES)
def test_a_file_gives_the_codes_of_its_dataset(name, sample_size, moved, tmp_path):
    tabular = not name.startswith("data.txt")
    write(documents(moved=moved, names=tabular, extras=tabular), tmp_path / name)
    settings: dict[str, Any] = {
        "sample_size": sample_size,
        "categorical": ["kind" if tabular else "3"],
        "seed": 7,
        "max_bins": 60,
    }
    data = read(tmp_path / name)
    assert (data.source_rows is not None) == moved
    assert_same(bin_file(tmp_path / name, **settings), bin_dataset(data, **settings))


@pytest.mark.parametrize("absent", ["zero", "missing"])
@pytest.mark.parametrize("name", ["MQ2008/Fold1/vali.txt.gz", "OHSUMED/Fold1/vali.txt.gz"])
def test_real_files(name, absent, real_data):
    file = DataFile(real_data(name), absent=absent)
    assert_same(bin_file(file, sample_size=500), bin_dataset(file.read(), sample_size=500))


@pytest.mark.parametrize("name", ["data.txt", "data.parquet", "data.csv"])
@pytest.mark.parametrize("sample_size", [400, 10_000])
def test_two_byte_codes(name, sample_size, tmp_path):
    write(documents(moved=True), tmp_path / name)
    settings: dict[str, Any] = {"max_bins": 300, "sample_size": sample_size}
    binned = bin_file(tmp_path / name, **settings)
    assert binned.codes.dtype == np.uint16
    assert_same(binned, bin_dataset(read(tmp_path / name), **settings))


@pytest.mark.parametrize("absent", ["zero", "missing"])
@pytest.mark.parametrize("sample_size", [SMALL_SAMPLE, 10_000])
def test_text_that_grows_wider_on_the_way(absent, sample_size, tmp_path):
    rng = np.random.default_rng(0)
    lines = [
        f"{rng.integers(0, 3)} qid:{row // 9} " + " ".join(f"{i}:{rng.random():.3f}" for i in range(1, 2 + row // 50))
        for row in range(400)
    ]
    (tmp_path / "data.txt").write_text("\n".join(lines))
    file = DataFile(tmp_path / "data.txt", absent=absent, block_size=500)
    binned = bin_file(file, sample_size=sample_size)
    assert binned.n_features == 8
    assert_same(binned, bin_dataset(file.read(), sample_size=sample_size))


@pytest.mark.parametrize("name", FILES)
def test_held_out_files_are_binned_by_a_given_mapper(name, tmp_path):
    write(documents(moved=True), tmp_path / name)
    mapper = bin_dataset(documents(300, moved=False)).mapper
    assert_same(bin_file(tmp_path / name, mapper), bin_dataset(read(tmp_path / name), mapper))


def test_a_narrower_text_file_has_the_width_of_the_mapper_and_a_wider_one_is_refused(tmp_path):
    mapper = bin_dataset(documents(moved=False)).mapper
    (tmp_path / "narrow.txt").write_text("1 qid:1 1:2\n0 qid:1 2:1\n")
    narrow = read(tmp_path / "narrow.txt", n_features=5)
    assert_same(bin_file(tmp_path / "narrow.txt", mapper), bin_dataset(narrow, mapper))
    (tmp_path / "wide.txt").write_text("1 qid:1 1:2\n0 qid:1 6:1\n")
    with pytest.raises(FileFormatError, match=r"wide\.txt:2: feature index 6 lies beyond n_features=5"):
        bin_file(tmp_path / "wide.txt", mapper)
    (tmp_path / "wide.csv").write_text("qid,label,a,b\n1,0,1,2\n")
    with pytest.raises(FileFormatError, match=r"wide\.csv: features must have 5 columns, as the bins have, got 2"):
        bin_file(tmp_path / "wide.csv", mapper)


@pytest.mark.parametrize("name", ["one.txt", "one.parquet", "one.csv"])
def test_one_query_of_one_document(name, tmp_path):
    write(RankingDataset.from_arrays([[1.0, 2.0]], [1.0], qid=[7]), tmp_path / name)
    assert_same(bin_file(tmp_path / name), bin_dataset(read(tmp_path / name)))


@pytest.mark.parametrize("name", ["empty.txt", "empty.csv", "empty.parquet"])
def test_an_empty_file_is_refused_as_reading_it_is(name, tmp_path):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(FileFormatError) as reading:
        read(tmp_path / name)
    with pytest.raises(FileFormatError) as binning:
        bin_file(tmp_path / name)
    assert str(binning.value) == str(reading.value)


def test_a_bad_line_behind_the_sample_is_found_with_its_number(tmp_path):
    (tmp_path / "data.txt").write_text("1 qid:1 1:2\n" * 500 + "1 qid:1 1:x\n")
    with pytest.raises(FileFormatError, match=r"data\.txt:501: the value of '1:x' is not a number"):
        bin_file(DataFile(tmp_path / "data.txt", block_size=600), sample_size=20)


def test_several_files_and_sizes_beside_them(tmp_path):
    whole = documents(moved=False)
    first, second = whole.take_queries(np.arange(20)), whole.take_queries(np.arange(20, whole.n_queries))
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    write(first, paths[0])
    write(second, paths[1])
    assert_same(bin_file(paths, sample_size=SMALL_SAMPLE), bin_dataset(read(paths), sample_size=SMALL_SAMPLE))
    bare = tmp_path / "bare.txt"
    bare.write_text("".join(f"{row % 3} 1:{row}\n" for row in range(10)))
    bare.with_name("bare.txt.query").write_text("4\n6\n")
    assert_same(bin_file(bare), bin_dataset(read(bare)))


def test_preferences_and_weights_beside_a_file(tmp_path):
    write(documents(20, moved=True), tmp_path / "data.csv")
    data = read(tmp_path / "data.csv")
    rows = data.in_source_order(np.arange(data.n_docs))
    together = [
        (int(a), int(b)) for a in range(20) for b in range(20) if a < b and data.qid[rows[a]] == data.qid[rows[b]]
    ]
    (tmp_path / "pairs.txt").write_text("".join(f"{a} {b}\n" for a, b in together))
    beside = {"pairs": tmp_path / "pairs.txt"}
    expected = bin_dataset(read(tmp_path / "data.csv", **beside), sample_size=5)
    assert expected.preferences is not None
    assert_same(bin_file(DataFile(tmp_path / "data.csv", **beside), sample_size=5), expected)


@pytest.mark.parametrize("name", ["data.txt", "data.csv", "data.parquet"])
def test_standard_input_can_be_binned_though_it_is_read_twice(name, tmp_path, monkeypatch):
    write(documents(moved=False), tmp_path / name)
    expected = bin_dataset(read(tmp_path / name), sample_size=SMALL_SAMPLE)
    with (tmp_path / name).open("rb") as file:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=file))
        assert_same(bin_file("-", sample_size=SMALL_SAMPLE), expected)


@pytest.mark.parametrize("content", ["data.txt", "data.txt.gz", "data.parquet"])
def test_a_pipe_can_be_binned_though_it_is_read_twice(content, tmp_path):
    write(documents(moved=False), tmp_path / content)
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=lambda: (tmp_path / "pipe").write_bytes((tmp_path / content).read_bytes()))
    writer.start()
    binned = bin_file(tmp_path / "pipe", sample_size=SMALL_SAMPLE)
    writer.join()
    assert_same(binned, bin_dataset(read(tmp_path / content), sample_size=SMALL_SAMPLE))


def test_what_is_wrong_with_a_pipe_is_told_by_its_name(tmp_path):
    os.mkfifo(tmp_path / "pipe.txt")
    writer = Thread(target=lambda: (tmp_path / "pipe.txt").write_text("1 qid:1 1:2\n1 qid:1 1:x\n"))
    writer.start()
    with pytest.raises(FileFormatError, match=r"pipe\.txt:2: the value of '1:x' is not a number"):
        bin_file(tmp_path / "pipe.txt")
    writer.join()


@pytest.mark.parametrize("change", ["append", "edit", "label", "remove"])
def test_a_file_that_changes_between_two_readings_is_noticed(change, tmp_path, monkeypatch):
    path = tmp_path / "data.txt"
    write(documents(moved=False), path)

    def change_file(*given, **options):
        lines = path.read_text().splitlines()
        lines = {
            "append": [*lines, lines[-1]],
            "edit": [re.sub(r" 3:[0-9]+", " 3:77", lines[0]), *lines[1:]],
            "label": [f"{5 - int(lines[0][0])}{lines[0][1:]}", *lines[1:]],
            "remove": lines[:-1],
        }[change]
        path.write_text("\n".join(lines) + "\n")
        return fit_bins(*given, **options)

    monkeypatch.setattr(from_file, "fit_bins", change_file)
    with pytest.raises(InputError, match=r"data\.txt changed while it was read"):
        bin_file(path, sample_size=SMALL_SAMPLE)


@pytest.mark.parametrize("name", FORMATS)
def test_what_is_streamed_is_what_is_read(name, tmp_path):
    path = tmp_path / f"data{FORMATS[name].suffixes[0]}"
    write(documents(moved=True), path)
    blocks: list[np.ndarray] = []
    streamed = stream(path, lambda rows: blocks.append(rows.features.copy()))
    data = read(path)
    assert len(blocks) > 1 or name == "svmlight"
    assert np.array_equal(streamed.data.from_source_order(np.concatenate(blocks)), data.features, equal_nan=True)
    assert streamed.data.equals(without_features(data))
    with pytest.raises(SettingError, match="no option 'nonsense'"):
        stream(path, print, nonsense=1)


@pytest.mark.parametrize("value", ["a.txt", ["a.txt"], ("a.txt", Path("b.txt")), DataFile("a.txt", absent="missing")])
def test_paths_are_files(value):
    file = as_data_file(value)
    assert file is not None
    assert file.paths == (("a.txt", "b.txt") if isinstance(value, tuple) else ("a.txt",))


@pytest.mark.parametrize("value", [None, [], [[1.0], [2.0]], ([[1.0]], [1.0], [1]), np.zeros((2, 2))])
def test_arrays_are_no_files(value):
    assert as_data_file(value) is None
    with pytest.raises(InputError, match="a file must be a path, several, or a DataFile"):
        bin_file(value)


def test_a_file_prints_as_it_is_made():
    assert repr(DataFile("a.txt", format="svmlight", n_features=3)) == (
        "DataFile('a.txt', format='svmlight', n_features=3)"
    )
    assert repr(DataFile(["a.txt", "b.txt"])) == "DataFile(['a.txt', 'b.txt'])"


@pytest.mark.parametrize("size", [1, 7, 100, 2000])
def test_a_sample_holds_little_more_than_its_size(size):
    features = np.arange(3000, dtype=np.float32)[:, None]
    expected = RowSample(size, seed=1)
    rows = Rows(features, Runs.of(np.arange(3000) // 100))
    expected.add(rows)
    in_chunks = RowSample(size, seed=1)
    for start in range(0, 3000, 77):
        in_chunks.add(rows.take(np.arange(start, min(3000, start + 77))))
    assert np.array_equal(in_chunks.features(), expected.features())
    assert len(in_chunks.features()) == size
    with pytest.raises(InputError, match="1 columns or more, got 0"):
        in_chunks.add(Rows(features[:, :0], rows.runs))


@pytest.mark.skipif(os.environ.get("RANKWRIGHT_KERNELS") == "reference", reason="the kernels' twins do not save memory")
def test_memory_never_holds_the_feature_matrix(tmp_path, monkeypatch):
    monkeypatch.setattr(from_file, "PIECE_SIZE", 1 << 14)
    features = np.random.default_rng(0).integers(0, 100, (4000, 64)).astype(np.float32)
    write(RankingDataset.from_arrays(features, np.zeros(4000), qid=np.arange(4000) // 20), tmp_path / "data.txt")
    file = DataFile(tmp_path / "data.txt", block_size=10_000, threads=1)
    bin_file(file, sample_size=100)  # what is made once, such as imports, is made here
    peaks = []
    for work in (lambda: bin_file(file, sample_size=100), lambda: bin_dataset(file.read(), sample_size=100)):
        tracemalloc.start()
        binned = work()
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    judgments = 4000 * (4 + 3 * 8)  # labels, and query ids on their way to groups
    judgments += 4000 * 6 * 8  # hashes of rows, keys made from them, and the order that these give
    assert peaks[0] < 1.3 * binned.codes.nbytes + judgments + (1 << 18)
    assert peaks[1] > features.nbytes
    assert peaks[0] < features.nbytes


def test_parts_of_a_sample_need_no_rows_that_are_surely_not_in_the_whole():
    features = np.arange(3000, dtype=np.float32)[:, None]
    rows = Rows(features, Runs.of(np.arange(3000) // 100))
    whole = RowSample(1000, seed=1)
    whole.add(rows)
    parts = [RowSample(1000, seed=1, highest=highest_of_sample(1000, 3000)) for _ in range(2)]
    for part, places in zip(parts, np.split(np.arange(3000), 2), strict=True):
        part.add(rows.take(places))
    held = [part.with_priorities() for part in parts]
    assert all(len(own) < 700 for own, _ in held)
    chosen = lowest(np.concatenate([own for _, own in held]), 1000)
    assert np.array_equal(np.concatenate([own for own, _ in held])[chosen], whole.features())
