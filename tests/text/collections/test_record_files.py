"""The formats of collections: the same documents from each of them, and what hostile files are told."""

from __future__ import annotations

import csv
import gzip
import io
import json
from typing import Any

import pytest
import zstandard
from tests.text.collections.test_documents import whole

import rankwright as rw
from rankwright.text import Field, read_documents

DOCUMENTS: list[dict[str, Any]] = [
    {"id": "d1", "url": "https://example.org/a", "title": 'He said "rank", twice', "body": "one\ntwo", "price": 1.5},
    {"id": "d2", "url": "https://example.org/b", "title": "Größe; 文書", "body": "", "price": None},
    {"id": "d3", "url": "https://example.org/c", "title": "tabs", "body": "a, b", "price": 3.0},
]
FIELDS = (Field("url", "url"), Field("title", "text"), Field("body", "text"), Field("price", "number"))


def jsonl():
    return "\n".join(map(json.dumps, DOCUMENTS)).encode()


def delimited(delimiter, records=DOCUMENTS):
    file = io.StringIO()
    writer = csv.DictWriter(file, list(records[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(records)
    return file.getvalue().encode()


def parquet():
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(DOCUMENTS), file)
    return file.getvalue()


ONE_LINE = [record | {"body": record["body"].replace("\n", " ")} for record in DOCUMENTS]
FILES = {
    "d.jsonl": jsonl,
    "d.csv": lambda: delimited(","),
    "semicolons.csv": lambda: delimited(";"),
    "d.tsv": lambda: delimited("\t", ONE_LINE),
    "d.parquet": parquet,
    "d.jsonl.gz": lambda: gzip.compress(jsonl()),
    "d.csv.zst": lambda: zstandard.compress(delimited(",")),
    "lines-without-ending": jsonl,
    "table-without-ending": lambda: delimited(","),
    "parquet-without-ending": parquet,
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_documents(name, tmp_path):
    (tmp_path / name).write_bytes(FILES[name]())
    found = read_documents(tmp_path / name)
    assert found.fields == FIELDS
    wanted = whole(read_documents(ONE_LINE if name.endswith("tsv") else DOCUMENTS))
    assert str(whole(found)) == str(wanted)
    assert not found.problems.lines()


def test_several_files_are_one_collection(tmp_path):
    for number, record in enumerate(DOCUMENTS):
        (tmp_path / f"part{number}.jsonl").write_text(json.dumps(record))
    parts = sorted(tmp_path.iterdir())
    assert [one["id"] for one in whole(read_documents(parts))] == ["d1", "d2", "d3"]
    assert whole(read_documents(tmp_path))[0] == whole(read_documents(parts))[0]


def test_tables_without_a_header_have_ids_first(tmp_path):
    (tmp_path / "collection.tsv").write_text('7\tthe "first" passage is longer than a name\n8\t"quoted ""text"""\n')
    assert whole(read_documents(tmp_path / "collection.tsv")) == [
        {"id": "7", "column 2": 'the "first" passage is longer than a name'},
        {"id": "8", "column 2": 'quoted "text"'},
    ]


TREC = b"""<DOC>
<DOCNO> WSJ-1 </DOCNO><HL> Blair is near\n accord &amp; more </HL>
<DATE>1987-03-24</DATE>
<TEXT> First <b>bold</b> part. </TEXT> between <TEXT>Second\xc3\xa9 part.</TEXT>
</DOC><doc><docno>GOV-2</docno><DOCHDR>
http://example.gov/a 1.2.3.4 text/html
</DOCHDR><html><title>A page</title><script>if (a < b) {}</script><p>Words <!-- not <i>these</i> --> here</html></doc>
<DOC><DOCNO>no end</DOCNO>
"""


def test_trec_documents(tmp_path):
    (tmp_path / "d.trec").write_bytes(TREC)
    found = read_documents(tmp_path / "d.trec")
    first, second = whole(found)
    assert first["id"] == "WSJ-1"
    assert first["title"] == "Blair is near accord & more"
    assert first["body"] == "First bold part. Secondé part."
    assert first["date"] == 543542400
    assert second["url"] == "http://example.gov/a"
    assert (second["title"], second["body"]) == ("A page", "Words here")
    assert found.problems.lines()[0].startswith("documents without an end")


def test_a_folder_of_texts(tmp_path):
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "b" / "c" / "two.txt").write_bytes(b"\xff\xfed\x00e\x00u\x00x\x00")
    (tmp_path / "one.md").write_text("# One")
    (tmp_path / "page.html").write_text("<html><head><title>A &lt; B</title></head><body><p>words</p></body></html>")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\0\0")
    (tmp_path / ".hidden").write_text("no")
    (tmp_path / "zipped.txt.gz").write_bytes(gzip.compress(b"plain"))
    found = read_documents(tmp_path)
    assert whole(found) == [
        {"id": "b/c/two.txt", "title": "two", "body": "deux"},
        {"id": "one.md", "title": "one", "body": "# One"},
        {"id": "page.html", "title": "A < B", "body": "words"},
        {"id": "zipped.txt.gz", "title": "zipped.txt", "body": "plain"},
    ]
    assert found.problems.lines()[0].startswith("files that hold no text (left out)")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("d.csv", b"", "is empty"),
        ("d.csv", b"id,title\n1\n", "found 1 cell, wanted 2"),
        ("d.csv", b'id,title\n1,"x', "a quoted cell is not closed"),
        ("d.csv", b"id,id\n1,2\n", "two columns have the same name"),
        ("d.tsv", b"id\ttitle\n1\tx\ty\n", "found 3 cells, wanted 2"),
        ("d.tsv", b"\xff\xfei\0d\0\t\0t\0", "binary file"),
        ("d.parquet", b"PAR1 nothing", "not a whole Parquet file"),
        ("d.trec", b"<DOCS>", "has no documents"),
        ("d.jsonl", b"[{}]", "wanted JSON lines"),
        ("d.jsonl.gz", b"\x1f\x8bxx", "damaged .gz data"),
        ("nothing", b"hello world\n", "shows no format; wanted one of jsonl, parquet"),
        ("nothing", b"", "shows no format"),
    ],
)
def test_hostile_files_are_refused_in_one_line(name, content, told, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(rw.RankwrightError, match=told) as error:
        list(read_documents(tmp_path / name).batches())
    assert "\n" not in str(error.value)
    assert name in str(error.value)


@pytest.mark.parametrize("start", ["<!--", "<text>", "<title", "<script>", "</text", "<a ", "&", "<"])
def test_markup_that_never_ends_takes_no_longer_than_other_markup(start, tmp_path):
    """A quadratic reader would need hours for this."""
    (tmp_path / "d.trec").write_text(f"<DOC><DOCNO>1</DOCNO>{start * 200_000}</DOC>")
    assert [one["id"] for one in whole(read_documents(tmp_path / "d.trec"))] == ["1"]
