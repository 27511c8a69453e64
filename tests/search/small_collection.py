"""A small collection to search, with texts of strangers in it, and rankers that were trained on it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import rankwright as rw
from rankwright.linear.bm25f import bm25f_scorer
from rankwright.text import build_index, choose_rows, features_of, read_documents, read_judgments, read_queries
from rankwright.tuning.bm25f import bm25f_line

HOSTILE = (
    "<script>alert('title')</script>",
    '"quoted" & <b>bold</b>',
    "</script><script>document.title = 'taken'</script>",
    "<img src=x onerror=alert(1)>",
    "{{ 7 * 7 }} {% raw %}",
    "שלום עולם",
    "🚀 emoji 👩‍🔬",
    "javascript:alert(1)",
    "'; DROP TABLE judgments; --",
    "\x1b[31mred\x1b[0m",
)
WORDS = (
    "harbour",
    "lantern",
    "meadow",
    "copper",
    "violin",
    "glacier",
    "orchard",
    "compass",
    "thunder",
    "marble",
    "saddle",
    "pepper",
    "ribbon",
    "tunnel",
    "falcon",
    "anchor",
    "basket",
    "candle",
    "desert",
    "engine",
)
N_DOCUMENTS, N_QUERIES = 120, 30


@dataclass(frozen=True)
class Searchable:
    """A folder with an index, queries, judgments and two models."""

    folder: Path

    @property
    def index(self) -> Path:
        return self.folder / "INDEX"

    @property
    def queries(self) -> Path:
        return self.folder / "queries.tsv"

    @property
    def qrels(self) -> Path:
        return self.folder / "judgments.qrels"

    @property
    def tuned(self) -> Path:
        return self.folder / "bm25f.rw"

    @property
    def model(self) -> Path:
        return self.folder / "forest.rw"


def documents(rng: np.random.Generator) -> list[dict[str, object]]:
    made: list[dict[str, object]] = []
    for number in range(N_DOCUMENTS):
        title, body = rng.choice(WORDS, 3, replace=False), rng.choice(WORDS, 60)
        hostile = HOSTILE[number % len(HOSTILE)] if number % 3 == 0 else ""
        made.append(
            {
                "id": f"d{number}{hostile.replace(' ', '')[:12] if number % 6 == 0 else ''}",
                "title": f"{' '.join(title)} {hostile}".strip(),
                "body": f"{' '.join(body[:20])}. {hostile} {' '.join(body[20:])}",
                "year": 1980 + number % 40,
                "links": [f"d{(number * 7 + 1) % N_DOCUMENTS}"],
            }
        )
    return made


def make_searchable(folder: Path) -> Searchable:
    """Index, judge and train."""
    made, rng = Searchable(folder), np.random.default_rng(0)
    pages = documents(rng)
    (folder / "documents.jsonl").write_text("\n".join(map(json.dumps, pages)))
    queries, judged = [], []
    for number in range(N_QUERIES):
        page = pages[int(rng.integers(N_DOCUMENTS))]
        words = str(page["title"]).split()[:2]
        text = " ".join(words) if number % 10 else f"{words[0]} {HOSTILE[number % len(HOSTILE)]}"
        queries.append(f"q{number}\t{text}")
        judged.append(f"q{number} 0 {page['id']} 3" if " " not in str(page["id"]) else f"q{number} 0 d1 1")
    made.queries.write_text("\n".join(queries) + "\n")
    made.qrels.write_text("\n".join(judged) + "\n")
    index = build_index(read_documents(folder / "documents.jsonl"), made.index)
    asked = read_queries(made.queries)
    known = read_judgments(made.qrels).of_known(asked, lambda ids: index.ordinals(ids) >= 0, "qrels")
    rows = choose_rows(index, asked, known, candidates=50)
    data = features_of(index, rows.rows)
    rw.LambdaMART(n_trees=20, max_leaves=5, min_docs_in_leaf=5, threads=1).fit(data).save(made.model)
    weights = {"weight.title": 0.2, "weight.body": 1.0}
    bm25f_scorer(index, bm25f_line(index.text_fields, weights)).save(made.tuned)
    return made
