"""Frames in, frames out: columns by name, categories, several sets of validation data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import rankwright as rw
from rankwright.errors import InputError

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")

SMALL: dict[str, Any] = {"n_trees": 4, "max_leaves": 4, "min_docs_in_leaf": 3, "threads": 1}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n_docs = 400
    colour = rng.choice(["red", "green", "blue", "grey"], n_docs)
    number = rng.normal(size=n_docs)
    label = np.clip(np.round(2 * (colour == "red") + (colour == "blue") + 0.3 * number), 0, 3)
    return pandas.DataFrame(
        {"search": [f"s{row // 10}" for row in range(n_docs)], "stars": label, "colour": colour, "number": number},
        index=np.arange(n_docs) * 3,
    )


@pytest.fixture(scope="module")
def ranker(frame):
    return rw.LambdaMART(**SMALL).fit(frame, label="stars", qid="search")


def test_a_frame_is_the_same_as_its_dataset(frame, ranker):
    data = rw.from_frame(frame, rw.Columns(query="search", label="stars"))
    assert data.categories == {"colour": ("blue", "green", "grey", "red")}
    again = rw.LambdaMART(**SMALL).fit(data)
    assert again.forest_.equals(ranker.forest_)
    assert np.array_equal(again.predict(data), ranker.predict(frame))


def test_the_answer_has_the_frames_index(frame, ranker):
    scores = ranker.predict(frame)
    assert scores.index.equals(frame.index)
    assert scores.name == "score"
    assert isinstance(ranker.predict(polars.from_pandas(frame)), polars.Series)


def test_texts_are_told_apart_and_codes_do_not_matter(frame, ranker, tmp_path):
    scores = ranker.predict(frame)
    by_colour = scores.groupby(frame["colour"].to_numpy()).mean()
    assert by_colour["red"] > by_colour["blue"] > by_colour["grey"]
    ranker.save(tmp_path / "model.rw")
    loaded = rw.load(tmp_path / "model.rw")
    for changed in (
        frame.assign(colour=pandas.Categorical(frame["colour"], ["red", "grey", "blue", "green", "other"])),
        polars.from_pandas(frame).with_columns(polars.col("colour").cast(polars.Categorical)),
        frame[frame.columns[::-1]].assign(more=1.0, text="x"),
    ):
        assert np.array_equal(loaded.predict(changed), scores)
    assert np.array_equal(loaded.predict(frame[frame["colour"] == "red"]), scores[frame["colour"] == "red"])


def test_a_category_never_seen_goes_the_way_of_missing_values(frame, ranker):
    unseen = frame.assign(colour=frame["colour"].replace("red", "violet"))
    missing = frame.assign(colour=frame["colour"].where(frame["colour"] != "red"))
    assert np.array_equal(ranker.predict(unseen), ranker.predict(missing))


def test_any_order_of_rows_gives_the_same_model(frame, ranker):
    shuffled = frame.sample(frac=1, random_state=1)
    again = rw.LambdaMART(**SMALL).fit(shuffled, label="stars", qid="search")
    assert again.forest_.equals(ranker.forest_)
    scores: Any = again.predict(shuffled)
    assert scores.sort_index().equals(ranker.predict(frame))


def test_bags_and_folds_take_categories(frame):
    data = rw.from_frame(frame, rw.Columns(query="search", label="stars"))
    bags = rw.BLMART(n_bags=2, **SMALL).fit(data)
    assert np.isfinite(bags.predict(frame)).all()
    found = rw.cross_validate(rw.LambdaMART(**SMALL), data, folds=2, metrics=["ndcg@10"], workers=1)
    assert 0 < found.mean("ndcg@10") <= 1


def test_numbers_do_not_become_texts_later(frame, ranker):
    with pytest.raises(InputError, match="column 'colour' holds numbers, and held texts"):
        ranker.predict(frame.assign(colour=1.0))
    with pytest.raises(InputError, match="column 'number' holds texts, and held numbers"):
        ranker.predict(frame.assign(number="much"))


def test_validation_frames_have_the_columns_that_fit_was_told(frame):
    watched = rw.LambdaMART(**SMALL).fit(frame, label="stars", qid="search", valid=frame)
    arrays = rw.LambdaMART(**SMALL).fit(
        frame[["colour", "number"]], frame["stars"], qid=frame["search"],
        valid=(frame[["number", "colour"]], frame["stars"], frame["search"]),
    )  # fmt: skip
    assert watched.history_.values == arrays.history_.values


@pytest.mark.parametrize("kind", [rw.LambdaMART, rw.RankSVM, rw.RankBoost])
def test_one_set_chooses_and_others_are_watched(kind):
    train, rest = rw.synthetic.web_search(n_queries=30, seed=0).split(valid=0.5)
    first, second = rest.split(valid=0.5)
    quick = {"n_trees": 3, "max_iter": 2, "n_rounds": 3}
    settings = {name: value for name, value in quick.items() if name in kind.settings()}
    ranker = kind(**settings).fit(train, valid={"first": first, "second": second, "train": train})
    assert list(ranker.watched_) == ["second", "train"]
    for name, data in {"second": second, "train": train}.items():
        assert ranker.watched_[name] == kind(**settings).fit(train, valid=data).history_.values
    assert ranker.history_.values == kind(**settings).fit(train, valid=first).history_.values


@pytest.mark.parametrize(
    "bag",
    [
        rw.BLMART(n_bags=3, n_trees=3),
        rw.Bagging(rw.LambdaMART(n_trees=3), n_bags=3),
        rw.Bagging(rw.RankSVM(max_iter=2), n_bags=3),
    ],
    ids=["bl-mart", "forests", "any"],
)
def test_one_set_chooses_the_bags_and_others_are_watched(bag):
    train, rest = rw.synthetic.web_search(n_queries=30, seed=0).split(valid=0.5)
    first, second = rest.split(valid=0.5)
    alone = clone(bag).fit(train, valid=first)
    several = clone(bag).fit(train, valid={"first": first, "second": second, "train": train})
    assert several.history_.values == alone.history_.values
    assert np.array_equal(several.predict(second), alone.predict(second))
    assert {name: len(values) for name, values in several.watched_.items()} == {"second": 3, "train": 3}
    for name, data in {"second": second, "train": train}.items():
        expected = rw.evaluate(alone.predict(data), data, ["ndcg@10"])["ndcg@10"].mean
        assert several.watched_[name][-1] == pytest.approx(expected)


def test_a_file_with_other_categories_is_refused(ranker):
    header, arrays = ranker.to_state()
    for wrong in ({"none": ["a"]}, {"colour": ["a", "a"]}, {"colour": [1]}, {"colour": "red"}):
        with pytest.raises(InputError):
            rw.LambdaMART.from_state(header | {"categories": wrong}, arrays)


def test_datasets_show_themselves():
    data = rw.RankingDataset.from_arrays([[1.0], [2.0], [3.0]], [0, 1, 2], qid=["b", "a", "b"])
    assert len(data) == 3
    assert data["b"].qid.tolist() == ["b", "b"]
    assert data[["a", "b"]].qid.tolist() == ["a", "b", "b"]
    assert data.head(2)["qid"].tolist() == ["b", "a"]


def test_lists_of_a_frame_are_those_of_its_queries():
    frame = pandas.DataFrame({"query": list("aabb"), "label": [1, 0, 2, 0], "f": [2.0, 1.0, 4.0, 3.0]})
    ranker = rw.LambdaMART(n_trees=3, min_docs_in_leaf=1).fit(frame)
    assert ranker.top(frame, k=1)["query"].tolist() == ["a", "b"]
    assert ranker.rank(frame).groups.sizes.tolist() == [2, 2]
    assert ranker.explain(frame, query="b").documents == (0, 1)
    assert len(ranker.top(frame[["f"]], k=1)) == 1  # without a column of queries it is one list
