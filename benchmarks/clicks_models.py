"""How well does each click model foretell real clicks, and what is its relevance worth beside human labels?

    python -m benchmarks.clicks_models --log ../shared/data/clara2-clicks/log.jsonl.gz \\
        --labels ../shared/data/clara2-clicks/labels.qrels.gz [--seeds 5]

Each model is fitted on four fifths of the lists and measured on the rest; p is that of a paired t-test over queries
against the click rates of ranks. The labels follow the engine's own order, which is why the shown order does best.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from benchmarks.clicks_tables import show
from scipy.stats import ttest_1samp

import rankwright as rw
from rankwright import clicks

METRICS = ["ndcg@5", "ndcg@10"]


def by_query(found: clicks.ClickEvaluation) -> np.ndarray:
    return np.bincount(found.queries, weights=found.of_list * found.counts)


def labelled(log: clicks.ClickLog, path: str) -> tuple[rw.RankingDataset, np.ndarray, np.ndarray]:
    """The judged documents of the log as data, with their places in the log's ids."""
    judged = rw.read_qrels(path)
    grade = {
        (str(q), str(d)): float(g) for q, d, g in zip(judged.query_ids, judged.document_ids, judged.labels, strict=True)
    }
    pairs = np.unique(np.stack([log.queries[log.list_of_row], log.documents]), axis=1)
    keys = [(str(log.query_ids[q]), str(log.document_ids[d])) for q, d in pairs.T]
    known = np.array([key in grade for key in keys])
    labels = [grade[key] for key in keys if key in grade]
    data = rw.RankingDataset.from_arrays(np.zeros((len(labels), 1)), labels, qid=pairs[0][known])
    return data, pairs[0][known], pairs[1][known]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", required=True)
    parser.add_argument("--labels")
    parser.add_argument("--seeds", type=int, default=5)
    given = parser.parse_args()
    log = clicks.read_log(given.log)
    rows = []
    for name in clicks.CLICK_MODELS:
        likelihoods, perplexities, gains = [], [], []
        for seed in range(given.seeds):
            train, held = log.split(0.2, seed=seed)
            usual = clicks.click_model("rank-rate").fit(train).evaluate(held)
            found = clicks.click_model(name).fit(train).evaluate(held)
            likelihoods.append(found.log_likelihood)
            perplexities.append(found.conditional_perplexity)
            gains.append(by_query(found) - by_query(usual))
        p = (
            1.0
            if name == "rank-rate"
            else float(ttest_1samp(np.concatenate(gains[:1]), 0, alternative="greater").pvalue)
        )
        mean = float(np.mean(likelihoods))
        rows.append({"model": name, "log-likelihood": mean, "perplexity": float(np.mean(perplexities)), "p": p})
    show("clicks_models", "Held-out clicks: mean log-likelihood of a list, conditional perplexity", rows)
    if given.labels is None:
        return
    data, queries, documents = labelled(log, given.labels)
    scores = {}
    for name in clicks.CLICK_MODELS:
        relevance = clicks.click_model(name).fit(log).relevance()
        value_of = dict(zip(zip(relevance.queries, relevance.documents, strict=True), relevance.mean, strict=True))
        scores[name] = np.array([value_of[key] for key in zip(queries, documents, strict=True)])
    ranks: Any = clicks.click_rates(
        rw.RankingDataset.from_arrays(
            np.zeros((len(queries), 1)), qid=log.query_ids[queries], document_ids=log.document_ids[documents]
        ),
        log,
    )
    scores["click rate"], scores["shown order"] = ranks.labels, -ranks.positions.astype(float)
    rows = []
    for name, values in scores.items():
        measured = rw.evaluate(values, data, METRICS)
        rows.append({"relevance of": name} | {metric: measured[metric].mean for metric in METRICS})
    show("clicks_labels", "NDCG of each model's relevance by human labels", rows)


if __name__ == "__main__":
    main()
