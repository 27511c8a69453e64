"""Columns of texts in files: named by the caller, coded alike whatever the format, known to the model afterwards."""

from __future__ import annotations

import io
import sys
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.data.categories import MOST_CATEGORIES
from rankwright.errors import FileFormatError, InputError

COLUMNS = rw.Columns(query="search", label="stars")
COLOURS = ("red", "green", "blue", None)
TRAINED: dict[str, Any] = {"n_trees": 10, "min_docs_in_leaf": 2, "max_leaves": 4}


def columns_of(n_queries: int, seed: int = 0, colours: tuple[str | None, ...] = COLOURS) -> dict[str, list[Any]]:
    rng = np.random.default_rng(seed)
    n_docs = n_queries * 10
    colour = [colours[place] for place in rng.integers(0, len(colours), n_docs)]
    return {
        "search": [f"q{row // 10}" for row in range(n_docs)],
        "stars": [2 if one == "red" else 1 if one == "blue" else 0 for one in colour],
        "size": rng.normal(size=n_docs).astype(np.float32).tolist(),
        "colour": colour,
    }


def written(columns: dict[str, list[Any]], path: Any, missing: str = "") -> str:
    if path.suffix == ".parquet":
        pyarrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns), path)
    else:
        rows = zip(*columns.values(), strict=True)
        cells = [",".join(missing if cell is None else str(cell) for cell in row) for row in rows]
        path.write_text("\n".join([",".join(columns), *cells]) + "\n")
    return str(path)


@pytest.fixture(params=["csv", "parquet"])
def path(request, tmp_path):
    return written(columns_of(30), tmp_path / f"train.{request.param}")


def test_codes_are_those_of_the_frame(path):
    data = rw.read(path, columns=COLUMNS, categories=["colour"])
    assert data.equals(rw.from_frame(columns_of(30), COLUMNS))
    assert data.categories == {"colour": ("blue", "green", "red")}


def test_a_model_learns_the_same_from_file_dataset_and_frame(path):
    file = rw.DataFile(path, columns=COLUMNS, categories=["colour"])
    from_file = rw.LambdaMART(**TRAINED).fit(file)
    from_data = rw.LambdaMART(**TRAINED).fit(rw.from_frame(columns_of(30), COLUMNS))
    assert from_file.to_state()[0] == from_data.to_state()[0]
    assert np.array_equal(from_file.predict(file), from_data.predict(file))
    assert from_file.forest_.categories.any()  # it split the colours


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_texts_of_other_files_are_found_in_the_model(path, tmp_path, ending):
    ranker = rw.LambdaMART(**TRAINED).fit(
        rw.DataFile(path, columns=COLUMNS, categories=["colour"]),
        valid=rw.DataFile(
            written(columns_of(5, 1, ("red", "blue", None)), tmp_path / f"valid.{ending}"),
            columns=COLUMNS,
            categories=["colour"],
        ),
    )
    fewer, unseen = columns_of(5, 2, ("red", "blue")), columns_of(5, 2, ("red", "purple"))
    missing = fewer | {"colour": [None if one == "blue" else one for one in fewer["colour"]]}
    scores = {
        name: ranker.predict(rw.DataFile(written(columns, tmp_path / f"{name}.{ending}"), columns=COLUMNS))
        for name, columns in (("fewer", fewer), ("unseen", unseen), ("missing", missing))
    }
    assert np.array_equal(scores["fewer"], ranker.predict(rw.from_frame(fewer, COLUMNS)))
    assert np.array_equal(scores["unseen"], scores["missing"])
    assert not np.array_equal(scores["fewer"], scores["missing"])


def test_the_number_of_trees_is_chosen_with_categories_too():
    ranker = rw.LambdaMART().fit(rw.from_frame(columns_of(30), COLUMNS))
    assert ranker.chosen_["growth"] == "best-first"
    assert ranker.n_trees_ == ranker.chosen_["n_trees"]


@pytest.mark.parametrize("word", ["", "NA", "nan", "Null"])
def test_words_for_nothing_are_no_categories(tmp_path, word):
    data = rw.read(written(columns_of(3), tmp_path / "a.csv", word), columns=COLUMNS, categories=["colour"])
    assert data.equals(rw.from_frame(columns_of(3), COLUMNS))


def test_standard_input_is_read_twice(tmp_path, monkeypatch):
    path = written(columns_of(3), tmp_path / "a.csv")
    with open(path, "rb") as file:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(file.read()))))
    data = rw.read("-", columns=COLUMNS, categories=["colour"])
    assert data.equals(rw.from_frame(columns_of(3), COLUMNS))


def test_what_cannot_be_a_category_is_said(path, tmp_path):
    with pytest.raises(FileFormatError, match=r"column 'colour'.*drop=.*name in categories= what trees should take"):
        rw.read(path, columns=COLUMNS)
    with pytest.raises(FileFormatError, match="'search' cannot be a category: it is no feature"):
        rw.read(path, columns=COLUMNS, categories=["search"])
    with pytest.raises(FileFormatError, match="there is no column 'shade': found 'search'"):
        rw.read(path, columns=COLUMNS, categories=["shade"])
    many = columns_of(101) | {"colour": [f"shade {row}" for row in range(1010)]}
    with pytest.raises(FileFormatError, match=f"1,010 different texts, and a feature may have {MOST_CATEGORIES:,}"):
        rw.read(written(many, tmp_path / "many.csv"), columns=COLUMNS, categories=["colour"])
    with pytest.raises(InputError, match="learns from numbers"):
        rw.PRank().fit(rw.DataFile(path, columns=COLUMNS, categories=["colour"]))
