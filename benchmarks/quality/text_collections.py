"""Do rankers that learn from features of texts rank better than BM25F, tuned on the same queries?

Five folds by query. In each, BM25F is tuned on the training queries alone (200 configurations by TPE), and the rankers
are trained on them with all features of the default specification. On mwmbl and crowdflower the judged documents of a
query are ranked again, on cranfield and cacm its best 1,000 by BM25, of which those that nobody judged count as 0.
NDCG@10 of the test queries is paired. What is kept is not computed again: a run that was stopped goes on.

    python -m benchmarks.quality.text_collections                                          # hours
    python -m benchmarks.quality.text_collections --systems "lambdamart(n_trees=100)"      # minutes
    python -m benchmarks.quality.text_collections --no-runs                                # tell what is there
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from benchmarks.helpers.places import DATA, RESULTS
from benchmarks.helpers.records import show, slug_of
from benchmarks.quality.judge import differences, judge_pooled, judge_set
from benchmarks.quality.systems import scores_of

import rankwright as rw
from rankwright.arrays import Float64Array, IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.text import Index, build_index, open_index, read_documents, read_judgments, read_queries
from rankwright.text.feature_rows import choose_rows
from rankwright.text.features import QueryDocuments, features_of
from rankwright.text.model_features import rows_in_index, with_features_of
from rankwright.tuning.bm25f import tune_bm25f
from rankwright.tuning.strategies import TuningPlan

# How many candidates a query has; None ranks the documents that were judged.
COLLECTIONS: Mapping[str, int | None] = {"crowdflower": None, "mwmbl": None, "cacm": 1000, "cranfield": 1000}
SYSTEMS = ("lambdamart()", "bl-mart()")
BASELINE = "bm25f"
METRIC, FOLDS, SEED, TRIALS = "ndcg@10", 5, 0, 200
KEPT = RESULTS / "text-collections"


class Judged:
    """The judged queries of a collection with their documents and features, in folds."""

    def __init__(self, name: str, folder: str) -> None:
        source = DATA / "text" / name
        path = Path(folder, name)
        build_index(read_documents(source / "documents.jsonl.gz"), path)
        self.index: Index = open_index(path)
        self.queries = read_queries(source / "queries.tsv.gz")
        judged = read_judgments(source / "judgments.qrels.gz")
        known = judged.of_known(self.queries, lambda ids: self.index.ordinals(ids) >= 0, name)
        rows = choose_rows(self.index, self.queries, known, candidates=COLLECTIONS[name]).rows
        self.data: RankingDataset = features_of(self.index, rows)

    def fold(self, number: int) -> tuple[RankingDataset, RankingDataset, IntArray]:
        """The documents to train on and to test on, and which queries the latter are of."""
        parts = np.array_split(np.random.default_rng(SEED).permutation(self.data.n_queries), FOLDS)
        tested = np.sort(parts[number])
        trained = np.setdiff1d(np.arange(self.data.n_queries), tested)
        return self.data.take_queries(trained), self.data.take_queries(tested), tested

    def rows(self, data: RankingDataset) -> QueryDocuments:
        return rows_in_index(data, self.index, self.queries)

    def scores(self, system: str, train: RankingDataset, test: RankingDataset) -> Float64Array:
        if system != BASELINE:
            return scores_of(system, train, test, SEED)
        plan = TuningPlan(strategy="tpe", trials=TRIALS, metric=METRIC, seed=SEED)
        scorer = tune_bm25f(self.index, self.rows(train), plan=plan).scorer
        return scorer.predict(with_features_of(scorer.trained_.features.origin, test, self.index, self.queries))


@cache
def collection(name: str, folder: str) -> Judged:
    return Judged(name, folder)


def kept_file(name: str, system: str, fold: int) -> Path:
    return KEPT / name / f"{slug_of(system)}-{fold}.json"


def measure(name: str, system: str, fold: int, folder: str) -> None:
    """Train and test one system on one fold, and keep the metric of each test query."""
    judged = collection(name, folder)
    train, test, queries = judged.fold(fold)
    scores = judged.scores(system, train, test)
    values = rw.evaluate(scores, test, [METRIC])[METRIC].values
    path = kept_file(name, system, fold)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(dict(zip(queries.tolist(), values.tolist(), strict=True))))
    print(f"{name}, fold {fold + 1}, {system}: {np.nanmean(values):.4f}", flush=True)


def values_of(name: str, system: str) -> Float64Array | None:
    """The metric of every query of a collection, each from the fold that tests it; None while one is lacking."""
    files = [kept_file(name, system, fold) for fold in range(FOLDS)]
    if not all(path.exists() for path in files):
        return None
    found = {int(query): value for path in files for query, value in json.loads(path.read_text()).items()}
    return np.array([found[query] for query in sorted(found)], np.float64)


def told(systems: Sequence[str], names: Sequence[str]) -> list[dict[str, Any]]:
    """A row for each system and collection, and one for the mean of the collections."""
    rows = []
    for system in systems:
        both = {name: (values_of(name, system), values_of(name, BASELINE)) for name in names}
        whole = {name: pair for name, pair in both.items() if pair[0] is not None and pair[1] is not None}
        ours = {name: pair[0] for name, pair in whole.items() if pair[0] is not None}
        base = {name: pair[1] for name, pair in whole.items() if pair[1] is not None}
        gaps = differences(ours, base)
        verdicts = {name: judge_set(values) for name, values in gaps.items()}
        if len(gaps) > 1:
            verdicts[f"mean of {len(gaps)}"] = judge_pooled(gaps)
        for name, verdict in verdicts.items():
            means = (
                {BASELINE: float(np.nanmean(base[name])), "ranker": float(np.nanmean(ours[name]))}
                if name in ours
                else {}
            )
            interval = f"{verdict.low:+.4f} to {verdict.high:+.4f}"
            rows.append({"system": system, "collection": name, **means, "difference": verdict.difference,
                         "interval": interval})  # fmt: skip
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS))
    parser.add_argument("--collections", nargs="+", default=list(COLLECTIONS), choices=list(COLLECTIONS))
    parser.add_argument("--no-runs", action="store_true", help="only tell what is there")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        for name in [] if options.no_runs else options.collections:
            for system in (BASELINE, *options.systems):
                for fold in range(FOLDS):
                    if not kept_file(name, system, fold).exists():
                        measure(name, system, fold, folder)
    question = "Rankers on features of texts against BM25F, both tuned or trained on the same folds: NDCG@10"
    show("text collections", question, told(options.systems, options.collections), folds=FOLDS, trials=TRIALS)


if __name__ == "__main__":
    main()
