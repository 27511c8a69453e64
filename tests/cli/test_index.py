"""`rankwright index` and `rankwright inspect INDEX`, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rankwright.text import open_index

DOCUMENTS = [
    {"id": "a", "title": "Red boats", "price": 3, "body": "Boats in the harbour"},
    {"id": "b", "title": "Blue boat", "price": 4, "body": "A 3.5mm rope"},
]


def write(path: str, documents: list[dict[str, object]]) -> None:
    Path(path).write_text("".join(json.dumps(one) + "\n" for one in documents))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("documents.jsonl", DOCUMENTS)


def test_documents_are_indexed_and_inspected(rankwright):
    result = rankwright("index", "documents.jsonl", "--out", "INDEX", "--json")
    assert result.code == 0, result.stderr
    told = json.loads(result.stdout)
    assert told["documents"] == 2
    assert told["fields"][0] == {"name": "title", "kind": "text", "tokens": 4, "documents": 2}
    inspected = rankwright("inspect", "INDEX", "--json")
    assert json.loads(inspected.stdout) == {name: told[name] for name in told if name not in ("out", "problems")}
    assert "stems of english" in rankwright("inspect", "INDEX").stdout


def test_options_reach_the_index(rankwright):
    Path("words.txt").write_text("Red\n\nblue\n")
    options = ("--language", "none", "--stop-words", "words.txt", "--field", "price=skip", "--memory", "100MB")
    assert rankwright("index", "documents.jsonl", "--out", "INDEX", *options).code == 0
    index = open_index("INDEX")
    assert index.analyser.terms("The red boats") == ["the", "boats"]
    assert index.number_fields == ()
    write("more.jsonl", [DOCUMENTS[1], {"id": "c", "title": "Ships"}])
    result = rankwright("index", "more.jsonl", "--append", "--field", "price=skip", "--out", "INDEX")
    assert result.code == 0, result.stderr
    assert "1, first" in result.stdout
    assert open_index("INDEX").n_documents == 3


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("none.jsonl", "--out", "INDEX"), "none.jsonl"),
        (("documents.jsonl", "--out", "documents.jsonl"), "documents.jsonl"),
        (("documents.jsonl", "--out", "INDEX", "--language", "klingon"), "unknown language 'klingon'"),
        (("documents.jsonl", "--out", "INDEX", "--memory", "much"), "--memory takes a size"),
        (("documents.jsonl", "--out", "INDEX", "--memory", "1KB"), "memory must be"),
        (("documents.jsonl", "--out", "INDEX", "--field", "price"), "--field takes NAME=KIND"),
        (("documents.jsonl", "--out", "INDEX", "--append"), "no index to append to"),
    ],
)
def test_mistakes_are_told_in_one_line(rankwright, options, told):
    result = rankwright("index", *options)
    assert result.code == 2
    assert told in " ".join(result.stderr.split())
    assert result.stderr.startswith("error: ")
    assert not Path("INDEX").exists()


def test_damage_is_told_in_one_line(rankwright):
    rankwright("index", "documents.jsonl", "--out", "INDEX")
    segment = next(Path("INDEX").glob("segment-*"))
    content = bytearray((segment / "posting_documents").read_bytes())
    content[0] ^= 1
    (segment / "posting_documents").write_bytes(content)
    result = rankwright("inspect", "INDEX")
    assert result.code == 2
    assert "the checksum does not match" in " ".join(result.stderr.split())


def test_what_an_ended_build_leaves_is_no_index(rankwright):
    rankwright("index", "documents.jsonl", "--out", "INDEX")
    Path("INDEX", "index.rw").unlink()
    result = rankwright("inspect", "INDEX")
    assert result.code == 2
    assert "INDEX is no index: it has no file index.rw" in " ".join(result.stderr.split())
