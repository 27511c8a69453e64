"""The kernels on sparse features and codes do what their twins do, which see all values."""

from __future__ import annotations

import numpy as np
import pytest
from tests.sparse_features import odd, one_hot, words

from rankwright.data.sparse_rows import SparseRows
from rankwright.kernels import reference
from rankwright.trees.bins import sparse_binning
from rankwright.trees.bins.sparse_binning import bin_sparse_rows, fit_sparse_bins

KINDS = {"one-hot": one_hot(60, 4, 9), "words": words(80, 40), "odd": odd(70)[:, :50]}


@pytest.fixture(params=[1, 3])
def threads(request):
    return request.param


def hashes_of(module, rows, threads=1):
    out = np.full(len(rows), 7, np.uint64)
    module.hash_sparse_rows(rows, out, threads)
    return out


@pytest.mark.parametrize("absent", ["zero", "missing"])
def test_hashes_are_those_of_all_values(absent, threads):
    core = pytest.importorskip("rankwright.kernels._core")
    rows = SparseRows.of(KINDS["odd"], absent)
    assert np.array_equal(hashes_of(core, rows, threads), hashes_of(reference, rows))


def fitted(module, monkeypatch, features, **options):
    with monkeypatch.context() as patch:
        patch.setattr(sparse_binning, "kernels", module)
        return fit_sparse_bins(features, **options)


def binned(module, monkeypatch, rows, mapper, **options):
    with monkeypatch.context() as patch:
        patch.setattr(sparse_binning, "kernels", module)
        return bin_sparse_rows(rows, mapper, hashes=np.zeros(len(rows), np.uint64), **options)


@pytest.mark.parametrize("absent", ["zero", "missing"])
@pytest.mark.parametrize("max_bins", [3, 255])
def test_bins_and_codes_are_those_of_the_twins(monkeypatch, absent, max_bins, threads):
    core = pytest.importorskip("rankwright.kernels._core")
    for name in KINDS:
        rows = SparseRows.of(KINDS[name], absent)
        some = np.arange(0, len(rows), 2)
        options = {"max_bins": max_bins, "rows": some, "categorical": [1]}
        ours = fitted(core, monkeypatch, rows, **options, threads=threads)
        twins = fitted(reference, monkeypatch, rows, **options)
        assert np.array_equal(ours.edges, twins.edges)
        assert np.array_equal(ours.offsets, twins.offsets)
        order = np.random.default_rng(0).permutation(len(rows))
        found = binned(core, monkeypatch, rows, ours, order=order, threads=threads)
        wanted = binned(reference, monkeypatch, rows, ours, order=order)
        for field in ("first", "n_places", "usual", "bundle", "bases", "bundled", "starts", "listed", "crowded"):
            assert np.array_equal(getattr(found, field), getattr(wanted, field)), field


def test_one_hot_fields_are_one_bundle_each(monkeypatch):
    core = pytest.importorskip("rankwright.kernels._core")
    rows = SparseRows.of(KINDS["one-hot"])
    codes = binned(core, monkeypatch, rows, fit_sparse_bins(rows, max_bins=255))
    assert codes.bundled.shape == (60, 4)
    assert len(codes.listed) == 0


def test_arrays_of_a_wrong_length_are_refused():
    core = pytest.importorskip("rankwright.kernels._core")
    rows = SparseRows.of(KINDS["words"])
    with pytest.raises(ValueError, match="out must have 80 values"):
        core.hash_sparse_rows(rows, np.empty(3, np.uint64), 1)
    beyond = SparseRows(rows.starts, rows.columns + np.int32(1000), rows.values, rows.n_columns)
    with pytest.raises(ValueError, match="columns must lie below"):
        core.hash_sparse_rows(beyond, np.empty(80, np.uint64), 1)
