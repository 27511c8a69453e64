"""Model files of the earliest code load and score as they did; training gives what it gave when it last changed."""

from __future__ import annotations

import json

import pytest
from tests.compatibility.cases import CASES
from tests.compatibility.training import (
    MODELS,
    SCORES,
    TRAIN,
    TRAINED,
    assert_same_model,
    assert_same_scores,
    file_of,
    must_be_exact,
    parts_of,
    ranker_of,
    same_sums,
    scored_data,
    train,
)

import rankwright as rw


@pytest.fixture(scope="module")
def recorded_scores():
    return json.loads(SCORES.read_text(encoding="utf-8"))


def committed(name):
    return (MODELS / f"{name}.rw").read_bytes()


def trained(name):
    return (TRAINED / f"{name}.rw").read_bytes()


def test_every_model_file_has_its_case():
    for folder in (MODELS, TRAINED):
        assert {path.stem for path in folder.glob("*.rw")} == set(CASES)


@pytest.mark.parametrize("name", CASES)
class TestEveryModelFile:
    def test_it_scores_as_before(self, name, recorded_scores):
        scores = rw.load(MODELS / f"{name}.rw").predict(scored_data())
        assert_same_scores(scores, recorded_scores[name], exact=must_be_exact(CASES[name]))

    def test_it_is_saved_as_it_was_read(self, name, tmp_path):
        assert_same_model(file_of(rw.load(MODELS / f"{name}.rw"), tmp_path), committed(name), exact=True)

    @same_sums
    def test_training_again_gives_the_same_file(self, name, tmp_path):
        found = file_of(train(CASES[name]), tmp_path)
        assert_same_model(found, trained(name), exact=must_be_exact(CASES[name]))


@same_sums
def test_trees_trained_from_a_file_are_those_of_a_dataset(tmp_path):
    found = file_of(ranker_of(CASES["lambdamart"]).fit(TRAIN), tmp_path)
    assert_same_model(found, trained("lambdamart"), exact=must_be_exact(CASES["lambdamart"]))


def test_models_of_all_registered_rankers_were_recorded(rankwright):
    listed = json.loads(rankwright("list", "rankers", "--json").stdout)["rankers"]
    recorded = {parts_of(committed(name))[0]["header"]["ranker"] for name in CASES}
    assert recorded <= {ranker["name"] for ranker in listed}
    assert len(recorded) == 25
