"""Real files: the numbers that their makers give, and those that another reader finds."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from rankwright.formats.svmlight.reader import iter_svmlight, read_svmlight
from rankwright.formats.svmlight.writer import write_svmlight

SMALL = ["MQ2008/Fold1/vali.txt.gz", "OHSUMED/Fold1/vali.txt.gz", "lightgbm-example/rank.test.gz"]


def test_mq2008_test_folds_are_all_queries_once(real_data):
    data = read_svmlight([real_data(f"MQ2008/Fold{fold}/test.txt.gz") for fold in range(1, 6)])
    assert (data.n_queries, data.n_docs, data.n_features) == (784, 15_211, 46)
    assert data.labels is not None
    assert set(data.labels.tolist()) == {0.0, 1.0, 2.0}
    assert sum(data.labels[docs].max() == 0 for docs in data.groups.slices()) == 220
    assert data.qid.dtype == np.int64
    assert data.document_ids is not None
    assert all(text.startswith("GX") for text in data.document_ids.tolist())


def test_ohsumed_has_numbers_as_document_ids(real_data):
    data = read_svmlight([real_data(f"OHSUMED/Fold{fold}/test.txt.gz") for fold in range(1, 6)])
    assert (data.n_queries, data.n_docs, data.n_features) == (106, 16_140, 45)
    assert data.document_ids is not None
    assert data.document_ids.dtype == np.int64


def test_mslr(real_data):
    data = read_svmlight(real_data("MSLR-sample/all.txt.gz"))
    assert (data.n_queries, data.n_docs, data.n_features) == (146, 16_268, 136)
    assert data.labels is not None
    assert set(data.labels.tolist()) == {0.0, 1.0, 2.0, 3.0, 4.0}
    assert data.document_ids is None
    assert not np.isnan(data.features).any()


@pytest.mark.parametrize(("name", "n_queries", "n_docs"), [("train", 201, 3005), ("test", 50, 768)])
def test_lightgbm_files_find_their_query_files(real_data, name, n_queries, n_docs):
    data = read_svmlight(real_data(f"lightgbm-example/rank.{name}.gz"), n_features=300)
    assert (data.n_queries, data.n_docs) == (n_queries, n_docs)
    sizes = gzip.decompress(real_data(f"lightgbm-example/rank.{name}.query.gz").read_bytes()).split()
    assert data.groups.sizes.tolist() == [int(size) for size in sizes]
    assert data.query_ids is None


@pytest.mark.parametrize("name", SMALL)
def test_real_files_round_trip_and_stream(real_data, tmp_path, name):
    data = read_svmlight(real_data(name))
    write_svmlight(iter_svmlight(real_data(name), block_size=100_000), tmp_path / "copy.txt.zst")
    back = read_svmlight(tmp_path / "copy.txt.zst")
    np.testing.assert_array_equal(back.features.view(np.uint32), data.features.view(np.uint32))
    np.testing.assert_array_equal(back.groups.offsets, data.groups.offsets)
    assert data.query_ids is None or back.equals(data)


@pytest.mark.oracle
@pytest.mark.parametrize("name", SMALL)
def test_scikit_learn_reads_the_same_numbers(real_data, name):
    from sklearn.datasets import load_svmlight_file

    data = read_svmlight(real_data(name))
    features, labels, qid = load_svmlight_file(str(real_data(name)), query_id=True, zero_based=False)
    np.testing.assert_array_equal(features.toarray().astype(np.float32), data.features)
    np.testing.assert_array_equal(labels, data.labels)
    assert data.query_ids is None or qid.tolist() == data.qid.tolist()
