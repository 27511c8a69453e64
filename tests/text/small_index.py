"""A small collection with every kind of field, and its index."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from rankwright.text import Index, build_index, read_documents
from rankwright.text.features import QueryDocuments

DOCUMENTS: list[dict[str, object]] = [
    {"id": "a", "title": "red boat", "body": "the red boat sails past a boat", "url": "https://www.boats.org/red/1?x=2&y=3",
     "price": 3.5, "published": "2024-01-01", "links": ["b", "c"]},
    {"id": "b", "title": "blue boat", "body": "blue sails", "url": "http://sails.com/", "price": 10.0,
     "published": "2024-01-11", "links": ["a"]},
    {"id": "c", "title": "harbour", "body": "a harbour for boats, red ropes and a blue anchor for each red boat",
     "url": "https://example.net/harbour/ropes", "price": None, "published": None, "links": []},
    {"id": "d", "title": "", "body": "", "url": "", "price": 1.0, "published": "2024-01-21", "links": ["a", "a"]},
]  # fmt: skip
QUERIES = ["red boat", "blue sail", "boat boat harbour", "", "nowhere to be found", "harbour"]
TIME = 1706745600.0  # 2024-02-01


def index_of(folder: Path, documents: list[dict[str, object]] = DOCUMENTS, parts: int = 1) -> Index:
    """The index of the documents, in so many segments."""
    kinds = {"price": "number", "published": "date", "links": "links", "url": "url"}
    fields = {name: kind for name, kind in kinds.items() if name in documents[0]}
    for part, own in enumerate(np.array_split(np.array(documents, object), parts)):
        index = build_index(read_documents(own.tolist(), fields=fields), folder, append=part > 0)
    return index


def every_pair(index: Index, queries: list[str] = QUERIES) -> QueryDocuments:
    """Every query with every document."""
    n, ids = index.n_documents, [f"q{number}" for number in range(len(queries))]
    rows = QueryDocuments(ids, queries, np.arange(len(queries) + 1) * n, np.tile(np.arange(n), len(queries)))
    return QueryDocuments(ids, queries, rows.offsets, rows.ordinals, times=np.full(len(queries), TIME))
