from __future__ import annotations

import gzip
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.splits import QueryKFold, k_fold, letor_folds, split_queries
from rankwright.errors import InputError, SettingError

SIZES = st.lists(st.integers(0, 40), min_size=10, max_size=60)
SEEDS = st.integers(0, 2**40)


def everything_once(parts, n_queries):
    return sorted(np.concatenate(parts).tolist()) == list(range(n_queries))


@given(sizes=SIZES, seed=SEEDS)
def test_a_split_gives_every_query_to_one_part(sizes, seed):
    groups = Groups.of_sizes(sizes)
    assert everything_once(split_queries(groups, valid=0.3, seed=seed), len(sizes))
    parts = split_queries(groups, valid=0.2, test=0.1, seed=seed)
    assert everything_once(parts, len(sizes))
    assert [len(part) for part in parts[1:]] == [round(0.2 * len(sizes)), round(0.1 * len(sizes))]
    assert all((np.diff(part) > 0).all() for part in parts)


@given(sizes=SIZES, k=st.integers(2, 10), shuffle=st.booleans(), seed=SEEDS)
def test_every_query_is_tested_on_once(sizes, k, shuffle, seed):
    folds = k_fold(Groups.of_sizes(sizes), k, shuffle=shuffle, seed=seed)
    assert len(folds) == k
    assert everything_once([fold.test for fold in folds], len(sizes))
    for fold in folds:
        assert everything_once([fold.train, fold.test], len(sizes))
        assert len(fold.valid) == 0
    counts = [len(fold.test) for fold in folds]
    assert max(counts) - min(counts) <= 1


def test_shuffled_folds_hold_nearly_the_same_number_of_documents():
    sizes = np.random.default_rng(3).geometric(0.01, size=1000)
    documents = [sizes[fold.test].sum() for fold in k_fold(Groups.of_sizes(sizes), 5, seed=1)]
    # Two parts differ by less than the largest query: hand after hand, the one ahead gains at most what the sorted
    # deck drops within the hand, and those drops add up to the largest size.
    assert max(documents) - min(documents) < sizes.max()


def test_folds_that_are_not_shuffled_are_runs_of_neighbours():
    tests = [fold.test.tolist() for fold in k_fold(Groups.of_sizes([1] * 7), 3, shuffle=False)]
    assert tests == [[0, 1, 2], [3, 4], [5, 6]]


def test_the_seed_decides(small_data):
    first, again, other = (small_data.split(valid=0.25, seed=seed)[1].query_ids.tolist() for seed in (0, 0, 1))
    assert first == again
    assert first != other
    folds, same, others = ([f.test.tolist() for f in k_fold(small_data.groups, 4, seed=seed)] for seed in (5, 5, 6))
    assert folds == same
    assert folds != others
    assert split_queries(small_data.groups, seed=np.random.default_rng(0))[1].tolist() == (
        split_queries(small_data.groups, seed=0)[1].tolist()
    )


def test_the_parts_of_a_dataset_are_its_queries_whole(small_data):
    for parts in (small_data.split(valid=0.2, test=0.2), *small_data.k_fold(3), *small_data.letor_folds()):
        assert sorted(np.concatenate([part.query_ids for part in parts]).tolist()) == list(range(100, 140))
        for part in parts:
            numbers = part.query_ids - 100
            assert part.equals(small_data.take_queries(numbers))


def test_letor_rotates_five_parts():
    folds = letor_folds(Groups.of_sizes([2] * 5))
    assert [(fold.train.tolist(), *fold.valid.tolist(), *fold.test.tolist()) for fold in folds] == [
        ([0, 1, 2], 3, 4),
        ([1, 2, 3], 4, 0),
        ([2, 3, 4], 0, 1),
        ([3, 4, 0], 1, 2),
        ([4, 0, 1], 2, 3),
    ]


def query_ids_in(path: Path) -> list[int]:
    with gzip.open(path, "rt") as lines:
        ids = [int(re.search(r" qid:(\d+) ", line).group(1)) for line in lines]  # type: ignore[union-attr]
    return [qid for qid, before in zip(ids, [None, *ids[:-1]], strict=True) if qid != before]


