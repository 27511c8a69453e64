"""What SortNet does that other rankers do not; the laws of all rankers are in contracts/."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.comparators.sorting import most_comparisons
from rankwright.errors import ContainerError, InputError, SettingError

QUICK: dict[str, Any] = {"hidden": 4, "max_iter": 2, "epochs": 3}


def test_the_order_is_that_of_the_scores_and_comparisons_are_counted(small_data):
    ranker = rw.SortNet(**QUICK).fit(small_data)
    found = ranker.sort(small_data)
    assert np.array_equal(ranker.rank(small_data).rows, found.rows)
    assert (found.n_comparisons <= most_comparisons(small_data.groups)).all()


def test_rows_without_queries_are_refused(small_data):
    ranker = rw.SortNet(**QUICK, scaling=None).fit(small_data)
    with pytest.raises(InputError, match="sortnet looks at the documents of a query together: give qid"):
        ranker.predict(small_data.features)


@pytest.mark.parametrize("settings", [{"hidden": (5, 3)}, {"cost": "logistic"}, {"restart": False}, {"scaling": None}])
def test_every_kind_of_comparator_is_saved_and_loaded(settings, small_data, tmp_path):
    ranker = rw.SortNet(**(QUICK | settings)).fit(small_data)
    ranker.save(tmp_path / "model.rw")
    loaded = rw.load(tmp_path / "model.rw")
    assert np.array_equal(loaded.predict(small_data), ranker.predict(small_data))
    assert loaded.iterations_ == ranker.iterations_
    assert loaded.facts() == ranker.facts()


def test_a_model_of_another_size_is_refused(small_data, tmp_path):
    ranker = rw.SortNet(**QUICK).fit(small_data)
    ranker.trained_ = replace(ranker.trained_, settings={**ranker.trained_.settings, "hidden": 5})
    ranker.save(tmp_path / "model.rw")
    with pytest.raises(ContainerError, match="weights"):
        rw.load(tmp_path / "model.rw")


def test_scaling_is_the_papers_after_logs_of_counts():
    rng = np.random.default_rng(0)
    real, counts = rng.standard_normal((30, 2)), rng.integers(0, 1000, (30, 1))
    data = rw.RankingDataset.from_arrays(np.hstack([real, counts]), rng.integers(0, 2, 30), group=[15, 15])
    logs = rw.RankingDataset.from_arrays(np.hstack([real, np.log1p(counts)]), data.labels, group=[15, 15])
    scaling = rw.SortNet(**QUICK).fit(data).scaling_
    assert scaling is not None
    wanted = rw.scaling.fit("sortnet", logs).apply(logs).features
    np.testing.assert_allclose(scaling.apply(data).features, wanted, rtol=1e-5, atol=1e-6)


def test_validation_queries_are_held_back_where_none_are_given(small_data):
    held_back = rw.SortNet(**QUICK, seed=1).fit(small_data)
    train, valid = small_data.split(valid=0.2, seed=1)
    given = rw.SortNet(**QUICK, seed=1).fit(train, valid=valid)
    assert held_back.history_.values == given.history_.values
    with pytest.raises(SettingError, match="valid_fraction must be between 0 and 1, ends excluded"):
        rw.SortNet(**QUICK, valid_fraction=1.0).fit(small_data)


def test_any_metric_can_be_the_rank_quality(small_data):
    ranker = rw.SortNet(**QUICK, select="pair-error:letor").fit(small_data)
    assert ranker.history_.watched == "pair-error:letor"
    assert ranker.history_.best_value == min(ranker.history_.values)


def test_its_stability_is_examined(small_data):
    ranker = rw.SortNet(**QUICK).fit(small_data)
    told = ranker.examine(small_data)["sorting"]
    assert told["comparisons"] == ranker.sort(small_data).n_comparisons.sum()
    assert {key: told[key] for key in told if key != "comparisons"} == ranker.stability(small_data).to_dict()
