from __future__ import annotations

import csv
import io
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.data.columns import Columns
from rankwright.data.dataset import RankingDataset
from rankwright.errors import FileFormatError, InputError, SettingError
from rankwright.formats.delimited.csv_files import DELIMITERS, write_delimited
from rankwright.formats.reading import iterate, read

read_delimited, iter_delimited = partial(read, format="csv"), partial(iterate, format="csv")


@pytest.fixture
def table(tmp_path):
    """A function that writes text or bytes into a file and gives its path."""

    def write(content, name="data.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize("delimiter", DELIMITERS)
def test_every_delimiter_gives_the_same_dataset_back(full_data, tmp_path, delimiter):
    write_delimited(full_data, tmp_path / "data.csv", delimiter=delimiter)
    assert read_delimited(tmp_path / "data.csv").equals(full_data)
    assert read_delimited(tmp_path / "data.csv", delimiter=delimiter).equals(full_data)


@pytest.mark.parametrize("name", ["data.csv", "data.csv.gz", "data.tsv.zst"])
def test_compressed_files_hold_the_same(full_data, tmp_path, name):
    write_delimited(full_data, tmp_path / name)
    assert read_delimited(tmp_path / name).equals(full_data)


def test_another_reader_sees_the_same_table(full_data, tmp_path):
    write_delimited(full_data, tmp_path / "data.csv")
    frame = pd.read_csv(tmp_path / "data.csv")
    assert list(frame.columns) == [
        "qid", "document_id", "position", "label", "query_weight", "document_weight", "bm25", "clicks, all",
    ]  # fmt: skip
    assert list(frame["document_id"]) == ["d1", "d2", 'd"3', "d 4", "d,5"]
    np.testing.assert_array_equal(frame["clicks, all"], [np.nan, 2, 3, 0.25, 6])


@given(
    st.lists(
        st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1), min_size=2, max_size=2),
        min_size=1,
    ),
    st.sampled_from(DELIMITERS),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_cells_quoted_by_python_are_read_as_they_were(tmp_path_factory, cells, delimiter, quoting):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=quoting, lineterminator="\r\n")
    writer.writerow(["document_id", "x", "qid"])
    # Blanks around a cell that is not quoted do not count, and an empty id is none.
    cells = [[cell.strip() or "-" for cell in row] for row in cells]
    writer.writerows([row[0], number, row[1]] for number, row in enumerate(cells))
    path = tmp_path_factory.mktemp("csv") / "data.csv"
    path.write_bytes(text.getvalue().encode())
    data = read_delimited(path, delimiter=delimiter)
    assert [str(name) for name in data.in_source_order(np.asarray(data.document_ids))] == [row[0] for row in cells]
    assert [str(name) for name in data.in_source_order(data.qid)] == [row[1] for row in cells]
    assert data.in_source_order(data.features)[:, 0].tolist() == list(range(len(cells)))


def test_numbers_are_read_in_every_spelling(table):
    path = table('qid,a,b,c,d\n1, 1 ,+2.5,"3",1e-3\n1,-.5,5.,NA,nan\n1,,NULL,true,FALSE\n1,null,Na,1E+2,0x\n')
    with pytest.raises(FileFormatError, match=r"data\.csv:5: column 'd': wanted a number, found '0x'"):
        read_delimited(path)
    data = read_delimited(path, drop=["d"])
    nan = np.nan
    np.testing.assert_array_equal(data.features, [[1, 2.5, 3], [-0.5, 5, nan], [nan, nan, 1], [nan, nan, 100]])


def test_the_delimiter_is_found_in_the_first_line(table):
    for text in ("qid;a\n1;2\n", "qid\ta\n1\t2\n", "qid,a\n1,2\n", '"qid,;"\ta\n1\t2\n'):
        data = read_delimited(table(text), columns=Columns(query="qid,;") if "qid,;" in text else None)
        assert data.features.tolist() == [[2.0]]


