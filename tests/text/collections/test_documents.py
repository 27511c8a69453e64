"""Collections: what fields hold, what batches have, what is wrong is counted, or refused where the reader is strict."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.text import Field, read_documents

RECORDS: list[dict[str, Any]] = [
    {"id": "a", "title": "On ranking", "year": 2010, "links": ["b", 3], "published": "2010-06-01"},
    {"id": "b", "title": "On trees", "links": []},
    {"id": 3, "title": "", "year": None, "anchors": ["trees", "forests"], "published": "1970-01-01T00:01:00Z"},
]


@pytest.fixture
def lines(tmp_path):
    def write(*records, name="documents.jsonl"):
        path = tmp_path / name
        path.write_text("\n".join(json.dumps(record) for record in records))
        return path

    return write


def whole(collection):
    """All documents of a collection as records."""
    found = []
    for batch in collection.batches():
        for row, name in enumerate(batch.ids):
            record = {"id": name} | {field: column[row] for field, column in batch.texts.items()}
            record |= {field: float(column[row]) for field, column in batch.numbers.items()}
            found.append(record | ({} if batch.links is None else {"links": batch.links[row]}))
    return found


def test_fields_are_known_by_name_and_by_content():
    found = read_documents(RECORDS)
    kinds = {"title": "text", "year": "number", "links": "links", "published": "date", "anchors": "text"}
    assert found.fields == tuple(Field(name, kind) for name, kind in kinds.items())


def test_a_batch_has_every_field_of_every_document(lines):
    (batch,) = read_documents(lines(*RECORDS)).batches()
    assert batch.ids == ["a", "b", "3"]
    assert batch.texts == {"title": ["On ranking", "On trees", ""], "anchors": ["", "", "trees\nforests"]}
    np.testing.assert_array_equal(batch.numbers["year"], [2010, np.nan, np.nan])
    np.testing.assert_array_equal(batch.numbers["published"], [14761 * 86400, np.nan, 60])
    assert batch.links == [["b", "3"], [], []]


def test_documents_given_and_documents_read_are_the_same(lines):
    assert str(whole(read_documents(RECORDS))) == str(whole(read_documents(lines(*RECORDS))))


def test_ids_that_are_urls_are_a_field_of_their_own():
    found = read_documents([{"id": "https://example.org/a", "body": "x"}, {"id": "https://example.org/b"}])
    assert found.fields == (Field("body", "text"), Field("url", "url"))
    (batch,) = found.batches()
    assert batch.texts["url"] == batch.ids


@pytest.mark.parametrize("name", ["_id", "docno", "DocID", "document_id", "url"])
def test_ids_have_usual_names(name):
    assert whole(read_documents([{"title": "x", name: "u"}]))[0]["id"] == "u"


def test_ids_are_known_by_content():
    records = [{"sku": "k1", "colour": "red one"}, {"sku": "k2", "colour": "red one"}]
    assert [one["id"] for one in whole(read_documents(records))] == ["k1", "k2"]


def test_what_fields_hold_can_be_said():
    records = [{"a": "1", "b": "2", "c": "words", "d": "4"}]
    found = read_documents(records, fields={"b": "id", "a": "text", "d": "skip"})
    assert found.fields == (Field("a", "text"), Field("c", "text"))
    assert whole(found) == [{"id": "2", "a": "1", "c": "words"}]


@pytest.mark.parametrize(
    ("records", "fields", "told"),
    [
        ([{"a": "x y", "b": "x y"}], {}, "no field is known to hold the ids of documents; there are 'a', 'b'"),
        ([{"id": "x"}], {"title": "text"}, "have no field 'title'; they have 'id'"),
        ([{"id": "x"}], {"id": "words"}, "unknown kind of the field 'id' 'words'"),
        ([{"a": "1", "b": "2"}], {"a": "id", "b": "id"}, "only one field can hold the ids"),
    ],
)
def test_what_cannot_be_known_is_told(records, fields, told):
    with pytest.raises(rw.RankwrightError, match=told):
        read_documents(records, fields=fields)


FAULTY = {
    "documents whose id came before": ({"id": "a", "title": "one"}, {"id": "a", "title": "two"}),
    "documents without an id": ({"id": "a", "title": "one"}, {"title": "two"}),
    "documents without text": ({"id": "a", "title": "one"}, {"id": "b", "title": " "}),
    "values that are no number": ({"id": "a", "title": "one", "price": 1}, {"id": "b", "title": "two", "price": "x"}),
    "values that are no date": (
        {"id": "a", "title": "one", "day": "2024-01-01"},
        {"id": "b", "title": "t", "day": "x"},
    ),
    "values that are no text": ({"id": "a", "title": "one"}, {"id": "b", "title": [{"x": 1}, "y"]}),
}


@pytest.mark.parametrize("problem", FAULTY)
def test_what_is_wrong_is_counted_and_refused_by_strict_readers(problem, lines, monkeypatch):
    monkeypatch.setattr("rankwright.text.collections.documents.SAMPLED_DOCUMENTS", 1)
    path = lines(*FAULTY[problem])
    found = read_documents(path)
    list(found.batches())
    (line,) = found.problems.lines()
    assert line.startswith(problem)
    assert f": 1, first at {path}:2" in line
    with pytest.raises(rw.RankwrightError, match=problem):
        list(read_documents(path, strict=True).batches())


def test_fields_that_come_late_are_counted(lines, monkeypatch):
    monkeypatch.setattr("rankwright.text.collections.documents.SAMPLED_DOCUMENTS", 1)
    found = read_documents(lines({"id": "a", "title": "x"}, {"id": "b", "title": "y", "price": 3}))
    assert [sorted(one) for one in whole(found)] == [["id", "title"]] * 2
    assert found.problems.lines()[0].startswith("documents with a field that the first documents do not have")


def test_bytes_that_are_not_utf8_are_read_as_windows_does(tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_bytes(b'{"id": "a", "title": "caf\xe9"}\n{"id": "b", "title": "caf\xc3\xa9"}\n')
    found = read_documents(path)
    assert [one["title"] for one in whole(found)] == ["café", "café"]
    assert found.problems.lines()[0].startswith("texts that are not UTF-8")


def test_halves_of_characters_are_replaced(tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_bytes(rb'{"id": "a", "title": "x\ud800y", "body": "\ud83d\ude00"}')
    found = read_documents(path)
    assert whole(found) == [{"id": "a", "title": "x\ufffdy", "body": "\U0001f600"}]


def test_batches_are_small_and_can_be_read_again(lines, monkeypatch):
    monkeypatch.setattr("rankwright.text.collections.documents.DOCUMENTS_AT_A_TIME", 2)
    found = read_documents(lines(*({"id": number, "title": "x"} for number in range(5))))
    assert [len(batch) for batch in found.batches()] == [2, 2, 1] == [len(batch) for batch in found.batches()]


def test_long_documents_make_batches_of_fewer(lines, monkeypatch):
    monkeypatch.setattr("rankwright.text.collections.documents.CHARACTERS_AT_A_TIME", 10)
    found = read_documents(lines(*({"id": number, "title": "x" * 11} for number in range(3))))
    assert [len(batch) for batch in found.batches()] == [1, 1, 1]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"[1]\n", b"nothing\n", b'{"id": ""}\n', b'{"title": "x y"}'])
def test_files_without_documents_are_refused_in_one_line(content, tmp_path):
    path = tmp_path / "documents.jsonl"
    path.write_bytes(content)
    with pytest.raises(rw.RankwrightError, match=r"documents\.jsonl") as error:
        list(read_documents(path).batches())
    assert "\n" not in str(error.value)
