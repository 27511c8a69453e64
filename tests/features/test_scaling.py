from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from rankwright.container.file import write_container
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import ContainerError, InputError, UnknownNameError
from rankwright.features import scaling
from rankwright.features.scaling import LOG, LOG_COUNTS, SCALINGS, SORTNET, ZSCORE, FittedScaling, chain, parse_scaling

NAMES = [*SCALINGS, "log-counts+zscore", "log+sortnet", "query-minmax+zscore+log"]


def one_query(*columns: Sequence[float]) -> RankingDataset:
    features = np.array(columns, np.float32).T
    return RankingDataset.from_arrays(features, np.zeros(len(features)), group=[len(features)])


def scaled(name: str, *columns: Sequence[float]) -> list[list[float]]:
    data = one_query(*columns)
    result: list[list[float]] = scaling.fit(name, data).apply(data).features.T.tolist()
    return result


@pytest.fixture(scope="module")
def data() -> RankingDataset:
    """Counts, real numbers, negative ones, constants and missing values, in 30 queries."""
    rng = np.random.default_rng(2)
    sizes = rng.integers(1, 20, 30)
    n = int(sizes.sum())
    features = np.stack(
        [rng.poisson(3, n), rng.normal(size=n), -rng.exponential(size=n), np.full(n, 4.0), np.zeros(n)], axis=1
    ).astype(np.float32)
    features = np.concatenate([features, np.where(rng.random(features.shape) < 0.2, np.nan, features)], axis=1)
    features = np.concatenate([features, np.full((n, 1), np.nan)], axis=1).astype(np.float32)
    return RankingDataset.from_arrays(features, np.zeros(n), group=sizes)


# What each says of a single column


def test_sortnet_is_equation_4_of_the_paper():
    assert scaled("sortnet", [1, 2, 4, 1]) == [pytest.approx([(1 - 2) / 4, (2 - 2) / 4, (4 - 2) / 4, (1 - 2) / 4])]
    assert scaled("sortnet", [-4, 1]) == [pytest.approx([(-4 + 1.5) / 4, (1 + 1.5) / 4])]


def test_minmax_reaches_from_0_to_1_in_each_query():
    assert scaled("query-minmax", [1, 2, 5]) == [[0, (2 - 1) / (5 - 1), 1]]


def test_ranks_reach_from_minus_1_to_1_and_equal_values_share_a_place():
    assert scaled("query-ranks", [7, -1, 1e30, 0, 8]) == [[0, -1, 1, -0.5, 0.5]]
    assert scaled("query-ranks", [2, 1, 2]) == [[0.5, -1, 0.5]]


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=30, unique=True), st.floats(0.01, 5))
def test_ranks_do_not_change_with_what_keeps_the_order(values, power):
    stretched = [float(np.sign(one) * abs(one) ** power) for one in np.argsort(np.argsort(values))]
    assert scaled("query-ranks", values) == scaled("query-ranks", stretched)


def test_zscores_have_mean_0_and_deviation_1():
    assert scaled("zscore", [1, 2, 3]) == [pytest.approx([-((3 / 2) ** 0.5), 0, (3 / 2) ** 0.5])]


def test_logs_keep_the_sign():
    assert scaled("log", [0, 1, -3, 0.5]) == [pytest.approx([0, np.log(2), -np.log(4), np.log(1.5)])]


def test_only_counts_are_logged():
    count, flag, real, negative = [0, 3, 1], [0, 1, 1], [0, 2.5, 1], [0, 3, -1]
    assert scaled("log-counts", count, flag, real, negative) == [
        pytest.approx([0, np.log(4), np.log(2)]),
        flag,
        real,
        negative,
    ]


def test_what_counts_is_decided_by_the_data_fitted_on():
    fitted = scaling.fit("log-counts", one_query([0, 3, 1], [0.5, 3, 1]))
    assert fitted.transform([[2.5, 2.0]]).tolist() == [pytest.approx([np.log(3.5), 2.0])]


