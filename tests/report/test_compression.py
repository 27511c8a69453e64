"""The curve of a compression: a row and a dot for each model that was tried."""

from __future__ import annotations

import csv
import json

import pytest

import rankwright as rw
from rankwright.compression.curve import Compressed
from rankwright.errors import UnknownNameError
from rankwright.report.compression import draw_compression, write_curve


@pytest.fixture
def compressed(small_data) -> Compressed:
    train, rest = small_data.split(valid=0.5, seed=0)
    return rw.compress(rw.LambdaMART(n_trees=8, max_leaves=4).fit(train), rest, means=["exact", "prune"], max_loss=0.05)


def test_the_table_has_every_model(compressed, tmp_path):
    write_curve(compressed, tmp_path / "curve.csv")
    with (tmp_path / "curve.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["nodes"]) for row in rows] == [point.nodes for point in compressed.points]
    assert [float(row["valid"]) for row in rows] == [point.valid for point in compressed.points]
    assert [row["means"] for row in rows if row["chosen"] == "1"] == [compressed.chosen.means]
    write_curve(compressed, tmp_path / "curve.json")
    assert json.loads((tmp_path / "curve.json").read_text()) == compressed.to_dict()


def test_the_picture_names_the_metric_and_the_means(compressed, tmp_path):
    pytest.importorskip("vl_convert")
    draw_compression(compressed, tmp_path / "curve.svg")
    text = (tmp_path / "curve.svg").read_text()
    for words in ("ndcg@10, validation part", "nodes", "microseconds to score a document", "exact", "prune", "chosen"):
        assert words in text


def test_an_unknown_kind_of_table_leaves_no_file(compressed, tmp_path):
    with pytest.raises(UnknownNameError, match="csv, json"):
        write_curve(compressed, tmp_path / "curve.xls")
    assert list(tmp_path.iterdir()) == []
