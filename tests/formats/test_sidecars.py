from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.errors import FileFormatError, InputError, SettingError
from rankwright.formats.delimited.descriptions import read_column_description
from rankwright.formats.delimited.files import read_delimited
from rankwright.formats.sidecars import read_pairs, read_query_weights, with_query_weights, write_pairs


@pytest.fixture
def file(tmp_path):
    def write(text, name="file"):
        (tmp_path / name).write_text(text)
        return tmp_path / name

    return write


def test_weight_and_probability_may_be_absent(file):
    pairs = read_pairs(file("# better worse\n3\t1\n0 2 0.5\n\n1 0 2 0.75\n"))
    assert pairs.better.tolist() == [3, 0, 1]
    assert pairs.worse.tolist() == [1, 2, 0]
    assert pairs.weight.tolist() == [1, 0.5, 2]
    assert pairs.probability.tolist() == [1, 1, 0.75]


@given(qid=st.lists(st.integers(0, 3), min_size=2, max_size=12), draw=st.data())
def test_pairs_out_and_back_are_the_same_for_rows_in_any_order(qid, draw, tmp_path_factory):
    possible = [(a, b) for a in range(len(qid)) for b in range(len(qid)) if a != b and qid[a] == qid[b]]
    if not possible:
        return
    chosen = draw.draw(st.lists(st.sampled_from(possible), min_size=1, max_size=5))
    better, worse = zip(*chosen, strict=True)
    unit = st.floats(0, 1, width=32)
    probability, weight = draw.draw(st.lists(unit, min_size=2, max_size=2))
    preferences = Preferences(better, worse, probability, weight)
    features = np.zeros((len(qid), 1))
    data = RankingDataset.from_arrays(features, qid=qid, preferences=preferences)
    path = tmp_path_factory.mktemp("pairs") / "pairs"
    write_pairs(data, path)
    without = RankingDataset.from_arrays(features, qid=qid)
    assert without.with_preferences(read_pairs(path)).equals(data)
    assert data.with_preferences(None).equals(without)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1\n", ":1: found 1 fields, wanted better row, worse row"),
        ("1 2\n1 x\n", ":2: found '1 x', wanted two row numbers from 0"),
        ("1 -2\n", ":1: found '1 -2', wanted two row numbers from 0"),
        ("1 2 heavy\n", ":1: a weight must be a number, found 'heavy'"),
        ("1 2 -1\n", ":1: found '-1', wanted a weight of 0 or more"),
        ("1 2 1 2\n", ":1: found '1 2', wanted a weight of 0 or more, and a probability from 0 to 1"),
        ("", ": holds no line of better row, worse row"),
    ],
)
def test_what_is_wrong_with_pairs_is_said_with_its_line(file, text, message):
    path = file(text)
    with pytest.raises(FileFormatError, match=f"{path}{message}"):
        read_pairs(path)


def test_a_pair_outside_the_data_is_refused():
    data = RankingDataset.from_arrays([[1.0]] * 4, qid=[0, 1, 0, 1])
    with pytest.raises(InputError, match="preference 1 joins rows 1 and 4: a row outside 0 to 3"):
        data.with_preferences(Preferences([0, 1], [2, 4]))
    with pytest.raises(InputError, match="preference 0 joins rows 0 and -2: a row outside 0 to 3"):
        RankingDataset.from_arrays([[1.0]] * 4, qid=[0, 1, 0, 1], preferences=Preferences([0], [-2]))


def test_there_must_be_preferences_to_write(small_data, tmp_path):
    with pytest.raises(InputError, match="no preferences"):
        write_pairs(small_data, tmp_path / "pairs")


def test_query_weights_go_to_their_queries(file):
    weight_of = read_query_weights(file("b 2\na\t0.5\nc 7\n"))
    data = RankingDataset.from_arrays([[1.0]] * 3, qid=["a", "b", "a"])
    weighted = with_query_weights(data, weight_of)
    np.testing.assert_array_equal(weighted.query_weights, [0.5, 2])
    with pytest.raises(InputError, match="query b has no weight; wanted one for each of the 2 queries"):
        with_query_weights(data, {"a": 1.0})
    with pytest.raises(FileFormatError, match=":2: query b has a weight already"):
        read_query_weights(file("b 2\nb 3\n"))


def test_a_description_says_what_the_columns_are(file):
    description = read_column_description(file("0\tLabel\n1\tGroupId\n3\tAuxiliary\n4\tNum\tclick rate\n"))
    names = description.names(6)
    assert names == ["column 0", "column 1", "1", "column 3", "click rate", "3"]
    assert description.columns(names).query == "column 1"
    assert description.left_out(names) == ["column 3"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x Label\n", ":1: a column must be a number from 0, found 'x'"),
        ("0 Categ\n", ":1: columns of type 'Categ' cannot be read; wanted one of Label, .*Auxiliary leaves one out"),
        ("0 Label\n0 Num\n", ":2: column 0 or its type Num stood here before"),
        ("0 Label\n1 Target\n", ":2: column 1 or its type Target stood here before"),
    ],
)
def test_what_is_wrong_with_a_description_is_said_with_its_line(file, text, message):
    path = file(text)
    with pytest.raises(FileFormatError, match=f"{path}{message}"):
        read_column_description(path)


def test_a_description_of_more_columns_than_there_are_is_refused(file):
    description = file("0\tLabel\n1\tGroupId\n7\tAuxiliary\n", "cd")
    with pytest.raises(
        FileFormatError, match="data: the description speaks of column 7, but there are 3, counted from 0"
    ):
        read_delimited(file("1\t1\t2\n", "data"), description=description)
    with pytest.raises(SettingError, match="give no columns or names beside it"):
        read_delimited(file("1\t1\t2\n", "data"), description=description, names=["a"])


def test_catboosts_querywise_example(real_data):
    folder = "catboost-pairs"
    data = read_delimited(real_data(f"{folder}/train.gz"), description=real_data(f"{folder}/train.cd.gz"))
    assert (data.n_docs, data.n_queries, data.n_features) == (1500, 91, 50)
    assert data.feature_names == ()
    data = data.with_preferences(read_pairs(real_data(f"{folder}/train.pairs.weighted.gz")))
    pairs, labels = data.preferences, data.labels
    assert pairs is not None
    assert labels is not None
    assert len(pairs) == 975
    # The file says who wins: never the document with the lower target.
    assert (labels[pairs.better] >= labels[pairs.worse]).all()
    weighted = with_query_weights(data, read_query_weights(real_data(f"{folder}/train.group_weights.gz")))
    assert len(set(np.asarray(weighted.query_weights).tolist())) > 1
