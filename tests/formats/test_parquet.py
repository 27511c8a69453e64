from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import rankwright.formats.parquet as ours
from rankwright.cli.app import main
from rankwright.data.columns import Columns
from rankwright.errors import FileFormatError, InputError, RankwrightError
from rankwright.formats.parquet import write_parquet
from rankwright.formats.reading import iterate, read
from rankwright.trees.bins.from_file import bin_file

read_parquet, iter_parquet = partial(read, format="parquet"), partial(iterate, format="parquet")


def test_missing_is_null_and_features_are_float32(full_data, tmp_path):
    write_parquet(full_data, tmp_path / "data.parquet")
    table = pq.read_table(tmp_path / "data.parquet")
    assert table["clicks, all"].to_pylist() == [None, 2, 3, 0.25, 6]
    assert table["label"].to_pylist() == [2, None, 0, 1, 0.5]
    assert table.schema.field("bm25").type == pa.float32()


def test_only_the_columns_that_take_part_are_read(tmp_path):
    pq.write_table(pa.table({"qid": [1], "url": ["a"], "x": [1.5], "y": [2.0]}), tmp_path / "data.parquet")
    with pytest.raises(FileFormatError, match=r"data\.parquet: column 'url' must hold numbers"):
        read_parquet(tmp_path / "data.parquet")
    assert read_parquet(tmp_path / "data.parquet", drop=["url"]).feature_names == ("x", "y")
    assert read_parquet(tmp_path / "data.parquet", features=["y", "x"]).features.tolist() == [[2, 1.5]]
    with_ids = read_parquet(tmp_path / "data.parquet", columns=Columns(document="url"))
    assert np.asarray(with_ids.document_ids).tolist() == ["a"]


@pytest.mark.parametrize("values_in_block", [1, 30, 1 << 20])
def test_pieces_are_whole_queries_that_make_up_the_file(small_data, tmp_path, monkeypatch, values_in_block):
    for name in ("VALUES_READ_AT_ONCE", "VALUES_WRITTEN_AT_ONCE"):
        monkeypatch.setattr(ours, name, values_in_block)
    monkeypatch.setattr(ours, "BYTES_IN_GROUP", 1000)
    write_parquet(small_data, tmp_path / "data.parquet")
    pieces = list(iter_parquet(tmp_path / "data.parquet"))
    np.testing.assert_array_equal(np.concatenate([piece.features for piece in pieces]), small_data.features)
    np.testing.assert_array_equal(np.concatenate([piece.groups.sizes for piece in pieces]), small_data.groups.sizes)
    assert read_parquet(tmp_path / "data.parquet").equals(small_data)


def test_pieces_written_one_after_another_make_the_whole(full_data, small_data, tmp_path):
    with pytest.raises(InputError, match="must have the same columns"):
        write_parquet([full_data, small_data], tmp_path / "data.parquet")
    assert list(tmp_path.iterdir()) == []
    write_parquet((full_data.take_queries([query]) for query in range(3)), tmp_path / "data.parquet")
    assert read_parquet(tmp_path / "data.parquet").equals(full_data.take_queries([0, 1, 2]))


def test_ids_that_are_numbers_in_one_file_and_text_in_another_are_text(tmp_path):
    for name, ids in (("1", [7, 8]), ("2", ["7a", "8"])):
        pq.write_table(pa.table({"qid": ids, "document_id": ids, "x": [1.0, 2.0]}), tmp_path / f"{name}.parquet")
    paths = [tmp_path / "1.parquet", tmp_path / "2.parquet"]
    with pytest.raises(FileFormatError, match=r"2\.parquet: query 8 comes back at row 1"):
        read_parquet(paths)
    pq.write_table(pa.table({"qid": ["7a"], "document_id": ["x"], "x": [3.0]}), paths[1])
    data = read_parquet(paths)
    assert data.qid.tolist() == ["7", "8", "7a"]
    assert np.asarray(data.document_ids).tolist() == ["7", "8", "x"]


def test_a_query_that_comes_back_cannot_be_read_in_pieces(full_data, tmp_path):
    write_parquet(full_data, tmp_path / "data.parquet")
    with pytest.raises(FileFormatError, match=r"data\.parquet: query b comes back at row 2"):
        list(iter_parquet(tmp_path / "data.parquet"))


def test_errors_count_rows_through_the_whole_file(tmp_path, monkeypatch):
    for name in ("VALUES_READ_AT_ONCE", "VALUES_WRITTEN_AT_ONCE"):
        monkeypatch.setattr(ours, name, 4)
    pq.write_table(pa.table({"qid": [1] * 5, "label": [0, 1, 2, 1, -1]}), tmp_path / "data.parquet")
    with pytest.raises(FileFormatError, match=r"data\.parquet: column 'label', row 4: must be finite and 0 or more"):
        read_parquet(tmp_path / "data.parquet")


