"""Titles and texts that reports show beside ids."""

from __future__ import annotations

import csv

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import InputError, SettingError
from rankwright.metrics.evaluation import ScoredLists
from rankwright.report.measured import Measured, Origin
from rankwright.report.page.document import Explorer
from rankwright.report.pages.result_pages import page_of
from rankwright.report.sections.query_lists import interesting, queries_section
from rankwright.report.shown_texts import ShownTexts, read_shown_texts

ROWS = [  # in an order in which no query's rows are together
    ("b", "red shoes", "b1", "A shoe,\nred", 1, 0.1),
    ("a", "blue hat", "a1", "A hat", 0, 0.2),
    ("b", "red shoes", "b2", "", 0, 0.3),
    ("a", "blue hat", "a2", "Another <b>hat</b>", 0, 0.4),
]
HEADER = ("qid", "words", "doc_id", "name", "label", "x")


@pytest.fixture
def file(tmp_path):
    with (tmp_path / "data.csv").open("w", newline="") as out:
        csv.writer(out).writerows([HEADER, *ROWS])
    return str(tmp_path / "data.csv")


def explorer(page):
    (found,) = [block for one in page.sections for block in one.blocks if isinstance(block, Explorer)]
    return found.state


def test_columns_of_a_file_are_in_the_order_of_its_documents(file):
    found = read_shown_texts(file, None, {"drop": ["name", "words"]}, title="name", text="words")
    data = rw.read(file, drop=["name", "words"])
    title_of = {row[2]: " ".join(row[3].split()) for row in ROWS}
    assert found.titles == [title_of[name] for name in np.asarray(data.document_ids).tolist()]
    assert found.queries == [{"a": "blue hat", "b": "red shoes"}[name] for name in np.asarray(data.query_ids).tolist()]
    assert read_shown_texts("nowhere.csv", None, {}, title=None, text=None).titles is None


def test_a_null_of_a_table_is_no_title(file, tmp_path):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    path = str(tmp_path / "data.parquet")
    pandas.read_csv(file).to_parquet(path, index=False)
    found = read_shown_texts(path, None, {"drop": ["name", "words"]}, title="name", text=None)
    assert found.titles is not None
    assert "" in found.titles
    assert "A hat" in found.titles


def test_a_page_from_python_shows_titles_and_texts(file):
    data = rw.read(file, drop=["name", "words"])
    found = rw.compare({"up": [1, 2, 3, 4], "down": [4, 3, 2, 1]}, data, ["map"])
    page = page_of(found, titles=[row[3] for row in ROWS], texts={"b": "red shoes"})
    state = explorer(page)
    assert dict(zip(state["ids"], state["texts"], strict=True)) == {"b": "red shoes", "a": ""}
    shown = {doc[0]: doc[3] for one in state["lists"].values() for doc in one["docs"]}
    assert shown == {"b1": "A shoe, red", "b2": "", "a1": "A hat", "a2": "Another <b>hat</b>"}
    assert explorer(page_of(found))["texts"] is None


def test_queries_with_nothing_relevant_are_marked_and_not_the_worst(file):
    data = rw.read(file, drop=["name", "words"])
    lists = ScoredLists.of_dataset(np.array([1.0, 2.0, 3.0, 4.0]), data)
    measured = Measured({"up": rw.evaluate([1, 2, 3, 4], data, ["map"])}, lists={"up": lists})
    empty = np.asarray(data.query_ids).tolist().index("a")
    assert interesting(measured).tolist() == [1 - empty, empty]
    section, _ = queries_section(measured, Origin())
    state = next(block.state for block in section.blocks if isinstance(block, Explorer))
    assert state["nothing_relevant"].tolist() == [empty]
    alone = Measured({"up": measured.some})
    section, _ = queries_section(alone, Origin())
    assert next(block.state for block in section.blocks if isinstance(block, Explorer))["nothing_relevant"].size == 0


def test_titles_and_texts_that_do_not_fit_are_refused(file):
    data = rw.read(file, drop=["name", "words"])
    found = rw.compare({"up": [1, 2, 3, 4], "down": [4, 3, 2, 1]}, data, ["map"])
    with pytest.raises(InputError, match="4 entries, one a document, got 1"):
        ShownTexts.given(["one"], None, data)
    with pytest.raises(InputError, match="no query of the data, whose ids are such as"):
        page_of(found, texts={"c": "other"})
    with pytest.raises(InputError, match="do not know theirs"):
        page_of(rw.compare_evaluations(found.evaluations), titles=["a"] * 4)
    with pytest.raises(SettingError, match="go with a comparison"):
        page_of(found.evaluations["up"], titles=["a"] * 4)
