"""The study of variance: its rows are what the rankers themselves reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import SettingError
from rankwright.experiments.variance import (
    PLAIN,
    RANDOMISED,
    ROWS,
    TEST_SHARE,
    WITH,
    WITHOUT,
    StudyPlan,
    study_parts,
    study_variance,
    variance_of,
    write_study,
)

SETTINGS: dict[str, Any] = {"n_bags": 3, "n_trees": 8, "max_leaves": 4, "min_docs_in_leaf": 5}
PLAN = StudyPlan(n_samples=2, sample_fraction=0.6, metrics=("ndcg@10", "map"), seed=5)


@pytest.fixture(scope="module")
def parts():
    return rw.synthetic.web_search(n_queries=50, seed=1).split(valid=0.2, test=0.4, seed=0)


@pytest.fixture(scope="module")
def study(parts):
    return study_variance(parts[0], parts[1], parts[2], PLAN, settings=SETTINGS, threads=1)


@pytest.mark.parametrize("number", range(2))
def test_every_cell_is_what_the_ranker_itself_reaches(number, study, parts):
    train, valid, test = parts
    sample = PLAN.sample(number, train)
    bagged = rw.BLMART(**SETTINGS, seed=5 + number, threads=1)
    rankers = {
        PLAIN: bagged.single(query_fraction=1.0, feature_fraction=1.0),
        RANDOMISED: bagged.single(),
        WITHOUT: bagged,
        WITH: rw.BLMART(**SETTINGS, overfit=True, seed=5 + number, threads=1),
    }
    for row, ranker in rankers.items():
        found = rw.evaluate(ranker.fit(sample, valid=valid).predict(test), test, PLAN.metrics)
        for metric in PLAN.metrics:
            assert study.values[row][metric][number] == pytest.approx(found[metric].mean, abs=1e-6)


def test_curves_end_where_the_table_stands(study):
    by_bags = {curve.ranker: curve for curve in study.by_bags}
    by_trees = {curve.ranker: curve for curve in study.by_trees}
    for row in (WITHOUT, WITH):
        assert np.allclose(by_bags[row].values["map"][:, -1], study.values[row]["map"])
        assert by_bags[row].numbers.tolist() == [1, 2, 3]
    assert by_trees["BL-MART"].numbers.tolist() == list(range(1, 9))
    assert np.allclose(by_trees["BL-MART"].values["map"][:, -1], study.values[WITH]["map"])
    assert by_trees[RANDOMISED].values["map"].shape == (2, 8)


def test_the_table_has_means_and_variances(study):
    table = study.table()
    assert [(row["ranker"], row["metric"]) for row in table] == [(r, m) for r in ROWS for m in PLAN.metrics]
    for row in table:
        one, two = study.values[row["ranker"]][row["metric"]]
        assert row["mean"] == pytest.approx((one + two) / 2)
        assert row["variance"] == pytest.approx((one - two) ** 2 / 2)
    assert all(row["variance_change"] == pytest.approx(0.0) for row in table if row["ranker"] == RANDOMISED)


def test_samples_are_of_their_size_and_differ(parts):
    one, two = (PLAN.sample(number, parts[0]) for number in range(2))
    assert one.n_queries == two.n_queries == round(0.6 * parts[0].n_queries)
    assert one.query_ids is not None
    assert two.query_ids is not None
    assert not np.array_equal(one.query_ids, two.query_ids)


def test_threads_change_nothing(study, parts):
    again = study_variance(parts[0], parts[1], parts[2], PLAN, settings=SETTINGS, threads=2)
    assert again.to_dict() == study.to_dict()


def test_the_files_are_the_same_each_time(study, tmp_path):
    for name in ("one", "two"):
        paths = write_study(study, tmp_path / name)
    assert [path.name for path in paths] == [
        "study.json", "table.csv", "samples.csv", "bags.csv", "bags.svg", "trees.csv", "trees.svg",
    ]  # fmt: skip
    for path in paths:
        assert path.read_bytes() == (tmp_path / "one" / path.name).read_bytes()
    assert "Overfitting tolerance" in (tmp_path / "one" / "trees.svg").read_text()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_samples": 1}, "a variance needs 2 samples or more, got 1"),
        ({"sample_fraction": 1.0}, "between 0 and 1, got 1.0"),
    ],
)
def test_nonsense_is_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        StudyPlan(**settings)


def test_the_variance_is_unbiased():
    assert variance_of(np.array([1.0, 2.0, 6.0])) == pytest.approx(((1 - 3) ** 2 + (2 - 3) ** 2 + (6 - 3) ** 2) / 2)


def test_parts_that_are_not_given_are_held_back(parts):
    whole, valid, test = parts
    assert study_parts(whole, valid, test) == (whole, valid, test)
    train, held_back, tested = study_parts(whole, seed=1)
    ids = [set(np.unique(part.qid)) for part in (train, held_back, tested)]
    assert set.union(*ids) == set(np.unique(whole.qid))
    assert sum(map(len, ids)) == whole.n_queries
    assert tested.n_queries == round(TEST_SHARE * whole.n_queries)
