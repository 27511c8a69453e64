"""A model scores texts that are in no index as it scores them in the index, to the bit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from tests.text.small_index import DOCUMENTS, QUERIES, TIME, every_pair, index_of

import rankwright as rw
from rankwright.cluster.opening import open_engine
from rankwright.errors import ContainerError, InputError
from rankwright.rankers.text_scoring import DocumentScorer, score_texts, with_statistics_of
from rankwright.text import FeatureLine, FeatureSources, FeatureSpecification, default_specification, features_of
from rankwright.text.statistics import TextStatistics

SMALL: dict[str, Any] = {"n_trees": 3, "max_leaves": 3, "min_docs_in_leaf": 1}
VALUES = [{name: value for name, value in one.items() if name not in ("id", "links")} for one in DOCUMENTS]


def shout(query, documents):
    return [float(len(one["body"]) > len(query)) for one in documents]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return index_of(tmp_path_factory.mktemp("texts") / "index")


def trained_on(index, specification=None, functions=None):
    data = features_of(index, every_pair(index), specification, FeatureSources(functions=functions or {}))
    data = replace(data, labels=np.tile(np.array([2, 1, 0, 0], np.float32), len(QUERIES)))
    ranker = rw.LambdaMART(n_trees=3, max_leaves=3, min_docs_in_leaf=1).fit(data)
    return ranker, data


def test_texts_have_the_bits_of_the_index(index, tmp_path):
    ranker, data = trained_on(index)
    ranker.trained_ = with_statistics_of(ranker.trained_, index)
    ranker.save(tmp_path / "model.rw")
    again = rw.load(tmp_path / "model.rw")
    scorer, needs_index = (
        DocumentScorer(again),
        [name for name in data.names if "link" in name or "page rank" in name or "feedback" in name],
    )
    assert len(needs_index) == 5
    for number, query in enumerate(QUERIES):
        rows = slice(4 * number, 4 * number + 4)
        found = scorer.dataset(query, VALUES, time=TIME)
        for place, name in enumerate(data.names):
            wanted = np.full(4, np.nan, np.float32) if name in needs_index else data.features[rows, place]
            assert found.features[:, place].tobytes() == wanted.tobytes(), name
    used = set(np.array(data.names)[again.used_features()])
    if not used & set(needs_index):
        assert score_texts(again, QUERIES[0], VALUES).tobytes() == again.predict(data.take_queries([0])).tobytes()


def test_every_entry_of_the_model_file_survives(index, tmp_path):
    ranker, _ = trained_on(index)
    ranker.trained_ = with_statistics_of(ranker.trained_, index, 5)
    ranker.save(tmp_path / "model.rw")
    kept = rw.load(tmp_path / "model.rw").trained_
    assert kept.features.origin == ranker.trained_.features.origin
    assert kept.text_statistics is not None
    assert not kept.text_statistics.is_complete
    assert len(kept.text_statistics.number_of) == 5
    rare = kept.text_statistics.statistics(["boat", "nowhere"])
    assert rare.any_frequency.tolist() == [index.statistics(["boat"]).any_frequency[0], 1]
    rw.load(tmp_path / "model.rw").save(tmp_path / "again.rw")
    assert (tmp_path / "again.rw").read_bytes() == (tmp_path / "model.rw").read_bytes()


WAYS = {
    "file": lambda folder, _: rw.LambdaMART(**SMALL).fit(str(folder / "0.parquet")),
    "shards": lambda folder, _: rw.LambdaMART(**SMALL).fit(rw.Shards(folder)),
    "workers": lambda folder, engine: rw.LambdaMART(**SMALL).on(engine).fit(rw.Shards(folder)),
    "bag": lambda folder, _: rw.BLMART(**SMALL, n_bags=2, overfit=True).fit(rw.read(str(folder / "0.parquet"))),
    "bag of shards": lambda folder, _: rw.BLMART(**SMALL, n_bags=2, overfit=True).fit(rw.Shards(folder)),
    "bag by workers": lambda folder, engine: (
        rw.BLMART(**SMALL, n_bags=2, overfit=True).on(engine).fit(rw.Shards(folder))
    ),
    "linear": lambda folder, _: rw.RankSVM().fit(rw.read(str(folder / "0.parquet"))),
    "clone": lambda folder, _: clone(rw.LambdaMART(**SMALL)).fit(rw.read(str(folder / "0.parquet"))),
}


@pytest.fixture(scope="module")
def shards(index, tmp_path_factory):
    """A file with all queries, and another with one more."""
    folder = tmp_path_factory.mktemp("shards")
    data = features_of(index, every_pair(index))
    data = replace(data, labels=np.tile(np.array([2, 1, 0, 0], np.float32), len(QUERIES)))
    rw.write(data.take_queries(np.arange(4)), folder / "0.parquet")
    rw.write(data.take_queries(np.arange(4, len(QUERIES))), folder / "1.parquet")
    return folder


@pytest.fixture(scope="module")
def engine():
    with open_engine(workers=2) as engine:
        yield engine


@pytest.mark.parametrize("way", WAYS)
def test_the_specification_survives_every_way_of_training(way, index, shards, engine, tmp_path):
    ranker = WAYS[way](shards, engine)
    ranker.save(tmp_path / "model.rw")
    origin = rw.load(tmp_path / "model.rw").trained_.features.origin
    assert origin is not None
    assert origin.specification == default_specification(index.fields)
    assert origin.fields == tuple(index.fields)


def test_shards_of_different_specifications_keep_none(shards, tmp_path):
    data = rw.read(str(shards / "1.parquet"))
    rw.write(rw.read(str(shards / "0.parquet")), tmp_path / "0.parquet")
    rw.write(replace(data, feature_origin=None), tmp_path / "1.parquet")
    assert rw.LambdaMART(**SMALL).fit(rw.Shards(tmp_path)).trained_.features.origin is None


def test_a_model_without_a_specification_keeps_none():
    ranker = rw.LambdaMART(n_trees=2).fit(rw.synthetic.web_search(n_queries=20, seed=0))
    header, arrays = ranker.to_state()
    assert not {"feature_origin", "text_statistics"} & header.keys()
    assert not any(name.startswith("text.") for name in arrays)
    with pytest.raises(InputError, match="does not know how its features are made"):
        DocumentScorer(ranker)


def test_what_needs_an_index_is_refused_unless_it_may_be_missing(index):
    for absent in ("refuse", "missing"):
        spec = FeatureSpecification([FeatureLine("dph", ("*",)), FeatureLine("in_links", absent=absent)])
        ranker, _ = trained_on(index, spec)
        ranker.trained_ = with_statistics_of(ranker.trained_, index)
        if absent == "refuse":
            with pytest.raises(InputError, match="'in-links' needs links between documents"):
                DocumentScorer(ranker)
        else:
            assert np.isnan(DocumentScorer(ranker).dataset("boat", ["a boat"]).features[:, 1]).all()


def test_functions_are_known_by_fingerprint(index, tmp_path):
    spec = FeatureSpecification([FeatureLine("dph", ("*",)), FeatureLine("function", settings={"function": "shout"})])
    ranker, data = trained_on(index, spec, {"shout": shout})
    ranker.trained_ = with_statistics_of(ranker.trained_, index)
    ranker.save(tmp_path / "model.rw")
    with pytest.raises(InputError, match="need the function 'shout'"):
        DocumentScorer(rw.load(tmp_path / "model.rw"))
    with pytest.raises(InputError, match="'shout' is not the one that the features were made with"):
        rw.load(tmp_path / "model.rw", functions={"shout": lambda query, documents: [0.0] * len(documents)})  # noqa: ARG005
    with pytest.raises(InputError, match="need the function 'shout'"):
        rw.load(tmp_path / "model.rw", functions={"other": shout})
    again = rw.load(tmp_path / "model.rw", functions={"shout": shout})
    assert DocumentScorer(again).dataset(QUERIES[0], VALUES).features.tobytes() == data.features[:4].tobytes()


def test_another_index_or_analyser_is_refused(index, tmp_path):
    ranker, _ = trained_on(index)
    other = index_of(tmp_path / "other", [{"id": "x", "headline": "boats"}])
    with pytest.raises(InputError, match="other fields or another analyser"):
        with_statistics_of(ranker.trained_, other)
    origin = ranker.trained_.features.origin
    later = replace(origin, analyser=dict(origin.analyser) | {"rules": 99})
    features = replace(ranker.trained_.features, origin=later)
    ranker.trained_ = replace(ranker.trained_, features=features, text_statistics=TextStatistics.of_index(index))
    with pytest.raises(InputError, match="version 99 of the rules"):
        DocumentScorer(ranker)


def test_a_model_without_statistics_says_so(index):
    ranker, data = trained_on(index, default_specification(index.fields[:2]).only(("text", "texts")))
    with pytest.raises(InputError, match="keeps no statistics of texts"):
        DocumentScorer(ranker)
    found = DocumentScorer(ranker, known=index).dataset(QUERIES[0], VALUES[:1])
    assert found.features[0].tobytes() == data.features[0].tobytes()


def test_documents_that_do_not_fit_are_one_line(index):
    ranker, _ = trained_on(index)
    scorer = DocumentScorer(ranker, known=index)
    wrong: list[tuple[Any, str]] = [
        (3, "a document must be a text"),
        ({"x": ""}, "has the field 'x'"),
        ({"title": 3}, "'title' must be a text"),
        ({"price": "y"}, "'price' must be a number"),
        ({"published": "soon"}, "'published' must be a date"),
    ]
    for document, problem in wrong:
        with pytest.raises(InputError, match=problem):
            scorer.scores("boat", [document])
    assert scorer.scores("boat", []).tolist() == []
    assert scorer.scores("boat", ["a boat"]).shape == (1,)


def test_statistics_that_do_not_fit_the_features_are_refused(index, tmp_path):
    ranker, _ = trained_on(index)
    ranker.trained_ = with_statistics_of(ranker.trained_, index)
    header, arrays = ranker.to_state()
    from rankwright.container.file import write_container

    for name, changed in (
        ("text.any_frequency", arrays["text.any_frequency"] + 100),
        ("text.term_starts", arrays["text.term_starts"][::-1].copy()),
        ("text.tokens", arrays["text.tokens"][:1]),
    ):
        write_container(tmp_path / "model.rw", "model", header, arrays | {name: changed})
        with pytest.raises(ContainerError, match=r"model\.rw"):
            rw.load(tmp_path / "model.rw")