def test_an_even_choice_of_delimiters_is_left_to_the_caller(table):
    path = table("qid;a,b;c\n1;2,3;4\n")
    assert read_delimited(path, columns=Columns(query="qid"), drop=["a,b"]).feature_names == ("c",)
    path = table("qid,a;b\n1,2;3\n")
    with pytest.raises(FileFormatError, match=r"data\.csv:1: .* say which with delimiter="):
        read_delimited(path)
    assert read_delimited(path, delimiter=",", drop=["a;b"]).n_features == 0
    with pytest.raises(SettingError, match=r"delimiter must be a comma, a tab or a semicolon, got '\|'"):
        read_delimited(path, delimiter="|")


def test_line_ends_blank_lines_and_a_byte_order_mark_do_not_matter(table):
    wanted = read_delimited(table("qid,a\n1,2\n3,4\n"))
    for text in (
        "qid,a\r\n1,2\r\n3,4\r\n",
        "\n\nqid,a\n\n1,2\n\n\n3,4",
        "\ufeffqid,a\n1,2\n3,4\n\n",
        "qid,a\n1,2\n\r\n3,4\r",
    ):
        assert read_delimited(table(text)).equals(wanted)


def test_queries_stand_in_the_order_of_their_first_row_and_results_go_back(table):
    data = read_delimited(table("qid,a\nb,1\na,2\nb,3\n"))
    assert data.qid.tolist() == ["b", "b", "a"]
    assert data.in_source_order(data.features)[:, 0].tolist() == [1, 2, 3]


def test_ids_are_numbers_only_where_all_of_them_are(table):
    assert read_delimited(table("qid,a\n7,1\n-8,1\n")).qid.dtype == np.int64
    assert read_delimited(table("qid,a\n7,1\n08,1\n")).qid.tolist() == ["7", "08"]


