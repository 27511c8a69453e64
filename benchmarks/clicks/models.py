"""How well does each click model predict real clicks, and what is its relevance worth beside human labels?

    python -m benchmarks.clicks.models --log ../shared/data/clara2-clicks/log.jsonl.gz \\
        --labels ../shared/data/clara2-clicks/labels.qrels.gz [--seeds 5]

Each model is fitted on four fifths of the lists and measured on the rest, in several splits. The p-values are those
of paired tests over queries against the click rates of ranks: a t-test of log-likelihoods; a bootstrap, by a hundred
groups of queries, of the conditional perplexity that is printed, which is no mean over queries; and a t-test of the
perplexities of single queries, in which every query counts the same and a few that surprise a model weigh much. The
last two need not agree: read both. Of several splits the largest p is told. The labels follow the engine's own order,
which is why the shown order does best.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from benchmarks.helpers.records import show
from scipy.stats import ttest_1samp

import rankwright as rw
from rankwright import clicks

METRICS = ["ndcg@5", "ndcg@10"]
N_GROUPS, DRAWS = 100, 9999


def by_query(found: clicks.ClickEvaluation) -> np.ndarray:
    """The log-likelihood of all lists of each query, of those that have lists."""
    sums = np.bincount(found.queries, weights=found.of_list * found.counts)
    return np.asarray(sums[np.bincount(found.queries) > 0])


def perplexity_by_query(found: clicks.ClickEvaluation, held: clicks.ClickLog) -> np.ndarray:
    """2 to the mean surprise, in bits, of the shown documents of each query, each given the clicks above it."""
    n_shown = np.bincount(held.queries, weights=held.list_counts * np.diff(held.offsets))
    return np.asarray(2 ** (-by_query(found) / np.log(2) / n_shown[n_shown > 0]))


def bits_by_group(model: clicks.ClickModel, held: clicks.ClickLog) -> tuple[np.ndarray, np.ndarray]:
    """The surprise in bits at each rank, given the clicks above, and how often it was shown, for groups of queries."""
    n_ranks = int(np.diff(held.offsets).max())
    bits, seen = np.zeros((2, N_GROUPS, n_ranks))
    for group in range(N_GROUPS):
        own = held.take(held.queries % N_GROUPS == group)
        if len(own.queries):
            seen[group] = np.bincount(own.ranks, weights=own.list_counts[own.list_of_row], minlength=n_ranks)
            at_rank = model.evaluate(own).conditional_at
            bits[group, : len(at_rank)] = np.log2(at_rank) * seen[group, : len(at_rank)]
    return bits, seen


def perplexity(bits: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """The conditional perplexity, averaged over ranks as often as they were shown; ranks are the last axis."""
    return np.asarray((2 ** (bits / np.maximum(seen, 1)) * seen).sum(axis=-1) / seen.sum(axis=-1))


def p_of_perplexity(found: tuple[np.ndarray, np.ndarray], usual: tuple[np.ndarray, np.ndarray]) -> float:
    """How often the perplexity is not lower than the usual one when groups of queries are drawn again."""
    drawn = np.random.default_rng(0).multinomial(N_GROUPS, np.full(N_GROUPS, 1 / N_GROUPS), DRAWS).astype(float)
    ours, theirs = (perplexity(drawn @ bits, drawn @ seen) for bits, seen in (found, usual))
    return float((1 + (ours >= theirs).sum()) / (DRAWS + 1))


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
        likelihoods, perplexities = [], []
        p_likelihoods, p_perplexities, p_queries = [], [], []
        for seed in range(given.seeds):
            train, held = (part.merged() for part in log.split(0.2, seed=seed))
            by_rank, model = clicks.click_model("rank-rate").fit(train), clicks.click_model(name).fit(train)
            usual, found = by_rank.evaluate(held), model.evaluate(held)
            likelihoods.append(found.log_likelihood)
            perplexities.append(found.conditional_perplexity)
            gains = by_query(found) - by_query(usual)
            losses = perplexity_by_query(found, held) - perplexity_by_query(usual, held)
            if name != "rank-rate":
                p_queries.append(float(ttest_1samp(losses, 0, alternative="less").pvalue))
                p_likelihoods.append(float(ttest_1samp(gains, 0, alternative="greater").pvalue))
                p_perplexities.append(p_of_perplexity(bits_by_group(model, held), bits_by_group(by_rank, held)))
        rows.append(
            {
                "model": name,
                "log-likelihood": float(np.mean(likelihoods)),
                "p": f"{max(p_likelihoods, default=1.0):.1e}",
                "conditional perplexity": float(np.mean(perplexities)),
                "p of perplexity": f"{max(p_perplexities, default=1.0):.1e}",
                "p of single queries'": f"{max(p_queries, default=1.0):.1e}",
            }
        )
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