@pytest.mark.parametrize("name", ["sortnet", "query-minmax", "query-ranks", "zscore"])
def test_constant_columns_and_single_documents_become_0(name):
    assert scaled(name, [3, 3, 3], [0, 0, 0], [-2, -2, -2], [0.1, 0.1, 0.1]) == [[0, 0, 0]] * 4
    assert scaled(name, [7]) == [[0]]


def test_a_feature_that_was_constant_says_nothing_later_either():
    assert scaling.fit("zscore", one_query([5, 5])).transform([[5.0], [9.0]]).tolist() == [[0], [0]]


@pytest.mark.parametrize("name", ["sortnet", "query-minmax", "query-ranks", "zscore"])
def test_missing_values_stay_missing_and_take_no_part(name):
    (with_missing,) = scaled(name, [1, np.nan, 2, 4, np.nan])
    (without,) = scaled(name, [1, 2, 4])
    assert np.isnan(with_missing).tolist() == [False, True, False, False, True]
    assert [with_missing[row] for row in (0, 2, 3)] == without


# Laws over every scaling


@pytest.mark.parametrize("name", NAMES)
def test_the_name_says_it_all(name):
    assert parse_scaling(name).name == name
    assert parse_scaling(name) == parse_scaling(name)


@pytest.mark.parametrize("name", NAMES)
def test_missing_and_only_missing_is_missing(name, data):
    result = scaling.fit(name, data).apply(data).features
    assert np.array_equal(np.isnan(result), np.isnan(data.features))
    assert result.dtype == np.float32


