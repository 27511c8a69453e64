"""Streamed chunks hold whole queries, and together they are what `read_svmlight` gives at once."""

from __future__ import annotations

import io
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankwright.arrays import join_ids
from rankwright.errors import FileFormatError, InputError, SettingError
from rankwright.formats.svmlight.reader import iter_svmlight, read_svmlight


def text_of(sizes, *, query="q{}", document=" #docid = d{}"):
    """Queries of the given sizes; row r has label r % 5 and feature 1 + r % 7."""
    queries = np.repeat(np.arange(len(sizes)), sizes)
    return "".join(
        f"{row % 5} {'qid:' + query.format(number) if query else ''} {1 + row % 7}:{row}{document.format(row)}\n"
        for row, number in enumerate(queries.tolist())
    )


def assert_same_data(chunks, whole):
    chunks = list(chunks)
    np.testing.assert_array_equal(np.concatenate([chunk.features for chunk in chunks]), whole.features)
    np.testing.assert_array_equal(np.concatenate([chunk.labels for chunk in chunks]), whole.labels)
    sizes = np.concatenate([chunk.groups.sizes for chunk in chunks])
    np.testing.assert_array_equal(sizes, whole.groups.sizes)
    for name in ("query_ids", "document_ids"):
        parts = [getattr(chunk, name) for chunk in chunks]
        if getattr(whole, name) is None:
            assert all(part is None for part in parts)
        else:
            assert {part.dtype for part in parts} == {getattr(whole, name).dtype}
            np.testing.assert_array_equal(join_ids(parts), getattr(whole, name))


STYLES = {
    "text ids": {},
    "numbers": {"query": "{}", "document": " #docid = {}"},
    "no documents": {"document": ""},
    "no ids": {"query": "", "document": ""},
}


@pytest.mark.parametrize("style", STYLES)
@settings(max_examples=20)
@given(sizes=st.lists(st.integers(1, 30), min_size=1, max_size=12), block_size=st.integers(1, 2000))
def test_chunks_are_the_whole(tmp_path_factory, style, sizes, block_size):
    path = tmp_path_factory.mktemp("data") / "data.txt"
    path.write_text(text_of(sizes, **STYLES[style]))
    group = sizes if style == "no ids" else None
    whole = read_svmlight(path, group=group)
    assert_same_data(iter_svmlight(path, group=group, block_size=block_size), whole)


def test_a_query_is_not_cut_where_its_id_is_text_in_one_block_and_a_number_in_the_next(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text("0 qid:a 1:1\n" + "0 qid:7 1:1\n" * 5 + "0 qid:b 1:1\n")
    for block_size in range(1, 90):
        chunks = list(iter_svmlight(path, block_size=block_size))
        assert np.concatenate([chunk.groups.sizes for chunk in chunks]).tolist() == [1, 5, 1]


def test_chunks_have_about_the_size_asked_for(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text(text_of([10] * 100))
    chunks = list(iter_svmlight(path, block_size=1000))
    assert len(chunks) > path.stat().st_size / 2000
    assert all(chunk.n_features == 7 for chunk in chunks)
    assert len(list(iter_svmlight(path, block_size=1 << 20))) == 1 + 1  # the last query waits for the end of the file


def test_several_files_stream_one_after_another(tmp_path):
    paths = [tmp_path / name for name in "ab"]
    paths[0].write_text(text_of([3, 4]))
    paths[1].write_text(text_of([5, 6], query="{}", document=""))
    assert_same_data(iter_svmlight(paths, block_size=40), read_svmlight(paths))


def test_files_with_sizes_beside_them_stream_too(tmp_path):
    paths = [tmp_path / name for name in "ab"]
    for path, sizes in zip(paths, ([3, 4], [5, 1]), strict=True):
        path.write_text(text_of(sizes, query=""))
        path.with_name(path.name + ".query").write_text("".join(f"{size}\n" for size in sizes))
    assert_same_data(iter_svmlight(paths, block_size=40), read_svmlight(paths))


def test_ids_are_text_where_the_files_are_read_once(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text(text_of([2, 2], query="{}", document=" #docid = {}"))
    (chunk, _) = iter_svmlight(path, n_features=9)
    assert chunk.n_features == 9
    assert chunk.qid.tolist() == ["0", "0"]
    assert chunk.document_ids is not None
    assert chunk.document_ids.tolist() == ["0", "1"]
    with pytest.raises(FileFormatError, match="feature index 4 lies beyond n_features=3"):
        list(iter_svmlight(path, n_features=3))


def test_standard_input_streams_where_the_width_is_known(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text_of([3, 4]).encode())))
    with pytest.raises(SettingError, match="n_features is given"):
        iter_svmlight("-")
    assert [chunk.n_docs for chunk in iter_svmlight("-", n_features=7)] == [3, 4]


@pytest.mark.parametrize("block_size", [1, 50, 10_000])
@pytest.mark.parametrize("settings", [{}, {"n_features": 1}], ids=["twice", "once"])
def test_a_query_that_comes_back_is_an_error(tmp_path, block_size, settings):
    path = tmp_path / "data.txt"
    path.write_text("# head\n0 qid:1 1:1\n0 qid:1 1:1\n0 qid:2 1:1\n\n0 qid:1 1:1\n")
    with pytest.raises(FileFormatError, match=r"data\.txt:6: query 1 comes back after it had ended"):
        list(iter_svmlight(path, block_size=block_size, **settings))
    other = tmp_path / "other.txt"
    other.write_text("0 qid:9 1:1\n")
    path.write_text("0 qid:9 1:1\n")
    with pytest.raises(FileFormatError, match=r"data\.txt:1: query 9 comes back"):
        list(iter_svmlight([other, path], block_size=block_size, **settings))


def test_sizes_that_do_not_fit_are_errors(tmp_path):
    path = tmp_path / "data.txt"
    path.write_text(text_of([3, 4], query=""))
    with pytest.raises(InputError, match="add up to 6 documents, but the data has at least 7"):
        list(iter_svmlight(path, group=[6]))
    with pytest.raises(InputError, match="add up to 8 documents, but the data has 7"):
        list(iter_svmlight(path, group=[8]))
    path.write_text(text_of([3, 4]))
    with pytest.raises(InputError, match="group must not be given"):
        list(iter_svmlight(path, group=[7]))


def test_wrong_settings_are_told_before_the_first_chunk(tmp_path):
    with pytest.raises(SettingError, match="absent"):
        iter_svmlight(tmp_path / "missing", n_features=3, absent="no")  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        iter_svmlight(tmp_path / "missing")
