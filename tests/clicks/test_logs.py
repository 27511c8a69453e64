"""Logs are read from every format, and what is wrong in them is counted."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from rankwright import clicks
from rankwright.errors import FileFormatError, InputError

LISTS = [
    ("a", ["x", "y", "z"], [2]),
    ("b", ["u", "v"], []),
    ("a", ["y", "x", "z"], [1, 3]),
    ("a", ["x", "y", "z"], [2]),
]


def log_of(lists) -> clicks.ClickLog:
    return clicks.ClickLog.from_lists(*map(list, zip(*lists, strict=True)))


def same(first: clicks.ClickLog, second: clicks.ClickLog) -> bool:
    names = ("queries", "offsets", "documents", "clicked", "query_ids", "document_ids")
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in names)


def write_as(format: str, path: Path) -> None:
    if format == "jsonl":
        events = ({"query": q, "shown": shown, "clicks": positions} for q, shown, positions in LISTS)
        path.write_text("\n".join(json.dumps(event) for event in events))
    elif format == "parquet":
        arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        columns = dict(zip(("query", "shown", "clicks"), map(list, zip(*LISTS, strict=True)), strict=True))
        parquet.write_table(arrow.table(columns), path)
    elif format == "yandex":
        blocks = (f"{q}\t{','.join(s)} : {' , '.join(s[place - 1] for place in c)}" for q, s, c in LISTS)
        path.write_text("; ".join(blocks) + ";\n")
    elif format == "lists.csv":
        rows = (f"{q},{' '.join(s)},{' '.join(map(str, c))}" for q, s, c in LISTS)
        path.write_text("query,shown,clicks\n" + "\n".join(rows) + "\n")
    else:
        rows = (
            f"{k},{q},{d},{place},{int(place in c)}"
            for k, (q, s, c) in enumerate(LISTS)
            for place, d in enumerate(s, start=1)
        )
        path.write_text("list,query,document,position,click\n" + "\n".join(rows) + "\n")


@pytest.mark.parametrize("format", ["jsonl", "parquet", "yandex", "lists.csv", "long.csv"])
def test_every_format_gives_the_same_log(format, tmp_path):
    path = tmp_path / f"log.{format}"
    write_as(format, path)
    assert same(clicks.read_log(path), log_of(LISTS))


def test_equal_lists_are_merged_whatever_their_order(tmp_path):
    path = tmp_path / "log.jsonl"
    write_as("jsonl", path)
    merged = clicks.read_log(path, merge=True)
    assert sorted(merged.list_counts) == [1, 1, 2]
    assert same(merged, log_of(LISTS[::-1]).merged())
    assert (merged.n_lists, merged.n_shown, merged.n_clicks) == (4, 11, 4)


def test_what_is_wrong_is_counted_and_left_out(tmp_path):
    path = tmp_path / "log.jsonl"
    lines = [
        '{"query": "a", "shown": ["x", "y"], "clicks": [2, 2, 7]}',
        "no JSON",
        '{"shown": ["x"], "clicks": []}',
        '{"query": "a", "shown": [], "clicks": []}',
        '{"query": "a", "shown": ["x", "x"], "clicks": [], "first": 11}',
        '{"query": "a", "shown": ["x"], "clicks": [], "propensity": [0.5, 0.5]}',
    ]
    path.write_text("\n".join(lines))
    log = clicks.read_log(path)
    assert log.n_lists == 2
    assert log.clicked.tolist() == [False, True, False, False]
    assert log.ranks.tolist() == [0, 1, 10, 11]
    assert sum(log.problems.values()) == 7
    assert log.first_pages().n_lists == 1
    with pytest.raises(FileFormatError, match="position 7 of 2"):
        clicks.read_log(path, strict=True)


def test_a_click_outside_a_list_is_refused():
    with pytest.raises(InputError, match="2 documents, and a click at position 3"):
        clicks.ClickLog.from_lists(["q"], [["a", "b"]], [[3]])


def test_a_split_keeps_every_list_once():
    log = clicks.ClickLog.from_lists(["q"] * 500, [["a", "b"]] * 500, [[1]] * 200 + [[]] * 300)
    train, held = log.split(0.3, seed=1)
    assert train.n_lists + held.n_lists == 500
    assert 100 < held.n_lists < 200


def test_a_summary_tells_how_much_of_the_log_can_tell_anything():
    found = clicks.summarise_log(log_of(LISTS))
    assert (found.queries, found.lists, found.clicks, found.pairs) == (2, 4, 4, 5)
    assert found.varied_share == 3 / 4  # the lists of query a, whose x and y change places
    assert found.click_rate_at == [1 / 4, 2 / 4, 1 / 3]
