"""Logs are read from every format, and what is wrong in them is counted."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rankwright import clicks
from rankwright.clicks.logs import text_logs
from rankwright.clicks.logs.log_files import lists_of_queries
from rankwright.errors import FileFormatError, InputError
from rankwright.formats.lines import bounded_lines

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


def parquet_log(path: Path, **columns) -> Path:
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), path)
    return path


def test_ids_of_several_files_are_told_apart_whatever_their_type(tmp_path):
    shown, chosen = [[1, 2], [2, 30]], [[1], []]
    numbers = parquet_log(tmp_path / "numbers.parquet", query=[7, 8], shown=shown, clicks=chosen)
    texts = parquet_log(
        tmp_path / "texts.parquet", query=["7", "x"], shown=[["2", "1"], ["é", "2"]], clicks=[[2], [1, 2]]
    )
    log = clicks.read_log([numbers, texts, numbers])
    assert log.query_ids.tolist() == ["7", "8", "x"]
    assert log.document_ids.tolist() == ["1", "2", "30", "é"]
    assert log.query_ids[log.queries].tolist() == ["7", "8", "7", "x", "7", "8"]
    assert log.document_ids[log.documents].tolist() == ["1", "2", "2", "30", "2", "1", "é", "2", "1", "2", "2", "30"]


@pytest.mark.parametrize(
    "kind", ["int8", "uint16", "int64", "uint64", "string", "large_string", "binary", "dictionary"]
)
def test_ids_may_be_of_any_type_in_parquet(kind, tmp_path):
    arrow = pytest.importorskip("pyarrow")
    ids = [5, 70, 5, 9]
    texts = kind in ("string", "large_string", "binary", "dictionary")
    flat = arrow.array([str(one) for one in ids] if texts else ids)
    flat = flat.dictionary_encode() if kind == "dictionary" else flat.cast(getattr(arrow, kind)())
    shown = arrow.ListArray.from_arrays(arrow.array([0, 2, 4], arrow.int32()), flat)
    log = clicks.read_log(parquet_log(tmp_path / "log.parquet", query=[1, 2], shown=shown, clicks=[[1], [2]]))
    assert log.document_ids.tolist() == [5, 9, 70]
    assert log.documents.tolist() == [0, 2, 0, 1]


def test_many_ids_are_numbered_as_by_a_dictionary():
    from rankwright.clicks.logs.log_blocks import Codes

    rng = np.random.default_rng(0)
    for texts in (False, True):
        codes = Codes(threads=2)
        expected: dict[int, int] = {}
        for _ in range(5):
            ids = rng.integers(0, 30_000, 20_000)
            found = codes.of_texts([f"id {one}" for one in ids]) if texts else codes.of_integers(ids)
            assert found.tolist() == [expected.setdefault(one, len(expected)) for one in ids.tolist()]
        assert len(codes) == len(expected)
        assert codes.ids().tolist() == [f"id {one}" if texts else one for one in expected]


def test_what_is_wrong_in_parquet_is_counted_and_left_out(tmp_path):
    path = parquet_log(
        tmp_path / "log.parquet",
        query=["q", None, "q", "q", "q", "q", "r"],
        shown=[["a", "b"], ["a"], [], ["a", None], ["b", "a"], ["a"], ["c"]],
        clicks=[[1, 1], [1], [], [1], [3, 0, 2], None, [1]],
        first=[1, 1, 1, 1, None, 0, 11],
        propensity=[[0.5, 0.5], [1.0], [], [1.0, 1.0], None, [1.0], [0.25]],
    )
    log = clicks.read_log(path)
    assert log.n_lists == 3
    assert log.n_clicks == 3
    assert log.first_ranks is not None
    assert log.propensities is not None
    assert log.first_ranks.tolist() == [0, 0, 10]
    assert np.isnan(log.propensities).tolist() == [False, False, True, True, False]
    assert sorted(log.problems.values()) == [1, 1, 1, 2, 2]  # repeated, no query, empty, two broken, two not shown
    with pytest.raises(FileFormatError, match=":2: events without a query"):
        clicks.read_log(path, strict=True)


@pytest.mark.parametrize(
    ("columns", "told"),
    [
        ({"query": [1], "shown": [[1]]}, "wanted query"),
        ({"query": [1], "shown": [1], "clicks": [[1]]}, "the column shown is of type int64"),
        ({"query": [[1]], "shown": [[1]], "clicks": [[1]]}, "the column query is of type list"),
        ({"query": [1], "shown": [[1]], "clicks": [["a"]]}, "the column clicks is of type list"),
    ],
)
def test_parquet_that_is_no_log_is_refused_in_a_line(columns, told, tmp_path):
    path = parquet_log(tmp_path / "log.parquet", **columns)
    with pytest.raises(FileFormatError, match=told):
        clicks.read_log(path)
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(FileFormatError, match="cannot be read as Parquet"):
        clicks.read_log(path)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError) as found:
        clicks.read_log(tmp_path / "nothing.parquet")
    assert "nothing.parquet" in str(found.value.filename)


def test_halves_of_characters_are_no_ids(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text('{"query": "q", "shown": ["\\ud800"], "clicks": []}\n{"query": "q", "shown": ["a"]}')
    assert clicks.read_log(path).problems == {"events that cannot be read": 1}


def test_a_merged_log_is_merged_once_and_for_all():
    log = log_of(LISTS).merged()
    assert log.merged().documents is log.documents
    assert log.take(np.array([1, 0])).merged().documents is not log.documents


@pytest.mark.parametrize("name", ["log.jsonl", "log.jsonl.gz"])
def test_a_log_that_is_written_is_read_back(name, tmp_path):
    made = clicks.ClickLog.from_lists(
        ["q", "r"], [["a", "b"], ["c"]], [[2], []], propensities=[[0.5, 0.25], [1.0]], policies=["x", "y"]
    )
    log = replace(made, first_ranks=np.array([0, 10], np.int32))
    clicks.write_log(log, tmp_path / name)
    found = clicks.read_log(tmp_path / name)
    assert same(found, log)
    for part in ("first_ranks", "propensities", "policies", "policy_ids"):
        assert np.array_equal(getattr(found, part), getattr(log, part)), part


def test_a_list_that_counts_twice_is_written_twice(tmp_path):
    clicks.write_log(log_of(LISTS).merged(), tmp_path / "log.jsonl")
    found = clicks.read_log(tmp_path / "log.jsonl")
    assert found.n_lists == len(LISTS)
    assert found.merged().n_clicks == log_of(LISTS).n_clicks


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no list could be read: it is empty"),
        ('{"q": 1, "docs": ["a"]}', "no list could be read: events without a query .*its fields are 'q', 'docs'"),
    ],
)
def test_a_log_without_any_list_is_an_error(text, why, tmp_path):
    (tmp_path / "log.jsonl").write_text(text)
    with pytest.raises(FileFormatError, match=why):
        clicks.read_log(tmp_path / "log.jsonl")
    with pytest.raises(FileFormatError, match=why):
        clicks.count_votes(tmp_path / "log.jsonl")


@pytest.mark.parametrize("position", ["2", 2.0, True, None])
def test_clicks_that_are_no_positions_are_left_out_and_told(position, tmp_path):
    (tmp_path / "log.jsonl").write_text(json.dumps({"query": "q", "shown": ["a", "b"], "clicks": [position, 1]}))
    log = clicks.read_log(tmp_path / "log.jsonl")
    assert log.clicked.tolist() == [True, False]
    [(problem, count)] = log.problems.items()
    assert problem.startswith("clicks that are no positions")
    assert count == 1


def test_a_summary_prints_as_a_table():
    log = clicks.ClickLog.from_lists(["q", "q"], [["a", "b"], ["b", "a"]], [[1], []])
    summary = clicks.summarise_log(log)
    assert "2, 50.0% without a click" in repr(summary)
    assert "LogSummary(" not in repr(summary)
    assert "<table" in summary._repr_html_()
    assert summary.to_dict()["lists"] == 2
    pytest.importorskip("pandas")
    assert summary.to_frame()["click_rate"].tolist() == [0.5, 0.0]


@pytest.mark.parametrize("name", ["log.jsonl", "log.csv", "log.txt"])
def test_a_line_without_an_end_is_refused_before_it_fills_the_memory(name, tmp_path, monkeypatch):
    monkeypatch.setattr(text_logs, "LONGEST_EVENT", 1 << 20)
    monkeypatch.setattr(bounded_lines, "__defaults__", (1 << 20,))
    start = {"log.jsonl": '{"query": "q", "shown": ["', "log.csv": "query,shown,clicks\nq,", "log.txt": "q\ta : b"}[
        name
    ]
    with gzip.open(tmp_path / f"{name}.gz", "wt") as file:
        file.write(start + "a" * (2 << 20))
    format = {"log.txt": "yandex"}.get(name)
    with pytest.raises(FileFormatError, match="the line has more than 1 MiB"):
        clicks.read_log(tmp_path / f"{name}.gz", format=format)


def test_a_long_cell_is_told_in_a_sentence(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("query,shown,clicks\na,x y,1\nq," + "a " * 70_000 + ",1\n")
    with pytest.raises(FileFormatError, match=r"log.csv:3: a cell has more than 131,072 characters"):
        clicks.read_log(path)


def test_a_list_of_one_row_a_document_may_not_go_on_for_ever(tmp_path, monkeypatch):
    monkeypatch.setattr(text_logs, "LONGEST_LIST", 3)
    path = tmp_path / "log.csv"
    path.write_text("query,document,position,click\n" + "".join(f"q,d{n},{n},0\n" for n in range(1, 6)))
    with pytest.raises(FileFormatError, match=r"log.csv:5: the list has more than 3 documents"):
        clicks.read_log(path)


def test_long_lists_make_smaller_blocks_of_the_same_log(tmp_path, monkeypatch):
    write_as("jsonl", tmp_path / "log.jsonl")
    monkeypatch.setattr(text_logs, "DOCUMENTS_AT_A_TIME", 4)
    assert len(list(clicks.LogFile(tmp_path / "log.jsonl").blocks())) == 2
    assert same(clicks.read_log(tmp_path / "log.jsonl"), log_of(LISTS))


def test_the_lists_of_some_queries(tmp_path, monkeypatch):
    write_as("jsonl", tmp_path / "log.jsonl")
    monkeypatch.setattr(text_logs, "DOCUMENTS_AT_A_TIME", 1)
    found = lists_of_queries(clicks.LogFile(tmp_path / "log.jsonl"), np.array(["b", "c"]))
    assert found.n_lists == 1
    assert found.document_ids[found.documents].tolist() == ["u", "v"]
