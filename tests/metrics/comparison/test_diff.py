"""The queries that changed most, and both lists side by side."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import InputError, RankwrightError


class Explaining:
    """A ranker that tells why."""

    takes_datasets = True

    def __init__(self, scores):
        self.scores = scores

    def predict(self, data):  # noqa: ARG002
        return self.scores

    def explain(self, data, *, documents):
        return f"{documents[0]} above {documents[1]} in {data.qid[0]}\nbecause of its title"


class Silent(Explaining):
    """A ranker that cannot tell."""

    def explain(self, data, *, documents):
        raise InputError(f"{documents} of {data} cannot be explained")


@pytest.fixture
def data():
    ids = ["a", "b", "c", "d", "e", "f", "g", "h"]
    labels = [2, 0, 1, np.nan, 1, 0, 0, 2]
    return rw.RankingDataset.from_arrays(np.zeros((8, 1)), labels, qid=["x"] * 4 + ["y"] * 4, document_ids=ids)


OLD, NEW = [4, 3, 2, 1, 1, 2, 3, 4], [1, 4, 2, 3, 4, 1, 2, 3]


@pytest.fixture
def comparison(data):
    return rw.compare({"old": OLD, "new": NEW}, data, ["ndcg@3", "mrr"])


def test_lists_side_by_side(comparison):
    found = comparison.diff("old", "new", depth=3)
    assert [(one.query, one.outcome) for one in found.queries] == [("x", "lost"), ("y", "lost")]
    one = found.queries[0]
    assert [placed.document for placed in one.first] == ["a", "b", "c"]
    assert [(placed.document, placed.other_rank) for placed in one.second] == [("b", 2), ("d", 4), ("c", 3)]
    assert np.isnan(one.second[1].label)
    assert one.values == tuple(comparison.evaluations[name]["ndcg@3"].values[0] for name in ("old", "new"))
    assert found.counts == {"lost": 2, "won": 0, "same": 0}
    text = str(found)
    assert "query x, lost 1 of 2: ndcg@3" in text
    assert "1  a        2  b        0  2 ▲" in text
    assert "no longer shown, with labels: a (2) now 4" in text
    assert "from old to new, ndcg@3: 2 queries lost, 0 won, 0 stayed the same" in text


def test_what_is_lost_one_way_is_won_the_other(comparison):
    there, back = comparison.diff("old", "new"), comparison.diff("new", "old")
    assert [one.query for one in there.queries] == [one.query for one in back.queries]
    assert all(one.outcome == "won" for one in back.queries)
    assert repr(there.queries[0].first) == repr(back.queries[0].second)  # NaN equals NaN there


def test_the_frame_has_a_row_for_each_rank(comparison):
    frame = comparison.diff("old", "new", top=1).to_frame()
    assert frame["query"].tolist() == ["x"] * 4
    assert frame["first_document"].tolist() == ["a", "b", "c", "d"]
    assert frame["second_document"].tolist() == ["b", "d", "c", "a"]
    assert frame["moved"].tolist() == [1, 2, 0, -3]


def test_the_largest_changes_come_first_whatever_the_order_of_queries(small_data):
    rng = np.random.default_rng(0)
    scores = {name: rng.normal(size=small_data.n_docs) for name in ("one", "two")}
    found = rw.compare(scores, small_data, ["ndcg@10"]).diff("one", "two", top=5)
    values = [rw.evaluate(own, small_data, ["ndcg@10"])["ndcg@10"].values for own in scores.values()]
    change = values[1] - values[0]
    assert [one.difference for one in found.queries[:5]] == sorted(change)[:5]
    assert [one.difference for one in found.queries[5:]] == sorted(change, reverse=True)[:5]
    queries = rng.permutation(small_data.n_queries)
    moved = small_data.take_queries(queries)
    order = np.concatenate([np.arange(small_data.n_docs)[part] for part in small_data.groups.slices()])
    rows = np.concatenate([np.split(order, small_data.groups.offsets[1:-1])[query] for query in queries])
    again = rw.compare({name: own[rows] for name, own in scores.items()}, moved, ["ndcg@10"]).diff("one", "two", top=5)
    assert [one.query for one in again.queries] == [one.query for one in found.queries]


def test_of_a_cost_the_larger_value_is_a_loss(small_data):
    scores = {"good": small_data.labels, "chance": np.random.default_rng(0).normal(size=small_data.n_docs)}
    found = rw.compare(scores, small_data, ["pair-error"]).diff("good", "chance", top=3)
    assert all(one.outcome == "lost" and one.difference > 0 for one in found.queries)


def test_runs_differ_in_what_they_retrieve():
    qrels = rw.Qrels(["q"] * 3, ["a", "b", "c"], [1, 0, 2])
    old, new = rw.Run(["q"] * 2, ["a", "b"], [2, 1]), rw.Run(["q"] * 3, ["z", "c", "a"], [3, 2, 1])
    found = rw.compare_runs({"old": old, "new": new}, qrels, ["recall@3"]).diff("old", "new")
    (one,) = found.queries
    assert [(placed.document, placed.other_rank) for placed in one.second] == [("z", None), ("c", None), ("a", 1)]
    assert "new" in str(found)
    assert "b (0) now gone" in str(found)
    json.dumps(found.to_dict(), allow_nan=False)


def test_rankers_that_explain_themselves_are_asked(data):
    systems = {"old": Explaining(np.array(OLD, float)), "new": Silent(np.array(NEW, float))}
    found = rw.compare(systems, data, ["ndcg@3"]).diff("old", "new")
    assert found.queries[0].why == ("old: b above a in x", "  because of its title")
    assert "old: b above a in x\n  because of its title" in str(found)
    without_ids = replace(data, document_ids=None)
    found = rw.compare(systems, without_ids, ["ndcg@3"]).diff("old", "new")
    assert found.queries[0].why[0] == "old: row 1 above row 0 in x"
    assert found.queries[1].why[0].endswith("in y")


def test_long_names_fit_into_80_columns(data):
    ids = np.array([f"a-very-long-collection-name-{row:020d}" for row in range(8)])
    long = rw.RankingDataset.from_arrays(np.zeros((8, 1)), data.labels, qid=data.qid, document_ids=ids)
    names = ("a-system-of-a-name-that-is-too-long-1", "a-system-of-a-name-that-is-too-long-2")
    found = rw.compare(dict(zip(names, (OLD, NEW), strict=True)), long, ["ndcg@3"]).diff(*names)
    table = found.shown().tables[0]
    assert max(map(len, table.text(80).splitlines()[1 : 2 + len(table.rows)])) <= 80
    assert found.queries[0].first[0].document == ids[0]


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (("old", "nw"), {}, "did you mean 'new'"),
        (("old", "new"), {"top": 0}, "top must be 1 or more"),
        (("old", "new"), {"depth": 0}, "depth must be 1 or more"),
        (("old", "new"), {"metric": "map"}, "unknown metric of this comparison 'map'"),
    ],
)
def test_what_cannot_be_shown_is_refused(comparison, arguments, options, message):
    with pytest.raises(RankwrightError, match=message):
        comparison.diff(*arguments, **options)


def test_evaluations_alone_have_no_lists(comparison):
    with pytest.raises(InputError, match="only evaluations were compared"):
        rw.compare_evaluations(comparison.evaluations).diff("old", "new")
