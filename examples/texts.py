"""A folder of documents, queries and judgments: an index, features, tuned BM25F, and a ranker that is better.

    python examples/texts.py

The documents are a synthetic handbook, in which the order of words tells which pages treat a query. Take your own by
giving `read_documents`, `read_queries` and `read_judgments` your files.
"""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import rankwright as rw
from rankwright.text import build_index, features_of, open_index, read_documents, read_judgments, read_queries
from rankwright.text.feature_rows import choose_rows
from rankwright.text.model_features import rows_in_index, with_features_of
from rankwright.tuning.bm25f import tune_bm25f
from rankwright.tuning.strategies import TuningPlan


def main(n_queries: int = 120, n_trees: int = 100, trials: int = 100) -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        rw.synthetic.handbook(n_queries, seed=0).write(folder)
        return compared(Path(folder), n_trees, trials)


def compared(folder: Path, n_trees: int, trials: int) -> dict[str, Any]:
    # What is wrong with the files is counted, and told.
    documents = read_documents(folder / "documents")
    build_index(documents, folder / "INDEX")
    queries, judged = read_queries(folder / "queries.tsv"), read_judgments(folder / "judgments.qrels")
    for line in (*documents.problems.lines(), *queries.problems.lines(), *judged.problems.lines()):
        print(line)

    # The best 50 documents of each query by BM25, with the features that suit the fields of the documents.
    index = open_index(folder / "INDEX")
    data = features_of(index, choose_rows(index, queries, judged, candidates=50).rows)
    print(f"{data.n_queries} queries, {data.n_docs:,} documents, {data.n_features} features")
    train, test = data.split(valid=0.3, seed=0)

    # The opponent: BM25F, its weights searched for on the training queries.
    tuned = tune_bm25f(index, rows_in_index(train, index, queries), plan=TuningPlan(trials=trials))
    print(f"bm25f: {tuned.line.settings}")

    # A ranker that learns from all features; its file keeps how they are made.
    ranker = rw.LambdaMART(n_trees=n_trees, max_leaves=7, seed=0).fit(train)
    ranker.save(folder / "ranker.rw")
    loaded = rw.load(folder / "ranker.rw")
    print(f"the file tells how {len(loaded.trained_.features.origin.specification.names)} features are made")

    # Both on queries that neither has seen; the column of BM25F is computed for them.
    both = with_features_of(tuned.scorer.trained_.features.origin, test, index, queries)
    found = rw.compare({"bm25f": tuned.scorer, "lambdamart": loaded}, both, ["ndcg@10"])
    print(found)
    return {"comparison": found, "tuned": tuned}


if __name__ == "__main__":
    main()