@pytest.mark.parametrize("part", ["nothing", "beginning", "end", "middle damaged"])
def test_a_broken_file_is_one_clear_error(small_data, tmp_path, part):
    path = tmp_path / "data.parquet"
    write_parquet(small_data, path)
    whole = path.read_bytes()
    middle = len(whole) // 3
    damaged = whole[:100] + bytes(255 - byte for byte in whole[100:middle]) + whole[middle:]
    path.write_bytes({"nothing": b"", "beginning": whole[:-20], "end": whole[20:], "middle damaged": damaged}[part])
    with pytest.raises(FileFormatError, match=r"data\.parquet: is not a whole Parquet file"):
        read_parquet(path)


def mutants(whole: bytes, n_mutants: int) -> Iterator[bytes]:
    """Files cut short, with other bits in pages or in the description at the end, or with bytes too many."""
    rng = np.random.default_rng(0)
    described = int.from_bytes(whole[-8:-4], "little")
    for number in range(n_mutants):
        file = bytearray(whole)
        match number % 4:
            case 0:
                del file[int(rng.integers(len(file))) :]
            case 1:
                for place in rng.integers(len(file), size=5):
                    file[place] ^= 1 << int(rng.integers(8))
            case 2:
                for place in rng.integers(described, size=2):
                    file[-9 - place] = int(rng.choice([0, 127, 128, 240, 255]))
            case 3:
                place = int(rng.integers(len(file)))
                file[place:place] = rng.bytes(7)
        yield bytes(file)


def test_damage_of_any_kind_is_one_line_with_the_files_name(small_data, tmp_path, monkeypatch):
    monkeypatch.setattr(ours, "BYTES_IN_GROUP", 1000)  # several row groups
    path, refusals = tmp_path / "data.parquet", []
    write_parquet(small_data, path)
    for mutant in mutants(path.read_bytes(), 400):
        path.write_bytes(mutant)
        for way in (read_parquet, lambda path: list(iter_parquet(path)), bin_file):
            try:
                way(path)
            except RankwrightError as error:
                refusals.append(str(error))
    assert len(refusals) > 400  # a bit of a number may change unseen
    assert [refusal for refusal in refusals if not refusal.startswith(f"{path}: ") or "\n" in refusal] == []


def test_a_directory_an_absent_file_and_one_without_rows_are_errors(tmp_path):
    with pytest.raises(FileFormatError, match="is a directory; wanted a Parquet file"):
        read_parquet(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_parquet(tmp_path / "absent.parquet")
    pq.write_table(pa.table({"qid": pa.array([], pa.int64())}), tmp_path / "empty.parquet")
    with pytest.raises(FileFormatError, match="holds no documents"):
        read_parquet(tmp_path / "empty.parquet")


def test_nothing_is_left_behind_where_writing_fails(tmp_path, full_data):
    with pytest.raises(InputError, match="would be read back as the position column"):
        write_parquet(read_named(full_data, ("position", "x")), tmp_path / "data.parquet")
    assert list(tmp_path.iterdir()) == []


def read_named(data, names):
    from dataclasses import replace

    return replace(data, feature_names=names)


def test_the_index_of_pandas_is_no_feature(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"qid": [1, 1, 2], "label": [0, 1, 2], "bm25": [0.5, 1.5, 2.5]}, index=[2, 0, 1])
    frame.to_parquet(tmp_path / "rows.parquet")
    assert read_parquet(tmp_path / "rows.parquet").feature_names == ("bm25",)
    frame.set_index("qid").to_parquet(tmp_path / "by_query.parquet")
    by_query = read_parquet(tmp_path / "by_query.parquet")
    assert (by_query.feature_names, by_query.qid.tolist()) == (("bm25",), [1, 1, 2])
    chosen = read_parquet(tmp_path / "rows.parquet", features=["__index_level_0__"])
    assert sorted(chosen.features[:, 0]) == [0, 1, 2]


def test_names_of_columns_that_are_no_text_are_told(tmp_path, monkeypatch, capsys):
    path = tmp_path / "data.parquet"
    columns = {"label": [0.0, 1.0], "qid": [1, 1], "zzzz": [0.5, 0.25]}
    pq.write_table(pa.table(columns), path, store_schema=False)
    path.write_bytes(path.read_bytes().replace(b"zzzz", b"zz\xe1z"))
    monkeypatch.setattr(sys, "argv", ["rankwright", "inspect", str(path)])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert "is not a whole Parquet file: 'utf-8' codec can't decode" in " ".join(capsys.readouterr().err.split())
