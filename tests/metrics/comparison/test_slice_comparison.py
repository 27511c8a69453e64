"""Systems on slices of the queries."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import InputError, RankwrightError
from rankwright.metrics.comparison.slice_comparison import cut_queries
from rankwright.metrics.significance import holm


@pytest.fixture
def comparison(small_data):
    noise = np.random.default_rng(0).normal(size=(2, small_data.n_docs))
    return rw.compare({"good": small_data.labels + noise[0], "poor": noise[1]}, small_data, ["map", "ndcg@10"])


def test_one_slice_is_told_in_the_singular(small_data):
    same = {name: np.zeros(small_data.n_docs) for name in ("one", "other")}
    found = rw.compare(same, small_data, ["map"]).slice_by({"all": ["x"] * small_data.n_queries})
    assert found.headline == "slices of queries: one test"
    assert found.conclusion == "The one difference on slices is no more than chance may give."


def test_numbers_are_cut_into_about_equal_parts_and_equal_numbers_stay_together():
    values = [1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    found = cut_queries("x", values, 4)
    assert found.names == ("1", "2 to 3", "4 to 6", "7 to 9")
    for number, name in enumerate(found.names):
        own = [value for value, place in zip(values, found.slice_of.tolist(), strict=True) if place == number]
        ends = [float(end) for end in name.split(" to ")]
        assert (min(own), max(own)) == (ends[0], ends[-1])
    assert len(set(found.slice_of[:4].tolist())) == 1


@pytest.mark.parametrize(
    ("values", "by", "names", "places"),
    [
        ([2, 1, np.nan, 2], "x", ("1", "2", "missing"), [1, 0, 2, 1]),
        (["b", "a", "", "b"], "x", ("a", "b", "missing"), [1, 0, 2, 1]),
        ([None, "a", "a", "b"], "x", ("a", "b", "missing"), [2, 0, 0, 1]),
        ([f"{'word ' * (1 + row % 2)}{row}" for row in range(20)], "words of x", ("2", "3"), [0, 1] * 10),
    ],
)
def test_what_is_missing_and_what_is_text(values, by, names, places):
    found = cut_queries("x", values)
    assert (found.by, found.names, found.slice_of.tolist()) == (by, names, places)


def test_a_slice_has_the_numbers_of_its_queries_alone(comparison, small_data):
    found = comparison.slice_by("documents", slices=2, metrics=["map", "ndcg@10"])
    sizes = small_data.groups.sizes
    assert {test.metric for test in found.tests} == {"map", "ndcg@10"}
    for test in found.tests:
        low, high = (int(end) for end in test.slice.split(" to "))
        kept = np.flatnonzero((sizes >= low) & (sizes <= high))
        part = small_data.take_queries(kept)
        rows = np.isin(small_data.groups.query_of_row, kept)
        scores = [comparison.material.lists[name].scores[rows] for name in (test.best, test.system)]
        first, second = (rw.evaluate(own, part, [test.metric])[test.metric] for own in scores)
        assert test.paired == rw.paired_test(first, second)
        assert (test.best_mean, test.mean) == (first.mean, second.mean)
    corrected = holm([test.paired.p_value for test in found.tests])
    assert [test.p_value_holm for test in found.tests] == corrected.tolist()


def test_relevant_documents_features_and_given_values(comparison, small_data):
    relevant = [int((small_data.labels[part] > 0).sum()) for part in small_data.groups.slices()]
    means = [float(small_data.features[part, 2].mean()) for part in small_data.groups.slices()]
    ids = small_data.query_ids.tolist()
    for by, values in (("relevant", relevant), ("3", means)):
        known = comparison.slice_by(by)
        in_order = comparison.slice_by({by: values})
        by_id = comparison.slice_by({by: dict(zip(map(str, ids), values, strict=True))})
        assert [test.paired.queries for test in known.tests] == [test.paired.queries for test in in_order.tests]
        assert known.tests[0].paired == by_id.tests[0].paired


def test_a_category_of_queries():
    frame = {
        "qid": ["a", "a", "b", "b", "c", "c"],
        "label": [1, 0, 1, 0, 0, 1],
        "kind": ["short", "short", "long", "long", "short", "short"],
        "mixed": ["x", "y", "x", "x", "x", "x"],
        "value": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
    }
    data = rw.from_frame(frame, columns=rw.Columns(query="qid", label="label"))
    comparison = rw.compare({"a": [1, 0] * 3, "b": [0, 1] * 3}, data, ["mrr"])
    found = comparison.slice_by("kind")
    assert [(test.slice, test.paired.queries) for test in found.tests] == [("long", 1), ("short", 2)]
    with pytest.raises(InputError, match="differ within a query"):
        comparison.slice_by("mixed")


def test_words_of_queries():
    qid = np.repeat(["red shoes", "shoes", "red running shoes"], 2)
    data = rw.RankingDataset.from_arrays(np.zeros((6, 1)), [1, 0] * 3, qid=qid)
    comparison = rw.compare({"a": [1, 0] * 3, "b": [0, 1] * 3}, data, ["mrr"])
    assert [test.slice for test in comparison.slice_by("words").tests] == ["1", "2", "3"]


def test_every_form(comparison):
    found = comparison.slice_by()
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["tests"][0]["by"] == "documents"
    assert list(found.to_frame()["by"].unique()) == ["documents", "relevant"]
    assert found.conclusion in str(found)
    assert "significantly better" in found.conclusion
    assert max(map(len, str(found).splitlines()[:6])) <= 80


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("documnts", "did you mean 'documents'"),
        ("words", "query ids are no texts"),
        ({"x": [1, 2]}, "must have 40 values"),
        ({"x": {"nobody": 1}}, "for none of the 40 queries"),
    ],
)
def test_what_cannot_be_sliced_by_is_refused(comparison, by, message):
    with pytest.raises(RankwrightError, match=message):
        comparison.slice_by(by)


def test_evaluations_alone_know_their_numbers_of_documents(comparison):
    alone = rw.compare_evaluations(comparison.evaluations)
    assert alone.slice_by("documents").tests == comparison.slice_by("documents").tests
    with pytest.raises(InputError, match="labels are not known"):
        alone.slice_by("relevant")


def test_a_slice_on_which_another_system_is_better_is_named():
    n = 60
    data = rw.RankingDataset.from_arrays(np.zeros((2 * n, 1)), [1, 0] * n, group=[2] * n)
    kinds = np.array(["head"] * 40 + ["tail"] * 20)
    first = np.where(np.repeat(kinds, 2) == "head", [1.0, 0.0] * n, [0.0, 1.0] * n)
    for metric in ("mrr", "pair-error"):
        found = rw.compare({"first": first, "second": -first}, data, [metric]).slice_by({"kind": kinds})
        assert found.conclusion == (
            "The best system is significantly better in 1 of 2 tests on slices; second is better than first in "
            f"{metric} where kind is tail."
        )
