from __future__ import annotations

import pickle

import numpy as np
import pytest

from rankwright.data.dataset import RankingDataset, call_irrelevant
from rankwright.data.groups import Groups
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, SettingError


def interleaved() -> RankingDataset:
    return RankingDataset.from_arrays(
        [[0.0], [1.0], [2.0], [3.0], [4.0]],
        [0, 1, 2, 3, 4],
        qid=["b", "a", "b", "a", "c"],
        preferences=Preferences([2, 3], [0, 1]),
        query_weights=[1.0, 2.0, 3.0],
        document_weights=[10, 11, 12, 13, 14],
        positions=[0, 0, 1, 1, 0],
        document_ids=["d0", "d1", "d2", "d3", "d4"],
    )


def test_rows_in_any_order_are_brought_together():
    data = interleaved()
    assert data.features[:, 0].tolist() == [0, 2, 1, 3, 4]
    assert data.labels is not None
    assert data.labels.tolist() == [0, 2, 1, 3, 4]
    assert data.document_ids is not None
    assert data.document_ids.tolist() == ["d0", "d2", "d1", "d3", "d4"]
    assert data.qid.tolist() == ["b", "b", "a", "a", "c"]


def test_results_go_back_in_the_callers_order():
    data = interleaved()
    assert data.in_source_order(data.features[:, 0]).tolist() == [0, 1, 2, 3, 4]
    values = np.array([5.0, 6.0, 7.0, 8.0, 9.0])
    assert data.in_source_order(data.from_source_order(values)).tolist() == values.tolist()


def test_preferences_follow_their_rows():
    data = interleaved()
    assert data.preferences is not None
    assert data.features[data.preferences.better, 0].tolist() == [2, 3]
    assert data.features[data.preferences.worse, 0].tolist() == [0, 1]


def test_taking_queries_takes_everything_of_theirs():
    part = interleaved().take_queries([2, 0])
    assert part.query_ids is not None
    assert part.query_ids.tolist() == ["c", "b"]
    assert part.features[:, 0].tolist() == [4, 0, 2]
    assert part.query_weights is not None
    assert part.query_weights.tolist() == [3.0, 1.0]
    assert part.preferences is not None
    assert (part.preferences.better.tolist(), part.preferences.worse.tolist()) == ([2], [1])


def test_a_dataset_equals_itself_only():
    data = interleaved()
    assert data.equals(interleaved())
    assert not data.equals(data.take_queries([0, 1]))
    assert not data.equals(RankingDataset.from_arrays(data.features, data.labels, qid=data.qid))


def test_a_dataset_survives_pickling_in_memory():
    assert pickle.loads(pickle.dumps(interleaved())).equals(interleaved())


def test_group_sizes_do_as_well_as_ids():
    data = RankingDataset.from_arrays(np.eye(3), [1, 0, 1], group=[2, 1])
    assert data.groups.offsets.tolist() == [0, 2, 3]
    assert data.qid.tolist() == [0, 0, 1]


def test_nan_marks_a_missing_feature_and_an_unjudged_document():
    data = RankingDataset.from_arrays([[np.nan], [1.0]], [np.nan, 1.0], group=[2])
    assert np.isnan(data.features[0, 0])
    assert data.labels is not None
    assert np.isnan(data.labels[0])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"features": [1.0, 2.0]}, "features must have two dimensions"),
        ({"features": [["x"], ["y"]]}, "features must hold numbers"),
        ({"labels": [1.0]}, "labels must have 2 values, got 1"),
        ({"labels": [0.0, -1.0]}, "row 1 has -1.0"),
        ({"labels": [0.0, np.inf]}, "row 1 has inf"),
        ({"qid": [1]}, "qid must have 2 values, got 1"),
        ({"qid": [1.5, 2.0]}, "qid must be whole numbers or strings, got 1.5"),
        ({"qid": None}, "give either qid"),
        ({"group": [2]}, "give either qid"),
        ({"qid": None, "group": [3]}, "group sizes add up to 3 rows, but features have 2"),
        ({"document_weights": [1.0, -1.0]}, "document_weights must be finite and 0 or more"),
        ({"feature_names": ("a", "b")}, "feature_names must have 1 names, got 2"),
        ({"preferences": Preferences([0], [1])}, "of different queries"),
        ({"preferences": Preferences([0], [5])}, "a row outside 0 to 1"),
    ],
)
def test_what_does_not_fit_is_refused(change, message):
    arguments = {"features": [[1.0], [2.0]], "labels": [0.0, 1.0], "qid": [1, 2]} | change
    features = arguments.pop("features")
    labels = arguments.pop("labels")
    with pytest.raises(InputError, match=message):
        RankingDataset.from_arrays(features, labels, **arguments)


def test_the_constructor_wants_a_row_for_every_document():
    with pytest.raises(InputError, match="features must have 3 rows"):
        RankingDataset(features=np.eye(2, dtype=np.float32), labels=None, groups=Groups.of_sizes([3]))


NAN = float("nan")


@pytest.fixture
def half_judged():
    labels = np.tile([2.0, np.nan], 100)
    return RankingDataset.from_arrays(np.zeros((200, 1)), labels, group=[50] * 4)


def test_a_share_of_the_unjudged_becomes_irrelevant_and_nothing_else_changes(half_judged):
    labels = call_irrelevant(half_judged, 0.25, np.random.default_rng(3)).labels
    again = call_irrelevant(half_judged, 0.25, np.random.default_rng(3)).labels
    assert labels is not None
    assert again is not None
    assert (labels == 0).sum() == 25
    assert np.isnan(labels).sum() == 75
    assert (labels[::2] == 2).all()
    assert np.array_equal(labels, again, equal_nan=True)


def test_none_leaves_the_data_as_it_is(half_judged):
    assert call_irrelevant(half_judged, None, np.random.default_rng(0)) is half_judged


@pytest.mark.parametrize("share", [-0.1, 1.1])
def test_a_share_lies_between_0_and_1(half_judged, share):
    with pytest.raises(SettingError, match="between 0 and 1"):
        call_irrelevant(half_judged, share, np.random.default_rng(0))


def test_a_notebook_shows_ids_of_any_type():
    texts = RankingDataset.from_arrays([[0.5], [1.5]], [1, 0], qid=["a", "b"], document_ids=["<x>", "y"])
    assert "&lt;x&gt;" in texts._repr_html_()
    assert "0.5" in RankingDataset.from_arrays([[0.5]], group=[1])._repr_html_()
