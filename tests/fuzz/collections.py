"""Mutants of documents, queries, judgments and feature logs: each is read as its kind, or refused in one line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import numpy as np
from tests.fuzz.foreign import mutant_of
from tests.fuzz.subject import quiet, refusing, require

from rankwright.escapes import escaped_line
from rankwright.text import JudgedPairs, Queries, join_log, read_documents, read_judgments, read_queries

QUERIES = Queries(["q1", "q2"], ["learning to rank", "boosted trees"])
JUDGED = JudgedPairs(["q1", "q1", "q2"], ["d1", "d2", "d3"], np.array([2, 0, 1], np.float32))


class Collections:
    """A small file of each format and kind in turn."""

    def prepare(self, seeds: Path) -> None:
        seeds.mkdir(parents=True, exist_ok=True)
        for name, content in files().items():
            (seeds / name).write_bytes(content)

    def warm_up(self, seeds: Path) -> None:
        for name in files():
            target = seeds.parent / "mutant.rw"
            target.write_bytes(f"{name}\n".encode() + (seeds / name).read_bytes())
            self.judge(target)

    def make(self, seeds: Path, rng: np.random.Generator, number: int, target: Path) -> None:
        name = list(files())[number % len(files())]
        target.write_bytes(f"{name}\n".encode() + mutant_of((seeds / name).read_bytes(), rng))

    def judge(self, target: Path) -> None:
        name, _, content = target.read_bytes().partition(b"\n")
        path = target.with_name(name.decode())
        path.write_bytes(content)
        refusing(lambda: JUDGES[path.name.partition("-")[0]](path), path.name)


def _judge_documents(path: Path) -> None:
    found = read_documents(path)
    seen: set[str] = set()
    for batch in found.batches():
        require(all(batch.ids) and not seen & set(batch.ids), "an id is empty or came before")
        seen |= set(batch.ids)
        require(len(set(batch.ids)) == len(batch), "an id is twice in a batch")
        require(all(len(column) == len(batch) for column in batch.texts.values()), "texts are missing")
        require(set(batch.texts) == {field.name for field in found.fields if field.is_text}, "fields differ")
        for text in (*batch.ids, *(text for column in batch.texts.values() for text in column)):
            text.encode()  # what is no text in UTF-8 raises
        for column in batch.numbers.values():
            require(not np.isinf(column).any() and column.shape == (len(batch),), "numbers are odd")
        require(batch.links is None or len(batch.links) == len(batch), "links are missing")
    _judge_lines(found.problems.lines())


def _judge_queries(path: Path) -> None:
    found = read_queries(path)
    require(len(found) > 0 and all(found.ids) and all(found.texts), "a query has no id or no text")
    _judge_lines(found.problems.lines())


def _judge_judgments(path: Path) -> None:
    found = read_judgments(path)
    require(bool(np.isfinite(found.grades).all()) and len(found) > 0, "grades are odd")
    _judge_lines(found.problems.lines())


def _judge_log(path: Path) -> None:
    with quiet():
        joined = join_log(path, JUDGED, queries=QUERIES)
    require(not np.isinf(joined.data.features).any(), "features are odd")
    require(joined.data.labels is not None and len(joined.data.labels) == joined.data.n_docs, "labels are missing")
    _judge_lines(joined.lines())


def _judge_lines(lines: list[str]) -> None:
    require(all(escaped_line(line) == line for line in lines), f"a line commands a terminal: {lines!r}")


JUDGES: Mapping[str, Callable[[Path], None]] = {
    "documents": _judge_documents,
    "queries": _judge_queries,
    "judgments": _judge_judgments,
    "log": _judge_log,
}


@cache
def files() -> dict[str, bytes]:
    """The seeds by name; what stands before the first hyphen is their kind."""
    documents = [
        {"id": f"d{number}", "title": f"On {word}", "body": f"{word} and more\nof {word}", "price": number / 2,
         "published": f"2024-05-{number:02}", "links": ["d1", "d2"][: number % 3]}
        for number, word in enumerate(("ranking", "trees", "forests", "nets", "Größe"), start=1)]  # fmt: skip
    plain = [{name: value for name, value in one.items() if name != "links"} for one in documents]
    trec = "".join(
        f"<DOC>\n<DOCNO>{one['id']}</DOCNO>\n<TITLE>{one['title']}</TITLE>\n"
        f"<TEXT>{one['body']} &amp; <b>more</b></TEXT>\n</DOC>\n"
        for one in documents
    )
    return {
        "documents-a.jsonl": _lines(documents),
        "documents-b.csv": _table(plain, ","),
        "documents-c.tsv": _table([one | {"body": "one line"} for one in plain], "\t"),
        "documents-d.parquet": _parquet(documents),
        "documents-e.trec": trec.encode(),
        "documents-f": _lines(documents),
        "queries-a.tsv": b"q1\tlearning to rank\nq2\tboosted trees\n",
        "queries-b.csv": b'id,query,time\nq1,"learning, to rank",2024-01-01\nq2,boosted trees,\n',
        "queries-c.jsonl": _lines([{"_id": "q1", "text": "learning to rank"}, {"_id": "q2", "text": "trees"}]),
        "judgments-a.qrels": b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n",
        "judgments-b.csv": b"query,document,grade,time\nq1,d1,2,1700000000\nq1,d2,0,\nq2,d3,1,\n",
        "judgments-c.jsonl": _lines([{"query": "q1", "shown": ["d1", "d2"], "clicks": [2]}] * 3),
        **{f"log-{name}.json": _lines(responses) for name, responses in _logs().items()},
        "log-table.csv": b"qid,docid,label,bm25\nq1,d1,0,1.5\nq1,d2,0,2.5\nq2,d3,0,0.5\n",
    }


def _logs() -> dict[str, list[dict[str, object]]]:
    found: dict[str, list[dict[str, object]]] = {"elastic": [], "solr": [], "vespa": []}
    for query, documents in {"q1": ("d1", "d2"), "q2": ("d3",)}.items():
        logged = [{"log": [{"name": "title", "value": 1.5}, {"name": "body"}]}]
        hits = [{"_id": name, "fields": {"_ltrlog": logged}} for name in documents]
        found["elastic"].append({"query": query, "hits": {"hits": hits}})
        docs = [{"id": name, "[features]": "title=1.5,body=0.25"} for name in documents]
        found["solr"].append({"responseHeader": {"params": {"q": "learning to rank"}}, "response": {"docs": docs}})
        leaves = [{"id": f"id:a:b::{name}", "fields": {"matchfeatures": {"bm25(title)": 2.5}}} for name in documents]
        found["vespa"].append({"qid": query, "response": {"root": {"children": leaves}}})
    return found


def _lines(records: list[dict[str, object]]) -> bytes:
    return "\n".join(map(json.dumps, records)).encode()


def _table(records: list[dict[str, object]], delimiter: str) -> bytes:
    file = io.StringIO()
    writer = csv.DictWriter(file, list(records[0]), delimiter=delimiter)
    writer.writeheader()
    writer.writerows(records)
    return file.getvalue().encode()


def _parquet(records: list[dict[str, object]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(records), file, compression="none")
    return file.getvalue()
