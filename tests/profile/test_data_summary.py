from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright import synthetic
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.preferences import Preferences
from rankwright.profile import data_summary as module
from rankwright.profile.data_summary import (
    NumberRange,
    Summary,
    duplicate_columns,
    duplicate_rows,
    feature_facts,
    summarise,
)


def remarks_of(features, labels, **others) -> str:
    if "qid" not in others:
        others.setdefault("group", [len(labels)])
    return "\n".join(summarise(RankingDataset.from_arrays(features, labels, **others)).remarks)


@pytest.fixture
def plain():
    """A hundred documents of five queries with nothing odd about them."""
    rng = np.random.default_rng(4)
    return rng.normal(size=(100, 3)), rng.integers(0, 3, 100), np.repeat(np.arange(5), 20)


def test_everything_is_counted():
    features = np.array([[1, 0, 1, 5, np.nan], [2, 0, 2, 5, np.nan], [3, 0, 3, 5, 1], [1, 0, 1, 6, np.nan]])
    data = RankingDataset.from_arrays(features, [0, 2, np.nan, 0], qid=["a", "a", "a", "b"], document_ids=[1, 2, 3, 4])
    summary = summarise(data)
    assert summary == Summary(
        queries=2,
        documents=4,
        features=5,
        documents_per_query=NumberRange(1, 2, 2, 3),
        labels={"0": 2, "2": 1},
        label_spread=NumberRange(0, 0, 2 / 3, 2),
        unjudged=1,
        queries_with_nothing_relevant=1,
        queries_with_one_label=1,
        missing_values=3,
        missing_share_of={"5": 3 / 4},
        constant_features=("2",),
        duplicate_features=(("1", "3"),),
        also_has=("query ids", "document ids"),
        remarks=summary.remarks,
    )


def test_a_summary_is_plain_json(small_data):
    summary = summarise(small_data)
    assert json.loads(json.dumps(summary.as_dict(), allow_nan=False))["queries"] == small_data.n_queries


def test_features_go_by_their_names():
    data = RankingDataset.from_arrays([[1, 1], [1, 2]], [0, 1], group=[2], feature_names=["bm25", "clicks"])
    assert summarise(data).constant_features == ("bm25",)


def test_many_different_labels_are_summed_up():
    labels = np.arange(101) / 128
    summary = summarise(RankingDataset.from_arrays(np.zeros((101, 1)), labels, group=[101]))
    assert summary.labels is None
    assert summary.label_spread == NumberRange(0, 50 / 128, 50 / 128, 100 / 128)


def test_constant_features_are_not_told_twice():
    data = RankingDataset.from_arrays([[1, 1, 3, 3], [1, 1, 4, 4]], [0, 1], group=[2])
    assert summarise(data).constant_features == ("1", "2")
    assert summarise(data).duplicate_features == (("3", "4"),)


def test_preferences_do_without_labels():
    data = RankingDataset(
        features=np.zeros((2, 1), np.float32),
        labels=None,
        groups=Groups.of_sizes([2]),
        preferences=Preferences([0], [1]),
    )
    summary = summarise(data)
    assert (summary.labels, summary.label_spread, summary.unjudged) == (None, None, 2)
    assert "1 preferences" in summary.also_has


def test_a_dataset_of_nothing_is_summed_up_too():
    summary = summarise(RankingDataset.from_arrays(np.zeros((0, 2)), [], group=[]))
    assert (summary.queries, summary.documents_per_query, summary.constant_features) == (0, None, ())
    assert summary.remarks == ("there are no documents",)


def test_good_data_give_no_remarks(plain):
    features, labels, qid = plain
    assert remarks_of(features, labels, qid=qid) == ""
    assert summarise(synthetic.random_network(20)).remarks == ()


def test_labels_that_teach_nothing_are_noted(plain):
    features, labels, qid = plain
    assert "no document is judged" in remarks_of(features, np.full(100, np.nan), qid=qid)
    assert "every judged document has label 2: there is nothing to learn" in remarks_of(
        features, np.full(100, 2), qid=qid
    )
    assert "no query has documents with different labels" in remarks_of(features, qid % 2, qid=qid)
    assert "different labels" not in remarks_of(features, labels, qid=qid)


def test_a_feature_made_from_the_labels_is_noted(plain):
    features, labels, qid = plain
    features[:, 1] = labels * 7 + 3
    assert "feature 2 alone puts 100.0% of pairs in the right order: was it made from" in remarks_of(
        features, labels, qid=qid
    )
    features[:, 1] = -labels
    assert "feature 2 alone puts 100.0% of pairs in the right order, upside down" in remarks_of(
        features, labels, qid=qid
    )


def test_unusual_labels_are_noted(plain):
    features, _, qid = plain
    rng = np.random.default_rng(0)
    assert "labels are not all whole numbers, for example 0.25" in remarks_of(
        features, rng.choice([0.25, 1], 100), qid=qid
    )
    assert "the largest label is 100" in remarks_of(features, rng.choice([0, 100], 100), qid=qid)


