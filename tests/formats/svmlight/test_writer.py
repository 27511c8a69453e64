"""What is written reads back to the same bits."""

from __future__ import annotations

import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, SettingError
from rankwright.formats.svmlight.reader import Absent, iter_svmlight, read_svmlight
from rankwright.formats.svmlight.writer import write_svmlight

id_letters = st.characters(blacklist_characters=" \t\n\v\f\r\0#", blacklist_categories=["Cs"])
id_texts = st.text(id_letters, min_size=1, max_size=20)


@st.composite
def datasets(draw):
    """Datasets with rows in any order, missing values, infinities, unjudged documents, ids of both kinds."""
    n_docs, n_features = draw(st.integers(1, 30)), draw(st.integers(0, 5))
    features = draw(arrays.arrays(np.float32, (n_docs, n_features), elements=st.floats(width=32)))
    labels = draw(
        arrays.arrays(
            np.float32, n_docs, elements=st.one_of(st.floats(0, 2**100, width=32), st.sampled_from([0, 1, np.nan]))
        )
    )
    n_queries = draw(st.integers(1, 8))
    numbers = st.integers(-(10**18) + 1, 10**18 - 1)
    ids = draw(
        st.one_of(
            st.lists(numbers, min_size=n_queries, max_size=n_queries, unique=True),
            st.lists(id_texts, min_size=n_queries, max_size=n_queries, unique=True).map(
                lambda ids: ["x" + ids[0], *ids[1:]]
            ),
        ).filter(lambda ids: len(set(ids)) == len(ids))
    )
    qid = [ids[i] for i in draw(st.lists(st.integers(0, n_queries - 1), min_size=n_docs, max_size=n_docs))]
    documents = draw(
        st.one_of(
            st.none(),
            st.lists(numbers, min_size=n_docs, max_size=n_docs),
            st.lists(st.one_of(id_texts, st.just("")), min_size=n_docs, max_size=n_docs).map(lambda d: ["#1", *d[1:]]),
        )
    )
    if isinstance(qid[0], str) and not any(text.startswith("x") for text in qid):
        qid[0] = "x"
    return RankingDataset.from_arrays(features, labels, qid=qid, document_ids=documents)


@given(datasets(), st.sampled_from([None, "zero", "missing"]), st.sampled_from([0, 1]), st.sampled_from(["", ".gz"]))
def test_write_then_read_is_the_same_dataset(tmp_path_factory, data, absent, index_base, suffix):
    path = tmp_path_factory.mktemp("data") / f"data.txt{suffix}"
    write_svmlight(data, path, absent=absent, index_base=index_base)
    readers: tuple[Absent, ...] = ("zero", "missing") if absent is None else (absent,)
    for reader_absent in readers:
        back = read_svmlight(path, absent=reader_absent, index_base=index_base, allow_infinity=True)
        assert back.equals(data)
        numbers = ~np.isnan(data.features)
        np.testing.assert_array_equal(back.features.view(np.uint32)[numbers], data.features.view(np.uint32)[numbers])


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_do_not_matter(tmp_path, small_data, threads):
    write_svmlight(small_data, tmp_path / "a")
    write_svmlight(small_data, tmp_path / "b", threads=threads)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_the_text_is_what_letor_files_look_like(tmp_path):
    data = RankingDataset.from_arrays([[0.5, 0], [np.nan, -2]], [2, np.nan], qid=["q", "q"], document_ids=["GX1", ""])
    path = tmp_path / "data.txt"
    texts: dict[Absent | None, str] = {
        None: "2 qid:q 1:0.5 2:0 #docid = GX1\nnan qid:q 1:nan 2:-2\n",
        "zero": "2 qid:q 1:0.5 2:0 #docid = GX1\nnan qid:q 1:nan 2:-2\n",  # the first row shows the width
        "missing": "2 qid:q 1:0.5 2:0 #docid = GX1\nnan qid:q 2:-2\n",
    }
    for absent, expected in texts.items():
        write_svmlight(data, path, absent=absent)
        assert path.read_text() == expected


def test_absent_zeros_leave_the_width_known(tmp_path):
    data = RankingDataset.from_arrays(np.zeros((3, 4)), [0, 1, 2], qid=[1, 1, 2])
    write_svmlight(data, tmp_path / "data", absent="zero")
    assert (tmp_path / "data").read_text() == "0 qid:1 4:0\n1 qid:1\n2 qid:2\n"
    assert read_svmlight(tmp_path / "data").equals(data)