def test_the_rotation_is_the_one_of_the_published_folds(real_data):
    published = [
        [query_ids_in(real_data(f"MQ2008/Fold{number}/{part}.txt.gz")) for part in ("train", "vali", "test")]
        for number in range(1, 6)
    ]
    train, valid, test = published[0]
    ids = np.array(train + valid + test)
    folds = letor_folds(Groups.of_sizes(np.ones(len(ids), np.int64)))
    ours = [[ids[part].tolist() for part in (fold.train, fold.valid, fold.test)] for fold in folds]
    assert ours == published


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"valid": 0.0}, "valid must lie between 0 and 1, got 0.0"),
        ({"valid": 1}, "valid must lie between 0 and 1, got 1"),
        ({"valid": float("nan")}, "valid must lie between 0 and 1, got nan"),
        ({"valid": 0.2, "test": -0.1}, "test must lie between 0 and 1, got -0.1"),
        ({"valid": 0.01}, "valid=0.01 of 40 queries leaves no query for valid"),
        ({"valid": 0.5, "test": 0.5}, "valid=0.5, test=0.5 of 40 queries leaves no query for train"),
        ({"valid": 0.9, "test": 0.9}, "leaves no query for train"),
        ({"seed": -1}, "seed must be a whole number of 0 or more, got -1"),
        ({"seed": 0.5}, "seed must be a whole number of 0 or more, got 0.5"),
    ],
)
def test_a_split_that_cannot_be_made_is_refused(small_data, arguments, message):
    with pytest.raises(SettingError, match=message):
        small_data.split(**arguments)


def test_more_folds_than_queries_are_refused():
    with pytest.raises(SettingError, match="5 folds need at least 5 queries, got 4"):
        k_fold(Groups.of_sizes([3] * 4), 5)
    with pytest.raises(SettingError, match="5 LETOR parts need at least 5 queries, got 4"):
        letor_folds(Groups.of_sizes([3] * 4))
    with pytest.raises(SettingError, match="2 folds or more, got 1"):
        k_fold(Groups.of_sizes([3] * 4), 1)
    with pytest.raises(SettingError, match="n_splits must be 2 or more, got 1"):
        QueryKFold(1)


# The scikit-learn splitter


@given(data=st.data(), shuffle=st.booleans())
def test_the_splitter_cuts_no_query_whatever_the_row_order(data, shuffle):
    qid = np.array(data.draw(st.lists(st.sampled_from(["a", "b", "c", "dd", "e", "f"]), min_size=30, max_size=60)))
    n_splits = min(3, len(set(qid.tolist())))
    splitter = QueryKFold(max(n_splits, 2), shuffle=shuffle)
    if len(set(qid.tolist())) < 2:
        return
    X = np.zeros((len(qid), 1))
    tested = []
    for train, test in splitter.split(X, groups=qid):
        assert not set(qid[train]) & set(qid[test])
        assert sorted([*train, *test]) == list(range(len(qid)))
        assert (np.diff(train) > 0).all()
        tested += test.tolist()
    assert sorted(tested) == list(range(len(qid)))


def test_the_splitter_needs_query_ids_of_every_row():
    with pytest.raises(InputError, match="needs groups"):
        next(QueryKFold().split(np.zeros((4, 1))))
    with pytest.raises(InputError, match="groups must have 4 values, got 3"):
        next(QueryKFold().split(np.zeros((4, 1)), groups=[1, 2, 3]))


@pytest.fixture
def shuffled_rows(small_data: RankingDataset):
    order = np.random.default_rng(9).permutation(small_data.n_docs)
    assert small_data.labels is not None
    return small_data.features[order], small_data.labels[order], small_data.qid[order]


def test_scikit_learn_takes_the_splitter(shuffled_rows):
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV, cross_validate

    X, y, qid = shuffled_rows
    scores = cross_validate(Ridge(), X, y, groups=qid, cv=QueryKFold(4), return_indices=True)
    assert len(scores["test_score"]) == 4
    assert all(not set(qid[train]) & set(qid[test]) for train, test in zip(*scores["indices"].values(), strict=True))
    search = GridSearchCV(Ridge(), {"alpha": [0.1, 1.0]}, cv=QueryKFold(3)).fit(X, y, groups=qid)
    assert search.n_splits_ == 3


def test_scikit_learn_routes_query_ids_to_the_splitter(shuffled_rows):
    import sklearn
    from sklearn.linear_model import Ridge
    from sklearn.model_selection import GridSearchCV, cross_validate

    X, y, qid = shuffled_rows
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_validate(
            Ridge(), X, y, params={"groups": qid}, cv=QueryKFold(4, seed=2), return_indices=True, return_estimator=True
        )
        search = GridSearchCV(Ridge(), {"alpha": [0.1]}, cv=QueryKFold(3)).fit(X, y, groups=qid)
    expected = [test.tolist() for _, test in QueryKFold(4, seed=2).split(X, groups=qid)]
    assert [test.tolist() for test in scores["indices"]["test"]] == expected
    assert search.n_splits_ == 3
