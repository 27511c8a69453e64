"""Features of which only some values are stored stand for the whole matrix, if that can be had."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array, csc_array, csr_array
from tests.sparse_features import judged, odd, words

import rankwright as rw
from rankwright.data import sparse_rows
from rankwright.data.sparse_rows import SparseRows, joined_rows, stays_sparse
from rankwright.errors import InputError, NotEnoughMemoryError


@pytest.fixture
def all_stay_sparse(monkeypatch):
    monkeypatch.setattr(sparse_rows, "LEAST_BYTES", 0)
    monkeypatch.setattr(sparse_rows, "LEAST_TIMES", 0)


@pytest.mark.parametrize("absent", ["zero", "missing"])
def test_rows_and_columns_are_those_of_the_matrix(monkeypatch, absent):
    monkeypatch.setattr(sparse_rows, "VALUES_AT_A_TIME", 50)
    rows = SparseRows.of(odd(60), absent)
    full = rows.dense()
    assert np.isnan(full).any()
    same = np.testing.assert_array_equal
    assert rows.shape == full.shape
    for places in (slice(3, 20), slice(50, 3), np.array([5, 2, 2, 40]), [7], np.arange(60) % 3 == 0):
        same(rows[places].dense(), full[places])
    same(rows[4], full[4])
    same(rows[:, 3], full[:, 3])
    same(rows[2:9, [5, 0]], full[2:9, [5, 0]])
    assert rows[3, 7] == full[3, 7] or np.isnan(full[3, 7])
    same(np.asarray(rows), full)
    same(np.concatenate([block.dense() for block in rows.blocks(7)]), full)
    same(joined_rows([rows[:9], rows[9:]]).dense(), full)
    same(joined_rows([rows[:9], full[9:]]), full)


@pytest.mark.usefixtures("all_stay_sparse")
def test_any_scipy_matrix_is_taken():
    twice = coo_array((np.ones(3), ([0, 0, 1], [1, 1, 0])), (2, 2))  # stored twice means the sum
    for matrix in (twice, csc_array(twice), csr_array(twice).astype(np.float64)):
        data = rw.RankingDataset.from_arrays(matrix, [0, 1], group=[2])
        assert data.sparse is not None
        assert data.dense().features.tolist() == [[0, 2], [1, 0]]
    with pytest.raises(InputError, match="absent must be 'zero' or 'missing'"):
        rw.RankingDataset.from_arrays(twice, group=[2], absent="nothing")


def test_small_and_full_matrices_become_full_ones():
    data = rw.RankingDataset.from_arrays(csr_array(np.eye(4)), group=[4])
    assert data.sparse is None
    assert not stays_sparse((100, 1000), 200)
    assert stays_sparse((2_000_000, 200_000), 100_000_000)
    assert not stays_sparse((2_000_000, 200), 100_000_000)


@pytest.mark.usefixtures("all_stay_sparse")
def test_datasets_of_sparse_rows_are_like_others():
    matrix = odd(60)
    labels, qid = judged(matrix)
    order = np.random.default_rng(0).permutation(60)
    sparse = rw.RankingDataset.from_arrays(matrix[order], labels[order], qid=qid[order])
    full = rw.RankingDataset.from_arrays(matrix[order].toarray(), labels[order], qid=qid[order])
    assert sparse.sparse is not None
    assert sparse.equals(full)
    assert full.equals(sparse)
    assert sparse.equals(sparse)
    assert sparse.in_key_order().equals(full.in_key_order())
    assert sparse.take_queries([2, 0]).equals(full.take_queries([2, 0]))
    assert sparse.dense().features.tobytes() == full.features.tobytes()
    assert (rw.to_sparse(sparse) != rw.to_sparse(full)).nnz <= np.isnan(full.features).sum()
    assert sparse.head(3).equals(full.head(3))
    assert sparse.to_frame().equals(full.to_frame())


@pytest.mark.usefixtures("all_stay_sparse")
def test_what_does_not_fit_memory_is_refused_in_one_line(monkeypatch):
    matrix = words(100)
    labels, qid = judged(matrix)
    data = rw.RankingDataset.from_arrays(matrix, labels, qid=qid)
    trees = rw.LambdaMART(n_trees=2, max_leaves=4).fit(data)
    net = rw.RankNet(epochs=1, hidden=(2,)).fit(data)
    monkeypatch.setattr("rankwright.memory.SMALL", 0)
    monkeypatch.setattr("rankwright.memory.free_memory", lambda: 10_000)
    with pytest.raises(NotEnoughMemoryError, match=r"ranknet learns from all values .* 100 documents × 300"):
        rw.RankNet().fit(data)
    with pytest.raises(NotEnoughMemoryError, match="ranknet scores all values of sparse"):
        net.predict(data)
    with pytest.raises(NotEnoughMemoryError, match="an explanation: a matrix of"):
        trees.explain(data, query=0)
    assert len(trees.predict(data)) == 100


@pytest.mark.usefixtures("all_stay_sparse")
def test_rankers_take_scipy_matrices_as_they_took_full_ones():
    matrix = words(200)
    labels, qid = judged(matrix)
    for ranker in (rw.LambdaMART(n_trees=3), rw.RankNet(epochs=2, hidden=(3,)), rw.LinearRegression()):
        sparse = ranker.fit(matrix, labels, qid=qid).predict(matrix)
        full = ranker.fit(matrix.toarray(), labels, qid=qid).predict(matrix.toarray())
        assert np.array_equal(sparse, full)
        assert ranker.score(matrix, labels, qid=qid) > 0
