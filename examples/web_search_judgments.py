"""Web search with human judgments: from a file to a ranker that is measured, compared and explained.

    python examples/web_search_judgments.py [DATA]

DATA is a file of judged documents (LETOR text, CSV, Parquet); without it, web-search-like data is made up.
"""

from __future__ import annotations

import sys
from typing import Any

import rankwright as rw

METRICS = ["ndcg@10", "map", "mrr"]


def main(path: str | None = None, n_trees: int = 60) -> dict[str, Any]:
    data = rw.read(path) if path else rw.synthetic.web_search(n_queries=90, docs_per_query=40, seed=0)
    train, valid, test = data.split(valid=0.2, test=0.3, seed=0)  # by query: no query is in two parts
    print(f"{train.n_queries} queries to learn from, {valid.n_queries} to choose by, {test.n_queries} to measure on")

    # A baseline is the single feature that ranks the training queries best: what a model must beat.
    columns = dict(zip(train.names, train.features.T, strict=True))
    best = max(columns, key=lambda name: rw.evaluate(columns[name], train, "ndcg@10")["ndcg@10"].mean)
    baseline = test.features[:, test.names.index(best)]

    forest = rw.LambdaMART(n_trees=n_trees, max_leaves=7, seed=0).fit(train, valid=valid)
    net = rw.RankNet(epochs=20, seed=0).fit(train, valid=valid)
    found = rw.compare({"lambdamart": forest, "ranknet": net, best: baseline}, test, METRICS)
    print(found)

    query = test.qid[0]
    listed = forest.explain(test, query=query)
    first, second = (listed.documents[place] for place in listed.order[:2])
    print(f"Why is document {first} above {second} for query {query}?")
    print(forest.explain(test, query=query, documents=(first, second)))
    return {"comparison": found, "forest": forest, "test": test, "best feature": best}


if __name__ == "__main__":
    main(*sys.argv[1:2])