@pytest.mark.parametrize("name", NAMES)
def test_a_query_at_a_time_is_all_at_once(name, data):
    fitted = scaling.fit(name, data)
    apart = [fitted.apply(data.take_queries([query])).features for query in range(data.n_queries)]
    assert np.array_equal(np.concatenate(apart), fitted.apply(data).features, equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
def test_row_order_does_not_matter(name, data):
    rng = np.random.default_rng(7)
    order = np.concatenate([rows.start + rng.permutation(rows.stop - rows.start) for rows in data.groups.slices()])
    shuffled = replace(data, features=data.features[order])
    together, apart = (scaling.fit(name, one).apply(one).features for one in (data, shuffled))
    assert_allclose(apart, together[order], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_saved_scales_the_same(name, data, tmp_path):
    fitted = scaling.fit(name, data)
    fitted.save(tmp_path / "scaling.rw")
    for copy in (scaling.load(tmp_path / "scaling.rw"), pickle.loads(pickle.dumps(fitted))):
        assert (copy.scaling, copy.n_features) == (fitted.scaling, fitted.n_features)
        assert np.array_equal(copy.apply(data).features, fitted.apply(data).features, equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
def test_the_input_is_left_alone_and_threads_do_not_matter(name, data):
    before = data.features.copy()
    results = [scaling.fit(name, data, threads=n).apply(data, threads=n).features.tobytes() for n in (1, 2, 7)]
    assert results[0] == results[1] == results[2]
    assert np.array_equal(data.features, before, equal_nan=True)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_learned_is_frozen(name, data):
    for values in scaling.fit(name, data).learned.values():
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1


@pytest.mark.parametrize("name", NAMES)
def test_empty_queries_and_no_documents_are_fine(name):
    nothing = RankingDataset.from_arrays(np.zeros((0, 2)), np.zeros(0), group=[0, 0])
    assert scaling.fit(name, nothing).apply(nothing).features.shape == (0, 2)


@pytest.mark.parametrize("name", NAMES)
def test_infinity_is_refused(name):
    with pytest.raises(InputError, match="row 1 has -inf in feature 2; scaling needs finite values"):
        scaling.fit(name, one_query([1, 2], [1, -np.inf]))
    fitted = scaling.fit(name, one_query([1, 2], [1, 3]))
    with pytest.raises(InputError, match="row 0 has inf in feature 1"):
        fitted.transform([[np.inf, 0]], Groups.of_sizes([1]))


def test_a_chain_learns_from_what_comes_before():
    data = one_query([0, 1, 3, 7])
    chained = scaling.fit("log-counts+zscore", data).apply(data)
    logged = scaling.fit("log-counts", data).apply(data)
    assert np.array_equal(chained.features, scaling.fit("zscore", logged).apply(logged).features)
    assert chain(LOG_COUNTS, ZSCORE) == parse_scaling("log-counts+zscore")
    assert chain(LOG, chain(LOG_COUNTS, ZSCORE)) == chain(chain(LOG, LOG_COUNTS), ZSCORE)


def test_many_rows_are_scaled_in_chunks():
    values = np.random.default_rng(0).normal(5, 3, size=(3000, 2)).astype(np.float32)
    data = RankingDataset.from_arrays(values, np.zeros(3000), group=[3000])
    expected = (values.astype(np.float64) - values.mean(0, np.float64)) / values.std(0, np.float64)
    assert_allclose(scaling.fit("zscore", data).apply(data).features, expected, rtol=1e-5, atol=1e-6)


def test_letor_norms_its_own_data_so(real_data):
    # OHSUMED's QueryLevelNorm files are min-max scaled already: scaling again changes nothing.
    import gzip

    with gzip.open(real_data("OHSUMED/Fold1/vali.txt.gz"), "rt") as lines:
        fields = [line.partition("#")[0].split() for line in lines]
    features = [[float(pair.partition(":")[2]) for pair in row[2:]] for row in fields]
    data = RankingDataset.from_arrays(
        features, qid=[row[1] for row in fields], labels=[float(row[0]) for row in fields]
    )
    again = scaling.fit("query-minmax", data).apply(data).features
    constant = np.stack([np.ptp(data.features[rows], axis=0) == 0 for rows in data.groups.slices()])
    kept = ~np.repeat(constant, data.groups.sizes, axis=0)
    assert kept.mean() > 0.5
    assert_allclose(again[kept], data.features[kept], atol=2e-6)


# Doors


def test_unknown_names_list_the_known_ones():
    with pytest.raises(UnknownNameError, match="unknown scaling 'z-score'; did you mean 'zscore'"):
        scaling.fit("log+z-score", one_query([1]))


def test_groups_are_asked_for_where_they_are_needed():
    data = one_query([1, 2])
    with pytest.raises(InputError, match="sortnet scales the documents of a query together: groups are needed"):
        SORTNET.fit(data).transform(data.features)
    assert ZSCORE.fit(data).transform(data.features).tolist() == [[-1], [1]]
    with pytest.raises(InputError, match="features must have 3 rows, one a document, got 2"):
        SORTNET.fit(data).transform(data.features, Groups.of_sizes([3]))


def test_features_must_be_those_fitted_on():
    with pytest.raises(InputError, match="zscore was fitted on 1 features, got 2"):
        scaling.fit("zscore", one_query([1, 2])).transform([[1, 2]])


@pytest.mark.parametrize(
    ("header", "arrays"),
    [({"scaling": "zscore"}, {}), ({"scaling": "zscore", "n_features": 2}, {"mean": np.zeros(3)})],
)
def test_a_file_whose_parts_do_not_fit_is_refused(tmp_path, header, arrays):
    write_container(tmp_path / "odd.rw", "scaling", header, arrays)
    with pytest.raises(ContainerError, match=r"odd.rw: the parts of the scaling do not fit together"):
        scaling.load(tmp_path / "odd.rw")


def test_parts_can_stand_in_another_file(data):
    fitted = scaling.fit("log-counts+zscore", data)
    again = FittedScaling.of_parts(fitted.header, fitted.learned)
    assert np.array_equal(again.apply(data).features, fitted.apply(data).features, equal_nan=True)


def test_a_feature_that_hardly_differs_is_as_good_as_constant():
    denormal = RankingDataset.from_arrays(np.array([[1e-40], [8e-40]], np.float32), group=[2])
    fitted = scaling.fit("zscore", denormal)
    assert fitted.transform([[1e-40], [1.0], [-3e38]]).tolist() == [[0], [0], [0]]


def test_a_value_too_far_from_training_is_named():
    narrow = RankingDataset.from_arrays(np.array([[1e-30], [2e-30]], np.float32), group=[2])
    with pytest.raises(InputError, match=r"row 1 has 1e\+10 in feature 1, which is so far from the values of training"):
        scaling.fit("zscore", narrow).transform([[1.0], [1e10]])
