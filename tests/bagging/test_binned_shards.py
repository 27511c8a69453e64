"""Bags over shards: the model of the whole data, of which a worker reads its bag alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

import rankwright as rw
from rankwright.bagging.bag_training import bag_plan
from rankwright.bagging.binned_shards import bin_shards
from rankwright.cluster.opening import open_engine
from rankwright.errors import FileFormatError, InputError, SettingError
from rankwright.formats.shards import Shards
from rankwright.trees.bins.binned import bin_dataset

N_SHARDS = 4
SMALL = rw.BLMART(n_bags=3, n_trees=5, max_leaves=4, min_docs_in_leaf=2, bag_fraction=0.5, overfit=True, seed=7)
POINTWISE = rw.BagBoo(n_bags=3, n_trees=5, max_leaves=4, min_docs_in_leaf=2, bag_fraction=0.5, seed=7)


@pytest.fixture(scope="module")
def data():
    return rw.synthetic.web_search(n_queries=30, seed=3)


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards")
    for shard, queries in enumerate(np.array_split(np.arange(data.n_queries), N_SHARDS)):
        rw.write(data.take_queries(queries), folder / f"{shard}.parquet")
    return folder


@pytest.fixture(scope="module")
def engine():
    with open_engine(workers=2) as engine:
        yield engine


def assert_same_trees(one, other):
    (_, arrays), (_, other_arrays) = one.to_state(), other.to_state()
    for name in arrays:
        np.testing.assert_array_equal(arrays[name], other_arrays[name])


def assert_same_model(one, other):
    assert one.to_state()[0] == other.to_state()[0]
    assert_same_trees(one, other)


@pytest.mark.parametrize("ranker", [SMALL, POINTWISE], ids=lambda ranker: ranker.name)
def test_workers_make_the_model_that_threads_make(ranker, folder, engine):
    assert_same_model(clone(ranker).fit(Shards(folder)), clone(ranker).on(engine).fit(Shards(folder)))


@pytest.mark.parametrize("ranker", [SMALL, POINTWISE], ids=lambda ranker: ranker.name)
def test_a_bag_is_trained_on_its_queries_with_the_bins_of_all(ranker, data, folder):
    bags, plan = clone(ranker).fit(Shards(folder)), bag_plan(ranker)
    data = data.in_key_order()
    mapper = bin_dataset(data, **ranker.binning()).mapper
    for number in range(ranker.n_bags):
        sample = plan.sample(number, data.n_queries)
        own = bin_dataset(data.take_queries(sample.queries), mapper, in_key_order=True)
        weights = sample.counts[sample.queries].astype(np.float32)
        own = replace(own, documents=replace(own.documents, query_weights=weights))
        alone = ranker.single(seed=plan.seed_of(number)).fit_binned(own)
        np.testing.assert_array_equal(bags.bag(number).feature, alone.forest_.feature)
        np.testing.assert_allclose(bags.bag(number).value, alone.forest_.value, rtol=1e-6)


def test_how_queries_lie_in_shards_does_not_matter(data, folder, tmp_path):
    rw.write(data, tmp_path / "all.parquet")
    assert_same_trees(clone(SMALL).fit(Shards(folder)), clone(SMALL).fit(Shards(tmp_path)))


def test_validation_data_chooses(folder, engine):
    valid = rw.synthetic.web_search(n_queries=12, seed=4)
    chosen = clone(SMALL).set_params(overfit=False, n_trees=12)
    here = clone(chosen).fit(Shards(folder), valid=valid)
    there = clone(chosen).on(engine).fit(Shards(folder), valid=valid)
    assert_same_model(here, there)
    assert len(here.history_.values) == chosen.n_bags
    assert here.oob_score_ is here.oob_scores_ is None


def test_bins_are_seen_in_the_same_sample(folder, engine, monkeypatch):
    monkeypatch.setattr("rankwright.bagging.binned_shards.SAMPLE_SIZE", 50)
    whole = rw.bin_file([folder / f"{shard}.parquet" for shard in range(N_SHARDS)], max_bins=15, sample_size=50)
    for by in (None, engine):
        shards = bin_shards(Shards(folder), by, max_bins=15, categorical=(), seed=0, threads=1)
        np.testing.assert_array_equal(shards.mapper.edges, whole.mapper.edges)


def test_a_bag_reads_its_queries_alone(data, folder):
    shards = Shards(folder)
    index = shards.index()
    np.testing.assert_array_equal(index.groups.offsets, data.groups.offsets)
    queries = np.array([0, 1, 9, 29])
    read = []
    part = shards.only(index.rows_of(index.groups.rows_of(queries)))
    documents = part.stream(lambda block: read.append(block.copy()))
    wanted = data.take_queries(queries)
    np.testing.assert_array_equal(np.concatenate(read), wanted.features)
    np.testing.assert_array_equal(documents.data.labels, wanted.labels)
    np.testing.assert_array_equal(documents.data.groups.offsets, wanted.groups.offsets)


def test_finished_bags_are_kept(folder, tmp_path):
    clone(SMALL).fit(Shards(folder), checkpoint=tmp_path)
    before = {path: path.stat().st_mtime_ns for path in sorted(tmp_path.rglob("*.rw"))}
    assert len(before) == SMALL.n_bags
    clone(SMALL).fit(Shards(folder), checkpoint=tmp_path)
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_a_query_in_two_shards_is_refused(data, tmp_path):
    rw.write(data.take_queries([0, 1]), tmp_path / "a.parquet")
    rw.write(data.take_queries([1, 2]), tmp_path / "b.parquet")
    with pytest.raises(FileFormatError, match=r"b\.parquet: query .* comes back .* together in one file"):
        clone(SMALL).fit(Shards(tmp_path))


def test_a_folder_without_shards_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"the folder holds no \.parquet files"):
        Shards(tmp_path)


def test_something_must_choose(folder):
    with pytest.raises(SettingError, match="give valid, or set overfit"):
        clone(SMALL).set_params(overfit=False).fit(Shards(folder))


def test_other_rankers_read_all_shards(data, folder):
    forest = rw.LambdaMART(n_trees=3, max_leaves=4, min_docs_in_leaf=2)
    assert_same_trees(clone(forest).fit(Shards(folder)), clone(forest).fit(data))
