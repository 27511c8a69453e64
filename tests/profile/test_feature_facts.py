from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.data.groups import Groups
from rankwright.profile import feature_facts as module
from rankwright.profile.feature_facts import duplicate_columns, duplicate_rows, feature_facts

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
