"""Sparse features as vectors in one column of a Parquet file, as Spark writes them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.sparse_features import judged, odd

import rankwright as rw
from rankwright import memory
from rankwright.cli.app import main
from rankwright.data import sparse_rows
from rankwright.data.sparse_rows import SparseRows
from rankwright.errors import FileFormatError, InputError, RankwrightError

SETTINGS: dict[str, Any] = {"n_trees": 3, "max_leaves": 8, "min_docs_in_leaf": 5}


def spark_table(vectors: Sequence[dict[str, Any] | None], **columns: Any) -> pa.Table:
    """A table as Spark writes it: values are float64, and a vector with all its values has no indices."""
    lists = [("indices", pa.list_(pa.int32())), ("values", pa.list_(pa.float64()))]
    kind = pa.struct([("type", pa.int8()), ("size", pa.int32()), *lists])
    own = {"qid": [1] * len(vectors), "label": np.arange(len(vectors)) % 2, **columns}
    return pa.table(own).append_column("features", pa.array(vectors, kind))


def vector(size: int | None, indices: list[int] | None, values: list[float]) -> dict[str, Any]:
    return {"type": int(indices is None), "size": size, "indices": indices, "values": values}


@pytest.fixture
def wide(tmp_path, monkeypatch):
    """Data that stays sparse, its file, and the same data in full."""
    matrix = odd(300)
    labels, qid = judged(matrix)
    full = rw.RankingDataset.from_arrays(SparseRows.of(matrix).dense(), labels, qid=qid)
    monkeypatch.setattr(sparse_rows, "LEAST_BYTES", 0)
    monkeypatch.setattr(sparse_rows, "LEAST_TIMES", 0.01)
    data = rw.RankingDataset.from_arrays(SparseRows.of(matrix), labels, qid=qid)
    rw.write(data, tmp_path / "wide.parquet")
    return tmp_path / "wide.parquet", data, full


def test_what_is_written_is_read_back(wide, monkeypatch):
    path, data, full = wide
    assert pq.read_schema(path).names == ["qid", "label", "features"]
    assert rw.DataFile(path).begins_sparse()
    found = rw.read(path)
    assert found.sparse is not None
    assert found.equals(data)
    monkeypatch.setattr("rankwright.formats.parquet.VALUES_READ_AT_ONCE", 2_000)
    chunks = list(rw.DataFile(path).iterate())
    assert len(chunks) > 1
    assert all(chunk.sparse is not None for chunk in chunks)
    assert np.array_equal(np.concatenate([chunk.dense().features for chunk in chunks]), full.features, equal_nan=True)
    blocks: list[Any] = []
    rw.DataFile(path).stream(lambda features: blocks.append(np.array(features)))  # its memory is used again
    assert np.array_equal(np.concatenate(blocks), full.features, equal_nan=True)


def test_what_is_missing_stays_missing(wide, tmp_path):
    path, data, _ = wide
    rows: Any = data.features
    own: Any = SparseRows(rows.starts, rows.columns, rows.values, rows.n_columns, np.nan)
    missing = data.with_features(own, (), None)
    rw.write(missing, tmp_path / "missing.parquet")
    found = rw.read(tmp_path / "missing.parquet")
    assert found.sparse is not None
    assert np.isnan(found.sparse.absent)
    assert found.equals(missing)
    assert not found.equals(rw.read(path))


def test_vectors_that_are_small_in_full_become_a_matrix(wide, monkeypatch):
    path, _, full = wide
    monkeypatch.setattr(sparse_rows, "LEAST_BYTES", 1 << 40)
    assert not rw.DataFile(path).begins_sparse()
    found = rw.read(path)
    assert found.sparse is None
    assert found.equals(full)
    forest = rw.LambdaMART(**SETTINGS).fit(rw.DataFile(path)).forest_
    assert forest.equals(rw.LambdaMART(**SETTINGS).fit(full).forest_)


def test_forests_of_files_are_those_of_full_matrices(wide, tmp_path):
    path, _, full = wide
    wanted = rw.LambdaMART(**SETTINGS, early_stopping=2).fit(full, valid=full)
    found = rw.LambdaMART(**SETTINGS, early_stopping=2).fit(rw.DataFile(path), valid=path)
    assert found.forest_.equals(wanted.forest_)
    assert found.history_.values == wanted.history_.values
    found.save(tmp_path / "model.rw")
    assert np.array_equal(rw.load(tmp_path / "model.rw").predict(path), wanted.predict(full))


def test_commands_take_vectors(wide, tmp_path, monkeypatch, capsys):
    path, _, full = wide

    def run(*arguments: object) -> None:
        monkeypatch.setattr(sys, "argv", ["rankwright", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code

    model, scores, text = tmp_path / "model.rw", tmp_path / "scores.txt", tmp_path / "wide.txt"
    options = [part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")]
    run("train", path, "--ranker", "lambdamart", *options, "--out", model)
    run("score", model, path, "--out", scores)
    assert np.array_equal(np.loadtxt(scores), rw.LambdaMART(**SETTINGS).fit(full).predict(full))
    run("convert", path, text)
    run("convert", text, tmp_path / "again.parquet", "--n-features", 300)
    again = rw.read(tmp_path / "again.parquet")
    assert again.sparse is not None
    assert np.array_equal(again.dense().features, full.features, equal_nan=True)
    run("split", path, "--out", tmp_path / "parts", "--valid", 0.5)
    assert "features" in pq.read_schema(tmp_path / "parts" / "train.parquet").names
    run("inspect", model)
    capsys.readouterr()


def test_bags_and_workers_of_shards(wide, tmp_path, monkeypatch):
    _, data, full = wide
    (tmp_path / "shards").mkdir()
    for number, queries in enumerate((range(8), range(8, data.n_queries))):
        rw.write(data.take_queries(np.array(queries)), tmp_path / "shards" / f"{number}.parquet")
    shards = rw.Shards(tmp_path / "shards")
    bag = rw.BLMART(n_bags=2, overfit=True, **SETTINGS)
    scores = bag.fit(shards).predict(full)
    with rw.open_engine(workers=1) as engine, pytest.raises(InputError, match="workers do not grow trees on sparse"):
        rw.LambdaMART(**SETTINGS).on(engine).fit(shards)
    monkeypatch.setattr(sparse_rows, "LEAST_BYTES", 1 << 40)
    assert np.array_equal(bag.fit(shards).predict(full), scores)


def test_vectors_of_spark(tmp_path):
    path = tmp_path / "spark.parquet"
    rows = [vector(4, [1, 3], [2.0, 5.0]), vector(None, None, [1.0, 2.0, 3.0, 4.0]), vector(4, [], [])]
    pq.write_table(spark_table(rows), path)
    data = rw.read(path)
    assert data.features.tolist() == [[0, 2, 0, 5], [1, 2, 3, 4], [0, 0, 0, 0]]
    assert data.feature_names == ()
    some_missing = [vector(2, [0], [float("nan")]), {"type": 0, "size": 2, "indices": [1], "values": [None]}]
    pq.write_table(spark_table(some_missing), path)
    assert np.array_equal(rw.read(path).features, [[np.nan, 0], [0, np.nan]], equal_nan=True)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (None, "there is no vector"),
        (vector(4, [1, 4], [1.0, 1.0]), "an index lies outside 0 to 3"),
        (vector(4, [-1], [1.0]), "an index lies outside 0 to 3"),
        (vector(4, [2, 1], [1.0, 1.0]), "indices must ascend"),
        (vector(4, [1, 1], [1.0, 1.0]), "indices must ascend"),
        (vector(4, [1, 2], [1.0]), "indices and values differ in number"),
        (vector(5, [1], [1.0]), "the vector has another size than those above"),
        (vector(None, [1], [1.0]), "the size must be 0 or more"),
        (vector(None, None, [1.0]), "the vector has another size than those above"),
        (vector(4, [1], [1e300]), "must lie within float32's range"),
    ],
)
def test_what_is_wrong_in_a_vector_is_told_by_its_row(tmp_path, wrong, told):
    path = tmp_path / "spark.parquet"
    pq.write_table(spark_table([vector(4, [0], [1.0]), vector(4, [0], [2.0]), wrong]), path)
    with pytest.raises(FileFormatError, match=f"spark.parquet: column 'features', row 2: .*{told}"):
        rw.read(path)


def test_vectors_of_impossible_sizes_are_refused(tmp_path):
    path = tmp_path / "spark.parquet"
    for size, indices in ((-1, []), (-1, [0]), (2**31 - 1, [0])):
        pq.write_table(spark_table([vector(size, indices, [1.0] * len(indices))] * 2), path)
        with mock.patch.object(memory, "free_memory", return_value=1 << 30), pytest.raises(RankwrightError):
            rw.read(path)


def test_other_features_beside_vectors_are_refused(tmp_path):
    path = tmp_path / "spark.parquet"
    pq.write_table(spark_table([vector(4, [0], [1.0]), vector(4, [1], [2.0])], bm25=[1.0, 2.0]), path)
    with pytest.raises(FileFormatError, match="'features' holds vectors, and 'bm25' would be features beside it"):
        rw.read(path)
    assert rw.read(path, drop=["bm25"]).n_features == 4
    assert rw.read(path, features=["bm25"]).feature_names == ("bm25",)
    with pytest.raises(InputError, match="trained on 300 features, got 4"):
        rw.LambdaMART(**SETTINGS).fit(np.eye(300), np.arange(300) % 2, group=[300]).predict(
            rw.DataFile(path, drop=["bm25"])
        )
