"""Bins: what shares one, and that codes and raw values say the same of every threshold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.keys import row_hashes
from rankwright.errors import InputError, SettingError
from rankwright.formats.blocks import Rows, Runs
from rankwright.kernels import reference
from rankwright.trees.bins.binning import (
    BinMapper,
    bin_columns,
    bin_rows,
    codes_by_row,
    empty_codes,
    fit_bins,
    slots_of,
)
from rankwright.trees.bins.sampling import RowSample, sample_rows

AWKWARD = np.array(
    [0.0, -0.0, 1e-45, -1e-45, 1.1754944e-38, 3.4028235e38, -3.4028235e38, 1.0, 1.0000001, 0.99999994, np.inf, -np.inf],
    np.float32,
)
any_float32 = st.one_of(st.floats(width=32), st.sampled_from(AWKWARD.tolist()))
tables = st.tuples(st.integers(1, 60), st.integers(1, 3)).flatmap(
    lambda shape: arrays(np.float32, shape, elements=any_float32)
)


def web_like(n_rows: int, n_features: int, seed: int = 0) -> np.ndarray:
    """Zero-heavy counts, heavy tails, a constant and missing values."""
    rng = np.random.default_rng(seed)
    features = rng.lognormal(sigma=2.0, size=(n_rows, n_features)).astype(np.float32)
    features[:, ::3] = np.floor(features[:, ::3])
    features[rng.random(features.shape) < 0.3] = 0.0
    features[:, 1] = 7.0
    features[rng.random(n_rows) < 0.2, 2] = np.nan
    return features


def number_thresholds(features: np.ndarray, max_bins: int, find=reference.find_thresholds) -> list[np.ndarray]:
    thresholds = np.zeros((features.shape[1], max_bins - 1), np.float32)
    counts = np.zeros(features.shape[1], np.int64)
    find(features, np.arange(len(features)), max_bins, thresholds, counts, 1)
    return [thresholds[feature, :count] for feature, count in enumerate(counts)]


@given(tables, st.integers(2, 20))
def test_a_code_and_its_value_stand_on_the_same_side_of_every_threshold(features, max_bins):
    mapper = fit_bins(features, max_bins=max_bins, threads=1)
    with np.errstate(over="ignore", under="ignore"):
        just_above = np.nextafter(mapper.edges, np.float32(np.inf))
    others = np.concatenate([features.ravel(), AWKWARD, mapper.edges, just_above])
    probes = np.repeat(others[:, None], features.shape[1], axis=1)
    codes = codes_by_row(bin_columns(probes, mapper, threads=1), features.shape[1])
    for feature in range(features.shape[1]):
        missing = np.isnan(others)
        assert (codes[missing, feature] == mapper.n_bins[feature]).all()
        for number, edge in enumerate(mapper.edges_of(feature)):
            assert np.array_equal(others[~missing] <= edge, codes[~missing, feature] <= number)


@given(tables)
def test_few_distinct_values_get_a_bin_each(features):
    mapper = fit_bins(features, max_bins=60, threads=1)
    codes = codes_by_row(bin_columns(features, mapper, threads=1), features.shape[1])
    for feature in range(features.shape[1]):
        values = features[:, feature]
        distinct = np.unique(values[~np.isnan(values)])
        assert mapper.n_bins[feature] == max(len(distinct), 1)
        found = codes[~np.isnan(values), feature]
        assert np.array_equal(found, np.searchsorted(distinct, values[~np.isnan(values)]))


@given(tables, st.integers(2, 12))
def test_thresholds_are_strictly_ascending_and_no_more_than_asked_for(features, max_bins):
    for own in number_thresholds(features, max_bins):
        assert len(own) <= max_bins - 1
        assert (np.diff(own) > 0).all()


@pytest.mark.parametrize("max_bins", [2, 7, 63, 255, 1000])
def test_many_values_share_bins_of_about_equal_numbers_of_rows(max_bins):
    values = np.random.default_rng(0).normal(size=(20_000, 1)).astype(np.float32)
    mapper = fit_bins(values, max_bins=max_bins)
    counts = np.bincount(codes_by_row(bin_columns(values, mapper), 1)[:, 0])
    assert len(counts) == max_bins
    assert counts.max() <= 20_000 / max_bins + 1


def test_a_value_with_many_rows_stands_alone_and_leaves_the_other_bins_to_the_rest():
    values = np.random.default_rng(0).normal(size=(10_000, 1)).astype(np.float32)
    values[:9_000] = 0.0
    mapper = fit_bins(values, max_bins=64)
    counts = np.bincount(codes_by_row(bin_columns(values, mapper), 1)[:, 0])
    assert counts.max() == 9_000
    assert np.sort(counts)[-2] <= 2 * 1_000 / 63


@pytest.mark.parametrize("max_bins", [2, 16, 255, 3000])
def test_the_compiled_thresholds_and_codes_are_the_naive_ones(max_bins):
    core = pytest.importorskip("rankwright.kernels._core")
    features = web_like(3_000, 21)
    expected = number_thresholds(features, max_bins)
    for threads in (1, 2, 7):
        found = number_thresholds(
            features,
            max_bins,
            lambda *arguments, threads=threads: core.find_thresholds(*arguments[:-1], threads),
        )
        assert all(np.array_equal(mine, theirs) for mine, theirs in zip(found, expected, strict=True))
    mapper = fit_bins(features, max_bins=max_bins, categorical=[3, 6])
    codes, naive_codes = empty_codes(3_000, mapper), empty_codes(3_000, mapper)
    parts = (mapper.edges, mapper.offsets, mapper.categorical)
    for order in (np.empty(0, np.int64), np.random.default_rng(0).permutation(3_000)):
        reference.bin_features(features, order, *parts, 0, naive_codes, 1)
        for threads in (1, 2, 7):
            codes[:] = 99
            core.bin_features(features, order, *parts, 0, codes, threads)
            assert np.array_equal(codes, naive_codes)


@pytest.mark.parametrize(("max_bins", "dtype"), [(255, np.uint8), (256, np.uint16), (32_767, np.uint16)])
def test_codes_take_the_smallest_type_that_holds_them(max_bins, dtype):
    features = np.arange(40_000, dtype=np.float32)[:, None]
    mapper = fit_bins(features, max_bins=max_bins)
    codes = bin_columns(features, mapper)
    assert codes.dtype == dtype
    assert codes.shape == (1, 40_000, slots_of(dtype))
    assert codes.max() == max_bins - 1


def test_categories_are_told_apart_and_rare_ones_are_missing():
    values = np.repeat(np.array([5, 900, -3, 70_000, 8, np.nan], np.float32), [40, 30, 20, 10, 1, 5])
    mapper = fit_bins(values[:, None], max_bins=4, categorical=[0])
    assert mapper.edges.tolist() == [-3, 5, 900, 70_000]
    codes = codes_by_row(bin_columns(np.array([[5], [70_000], [8], [6], [np.nan]], np.float32), mapper), 1)
    assert codes[:, 0].tolist() == [1, 3, 4, 4, 4]


def test_thresholds_after_bins_are_the_edges_and_infinity_after_the_last():
    mapper = fit_bins(np.array([[0, 5], [2, 5], [4, 6]], np.float32))
    found = mapper.thresholds(np.array([0, 0, 0, 1, 1]), np.array([0, 1, 2, 0, 1]))
    assert found.tolist() == [1, 3, np.inf, 5.5, np.inf]


def test_awkward_tables_have_bins_too():
    all_missing = fit_bins(np.full((5, 2), np.nan, np.float32))
    assert all_missing.n_bins.tolist() == [1, 1]
    assert codes_by_row(bin_columns(np.array([[np.nan, 3]], np.float32), all_missing), 2).tolist() == [[1, 0]]
    nothing = fit_bins(np.zeros((3, 0), np.float32))
    assert bin_columns(np.zeros((3, 0), np.float32), nothing).shape == (0, 3, 16)


def test_chunks_of_any_size_give_the_bins_and_codes_of_the_whole():
    features = web_like(5_000, 5)
    rows = Rows(features, Runs.of(np.sort(np.random.default_rng(2).integers(0, 90, 5_000))))
    groups = Groups.of_sizes(rows.runs.sizes)
    whole = fit_bins(features, max_bins=50, rows=sample_rows(row_hashes(features), groups, 700, 3))
    for size in (1, 777, 5_000):
        chunks = [features[start : start + size] for start in range(0, 5_000, size)]
        sample = RowSample(size=700, seed=3)
        for start in range(0, 5_000, size):
            sample.add(rows.take(np.arange(start, min(5_000, start + size))))
        assert sample.n_rows == 5_000
        assert sample.is_known
        mapper = fit_bins(sample.features(), max_bins=50)
        assert np.array_equal(mapper.edges, whole.edges)
        codes = empty_codes(sample.n_rows, mapper)
        for number, chunk in enumerate(chunks):
            bin_rows(chunk, mapper, codes, first_row=number * size, threads=1)
        assert np.array_equal(codes, bin_columns(features, whole))


def test_samples_differ_by_seed_and_cover_the_rows_evenly():
    groups, alike = Groups.of_sizes(np.full(100, 100)), np.zeros(10_000, np.uint64)
    hashes = row_hashes(np.arange(10_000, dtype=np.float32)[:, None])
    first, second = sample_rows(hashes, groups, 1_000, 0), sample_rows(hashes, groups, 1_000, 1)
    assert len(np.unique(first)) == 1_000
    assert not np.array_equal(first, second)
    assert abs(first.mean() - 5_000) < 5 * 10_000 / np.sqrt(12 * 1_000)
    # Queries that are alike are drawn alike, but documents of a query that are alike are not.
    assert len(np.unique(sample_rows(alike, groups, 1_000, 0) % 100)) == 10
    assert sample_rows(hashes[:10], Groups.of_sizes([10]), 10, 0).tolist() == list(range(10))


def test_a_sample_is_that_of_the_same_rows_in_another_order():
    rng = np.random.default_rng(3)
    features, qid = web_like(5_000, 4), rng.integers(0, 60, 5_000)
    qid[:5_000:7] = 70  # some rows of which a query has many alike
    features[:5_000:7] = 1.0
    found = []
    for order in (np.argsort(qid, kind="stable"), np.lexsort((rng.random(5_000), rng.permutation(71)[qid]))):
        data = RankingDataset.from_arrays(features[order], qid=qid[order])
        rows = sample_rows(row_hashes(data.features), data.groups, 700, 1)
        found.append(np.sort(data.features[rows], axis=0))
    assert np.array_equal(found[0], found[1], equal_nan=True)


def test_wrong_settings_and_tables_are_told():
    features = np.zeros((3, 2), np.float32)
    with pytest.raises(SettingError, match="max_bins must lie between 2 and 32767, got 1"):
        fit_bins(features, max_bins=1)
    with pytest.raises(SettingError, match="categorical features must be from 0 to 1, got 2"):
        fit_bins(features, categorical=[2])
    mapper = fit_bins(features)
    with pytest.raises(InputError, match="2 columns, as the bins have, got 3"):
        bin_columns(np.zeros((3, 3), np.float32), mapper)
    with pytest.raises(InputError, match="3 rows from row 1 on do not fit into the codes of 3 rows"):
        bin_rows(features, mapper, empty_codes(3, mapper), first_row=1)
    with pytest.raises(InputError, match="add a chunk first"):
        RowSample().features()


def test_a_mapper_is_three_plain_arrays():
    mapper = fit_bins(web_like(200, 3))
    copy = BinMapper(mapper.edges.copy(), mapper.offsets.copy(), mapper.categorical.copy())
    assert copy.n_bins.tolist() == mapper.n_bins.tolist()
