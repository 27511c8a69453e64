"""Hits of Elasticsearch or OpenSearch in the order of a served ranker.

    python examples/rescore_search.py http://127.0.0.1:9200 INDEX "red boat" FEATURE_SET http://127.0.0.1:8000

The engine finds candidates and logs their features (its learning-to-rank plugin does); `rankwright serve` orders them.
"""

from __future__ import annotations

import json
import sys
from typing import Any
from urllib.request import Request, urlopen

from rankwright.client import RankClient

LOG = "features"  # what the log is called in the answer


def rescored(
    engine: str, index: str, words: str, *, feature_set: str, client: RankClient, candidates: int = 100, top: int = 10
) -> list[dict[str, Any]]:
    """The best hits for some words, the best first."""
    hits = search(engine, index, words, feature_set, candidates)
    if not hits:
        return []
    names = client.models()[0].features
    logged = [features_of(hit) for hit in hits]
    # The engine leaves out a feature whose query did not match; a feature that it has never heard of is refused.
    documents = [{name: features.get(name, 0.0) for name in names} for features in logged]
    ranked = client.rank(documents, ids=[hit["_id"] for hit in hits], query=words, top=top)
    return [hits[row] for row in ranked.order]


def search(engine: str, index: str, words: str, feature_set: str, candidates: int) -> list[dict[str, Any]]:
    """Candidates with the features that the engine logs."""
    logged = {"sltr": {"_name": LOG, "featureset": feature_set, "params": {"keywords": words}}}
    body = {
        "size": candidates,
        "query": {"bool": {"must": {"multi_match": {"query": words}}, "filter": [logged]}},
        "ext": {"ltr_log": {"log_specs": {"name": LOG, "named_query": LOG}}},
    }
    asked = Request(f"{engine}/{index}/_search", json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urlopen(asked, timeout=10) as answer:
        found: list[dict[str, Any]] = json.load(answer)["hits"]["hits"]
    return found


def features_of(hit: dict[str, Any]) -> dict[str, float]:
    """The logged features of a hit by name."""
    log = hit["fields"]["_ltrlog"][0][LOG]
    return {one["name"]: one["value"] for one in log if one.get("value") is not None}


if __name__ == "__main__":
    engine, index, words, feature_set, ranker = sys.argv[1:]
    with RankClient(ranker) as client:
        for hit in rescored(engine, index, words, feature_set=feature_set, client=client):
            print(hit["_id"], json.dumps(hit.get("_source")))
