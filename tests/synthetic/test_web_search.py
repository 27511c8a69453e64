from __future__ import annotations

import numpy as np
import pytest

from rankwright import synthetic
from rankwright.data.dataset import RankingDataset
from rankwright.errors import SettingError
from rankwright.formats.svmlight.reader import read_svmlight


@pytest.fixture(scope="module")
def data() -> RankingDataset:
    return synthetic.web_search(1500, seed=5)


def column(data: RankingDataset, name: str) -> np.ndarray:
    return data.features[:, data.names.index(name)]


def test_shape_and_labels_are_those_of_the_benchmark(data):
    assert data.n_features == 136
    assert data.n_docs / data.n_queries == pytest.approx(120, rel=0.05)
    assert np.std(data.groups.sizes) / np.mean(data.groups.sizes) == pytest.approx(1 / np.sqrt(4.5), rel=0.1)
    shares = np.bincount(data.labels.astype(np.int64)) / data.n_docs
    assert shares.tolist() == pytest.approx([0.52, 0.32, 0.13, 0.02, 0.01], abs=0.02)
    nothing_relevant = np.mean([data.labels[rows].max() == 0 for rows in data.groups.slices()])
    assert 0.01 < nothing_relevant < 0.06


def test_features_obey_the_arithmetic_of_their_names(data):
    n_terms = np.rint(column(data, "covered_terms.body").max())
    assert n_terms == 5
    for text in ("body", "anchor", "title", "url", "whole"):
        least, mean, most = (column(data, f"{name}_tf.{text}") for name in ("min", "mean", "max"))
        assert (least <= mean + 1e-4).all()
        assert (mean <= most + 1e-4).all()
        assert (column(data, f"sum_tf.{text}") <= column(data, f"length.{text}")).all()
        assert set(column(data, f"boolean.{text}").tolist()) == {0.0, 1.0}
        assert ((least > 0) == (column(data, f"boolean.{text}") > 0)).all()
        assert column(data, f"cosine.{text}").max() <= 1 + 1e-5
        assert (column(data, f"lm_dirichlet.{text}") < 0).all()
    parts = sum(column(data, f"sum_tf.{text}") for text in ("body", "anchor", "title", "url"))
    assert np.array_equal(parts, column(data, "sum_tf.whole"))


def test_some_features_belong_to_the_query_alone(data):
    idf = column(data, "idf.body")
    assert all(np.ptp(idf[rows]) == 0 for rows in data.groups.slices())


def test_there_is_something_to_learn_that_no_feature_shows_alone(data):
    labels = data.labels - np.concatenate(
        [np.full(r.stop - r.start, data.labels[r].mean()) for r in data.groups.slices()]
    )
    some = data.features[::5, ::5].T  # rows and features enough
    correlations = [abs(np.corrcoef(np.argsort(np.argsort(values)), labels[::5])[0, 1]) for values in some]
    assert 0.1 < np.nanmax(correlations) < 0.5


def test_counts_are_sparse_and_heavy_tailed_as_in_the_benchmark(data, real_data):
    real = read_svmlight(real_data("MSLR-sample/all.txt.gz")).features
    assert real.shape[1] == data.n_features
    zeros, real_zeros = (data.features == 0).mean(axis=0), (real == 0).mean(axis=0)
    assert np.abs(zeros - real_zeros).mean() < 0.06
    assert np.abs(zeros - real_zeros).max() < 0.2
    are_counts, real_counts = ((values == np.rint(values)).all(axis=0) for values in (data.features, real))
    assert (are_counts == real_counts).mean() > 0.95
    # The upper quartile is of the right size wherever both have one: within a factor of three.
    quartile, real_quartile = np.percentile(data.features[::5], 75, axis=0), np.percentile(real, 75, axis=0)
    comparable = (quartile > 0.01) & (real_quartile > 0.01)
    assert comparable.sum() > 60
    ratio = quartile[comparable] / real_quartile[comparable]
    assert np.mean((ratio > 1 / 3) & (ratio < 3)) > 0.95


@pytest.mark.parametrize("docs_per_query", [0, -1, float("nan"), 1e7])
def test_sizes_that_make_no_sense_are_refused(docs_per_query):
    with pytest.raises(SettingError, match="docs_per_query must be 1 or more"):
        synthetic.web_search(3, docs_per_query=docs_per_query)