def test_features_that_name_the_query_are_noted(plain):
    features, labels, qid = plain
    features[:, 0] = qid
    features[:, 1] = np.sqrt(qid)
    remarks = remarks_of(features, labels, qid=qid)
    assert "feature 1 is the query id" in remarks
    assert "feature 2 is the same for all documents of a query" in remarks


def test_a_row_number_is_noted(plain):
    features, labels, qid = plain
    features[:, 2] = np.arange(100)
    assert "feature 3 grows from each row to the next" in remarks_of(features, labels, qid=qid)


def test_missing_and_infinite_values_are_noted(plain):
    features, labels, qid = plain
    features[1:, 0] = np.nan
    features[:, 1] = np.inf
    features[:97, 2] = np.nan
    remarks = remarks_of(features, labels, qid=qid)
    assert "features 1, 3 are missing in 95% of documents or more" in remarks
    assert "feature 2 has infinite values" in remarks


def test_a_long_list_of_features_is_cut_short(plain):
    _, labels, qid = plain
    assert "features 1, 2, 3, 4, 5 and 4 more have infinite values" in remarks_of(
        np.full((100, 9), np.inf), labels, qid=qid
    )


def test_scattered_queries_are_noted(plain):
    features, labels, qid = plain
    qid[0] = 4
    assert "1 query was scattered over the data and brought together, for example 4" in remarks_of(
        features, labels, qid=qid
    )
    apart = RankingDataset(
        features=np.zeros((2, 1), np.float32), labels=None, groups=Groups.of_sizes([1, 1]), query_ids=np.array([7, 7])
    )
    assert any("several queries have the same id, for example 7" in remark for remark in summarise(apart).remarks)


def test_queries_of_odd_sizes_are_noted():
    sizes = [0, 1, 1, *[5] * 20, 400]
    rng = np.random.default_rng(0)
    remarks = remarks_of(rng.normal(size=(sum(sizes), 2)), rng.integers(0, 3, sum(sizes)), group=sizes)
    assert "1 query has no documents" in remarks
    assert "2 queries have one document" in remarks
    assert f"query 23 has 400 documents, {400 / 5:.0f} times the median" in remarks


def test_copies_of_documents_are_noted(plain):
    features, labels, qid = plain
    features[3], labels[3], labels[0] = features[0], 1, 0
    features[21], labels[21] = features[22], labels[22]
    features[99] = features[0]  # of another query: no copy
    assert (
        "2 documents have the same features as another of the same query, 1 of them with another label"
        in remarks_of(features, labels, qid=qid)
    )


NUMBERS = st.sampled_from([0.0, -0.0, 1.0, 2.0, np.nan, np.inf])


def same(one, other):
    return one == other or (np.isnan(one) and np.isnan(other))


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    monkeypatch.setattr(module, "ROWS_AT_A_TIME", 3)


@given(data=st.data(), sizes=st.lists(st.integers(0, 4), max_size=5), n_features=st.integers(0, 4))
def test_the_facts_are_what_a_plain_count_gives(data, sizes, n_features):
    n_docs = sum(sizes)
    rows = st.lists(NUMBERS, min_size=n_features, max_size=n_features)
    values = data.draw(st.lists(rows, min_size=n_docs, max_size=n_docs))
    features = np.array(values, np.float32).reshape(n_docs, n_features)
    groups = Groups.of_sizes(sizes)
    facts = feature_facts(features, groups)
    columns = features.T.tolist()
    queries = list(groups.slices())
    assert facts.n_missing.tolist() == [sum(np.isnan(column)) for column in columns]
    assert facts.n_infinite.tolist() == [sum(np.isinf(column)) for column in columns]
    assert facts.is_constant.tolist() == [all(same(column[0], value) for value in column) for column in columns]
    assert facts.is_constant_in_queries.tolist() == [
        all(same(column[rows.start], value) for rows in queries for value in column[rows]) for column in columns
    ]
    assert facts.is_rising.tolist() == [all(after > before for before, after in pairwise(column)) for column in columns]
    pairs = {(a, b) for found in duplicate_columns(features, facts) for a in found for b in found if a < b}
    assert pairs == {
        (a, b)
        for b in range(n_features)
        for a in range(b)
        if all(same(x, y) for x, y in zip(columns[a], columns[b], strict=True))
    }
    copies, originals = duplicate_rows(features, groups, facts)
    assert sorted(copies.tolist()) == [
        row
        for query in queries
        for row in range(query.start, query.stop)
        if any(all(map(same, features[row], features[earlier])) for earlier in range(query.start, row))
    ]
    assert (originals < copies).all()


def test_an_accident_of_fingerprints_is_found_out():
    features = np.array([[1, 2], [3, 4]], np.float32)
    groups = Groups.of_sizes([2])
    facts = feature_facts(features, groups)
    facts.fingerprints[:] = 7
    facts.row_fingerprints[:] = 7
    assert duplicate_columns(features, facts) == []
    assert len(duplicate_rows(features, groups, facts)[0]) == 0
