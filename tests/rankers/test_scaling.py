"""Rankers that scale features: fitted in `fit`, applied everywhere, kept in the model file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import rankwright as rw
from rankwright.container.file import read_container
from rankwright.errors import InputError, SettingError, UnknownNameError
from rankwright.features.scaling import SCALINGS
from rankwright.trees.bins.binned import bin_dataset

SMALL: dict[str, Any] = {"n_trees": 4, "max_leaves": 5, "min_docs_in_leaf": 3}
NAMES = [*SCALINGS, "log-counts+zscore", "log+sortnet"]


@pytest.mark.parametrize("name", NAMES)
def test_it_is_the_ranker_of_scaled_data(name, small_data, tmp_path):
    train, other = small_data.split(valid=0.4, seed=0)
    ranker = rw.LambdaMART(**SMALL, scaling=name).fit(train, valid=other)
    by_hand = rw.scaling.fit(name, train)
    plain = rw.LambdaMART(**SMALL).fit(by_hand.apply(train), valid=by_hand.apply(other))
    assert np.array_equal(ranker.predict(other), plain.predict(by_hand.apply(other)))
    assert ranker.score(other) == plain.score(by_hand.apply(other))
    assert ranker.history_ == plain.history_
    assert np.array_equal(list(ranker.staged_predict(other))[-1], ranker.predict(other))
    ranker.save(tmp_path / "model.rw")
    loaded = rw.load(tmp_path / "model.rw")
    assert np.array_equal(loaded.predict(other), ranker.predict(other))
    assert loaded.scaling_ is not None
    assert loaded.scaling == loaded.scaling_.scaling.name == name


def test_the_header_always_has_the_key(small_data, tmp_path):
    for scaling, expected in ((None, None), ("zscore", {"scaling": "zscore", "n_features": 5})):
        rw.MART(**SMALL, scaling=scaling).fit(small_data).save(tmp_path / "model.rw")
        assert read_container(tmp_path / "model.rw").header["scaling"] == expected


def test_a_scaling_by_query_needs_query_ids(small_data):
    X, y, qid = small_data.features, small_data.labels, small_data.qid
    ranker = rw.LambdaMART(**SMALL, scaling="query-minmax").fit(X, y, qid=qid)
    order = np.random.default_rng(0).permutation(len(X))
    assert np.array_equal(ranker.predict(X[order], qid=qid[order]), ranker.predict(small_data)[order])
    for ask in (ranker.predict, ranker.rank, lambda X: next(ranker.staged_predict(X))):
        with pytest.raises(InputError, match=r"scaling 'query-minmax' looks at .* give qid"):
            ask(X)


def test_what_cannot_be_scaled_is_refused(small_data):
    with pytest.raises(UnknownNameError, match="did you mean 'zscore'"):
        rw.LambdaMART(**SMALL, scaling="z-score").fit(small_data)
    with pytest.raises(SettingError, match="categories cannot be scaled"):
        rw.LambdaMART(**SMALL, scaling="zscore", categorical=[1]).fit(small_data)
    with pytest.raises(SettingError, match="scaling needs the features themselves"):
        rw.LambdaMART(**SMALL, scaling="zscore").fit_binned(bin_dataset(small_data))


def test_a_second_fit_forgets_the_first_scaling(small_data):
    ranker = rw.LambdaMART(**SMALL, scaling="query-minmax").fit(small_data)
    ranker.set_params(scaling=None).fit(small_data)
    assert np.array_equal(ranker.predict(small_data), rw.LambdaMART(**SMALL).fit(small_data).predict(small_data))


def test_a_warm_start_keeps_the_scaling_it_began_with(small_data):
    whole = rw.LambdaMART(**SMALL | {"n_trees": 9}, scaling="zscore").fit(small_data)
    warm = rw.LambdaMART(**SMALL, scaling="zscore", warm_start=True).fit(small_data)
    began = warm.scaling_
    assert warm.set_params(n_trees=9).fit(small_data).forest_.equals(whole.forest_)
    assert warm.scaling_ is began
    with pytest.raises(SettingError, match="warm_start goes on with the scaling it began with: zscore"):
        warm.set_params(scaling=None).fit(small_data)


def test_training_that_failed_leaves_no_ranker(small_data):
    ranker = rw.LambdaMART(max_leaves=1)
    with pytest.raises(SettingError):
        ranker.fit(small_data)
    with pytest.raises(NotFittedError):
        ranker.predict(small_data)


class ByLists(rw.ListNet):
    """Its model scales features itself, in a way that another setting chooses."""

    @property
    def scaling_name(self) -> str | None:
        return "query-minmax" if self.flat_lists else None


@pytest.mark.parametrize("flat", [False, True])
def test_a_ranker_may_choose_its_scaling_and_apply_it_itself(flat, small_data, tmp_path):
    ranker = ByLists(hidden=(), epochs=3, flat_lists=flat).fit(small_data)
    plain = rw.ListNet(hidden=(), epochs=3, flat_lists=flat, scaling=ranker.scaling_name or "none").fit(small_data)
    assert np.array_equal(ranker.predict(small_data), plain.predict(small_data))
    ranker.save(tmp_path / "model.rw")
    model = read_container(tmp_path / "model.rw")
    restored = ByLists.from_state(model.header, model.arrays)
    assert np.array_equal(restored.predict(small_data), plain.predict(small_data))
    if flat:
        with pytest.raises(InputError, match="scaling 'query-minmax' looks at"):
            ranker.predict(small_data.features)
