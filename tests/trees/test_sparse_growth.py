"""Trees on sparse features are those of all values, bit for bit: for any threads, order of rows and kind of trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.sparse_features import judged, odd, one_hot, words

import rankwright as rw
from rankwright import kernels
from rankwright.data.sparse_rows import SparseRows
from rankwright.errors import InputError
from rankwright.kernels import reference
from rankwright.kernels.records import SparseCodes
from rankwright.trees import grower
from rankwright.trees.bins import sparse_binning
from rankwright.trees.bins.binned import bin_dataset
from rankwright.trees.grower import grow_tree
from rankwright.trees.params import TreeParams
from rankwright.trees.share import RowShare, parts_of

KINDS: dict[str, Any] = {"one-hot": one_hot, "words": words, "odd": odd}
PLAIN: dict[str, Any] = {"n_trees": 4, "max_leaves": 12, "min_docs_in_leaf": 5, "learning_rate": 0.2}
SETTINGS: dict[str, dict[str, Any]] = {
    "best-first": {},
    "symmetric": {"growth": "symmetric"},
    "monotone": {"monotone": {1: 1, 3: -1}},
    "categorical": {"categorical": [1, 2, 5]},
    "drawn": {"split_feature_fraction": 0.4, "query_fraction": 0.6, "feature_fraction": 0.7, "gain_noise": 0.5},
    "few bins": {"max_bins": 3, "split_gain": "least-squares"},
}


def both(matrix: Any, **options: Any) -> tuple[rw.RankingDataset, rw.RankingDataset]:
    """The same data with all values, and sparse."""
    labels, qid = judged(matrix)
    sparse = SparseRows.of(matrix, **options)
    full = rw.RankingDataset.from_arrays(sparse.dense(), labels, qid=qid)
    return full, rw.RankingDataset.from_arrays(sparse, labels, qid=qid)


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_forest_is_that_of_all_values(kind, name):
    settings = PLAIN | SETTINGS[name]
    if kind == "odd" and name == "symmetric":
        settings |= {"max_leaves": 16}
    full, sparse = both(KINDS[kind](400))
    wanted = rw.LambdaMART(**settings, threads=1).fit(full)
    for threads in (1, 3):
        found = rw.LambdaMART(**settings, threads=threads).fit(sparse)
        assert found.forest_.equals(wanted.forest_)
        assert np.array_equal(found.predict(sparse), wanted.predict(full))


@pytest.mark.parametrize("growth", ["best-first", "symmetric"])
def test_values_that_are_not_stored_may_be_missing(growth):
    full, sparse = both(words(400), absent="missing")
    wanted, found = (rw.LambdaMART(**PLAIN, growth=growth).fit(data) for data in (full, sparse))
    assert found.forest_.equals(wanted.forest_)
    assert np.array_equal(found.predict(sparse), wanted.predict(full))


def test_rows_in_another_order_give_the_same_forest():
    matrix = odd(300)
    labels, qid = judged(matrix)
    order = np.random.default_rng(3).permutation(300)
    wanted = rw.LambdaMART(**PLAIN).fit(rw.RankingDataset.from_arrays(SparseRows.of(matrix), labels, qid=qid))
    moved = rw.RankingDataset.from_arrays(SparseRows.of(matrix[order]), labels[order], qid=qid[order])
    found = rw.LambdaMART(**PLAIN).fit(moved)
    assert found.forest_.equals(wanted.forest_)
    assert np.array_equal(found.predict(moved), wanted.predict(moved))


def test_twenty_thousand_rows_with_crowded_features():
    full, sparse = both(words(20_000, 60))
    assert len(bin_dataset(sparse).codes.crowded)
    settings = PLAIN | {"n_trees": 2}
    wanted, found = (rw.LambdaMART(**settings, threads=2).fit(data) for data in (full, sparse))
    assert found.forest_.equals(wanted.forest_)
    _, fields = both(one_hot(20_000, 3, 2))
    codes = bin_dataset(fields).codes
    assert codes.bundled.shape[1] == 3
    assert len(codes.crowded)


def test_lengths_are_chosen_bags_grown_and_validation_data_watched_alike():
    matrix = words(600, 80)
    full, sparse = both(matrix)
    valid_full, valid_sparse = (data.take_queries(np.arange(10)) for data in (full, sparse))
    settings = PLAIN | {"n_trees": 6, "early_stopping": 2}
    wanted = rw.LambdaMART(**settings).fit(full, valid={"a": valid_full, "b": valid_full})
    found = rw.LambdaMART(**settings).fit(sparse, valid={"a": valid_sparse, "b": valid_sparse})
    assert found.history_.values == wanted.history_.values
    mixed = rw.LambdaMART(**settings).fit(sparse, valid=valid_full)
    assert mixed.forest_.equals(wanted.forest_)
    bags: dict[str, Any] = {"n_bags": 2, "n_trees": 3, "max_leaves": 6, "min_docs_in_leaf": 5}
    one, other = (rw.BLMART(**bags).fit(data) for data in (full, sparse))
    assert one.forest_.equals(other.forest_)


def test_training_goes_on_from_earlier_trees():
    full, sparse = both(odd(300))
    models = []
    for data in (full, sparse):
        model = rw.LambdaMART(**PLAIN, warm_start=True).fit(data)
        models.append(model.set_params(n_trees=7).fit(data))
    assert models[0].forest_.equals(models[1].forest_)


def test_the_compiled_kernels_grow_and_score_as_their_twins(monkeypatch):
    pytest.importorskip("rankwright.kernels._core")
    _, sparse = both(odd(150))
    data = bin_dataset(sparse)
    rng = np.random.default_rng(0)
    gradient, curvature = rng.normal(size=150), rng.random(150)
    for params in (TreeParams(max_leaves=7, min_docs_in_leaf=5), TreeParams(max_leaves=8, growth="symmetric")):
        compiled = grow_tree(data, gradient, curvature, params, threads=2)
        with monkeypatch.context() as patch:
            patch.setattr(grower, "kernels", reference)
            naive = grow_tree(data, gradient, curvature, params)
        assert np.array_equal(compiled.tree.feature, naive.tree.feature)
        assert np.array_equal(compiled.tree.value, naive.tree.value)
        assert np.array_equal(compiled.rows, naive.rows)
        scores = np.zeros((2, 150))
        compiled.add_to_all(data, scores[0])
        reference.score_sparse_tree(data.codes, data.mapper.n_bins, naive.tree, scores[1], 1)
        assert np.array_equal(*scores)


def test_codes_do_not_depend_on_how_features_are_bundled(monkeypatch):
    _, sparse = both(one_hot(300))
    wanted = rw.LambdaMART(**PLAIN).fit(sparse)

    class Unbundled:
        def __getattr__(self, name: str) -> Any:
            return getattr(kernels, name)

        @staticmethod
        def bundle_features(*arguments: Any) -> int:
            arguments[-2][:] = -1
            return 0

    monkeypatch.setattr(sparse_binning, "kernels", Unbundled())
    data = bin_dataset(sparse)
    assert isinstance(data.codes, SparseCodes)
    assert data.codes.bundled.shape[1] == 0
    assert rw.LambdaMART(**PLAIN).fit(sparse).forest_.equals(wanted.forest_)


def test_workers_refuse_sparse_features_in_one_line():
    data = bin_dataset(both(words(100))[1])
    share = RowShare(np.arange(100, dtype=np.uint32), None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="train in one process"):
        grow_tree(data, np.ones(100), np.ones(100), TreeParams(), share=share)
    with pytest.raises(InputError, match="train in one process"):
        parts_of(data, 2)
