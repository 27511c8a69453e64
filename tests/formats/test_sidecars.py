"""Files that stand beside a file of documents: pairs, weights of queries, scores."""

from __future__ import annotations

import gzip
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.errors import FileFormatError, InputError, SettingError
from rankwright.formats.delimited.csv_files import read_column_description
from rankwright.formats.reading import read
from rankwright.formats.sidecars import (
    read_pairs,
    read_query_columns,
    read_query_weights,
    read_scores,
    with_query_weights,
    write_pairs,
)

read_delimited = partial(read, format="csv")


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
        ("1\n", ":1: found 1 field, wanted better row, worse row"),
        ("1 2\n1 x\n", ":2: found '1 x', wanted two row numbers from 0"),
        ("1 18446744073709551616\n", ":1: found '1 18446744073709551616', wanted two row numbers from 0"),
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
        ("9" * 5000 + " Label\n", f":1: a column must be a number from 0, found '{'9' * 40}'"),
        ("x Label\n", ":1: a column must be a number from 0, found 'x'"),
        ("0 Categ\n", ":1: columns of type 'Categ' cannot be read; wanted one of Label, .*Auxiliary leaves one out"),
        ("0 Label\n0 Num\n", ":2: column 0 or its type Num is described twice"),
        ("0 Label\n1 Target\n", ":2: column 1 or its type Target is described twice"),
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


@pytest.fixture
def scores_file(tmp_path):
    def write(content: bytes):
        path = tmp_path / "scores.txt"
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize(
    "content", [b"1\n-2.5\n3e2\ninf\n", b"1\r\n-2.5\r\n3e2\r\ninf", b" 1 \n-2.5\t\n+3e2\nInfinity\n"]
)
def test_scores_are_numbers_one_a_line(scores_file, content):
    assert read_scores(scores_file(content)).tolist() == [1.0, -2.5, 300.0, np.inf]


def test_every_bit_of_a_printed_score_comes_back(scores_file):
    scores = np.random.default_rng(0).normal(size=1000)
    content = "".join(f"{score!r}\n" for score in scores.tolist()).encode()
    assert read_scores(scores_file(content)).tolist() == scores.tolist()


def test_scores_may_be_compressed(tmp_path):
    path = tmp_path / "scores.txt.gz"
    path.write_bytes(gzip.compress(b"1\n2\n"))
    assert read_scores(path).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (b"1\n\n2\n", 2, "a score must be a number, found ''"),
        (b"1\n2\n\n", 3, "a score must be a number, found ''"),
        (b"# scores\n1\n", 1, "found '# scores'"),
        (b"1\n2 3\n", 2, "found '2 3'"),
        (b"1\n2\nnan\n", 3, "found 'nan'"),
        (b"1\n\xff\xfe\n", 2, "is not UTF-8 text"),
    ],
)
def test_anything_but_a_score_is_an_error_that_says_where(scores_file, content, line, problem):
    path = scores_file(content)
    with pytest.raises(FileFormatError) as raised:
        read_scores(path)
    assert str(raised.value).startswith(f"{path}:{line}: ")
    assert problem in str(raised.value)


@pytest.mark.parametrize(("content", "found"), [(b"", 0), (b"1\n2\n", 2)])
def test_a_wrong_count_of_scores_says_both_counts(scores_file, content, found):
    with pytest.raises(FileFormatError, match=f"has {found} scores, but the data has 3 documents"):
        read_scores(scores_file(content), n_docs=3)


def test_a_long_cell_of_a_query_is_told_in_a_sentence(file):
    path = file("query,text\n1,short\n2," + "a" * 140_000 + "\n")
    with pytest.raises(FileFormatError, match=r"file:3: a cell has more than 131,072 characters"):
        read_query_columns(path)