def test_files_without_a_header_have_names_given(table):
    path = table("5,2,a\n5,1,b\n")
    data = read_delimited(path, names=["qid", "label", "document_id"])
    assert np.asarray(data.document_ids).tolist() == ["a", "b"]
    with pytest.raises(FileFormatError, match=r"data\.csv:1: found 3 cells, wanted 2, one a column"):
        read_delimited(path, names=["qid", "label"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "data.csv: is empty; wanted a line that names the columns"),
        ("\n\n", "data.csv: is empty; wanted a line that names the columns"),
        ("qid,a\n", "data.csv: holds no documents"),
        ("a,b\n1,2\n", "data.csv: there is no query column: found 'a', 'b'; wanted qid or query_id"),
        ("qid,a,a\n1,2,3\n", "data.csv: columns must have different names, but there are several called 'a'"),
        ("qid,,a\n1,2,3\n", "data.csv: every column must have a name, but column 2 has none"),
        ("qid,a\n1,2\n1\n", "data.csv:3: found 1 cell, wanted 2, one a column"),
        ("qid,a\n\n1,2,3\n", "data.csv:3: found 3 cells, wanted 2, one a column"),
        ("qid,a\n1,x\n", "data.csv:2: column 'a': wanted a number, found 'x'; leave out what is no feature with drop"),
        ("qid,t,a,u\n1,x,2,y\n", r"found 'x'; leave out what is no feature with drop=\['t', 'u'\]"),
        ("qid,label\n1,high\n", "data.csv:2: column 'label': wanted a number, found 'high'$"),
        ("qid,label\n1,0\n1,-1\n", "data.csv:3: column 'label': must be finite and 0 or more, got -1.0"),
        ("qid,label\n1,inf\n", "data.csv:2: column 'label': must be finite"),
        ("qid,query_weight\n1,\n", "data.csv:2: column 'query_weight': must be finite and 0 or more, got nan"),
        ("qid,query_weight\n1,1\n1,2\n", "data.csv: a query must have one weight, but the rows of query 1"),
        ("qid,a\n1,1\n1,1e39\n", "data.csv:3: column 'a': a feature must lie within float32's range"),
        ("qid,a\n1,1\n,2\n", "data.csv:3: column 'qid': a query id must not be empty"),
        ("qid,position\n1,0\n1,1.5\n", "data.csv:3: column 'position': wanted a whole number, found '1.5'"),
        ("qid,position\n1,\n", "data.csv:2: column 'position': wanted a whole number, found ''"),
        ('qid,a\n1,2\n"1,2\n3,4\n', "data.csv:3: a quoted cell is not closed"),
        ('qid,a\n"1"2,2\n', "data.csv:2: cell 1: there is text after a closing quote"),
        ('qid,a\n1,2,"3"4\n', "data.csv:2: cell 3: there is text after a closing quote"),
        ('"qid"x,a\n1,2\n', "data.csv:1: there is text after a closing quote"),
        ('qid,a\n"1\n1",2\n1,x\n', "data.csv:4: column 'a'"),
        (b"qid,a\n1\0,2\n", "data.csv: is a binary file; wanted text"),
        (b"qid,a\n\xff,2\n", "data.csv:2: column 'qid': is not UTF-8 text"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_said_with_its_place(table, text, message):
    path = table(text)
    with pytest.raises(FileFormatError, match=message.replace("data.csv", str(path))):
        read_delimited(path)


def test_columns_of_all_files_must_agree(table):
    first, second = table("qid,a\n1,2\n", "1.csv"), table("qid,b\n1,2\n", "2.csv")
    with pytest.raises(FileFormatError, match=r"2\.csv: its columns differ from those of .*1\.csv"):
        read_delimited([first, second])
    with pytest.raises(InputError, match="there is no file to read"):
        read_delimited([])


def test_several_files_are_one_table(table):
    first, second = table("qid,a\n1,2\n2,3\n1,4\n", "1.csv"), table("qid,a\n3,4\n", "2.csv")
    data = read_delimited([first, second])
    assert data.qid.tolist() == [1, 1, 2, 3]
    assert data.features[:, 0].tolist() == [2, 4, 3, 4]


def test_a_query_in_two_files_is_refused(table):
    first, second = table("qid,a\n1,2\n2,3\n", "1.csv"), table("qid,a\n3,4\n2,5\n", "2.csv")
    for reading in (read_delimited, lambda paths: list(iter_delimited(paths))):
        with pytest.raises(FileFormatError, match=r"2\.csv: query 2 comes back at row 1 after it had ended"):
            reading([first, second])


def test_a_truncated_gz_and_a_directory_are_errors(full_data, tmp_path):
    write_delimited(full_data, tmp_path / "data.csv.gz")
    whole = (tmp_path / "data.csv.gz").read_bytes()
    (tmp_path / "cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileFormatError, match=r"cut\.csv\.gz: .*truncated"):
        read_delimited(tmp_path / "cut.csv.gz")
    with pytest.raises(IsADirectoryError):
        read_delimited(tmp_path)


def random_data(n_queries: int, rng: np.random.Generator) -> RankingDataset:
    sizes = rng.integers(1, 9, size=n_queries)
    n_docs = int(sizes.sum())
    return RankingDataset.from_arrays(
        rng.normal(size=(n_docs, 3)).round(3),
        rng.integers(0, 5, n_docs),
        qid=np.repeat(rng.permutation(n_queries), sizes),
    )


@pytest.mark.parametrize("lines_in_block", [1, 2, 5, 1000])
def test_pieces_are_whole_queries_that_make_up_the_file(tmp_path, monkeypatch, lines_in_block):
    data = random_data(30, np.random.default_rng(0))
    write_delimited(data, tmp_path / "data.csv")

    def blocks(path):
        lines = Path(path).read_bytes().splitlines(keepends=True)
        for start in range(0, len(lines), lines_in_block):
            yield np.frombuffer(b"".join(lines[start : start + lines_in_block]), np.uint8)

    monkeypatch.setattr("rankwright.formats.delimited.csv_files.open_line_blocks", blocks)
    pieces = list(iter_delimited(tmp_path / "data.csv"))
    assert len(pieces) > 1 or lines_in_block == 1000
    ids = np.concatenate([piece.query_ids for piece in pieces if piece.query_ids is not None])
    assert ids.tolist() == np.asarray(data.query_ids).tolist()
    np.testing.assert_array_equal(np.concatenate([piece.features for piece in pieces]), data.features)
    np.testing.assert_array_equal(np.concatenate([piece.groups.sizes for piece in pieces]), data.groups.sizes)


def test_pieces_have_the_ids_that_the_whole_has(table, monkeypatch):
    def a_line_at_a_time(path):
        return (np.frombuffer(line, np.uint8) for line in Path(path).read_bytes().splitlines(keepends=True))

    monkeypatch.setattr("rankwright.formats.delimited.csv_files.open_line_blocks", a_line_at_a_time)
    for text in ("qid,document_id,a\n1,5,2\n2,06,3\n", "qid,document_id,a\n1,5,2\nx,6,3\n", "qid,a\n1,2\n2,3\n"):
        path = table(text)
        whole, pieces = read_delimited(path), list(iter_delimited(path))
        assert len(pieces) == 2
        for piece in pieces:
            assert piece.qid.dtype == whole.qid.dtype
            assert np.asarray(piece.document_ids).dtype == np.asarray(whole.document_ids).dtype


def test_pieces_have_the_features_that_were_chosen_whatever_their_names(table):
    path = table("qid,position,x\n1,0.5,7\n2,1.5,8\n")
    pieces = list(iter_delimited(path, features=["position"]))
    assert np.concatenate([piece.features for piece in pieces]).tolist() == [[0.5], [1.5]]
    assert all(piece.positions is None for piece in pieces)


def test_a_query_that_comes_back_cannot_be_read_in_pieces(table):
    path = table("qid,a\n1,2\n2,3\n1,4\n")
    with pytest.raises(
        FileFormatError, match=r"data\.csv: query 1 comes back at row 2 after it had ended; wanted its rows together"
    ):
        list(iter_delimited(path))


def test_pieces_written_one_after_another_make_the_whole_file(full_data, tmp_path):
    write_delimited(full_data.take_queries([0, 1, 2]), tmp_path / "whole.csv")
    write_delimited((full_data.take_queries([query]) for query in range(3)), tmp_path / "pieces.csv")
    assert (tmp_path / "pieces.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


def test_queries_without_ids_are_numbered_through_all_pieces(tmp_path):
    data = RankingDataset.from_arrays([[1.0], [2.0], [3.0]], group=[2, 1])
    write_delimited([data, data], tmp_path / "data.csv")
    assert read_delimited(tmp_path / "data.csv").qid.tolist() == [0, 0, 1, 2, 2, 3]


def test_a_document_may_lack_an_id_but_a_query_may_not(tmp_path):
    data = RankingDataset.from_arrays([[1.0], [2.0]], qid=["a", "a"], document_ids=["", "d"])
    write_delimited(data, tmp_path / "data.csv")
    assert read_delimited(tmp_path / "data.csv").equals(data)
    with pytest.raises(InputError, match="a query id is empty"):
        write_delimited(RankingDataset.from_arrays([[1.0]], qid=[""]), tmp_path / "other.csv")
    assert not (tmp_path / "other.csv").exists()


def test_pieces_with_other_columns_cannot_be_written(full_data, small_data, tmp_path):
    with pytest.raises(InputError, match="must have the same columns"):
        write_delimited([full_data, small_data], tmp_path / "data.csv")
    assert list(tmp_path.iterdir()) == []


def test_ids_that_spreadsheets_take_for_formulas_stay_as_they_are(tmp_path):
    ids = ["=1+1", "+7", "-x", "@sum", "'quoted"]
    data = RankingDataset.from_arrays(np.zeros((5, 1)), qid=ids, document_ids=ids[::-1])
    write_delimited(data, tmp_path / "data.csv")
    found = read(tmp_path / "data.csv")
    assert found.in_source_order(found.qid).tolist() == ids
