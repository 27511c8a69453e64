"""BM25F tuned on judged queries: it finds the field that matters, and is a model as others are."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import rankwright as rw
from rankwright.catalog.rankers import RANKERS
from rankwright.linear.bm25f import BM25FScorer, bm25f_scorer
from rankwright.settings.spaces import Choice, Real
from rankwright.text import Analyser, FeatureLine, Queries, build_index, read_documents
from rankwright.text.features import QueryDocuments, features_of
from rankwright.text.model_features import rows_in_index, with_features_of
from rankwright.tuning.bm25f import bm25f_line, bm25f_space, tune_bm25f
from rankwright.tuning.strategies import TuningPlan

WORDS = ("boat", "harbour", "sail", "wind", "rope", "anchor", "mast", "crew")
QUERIES = Queries([f"q{number}" for number in range(len(WORDS))], list(WORDS))


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    """Of each word, a document that has it once in its title, and one that has it often in its body."""
    documents = []
    for number, word in enumerate(WORDS):
        other = WORDS[(number + 1) % len(WORDS)]
        documents.append({"id": f"title {word}", "title": word, "body": f"{other} words without end"})
        documents.append({"id": f"body {word}", "title": f"{other} and more", "body": f"{word} {word} {word} always"})
    return build_index(read_documents(documents), tmp_path_factory.mktemp("bm25f") / "INDEX")


@pytest.fixture(scope="module")
def rows(index):
    """Documents with the word in the title are relevant."""
    ids = [[f"title {word}", f"body {word}"] for word in WORDS]
    ordinals = index.ordinals([one for pair in ids for one in pair])
    offsets = np.arange(0, 2 * len(WORDS) + 1, 2)
    return QueryDocuments(QUERIES.ids, QUERIES.texts, offsets, ordinals, np.tile([1, 0], len(WORDS)).astype(np.float32))


def test_the_field_that_matters_gets_the_weight(index, rows):
    plain = features_of(index, rows, None)
    assert plain.n_docs == 16
    tuned = tune_bm25f(index, rows, plan=TuningPlan(trials=40, metric="mrr"))
    assert tuned.best.value == 1.0
    assert tuned.ranked[-1].value == 0.5
    title, body = tuned.line.settings["weights"]
    assert title > body == 1.0


def test_the_usual_settings_are_tried_first_and_nothing_is_worse(index, rows):
    tuned = tune_bm25f(index, rows, plan=TuningPlan(trials=1))
    assert len(tuned.ranked) == 2
    usual = {"k1": 0.9, "weight.title": 1.0, "b.title": 0.4, "b.body": 0.4}
    assert usual in [one.trial.settings for one in tuned.ranked]
    assert list(bm25f_space(index)) == list(usual)


@pytest.mark.parametrize("strategy", ["random", "qmc", "tpe"])
def test_the_same_seed_finds_the_same_settings(strategy, index, rows):
    plan = TuningPlan(strategy=strategy, trials=20)
    first, again = (tune_bm25f(index, rows, plan=plan, threads=threads) for threads in (1, 2))
    assert first.line == again.line
    assert json.dumps(first.to_dict()) == json.dumps(again.to_dict())


def test_the_value_is_that_of_the_scores(index, rows):
    tuned = tune_bm25f(index, rows, plan=TuningPlan(trials=8))
    data = features_of(index, rows)
    added = with_features_of(tuned.scorer.trained_.features.origin, data, index, QUERIES)
    assert added.n_features == data.n_features + 1
    found = rw.evaluate(tuned.scorer, added, ["ndcg@10"])["ndcg@10"].mean
    assert found == pytest.approx(tuned.best.value)


def test_a_grid_is_searched_whole(index, rows):
    space = {"weight.title": Choice((0.1, 1.0, 10.0)), "k1": Choice((0.5, 2.0))}
    tuned = tune_bm25f(index, rows, plan=TuningPlan(strategy="grid"), space=space)
    assert len(tuned.ranked) == 1 + 6
    assert tuned.line.settings["b"] == (0.4, 0.4)


def test_a_saved_scorer_scores_alike(index, rows, tmp_path):
    scorer = tune_bm25f(index, rows, plan=TuningPlan(trials=8)).scorer
    scorer.save(tmp_path / "bm25f.rw")
    loaded = rw.load(tmp_path / "bm25f.rw")
    assert isinstance(loaded, BM25FScorer)
    data = with_features_of(loaded.trained_.features.origin, features_of(index, rows), index, QUERIES)
    np.testing.assert_array_equal(loaded.predict(data), scorer.predict(data))
    assert loaded.facts()["fields"] == ["title", "body"]
    assert "bm25f" not in RANKERS
    with pytest.raises(rw.RankwrightError, match="tuned on texts, not trained"):
        loaded.fit(data)


def test_scores_are_the_feature_that_the_line_tells(index, rows):
    line = bm25f_line(index.text_fields, {"k1": 2.0, "weight.title": 3.0, "b.body": 0.9})
    scorer = bm25f_scorer(index, line)
    origin = scorer.trained_.features.origin
    assert origin is not None
    data = features_of(index, rows, origin.specification)
    np.testing.assert_array_equal(scorer.predict(data), data.features[:, 0].astype(np.float64))


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({"plan": TuningPlan(strategy="halving")}, "strategy halving needs a ranker that takes steps"),
        ({"space": {"weight.colour": Real(0, 1)}}, "no setting 'weight.colour'; it has k1, weight.title"),
    ],
)
def test_what_cannot_be_searched_is_told(how, told, index, rows):
    with pytest.raises(rw.RankwrightError, match=told):
        tune_bm25f(index, rows, **how)


def test_documents_must_be_in_the_index_and_queries_have_texts(index, rows):
    data = features_of(index, rows)
    with pytest.raises(rw.RankwrightError, match="no text of query 'q1'"):
        rows_in_index(data, index, Queries(["q0"], ["boat"]))
    strange = replace(data, document_ids=np.array([f"x{n}" for n in range(16)], np.dtypes.StringDType()))
    with pytest.raises(rw.RankwrightError, match="has no document 'x0'"):
        rows_in_index(strange, index, QUERIES)
    with pytest.raises(rw.RankwrightError, match="family bm25f"):
        bm25f_scorer(index, FeatureLine("dph", ("title",)))


def test_another_analyser_is_refused(index, rows, tmp_path):
    other = build_index(
        read_documents([{"id": "a", "title": "x", "body": "y"}]), tmp_path / "I", analyser=Analyser(None)
    )
    scorer = bm25f_scorer(other, bm25f_line(other.text_fields, {}))
    with pytest.raises(rw.RankwrightError, match="makes terms of texts in another way"):
        with_features_of(scorer.trained_.features.origin, features_of(index, rows), index, QUERIES)