def test_rows_are_written_in_the_order_they_came(tmp_path):
    text = "0 qid:b 1:1\n1 qid:a 1:2\n2 qid:b 1:3\n"
    path = tmp_path / "data"
    path.write_text(text)
    data = read_svmlight(path)
    write_svmlight(data, path)
    assert path.read_text() == text


def test_many_batches_are_one_file(tmp_path, small_data, monkeypatch):
    write_svmlight(small_data, tmp_path / "a")
    monkeypatch.setattr("rankwright.formats.svmlight.writer.BATCH_SIZE", 500)
    write_svmlight(small_data, tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("absent", [None, "zero"])
def test_chunks_write_what_the_whole_writes(tmp_path, small_data, absent):
    whole, copy = tmp_path / "whole", tmp_path / "copy"
    write_svmlight(small_data, whole, absent=absent)
    write_svmlight(iter_svmlight(whole, block_size=300), copy, absent=absent)
    assert whole.read_bytes() == copy.read_bytes()


def test_queries_without_ids_get_their_numbers(tmp_path):
    path = tmp_path / "data"
    data = RankingDataset.from_arrays([[1], [2], [3]], [0, 1, 2], group=[2, 1])
    write_svmlight(data, path)
    assert path.read_text() == "0 qid:0 1:1\n1 qid:0 1:2\n2 qid:1 1:3\n"
    write_svmlight([data, data], path)
    assert read_svmlight(path).qid.tolist() == [0, 0, 1, 2, 2, 3]


def test_documents_without_labels_are_unjudged(tmp_path):
    data = RankingDataset.from_arrays([[1], [2]], qid=[1, 1], preferences=Preferences([0], [1]))
    write_svmlight(data, tmp_path / "data")
    assert (tmp_path / "data").read_text() == "nan qid:1 1:1\nnan qid:1 1:2\n"


def test_what_the_format_cannot_hold_is_told(tmp_path, caplog, small_data):
    path = tmp_path / "data"
    with caplog.at_level(logging.WARNING):
        write_svmlight(small_data, path)
    assert caplog.messages == []
    data = RankingDataset.from_arrays([[1]], [1], qid=[1], feature_names=["bm25"], query_weights=[2], positions=[0])
    write_svmlight(data, path)
    message = "SVMlight text has no place for feature names, positions, query weights; left out"
    assert caplog.messages == [f"{path}: {message}"]


@pytest.mark.parametrize("bad", ["a b", "a\tb", "a\nb", "a#b", "a\0b", "\ud800"])
def test_query_ids_that_would_not_read_back_are_refused(tmp_path, bad):
    data = RankingDataset.from_arrays([[1], [2]], [1, 0], qid=["fine", "x"])
    object.__setattr__(data, "query_ids", np.array(["fine", bad], dtype=object))
    with pytest.raises(InputError, match="query id"):
        write_svmlight(data, tmp_path / "data")
    assert list(tmp_path.iterdir()) == []


def test_ids_that_are_empty_or_twice_are_refused(tmp_path):
    data = RankingDataset.from_arrays([[1], [2]], [1, 0], qid=["", "x"])
    with pytest.raises(InputError, match="a query id is empty"):
        write_svmlight(data, tmp_path / "data")
    object.__setattr__(data, "query_ids", np.array([1, 1]))
    with pytest.raises(InputError, match="two queries have the same id"):
        write_svmlight(data, tmp_path / "data")
    data = RankingDataset.from_arrays([[1]], [1], qid=[1], document_ids=["a b"])
    with pytest.raises(InputError, match="document id 'a b' has a character"):
        write_svmlight(data, tmp_path / "data")


def test_wrong_settings_write_nothing(tmp_path, small_data):
    for settings in ({"absent": "no"}, {"index_base": 3}, {"threads": 0}):
        with pytest.raises(SettingError, match=next(iter(settings))):
            write_svmlight(small_data, tmp_path / "data", **settings)
    assert list(tmp_path.iterdir()) == []


def test_standard_output(capsysbinary):
    write_svmlight(RankingDataset.from_arrays([[1]], [1], qid=[1]), "-")
    assert capsysbinary.readouterr().out == b"1 qid:1 1:1\n"
