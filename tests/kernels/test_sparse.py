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


def parsed(module, text, threads=1):
    block = np.frombuffer(text, np.uint8)
    starts, counted = np.empty(len(block) // 2 + 1, np.int64), np.zeros(2, np.int64)
    module.split_lines(block, starts, counted)
    starts = starts[: counted[0]].copy()
    n, colons = len(starts), np.add.reduceat(block == ord(":"), starts, dtype=np.int64)
    room = np.concatenate([[0], np.cumsum(colons)])
    columns, values = np.full(room[-1], -7, np.int32), np.full(room[-1], -7, np.float32)
    filled = [np.zeros(n, np.int64), np.zeros(n, np.float32), np.zeros(2 * n, np.int64), np.zeros(n, np.uint8)]
    spans, report = np.zeros(2 * n, np.int64), np.zeros(6, np.int64)
    module.parse_sparse_svmlight(block, starts, 1, False, room, columns, values, *filled, spans, report, threads)
    return columns, values, *filled, spans, report


def test_lines_are_parsed_as_by_the_twin(threads):
    core = pytest.importorskip("rankwright.kernels._core")
    lines = [b"2 qid:1 5:0.5 900000:1e-3 # docid = a:b", b"0 qid:1", b"1 qid:2 7:nan 3:-2 6:0 # c:d", b"# only", b""]
    text = b"\n".join(lines * 40)
    for ours, twin in zip(parsed(core, text, threads), parsed(reference, text), strict=True):
        np.testing.assert_array_equal(ours, twin)
    for wrong in (b"1 qid:1 3:1 2:1 3:2\n", b"1 qid:1 0:1\n", b"1 qid:1 4:inf\n"):
        assert np.array_equal(parsed(core, text + wrong, threads)[-1], parsed(reference, text + wrong)[-1])


def test_room_for_fewer_pairs_than_a_line_may_have_is_refused():
    core = pytest.importorskip("rankwright.kernels._core")
    block, none = np.frombuffer(b"1 3:1 4:1\n", np.uint8), np.zeros(2, np.int64)
    with pytest.raises(ValueError, match="as many places as a line has colons"):
        core.parse_sparse_svmlight(
            block, none[:1], 1, False, np.array([0, 1]), np.zeros(1, np.int32), np.zeros(1, np.float32),
            none[:1], np.zeros(1, np.float32), none, np.zeros(1, np.uint8), none.copy(), np.zeros(6, np.int64), 1,
        )  # fmt: skip
