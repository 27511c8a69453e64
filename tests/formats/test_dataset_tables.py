from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import rankwright as rw
from rankwright.data.columns import Columns
from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError
from rankwright.formats.dataset_tables import from_frame, to_arrow, to_pandas, to_polars, to_sparse

MAKERS = {
    "pandas": pd.DataFrame,
    "polars": lambda columns: pl.DataFrame(columns, strict=False),
    "arrow": pa.table,
    "arrow batch": lambda columns: pa.RecordBatch.from_arrays(list(map(pa.array, columns.values())), list(columns)),
    "mapping": dict,
}
WAYS_OUT = {"pandas": to_pandas, "polars": to_polars, "arrow": to_arrow}
ALL_NAMED = Columns("q q", "l", "d", "qw", "dw", "p")


@pytest.mark.parametrize("library", WAYS_OUT)
@given(draw=st.data())
def test_out_and_back_gives_the_same_dataset(library, datasets, draw):
    data = draw.draw(datasets)
    for columns in (None, ALL_NAMED):
        given_back = Columns(
            query="q q",
            label=None if data.labels is None else "l",
            document=None if data.document_ids is None else "d",
            query_weight=None if data.query_weights is None else "qw",
            document_weight=None if data.document_weights is None else "dw",
            position=None if data.positions is None else "p",
        )
        frame = WAYS_OUT[library](data, columns)
        assert from_frame(frame, None if columns is None else given_back).equals(data)


@given(draw=st.data())
def test_sparse_out_and_back_gives_the_same_features(datasets, draw):
    data = draw.draw(datasets)
    back = RankingDataset.from_arrays(to_sparse(data), qid=data.in_source_order(data.qid))
    np.testing.assert_array_equal(back.features, data.features)


@pytest.mark.parametrize("library", WAYS_OUT)
def test_rows_leave_in_the_order_they_came(library, full_data):
    frame = WAYS_OUT[library](full_data)
    assert list(frame["document_id"].to_pylist() if library == "arrow" else frame["document_id"]) == [
        "d1", "d2", 'd"3', "d 4", "d,5",
    ]  # fmt: skip


@pytest.mark.parametrize("library", MAKERS)
def test_columns_of_every_numeric_type_are_features(library):
    columns = {
        "qid": [1, 1, 2],
        "label": [1, None, 0],
        "whole": np.array([1, 2, 3], np.int8),
        "real": [0.5, None, 2.5],
        "truth": [True, False, True],
        "maybe": [True, None, False],
        "count": [7, None, 9],
        "nothing": [None, None, None],
    }
    data = from_frame(MAKERS[library](columns))
    nan = np.nan
    assert data.feature_names == ("whole", "real", "truth", "maybe", "count", "nothing")
    np.testing.assert_array_equal(
        data.features, [[1, 0.5, 1, 1, 7, nan], [2, nan, 0, nan, nan, nan], [3, 2.5, 1, 0, 9, nan]]
    )
    np.testing.assert_array_equal(data.labels, [1, nan, 0])


@pytest.mark.parametrize("library", MAKERS)
def test_texts_are_categories(library):
    frame = MAKERS[library]({"qid": [1, 2], "url": ["b", "a"], "x": [1.0, 2.0], "title": ["c", None]})
    data = from_frame(frame)
    assert data.categories == {"url": ("a", "b"), "title": ("c",)}
    np.testing.assert_array_equal(data.features, [[1, 1, 0], [0, 2, np.nan]])
    assert from_frame(frame, drop=["url", "title"]).feature_names == ("x",)
    assert from_frame(frame, features=["x"]).feature_names == ("x",)


@pytest.mark.parametrize("library", MAKERS)
def test_a_missing_id_is_refused(library):
    with pytest.raises(InputError, match=r"column 'qid' must be whole numbers or strings, got (None|nan) in row 1"):
        from_frame(MAKERS[library]({"qid": ["a", None], "x": [1.0, 2.0]}))
    with pytest.raises(InputError, match=r"column 'qid' must be whole numbers or strings, got .* in row 1"):
        from_frame(MAKERS[library]({"qid": [5, None], "x": [1.0, 2.0]}))


@pytest.mark.parametrize("library", MAKERS)
def test_an_infinite_or_too_large_feature_is_refused_unless_asked_for(library):
    frame = MAKERS[library]({"qid": [1, 1], "a": [0.0, 1.0], "b": [0.0, 1e300]})
    with pytest.raises(InputError, match="column 'b', row 1: a feature must lie within float32's range"):
        from_frame(frame)
    assert np.isinf(from_frame(frame, allow_infinity=True).features[1, 1])


@pytest.mark.parametrize("library", MAKERS)
def test_positions_must_be_whole(library):
    with pytest.raises(InputError, match="column 'position' must be whole numbers, got nan in row 1"):
        from_frame(MAKERS[library]({"qid": [1, 1], "position": [0, None]}))
    with pytest.raises(InputError, match=r"column 'position' must be whole numbers, got 0\.5 in row 0"):
        from_frame(MAKERS[library]({"qid": [1, 1], "position": [0.5, 1]}))


def test_a_query_has_one_weight():
    with pytest.raises(InputError, match="one weight, but the rows of query b have several"):
        from_frame({"qid": ["a", "b", "b"], "query_weight": [1, 2, 3]})


