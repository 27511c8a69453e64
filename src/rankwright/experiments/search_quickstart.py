"""The quickstart of searching: the documentation of Python's standard library indexed, a ranker trained and compared.

Queries are those of people who look for a document that they know. BM25F is tuned on some of them, and LambdaMART
trained, with the tuned BM25F among its features; both are measured on others.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from rankwright.data.dataset import RankingDataset
from rankwright.experiments.standard_library import (
    documented_names,
    known_item_queries,
    standard_library_folder,
    write_collection,
)
from rankwright.mart.lambdamart import LambdaMART
from rankwright.metrics.comparison.system_comparison import SystemComparison, compare
from rankwright.progress.stages import announce
from rankwright.report.table_files import write_json
from rankwright.text.collections.documents import read_documents
from rankwright.text.collections.judged import read_judgments
from rankwright.text.collections.queries import read_queries
from rankwright.text.default_specification import default_specification
from rankwright.text.feature_rows import choose_rows
from rankwright.text.features import QueryDocuments, features_of
from rankwright.text.index.building import build_index
from rankwright.text.index.reading import Index
from rankwright.text.model_features import rows_in_index
from rankwright.text.specification import FeatureLine, FeatureSpecification
from rankwright.tuning.bm25f import tune_bm25f
from rankwright.tuning.strategies import TuningPlan

N_QUERIES, CANDIDATES, TRIALS, SEED = 1000, 100, 60, 0
METRICS = ("ndcg@10", "mrr")
RANKER, FORMULA = "lambdamart", "bm25f"
INDEX, QUERIES, QRELS = "INDEX", "queries.tsv", "judgments.qrels"
FILES = (f"{RANKER}.rw", f"{FORMULA}.rw", "search.json", QUERIES, QRELS, "documents.jsonl")


@dataclass(frozen=True, slots=True, eq=False)
class SearchQuickstart:
    """What came of it: how much was indexed, and the comparison on queries that nothing was learned from."""

    folder: Path
    n_documents: int
    n_queries: dict[str, int]  # by part
    comparison: SystemComparison

    @property
    def page_command(self) -> str:
        """The command that opens the page."""
        index, queries, qrels, formula, ranker = (
            quote(os.fspath(self.folder / name)) for name in (INDEX, QUERIES, QRELS, f"{FORMULA}.rw", f"{RANKER}.rw")
        )
        store = quote(os.fspath(self.folder / "judgments.db"))
        return (
            f"rankwright search {index} --model {formula} --model {ranker} --queries {queries} --qrels {qrels} "
            f"--judgments {store} --page"
        )

    def to_dict(self) -> dict[str, Any]:
        """The result in types JSON can hold."""
        return {
            "documents": self.n_documents,
            "queries": self.n_queries,
            "comparison": self.comparison.to_dict(),
            "page": self.page_command,
        }


def run_search_quickstart(folder: Path, source: Path | None = None, n_queries: int = N_QUERIES) -> SearchQuickstart:
    """Index, train and compare, with all files in a folder; `source` has modules of Python, by default its own."""
    folder.mkdir(parents=True, exist_ok=True)
    announce("reading documentation strings")
    names = documented_names(source or standard_library_folder())
    write_collection(names, known_item_queries(names, n_queries, SEED), folder)
    index = build_index(read_documents(folder / "documents.jsonl"), folder / INDEX)
    queries = read_queries(folder / QUERIES)
    judged = read_judgments(folder / QRELS)
    rows = choose_rows(index, queries, judged, candidates=CANDIDATES).rows
    learned, others = _documents_alone(index, rows).split(valid=0.3, seed=SEED)
    plan = TuningPlan(trials=TRIALS, metric=METRICS[0], seed=SEED)
    tuned = tune_bm25f(index, rows_in_index(learned, index, queries), plan=plan)
    specification = FeatureSpecification([*default_specification(index.fields).lines, tuned.line])
    announce("computing features")
    train, test = (features_of(index, rows_in_index(part, index, queries), specification) for part in (learned, others))
    fitted, valid = train.split(valid=0.25, seed=SEED)
    ranker = LambdaMART(max_leaves=7, learning_rate=0.05, early_stopping=50, seed=SEED).fit(fitted, valid=valid)
    tuned.scorer.save(folder / f"{FORMULA}.rw")
    ranker.save(folder / f"{RANKER}.rw")
    compared = compare({FORMULA: tuned.scorer, RANKER: ranker}, test, METRICS)
    n_of = {"train": train.n_queries, "test": test.n_queries}
    result = SearchQuickstart(folder, index.n_documents, n_of, compared)
    write_json(folder / "search.json", result.to_dict())
    return result


def _documents_alone(index: Index, rows: QueryDocuments) -> RankingDataset:
    """Queries and documents before there are features, to be split: nothing of the others is to be learned from."""
    return features_of(index, rows, FeatureSpecification([FeatureLine("query_length")]))


def is_free_or_own(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder has none of these files, or those of an earlier run."""
    found = [name for name in (*FILES, INDEX) if Path(folder, name).exists()]
    return not found or "search.json" in found
