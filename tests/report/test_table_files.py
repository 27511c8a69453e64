"""Tables in files."""

from __future__ import annotations

import csv
import json
from typing import Any

import numpy as np
import pytest

from rankwright.errors import UnknownNameError
from rankwright.report.table_files import write_columns, write_curve, write_json, write_rows
from rankwright.tables.text import short


def test_rows_stand_below_the_names_of_their_columns(tmp_path):
    rows: list[dict[str, Any]] = [{"name": "a,b", "value": 0.5}, {"name": "c", "value": None}]
    write_rows(tmp_path / "rows.csv", rows)
    assert (tmp_path / "rows.csv").read_bytes() == b'name,value\n"a,b",0.5\nc,\n'
    write_rows(tmp_path / "none.csv", [], ["name"])
    assert (tmp_path / "none.csv").read_text() == "name\n"


def test_columns_are_separated_by_tabs_and_what_does_not_count_is_empty(tmp_path):
    write_columns(tmp_path / "columns.tsv", {"query": np.array(["a", "b"]), "map": np.array([0.25, np.nan])})
    assert (tmp_path / "columns.tsv").read_text() == "query\tmap\na\t0.25\nb\t\n"


def test_a_document_is_written_whole_or_not_at_all(tmp_path):
    write_json(tmp_path / "one.json", {"value": 1})
    assert json.loads((tmp_path / "one.json").read_text()) == {"value": 1}
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "two.json", {"value": float("nan")}, allow_nan=False)
    assert [path.name for path in tmp_path.iterdir()] == ["one.json"]


@pytest.mark.parametrize(("value", "text"), [(0.123456, "0.1235"), (3, "3"), ("grid", "grid"), (1e-7, "1e-07")])
def test_values_are_short(value, text):
    assert short(value) == text


def test_the_table_of_a_compression_has_every_model(compressed, tmp_path):
    write_curve(compressed, tmp_path / "curve.csv")
    with (tmp_path / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["nodes"]) for row in rows] == [point.nodes for point in compressed.points]
    assert [float(row["valid"]) for row in rows] == [point.valid for point in compressed.points]
    assert [row["means"] for row in rows if row["chosen"] == "1"] == [compressed.chosen.means]
    write_curve(compressed, tmp_path / "curve.json")
    assert json.loads((tmp_path / "curve.json").read_text()) == compressed.to_dict()


def test_an_unknown_kind_of_table_leaves_no_file(compressed, tmp_path):
    with pytest.raises(UnknownNameError, match="csv, json"):
        write_curve(compressed, tmp_path / "curve.xls")
    assert list(tmp_path.iterdir()) == []