@pytest.mark.parametrize("column", ["label", "query_weight", "document_weight"])
def test_labels_and_weights_are_not_negative_and_the_error_counts_rows_as_the_caller_does(column):
    frame = {"qid": ["b", "a", "b", "a"], column: [1, 1, -1, 1]}
    with pytest.raises(InputError, match=rf"column '{column}', row 2: must be finite and 0 or more, got -1\.0"):
        from_frame(frame)
    if column != "label":
        with pytest.raises(InputError, match=f"column '{column}', row 1: must be finite"):
            from_frame(frame | {column: [1, np.nan, 1, 1]})


def test_ids_come_in_every_form():
    for ids in (["a", "b"], pd.Series(["a", "b"], dtype="category"), pl.Series(["a", "b"], dtype=pl.Categorical)):
        assert from_frame({"qid": ids, "x": [1, 2]}).qid.tolist() == ["a", "b"]
    dictionary = pa.table({"qid": pa.array(["a", "b"]).dictionary_encode(), "x": [1, 2]})
    assert from_frame(dictionary).qid.tolist() == ["a", "b"]
    nullable = pd.DataFrame({"qid": pd.array([3, 4], dtype="Int64"), "x": [1, 2]})
    assert from_frame(nullable).qid.dtype == np.int64


def test_ids_too_long_for_an_integer_are_refused_not_wrapped():
    with pytest.raises(InputError, match="give longer ones as strings"):
        from_frame({"qid": np.array([2**64 - 1], np.uint64), "x": [1]})
    with pytest.raises(InputError, match="give longer ones as strings"):
        from_frame({"qid": np.array([2**80], object), "x": [1]})


def test_columns_of_the_same_name_are_refused_at_every_door():
    frame = pd.DataFrame([[1, 2, 3]], columns=["qid", "a", "a"])
    with pytest.raises(InputError, match="several called 'a'"):
        from_frame(frame)
    with pytest.raises(InputError, match="several called 'a'"):
        RankingDataset.from_arrays(frame, qid=[1])


def test_lazy_frames_are_collected():
    assert from_frame(pl.LazyFrame({"qid": [1, 1], "x": [1, 2]})).features.tolist() == [[1], [2]]


def test_columns_of_unequal_length_are_refused():
    with pytest.raises(InputError, match="lengths from 1 to 2"):
        from_frame({"qid": [1, 2], "x": [1.0]})


def test_what_is_no_table_is_refused():
    for frame in (np.zeros((2, 2)), [1, 2], pd.Series([1]), pa.array([1])):
        with pytest.raises(InputError, match="a table must be a pandas or polars frame"):
            from_frame(frame)


def test_anything_that_speaks_arrow_is_a_table():
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table({"qid": [1, 1], "x": [1, 2]}).__arrow_c_stream__(requested_schema)

    assert from_frame(Stream()).n_docs == 2


def test_the_log_says_what_a_table_has_no_place_for(caplog):
    data = RankingDataset.from_arrays([[1.0], [2.0]], group=[2, 0], preferences=Preferences([0], [1]))
    assert len(to_pandas(data)) == 2
    assert "no place for preferences (write_pairs keeps them), queries without documents; left out" in caplog.text


@pytest.mark.parametrize("library", ["pandas", "polars", "arrow"])
def test_the_array_door_takes_frames_and_series(library):
    make = MAKERS[library]
    frame = make({"a": [1.0, None, 3.0], "b": [True, False, True]})
    other = make({"y": [1, None, 0], "q": ["u", "v", "u"], "w": [1, 2, 3]})
    data = RankingDataset.from_arrays(frame, other["y"], qid=other["q"], document_weights=other["w"])
    assert data.feature_names == ("a", "b")
    np.testing.assert_array_equal(data.features, [[1, 1], [3, 1], [np.nan, 0]])
    np.testing.assert_array_equal(data.labels, [1, 0, np.nan])
    assert data.qid.tolist() == ["u", "u", "v"]
    np.testing.assert_array_equal(data.document_weights, [1, 3, 2])


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil"])
def test_what_a_sparse_matrix_does_not_hold_is_zero_or_missing(form):
    matrix = sparse.coo_array(([1.0, 2.0, 3.0, 0.0], ([0, 0, 1, 1], [0, 0, 1, 0])), shape=(2, 3))
    matrix = getattr(matrix, f"to{form}")()
    data = RankingDataset.from_arrays(matrix, [0, 1], qid=[0, 0])
    np.testing.assert_array_equal(data.features, [[1 + 2, 0, 0], [0, 3, 0]])
    if form == "lil":
        return  # it does not keep a stored zero
    data = RankingDataset.from_arrays(matrix, [0, 1], qid=[0, 0], absent="missing")
    np.testing.assert_array_equal(data.features, [[1 + 2, np.nan, np.nan], [0, 3, np.nan]])
    with pytest.raises(InputError, match="absent must be 'zero' or 'missing', got 'nan'"):
        RankingDataset.from_arrays(matrix, [0, 1], qid=[0, 0], absent="nan")


def test_arrays_need_none_of_the_libraries():
    code = (
        "import sys, rankwright; rankwright.RankingDataset.from_arrays([[1.0]], [1], qid=[1]);"
        "print([name for name in ('pandas', 'polars', 'pyarrow', 'scipy') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_the_names_are_exported():
    assert rw.from_frame is from_frame
    assert rw.Columns is Columns


def test_the_index_of_pandas_in_an_arrow_table_is_no_feature():
    pandas, arrow = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    table = arrow.Table.from_pandas(pandas.DataFrame({"qid": [1, 1], "bm25": [0.5, 1.5]}, index=[7, 9]))
    assert from_frame(table).feature_names == ("bm25",)
    assert RankingDataset.from_arrays(table.drop_columns(["qid"]), qid=[1, 1]).feature_names == ("bm25",)
