"""Counts of an index against those of SQLite's full-text index, on the same tokens."""

from __future__ import annotations

import sqlite3

import numpy as np
import pytest

from rankwright.text import Analyser, build_index, read_documents

FIELDS = ("title", "body")


@pytest.mark.oracle
def test_counts_and_positions_are_those_of_sqlite(tmp_path):
    rng = np.random.default_rng(8)
    words = [f"w{number}" for number in range(80)]
    shares = 1 / np.arange(1, 81)
    documents = [
        {"id": str(number)}
        | {field: " ".join(rng.choice(words, rng.integers(1, most), p=shares / shares.sum()))
           for field, most in zip(FIELDS, (6, 80), strict=True)}
        for number in range(700)
    ]  # fmt: skip
    index = build_index(read_documents(documents), tmp_path / "index", analyser=Analyser(language=None))
    base = sqlite3.connect(":memory:")
    try:
        base.execute("CREATE VIRTUAL TABLE texts USING fts5(title, body)")
    except sqlite3.OperationalError:
        pytest.skip("this SQLite has no FTS5")
    base.executemany("INSERT INTO texts (rowid, title, body) VALUES (?, ?, ?)",
                     [(number, one["title"], one["body"]) for number, one in enumerate(documents)])  # fmt: skip
    for kind in ("row", "col", "instance"):
        base.execute(f"CREATE VIRTUAL TABLE {kind}s USING fts5vocab(texts, {kind})")

    rows = base.execute("SELECT term, doc FROM rows").fetchall()
    assert index.statistics([term for term, _ in rows]).any_frequency.tolist() == [count for _, count in rows]
    for term, column, having, count in base.execute("SELECT term, col, doc, cnt FROM cols"):
        found = index.statistics([term])
        assert found.document_frequency[0, FIELDS.index(column)] == having
        assert found.collection_count[0, FIELDS.index(column)] == count

    (segment,) = index.segments
    numbers = dict(zip(words, segment.numbers_of(words).tolist(), strict=True))
    streams = {field: segment.stream(field) for field in FIELDS}
    n_tokens = 0
    for term, document, column, place in base.execute("SELECT term, doc, col, offset FROM instances"):
        offsets, tokens = streams[column]
        assert tokens[offsets[document] + place] == numbers[term]
        n_tokens += 1
    assert n_tokens == index.totals().tokens.sum()
