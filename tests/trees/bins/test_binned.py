"""Datasets with codes for features."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.trees.bins.binned import BinnedDataset, bin_dataset, without_features
from rankwright.trees.bins.binning import bin_columns, fit_bins


def test_everything_but_the_features_stays(small_data: RankingDataset):
    binned = bin_dataset(small_data, in_key_order=False)
    assert (binned.n_docs, binned.n_queries, binned.n_features) == (
        small_data.n_docs,
        small_data.n_queries,
        small_data.n_features,
    )
    for name in ("labels", "groups", "preferences", "query_weights", "document_weights", "positions"):
        assert getattr(binned, name) is getattr(small_data, name)
    assert binned.names == small_data.names
    assert np.array_equal(binned.codes, bin_columns(small_data.features, fit_bins(small_data.features)))
    assert "5 features" in repr(binned)


def test_held_out_data_is_binned_by_the_mapper_of_the_training_data(small_data: RankingDataset):
    train = bin_dataset(small_data.take_queries(np.arange(20)))
    valid = small_data.take_queries(np.arange(20, 40))
    binned = bin_dataset(valid, train.mapper)
    assert binned.mapper is train.mapper
    assert np.array_equal(binned.codes, bin_columns(valid.features, train.mapper))


def test_codes_are_those_of_the_data_in_the_order_of_its_keys(small_data: RankingDataset):
    binned, ordered = bin_dataset(small_data), small_data.in_key_order()
    assert np.array_equal(binned.codes, bin_dataset(ordered, in_key_order=False).codes)
    assert binned.documents.equals(without_features(ordered))


def test_parts_that_do_not_fit_are_refused(small_data: RankingDataset):
    binned = bin_dataset(small_data)
    with pytest.raises(InputError, match="codes must be contiguous"):
        BinnedDataset(binned.codes[:, 1:], binned.mapper, binned.documents)
    with pytest.raises(InputError, match="no features of their own"):
        BinnedDataset(binned.codes, binned.mapper, small_data)
    with pytest.raises(InputError, match="5 names"):
        BinnedDataset(binned.codes, binned.mapper, binned.documents, ("a",))
