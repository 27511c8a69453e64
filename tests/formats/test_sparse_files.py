"""Files of wide rows that name few features are read, trained on, scored and written without a full matrix."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.sparse_features import judged, odd, one_hot, words

import rankwright as rw
from rankwright.cli.app import main
from rankwright.data import sparse_rows
from rankwright.data.sparse_rows import SparseRows
from rankwright.errors import FileFormatError
from rankwright.profile.data_summary import summarise
from rankwright.rankers.importance import permutation_importance

SETTINGS: dict[str, Any] = {"n_trees": 3, "max_leaves": 8, "min_docs_in_leaf": 5}


def write_rows(matrix, path: Path, first_row: int = 0) -> None:
    """Lines that name what is stored alone."""
    labels, qid = judged(matrix)
    with path.open("w") as out:
        for row in range(first_row, matrix.shape[0]):
            own = slice(matrix.indptr[row], matrix.indptr[row + 1])
            pairs = zip(matrix.indices[own] + 1, matrix.data[own], strict=True)
            out.write(f"{labels[row]} qid:{qid[row]} {' '.join(f'{index}:{value}' for index, value in pairs)}\n")


@pytest.fixture
def wide(tmp_path, monkeypatch):
    """A file whose rows stay sparse, and the same rows in full."""
    path, matrix = tmp_path / "wide.txt", odd(300)
    write_rows(matrix, path)
    monkeypatch.setattr(sparse_rows, "LEAST_BYTES", 0)
    monkeypatch.setattr(sparse_rows, "LEAST_TIMES", 0.01)
    labels, qid = judged(matrix)
    return path, rw.RankingDataset.from_arrays(SparseRows.of(matrix).dense(), labels, qid=qid)


def test_a_file_is_read_sparse_in_blocks_of_any_size(wide):
    path, full = wide
    for block_size in (500, 5_000, 10**6):
        data = rw.read(path, block_size=block_size, n_features=300)
        assert data.sparse is not None
        assert data.equals(full)
    missing = rw.read(path, absent="missing", n_features=300)
    assert missing.sparse is not None
    assert np.isnan(missing.dense().features).mean() > 0.5
    chunks = list(rw.DataFile(path, n_features=300, block_size=4_000).iterate())
    assert len(chunks) > 1
    assert all(chunk.sparse is not None for chunk in chunks)
    assert np.array_equal(np.concatenate([chunk.dense().features for chunk in chunks]), full.features, equal_nan=True)


def test_a_file_becomes_sparse_where_it_widens(tmp_path, monkeypatch):
    narrow, wide = words(100, 5), words(100, 900)
    for number, matrix in enumerate((narrow, wide)):
        write_rows(matrix, tmp_path / f"{number}.txt", first_row=0)
    text = (tmp_path / "0.txt").read_text() + (tmp_path / "1.txt").read_text().replace("qid:", "qid:9")
    (tmp_path / "both.txt").write_text(text)
    full = rw.read(tmp_path / "both.txt")
    monkeypatch.setattr(sparse_rows, "LEAST_BYTES", 4 * 10 * 600)
    data = rw.read(tmp_path / "both.txt", block_size=2_000)
    assert full.sparse is None
    assert data.sparse is not None
    assert data.equals(full)


def test_forests_of_files_are_those_of_full_matrices(wide, tmp_path):
    path, full = wide
    file = rw.DataFile(path, n_features=300)  # lines name no more than 299
    wanted = rw.LambdaMART(**SETTINGS, early_stopping=2).fit(full, valid=full)
    found = rw.LambdaMART(**SETTINGS, early_stopping=2).fit(file, valid=path)
    assert found.forest_.equals(wanted.forest_)
    assert found.history_.values == wanted.history_.values
    assert np.array_equal(found.predict(path), wanted.predict(full))
    found.save(tmp_path / "model.rw")
    assert np.array_equal(rw.load(tmp_path / "model.rw").predict(path), wanted.predict(full))


def test_commands_take_sparse_files(wide, tmp_path, monkeypatch):
    path, full = wide

    def run(*arguments: object) -> None:
        monkeypatch.setattr(sys, "argv", ["rankwright", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        assert not ended.value.code

    model, scores, again = tmp_path / "model.rw", tmp_path / "scores.txt", tmp_path / "again.txt"
    options = [part for name, value in SETTINGS.items() for part in ("--set", f"{name}={value}")]
    run("train", path, "--ranker", "lambdamart", *options, "--n-features", 300, "--out", model)
    run("score", model, path, "--out", scores)
    assert np.array_equal(np.loadtxt(scores), rw.LambdaMART(**SETTINGS).fit(full).predict(full))
    run("evaluate", path, "--model", model)
    run("convert", path, again)
    assert rw.read(again, n_features=300).equals(full)


def test_what_is_wrong_in_a_wide_line_is_told_by_its_number(wide):
    path, _ = wide
    path.write_text(path.read_text() + "1 qid:99 5:1 5:2\n")
    with pytest.raises(FileFormatError, match=r"wide.txt:301: the feature index of '5:2' appears twice"):
        rw.read(path)
    write_rows(one_hot(40), path)
    with pytest.raises(FileFormatError, match="lies beyond n_features=20"):
        rw.read(path, n_features=20)


def test_what_needs_all_values_makes_them(wide, tmp_path):
    path, full = wide
    data = rw.read(path, n_features=300)
    assert data.sparse is not None
    assert summarise(data).as_dict() == summarise(full).as_dict()
    ranker = rw.LambdaMART(**SETTINGS).fit(data)
    for options in ({"query": 3}, {"query": 3, "documents": [0, 1]}, {"query": 3, "background": data}):
        found, wanted = ranker.explain(data, **options), ranker.explain(full, **options)
        assert np.array_equal(found.contributions, wanted.contributions)
    rw.export(ranker, tmp_path / "model.json", to="xgboost-json", sample=data)
    one, other = (permutation_importance(ranker, own, repeats=1) for own in (data, full))
    assert one.drops.tolist() == other.drops.tolist()
