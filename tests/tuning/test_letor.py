"""Settings chosen on the validation documents of LETOR's folds, and tested on their test documents."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.settings.spaces import Choice
from rankwright.tuning.letor import letor_folds, tune_on_letor
from rankwright.tuning.strategies import TuningPlan


@pytest.fixture(scope="module")
def folder(tmp_path_factory, learnable):
    folder = tmp_path_factory.mktemp("letor")
    for number, fold in enumerate(("Fold1", "Fold2")):
        parts = learnable.split(valid=0.3, test=0.3, seed=number)
        (folder / fold).mkdir()
        for name, part in zip(("train", "vali", "test"), parts, strict=True):
            rw.write(part, folder / fold / f"{name}.txt")
    return folder


def test_both_forms_train_alike_and_are_measured_on_their_own_part(folder):
    folds = letor_folds(folder)
    for number, name in enumerate(("Fold1", "Fold2")):
        choosing, testing = folds.choosing.fold(number), folds.testing.fold(number)
        np.testing.assert_array_equal(choosing.train.features, testing.train.features)
        assert choosing.watched is choosing.measured
        assert testing.watched is not None
        np.testing.assert_array_equal(choosing.measured.features, testing.watched.features)
        test = rw.read(folder / name / "test.txt", n_features=4)
        np.testing.assert_array_equal(testing.measured.features, test.features)


def test_what_vali_chose_is_what_test_tells_of(folder, here):
    plan = TuningPlan(strategy="grid", metric="ndcg@5")
    ranker = rw.LambdaMART(n_trees=3, min_docs_in_leaf=5)
    found = tune_on_letor(ranker, folder, space={"max_leaves": Choice((2, 6))}, plan=plan, engine=here)
    chosen = rw.LambdaMART(n_trees=3, min_docs_in_leaf=5, select="ndcg@5", **found.tuned.settings)
    expected = rw.cross_validate(chosen, letor_folds(folder).testing, metrics=["ndcg@5"], engine=here)
    assert found.tested.to_dict() == expected.to_dict()
    assert found.tuned.refit is None
