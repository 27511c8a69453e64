"""What a search finds, against the parts that it is made of."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import InputError, UnknownNameError
from rankwright.search.filters import read_filters
from rankwright.search.rankers import SearchRanker, open_rankers, plain_ranker, shared_features
from rankwright.search.session import KEPT, SearchSession
from rankwright.search.snippets import Snippets
from rankwright.text import (
    BM25F,
    FeatureLine,
    FeatureSpecification,
    QueryDocuments,
    build_index,
    features_of,
    read_documents,
    top_documents,
)

QUERY = "harbour lantern"


def test_the_query_of_the_docs_finds_something(tmp_path):
    page = Path(__file__).parents[2] / "docs" / "search.md"
    (query,) = re.findall(r'rankwright search INDEX "([^"]+)"', page.read_text())
    rw.synthetic.handbook(60).write(tmp_path)
    index = build_index(read_documents(tmp_path / "documents"), tmp_path / "INDEX")
    assert len(SearchSession(index, open_rankers([], index)).search(query)) > 3


def test_a_list_has_the_scores_that_the_ranker_gives_the_same_documents(session, searchable):
    answer = session.search(QUERY)
    rows = QueryDocuments(["q"], [QUERY], np.array([0, len(answer)]), answer.ordinals)
    data = features_of(session.index, rows, threads=1)
    expected = rw.load(searchable.model).predict(data)
    assert np.array_equal(answer.lists["forest"].scores, expected)
    order = answer.lists["forest"].order
    assert (np.diff(expected[order]) <= 0).all()
    assert np.array_equal(order[answer.lists["forest"].ranks], np.arange(len(answer)))


def test_without_a_model_documents_stand_as_bm25f_finds_them(session):
    answer = session.search(QUERY)
    found = top_documents(session.index, [QUERY], scorer=BM25F(), k=len(answer))
    ranked = answer.lists["bm25f"]
    scores = dict(zip(answer.ordinals.tolist(), ranked.scores.tolist(), strict=True))
    assert [scores[one] for one in found.ordinals.tolist()] == pytest.approx(found.scores.tolist(), rel=1e-5)


def test_rankers_with_the_same_features_share_them(session, searchable):
    index = session.index
    rankers = open_rankers([f"a={searchable.model}", f"b={searchable.model}"], index)
    (shared,) = shared_features([*rankers, plain_ranker(index)])
    assert shared.rankers == ("a", "b", "bm25f")
    answer = SearchSession(index, [*rankers, plain_ranker(index)], threads=1).search(QUERY)
    assert np.array_equal(answer.lists["a"].scores, answer.lists["b"].scores)


def test_features_that_are_called_alike_and_are_not_the_same_are_computed_apart(session):
    lines = [FeatureLine("bm25", ("title",), settings={"k1": k1}, name="own") for k1 in (0.5, 2.0)]
    rankers = [
        SearchRanker(str(place), plain_ranker(session.index).trained, FeatureSpecification([line]), functions={})
        for place, line in enumerate(lines)
    ]
    assert [one.rankers for one in shared_features(rankers)] == [("0",), ("1",)]


def test_the_last_answers_are_kept(session):
    first = session.search(QUERY)
    assert session.search(QUERY) is first
    assert session.search(QUERY, {"year": (1990.0, None)}) is not first
    for number in range(KEPT):
        session.search(f"harbour {number}")
    assert session.search(QUERY) is not first


def test_filters_keep_what_they_say(session):
    where = read_filters(["year=1990..1999", "title=harbour"], session.index)
    answer = session.search("harbour", where)
    years = session.index.numbers("year")[answer.ordinals]
    assert len(years)
    assert ((years >= 1990) & (years <= 1999)).all()
    assert all("harbour" in one["title"] for one in session.index.stored(answer.ordinals))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("year", "FIELD=WORDS"),
        ("year=x", "a number"),
        ("year=..", "neither end"),
        ("colour=red", "no field 'colour'"),
        ("links=d1", "no field 'links'"),
    ],
)
def test_filters_that_mean_nothing_are_refused(session, text, told):
    with pytest.raises(ValueError, match=told):
        read_filters([text], session.index)


def test_a_query_that_nothing_has_gives_empty_lists(session):
    for query in ("zzzz", "", "the"):
        answer = session.asked(query)
        assert len(answer) == 0
        assert all(len(one.order) == 0 for one in answer.lists.values())


def test_a_pair_is_explained_by_differences_that_add_up(session):
    answer = session.search(QUERY)
    order = answer.lists["forest"].order
    found = session.pair(answer, "forest", [int(order[0]), int(order[4])])
    scores = answer.lists["forest"].scores
    assert found.margin == pytest.approx(scores[order[0]] - scores[order[4]])
    assert found.contributions.sum() == pytest.approx(found.margin)


def test_a_changed_feature_moves_the_document_as_scoring_it_says(session, searchable):
    answer = session.search(QUERY)
    place = int(answer.lists["forest"].order[3])
    data = answer.features["forest"]
    name = data.names[int(np.argmax(np.ptp(data.features, axis=0)))]
    ranked, _ = session.changed(answer, "forest", place, {name: 0.0})
    features = data.features.copy()
    features[place, data.names.index(name)] = 0.0
    assert np.array_equal(
        ranked.scores, rw.load(searchable.model).predict(data.with_features(features, data.names, None))
    )
    same, _ = session.changed(answer, "forest", place, {})
    assert np.array_equal(same.scores, answer.lists["forest"].scores)
    with pytest.raises(UnknownNameError):
        session.changed(answer, "forest", place, {"nothing": 1.0})


def test_models_that_cannot_search_say_why(session, tmp_path):
    data = rw.synthetic.web_search(n_queries=10, seed=0)
    rw.LambdaMART(n_trees=2).fit(data).save(tmp_path / "numbers.rw")
    with pytest.raises(InputError, match="does not know how its features are made"):
        open_rankers([str(tmp_path / "numbers.rw")], session.index)


def test_snippets_mark_the_words_of_the_query_and_change_nothing_else(session):
    snippets = Snippets(session.index.analyser, session.index.fields, "harbours Lantern")
    body = "A long way. " * 40 + "The harbour had a <b>lantern</b>.\n\nMore harbours came."
    shown = snippets.document("d", {"title": "Lanterns & more", "body": body})
    assert [run.text for run in shown.title if run.is_marked] == ["Lanterns"]
    assert [run.text for run in shown.snippet if run.is_marked] == ["harbour", "lantern", "harbours"]
    text = "".join(run.text for run in shown.snippet)
    assert text.startswith("… ")
    assert " ".join(body.split()).endswith(text.removeprefix("… "))


def test_a_document_without_a_title_is_called_by_its_id(session):
    snippets = Snippets(session.index.analyser, session.index.fields, "harbour")
    shown = snippets.document("some/id", {"title": "  ", "body": ""})
    assert (shown.title_text, shown.snippet) == ("some/id", ())
