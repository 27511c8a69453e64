"""Do prediction-powered intervals hold, and how wide are they compared with theory?

    python -m benchmarks.judgments.few_human_labels [--simulations 10000] [--resamples 2000] [--seed 0]

Simulated: values of queries in [0, 1] by people, and by models of several qualities that overrate. Width is that of
the interval as a share of the one from people's labels alone; theory gives √(1 − ρ² N / (N + n)). Real: the queries of
mwmbl and crowdflower are the population, from which queries are drawn with replacement; of some of them the judgments
are known as people's, and of all of them as a model's: how many words of the query the title has, as grades. NDCG@10,
P@10 and MRR@10 of one ranker (words in the body), and differences from another (words in the title).
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.helpers.places import DATA
from benchmarks.helpers.records import show

import rankwright as rw
from rankwright.judgments import powered_mean

SIZES = ((30, 300), (50, 500), (100, 400), (200, 2000))  # queries judged by people, and by the model alone
NOISES = (0.03, 0.1, 0.2, 0.5)
METRICS = ("ndcg@10", "p@10", "mrr@10")


def simulated(n: int, others: int, noise: float, simulations: int, seed: int) -> dict[str, Any]:
    """Coverage and width over many samples; the model overrates, and is right in parts."""
    rng = np.random.default_rng([seed, n, others, int(1000 * noise)])
    truth, inside, widths, alone = 0.5, 0, 0.0, 0.0
    for _ in range(simulations):
        y = rng.beta(2, 2, n + others)
        x = 0.25 + 0.6 * y + rng.normal(0, noise, n + others)
        found = powered_mean(y[:n], x[:n], x[n:], bounds=(0.0, 1.0))
        inside += found.interval.low <= truth <= found.interval.high
        widths += found.interval.high - found.interval.low
        alone += found.human_interval.high - found.human_interval.low
    deviation = np.sqrt(1 / 20)  # of a beta(2, 2)
    correlation = 0.6 * deviation / np.sqrt((0.6 * deviation) ** 2 + noise**2)
    theory = np.sqrt(1 - correlation**2 * others / (others + n))
    return {"people": n, "model alone": others, "ρ": float(correlation), "covers": inside / simulations,
            "width": widths / alone, "by theory": float(theory),
            "width / theory": float(widths / alone / theory)}  # fmt: skip


def words(text: str) -> set[str]:
    """The words of a text."""
    return set("".join(letter if letter.isalnum() else " " for letter in text.lower()).split())


def judged_documents(name: str) -> tuple[dict[str, np.ndarray], np.ndarray, np.ndarray]:
    """Scores of two rankers and of the model, labels, and query of each judged document."""
    folder = DATA / "text" / name
    with gzip.open(folder / "documents.jsonl.gz", "rt") as file:
        texts = {one["id"]: one for one in map(json.loads, file)}
    with gzip.open(folder / "queries.tsv.gz", "rt") as file:
        queries = dict(line.rstrip("\n").split("\t")[:2] for line in file)
    title, body, labels, qid = [], [], [], []
    with gzip.open(Path(folder, "judgments.qrels.gz"), "rt") as file:
        for line in file:
            query, _, document, label = line.split()
            wanted, own = words(queries[query]), texts[document]
            title.append(len(wanted & words(own.get("title") or "")) / max(1, len(wanted)))
            body.append(len(wanted & words(own.get("body") or "")) / max(1, len(wanted)))
            labels.append(float(label))
            qid.append(query)
    ties = np.arange(len(labels)) * 1e-9  # so that lists have one order
    scores = {"title": np.array(title) - ties, "body": np.array(body) - ties}
    return scores, np.array(labels), np.array(qid)


def values_of(scores: np.ndarray, labels: np.ndarray, qid: np.ndarray) -> dict[str, np.ndarray]:
    """Each metric of each query."""
    found = rw.evaluate(scores, labels=labels, qid=qid, metrics=METRICS, threads=1)
    return {metric: found[metric].values for metric in METRICS}


def real(name: str, n: int, resamples: int, seed: int) -> list[dict[str, Any]]:
    """Coverage and width where queries of a data set are drawn anew, and some of them are judged by people."""
    scores, labels, qid = judged_documents(name)
    by_model = np.rint(3 * np.clip(scores["title"], 0, 1))  # overrates: every word found is a full grade
    people = {system: values_of(own, labels, qid) for system, own in scores.items()}
    model = {system: values_of(own, by_model, qid) for system, own in scores.items()}
    rows = []
    for metric in METRICS:
        cases = {
            f"{metric} of body": (people["body"][metric], model["body"][metric]),
            f"{metric}, body - title": (people["body"][metric] - people["title"][metric],
                                        model["body"][metric] - model["title"][metric]),
        }  # fmt: skip
        for case, (y, x) in cases.items():
            rng, bounds = np.random.default_rng(seed), (0.0, 1.0) if " of " in case else None
            inside = 0
            widths = alone = 0.0
            for _ in range(resamples):
                drawn = rng.integers(0, len(y), len(y))
                found = powered_mean(y[drawn[:n]], x[drawn[:n]], x[drawn[n:]], bounds=bounds)
                inside += found.interval.low <= y.mean() <= found.interval.high
                widths += found.interval.high - found.interval.low
                alone += found.human_interval.high - found.human_interval.low
            rho = float(np.corrcoef(x, y)[0, 1]) if x.std() > 0 else 0.0
            theory = float(np.sqrt(1 - rho**2 * (len(y) - n) / len(y)))
            rows.append({"data": name, "what": case, "people": n, "queries": len(y), "truth": float(y.mean()),
                         "model alone": float(x.mean()), "ρ": rho, "covers": inside / resamples,
                         "width": widths / alone, "by theory": theory})  # fmt: skip
    return rows


def main() -> None:
    """Simulate, then ask real judgments."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulations", type=int, default=10_000)
    parser.add_argument("--resamples", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rows = [simulated(n, others, noise, given.simulations, given.seed) for n, others in SIZES for noise in NOISES]
    show("judgments few labels simulated", "95 % intervals from few human labels and a model's", rows)
    rows = [
        row for name, n in (("mwmbl", 60), ("crowdflower", 40)) for row in real(name, n, given.resamples, given.seed)
    ]
    show("judgments few labels real", "The same where judgments of real queries are hidden", rows)


if __name__ == "__main__":
    main()
